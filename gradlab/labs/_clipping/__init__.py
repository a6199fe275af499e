"""The lab and its picture: clipping."""
