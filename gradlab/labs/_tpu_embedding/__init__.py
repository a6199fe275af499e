"""The lab and its picture: tpu embedding."""
