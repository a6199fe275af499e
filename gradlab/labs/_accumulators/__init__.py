"""Labs and their pictures: accumulators."""
