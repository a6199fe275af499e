"""Labs and their pictures: training with stale gradients."""
