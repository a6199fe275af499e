"""Real runs: vectors of words, two towers; and small ones with everything inside kept, for pictures."""
