"""Logs that other tools wrote: a reader for each format, and the recording that they make."""
