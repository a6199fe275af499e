"""The lab and its picture: tpu engines."""
