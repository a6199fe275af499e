"""A recorder on a Keras 3 model, on any backend."""
