"""The lab and its picture: staleness races."""
