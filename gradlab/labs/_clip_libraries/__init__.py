"""The lab and its picture: clip libraries."""
