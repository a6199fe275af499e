"""What everything stands on: NumPy only, and JAX where the caller brought it."""
