"""The lab and its picture: run layers."""
