"""The lab and its picture: gate race."""
