"""Labs and their pictures: staleness effects."""
