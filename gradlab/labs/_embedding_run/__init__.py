"""The lab and its picture: embedding run."""
