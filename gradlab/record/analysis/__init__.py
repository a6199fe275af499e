"""What a recording says: its summary, what other clips would have done, and how sure that is."""
