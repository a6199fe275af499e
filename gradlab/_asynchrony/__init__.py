"""Concurrent gradients: staleness, drops, accumulators, and synchronous replicas."""
