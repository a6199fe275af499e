"""The foundation of the package: NumPy only, and JAX where the caller brought it."""
