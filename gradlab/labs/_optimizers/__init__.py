"""The lab and its picture: optimizers."""
