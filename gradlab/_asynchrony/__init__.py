"""What happens when several compute gradients at once: staleness, drops, accumulators, synchronous replicas."""
