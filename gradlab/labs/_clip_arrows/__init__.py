"""The lab and its picture: clip arrows."""
