"""The lab and its picture: run staleness."""
