"""The lab and its picture: descent."""
