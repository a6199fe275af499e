"""The lab and its picture: word rates."""
