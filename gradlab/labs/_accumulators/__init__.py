"""Labs of one subject and their pictures."""
