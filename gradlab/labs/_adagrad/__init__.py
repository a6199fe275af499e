"""A lab and its picture."""
