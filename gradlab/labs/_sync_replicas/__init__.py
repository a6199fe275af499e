"""Labs and their pictures: sync replicas."""
