"""TensorFlow 1 in one room: variables, their collections and graphs, gradients, slots and the three steps."""
