"""A recorder on a PyTorch optimizer: eager or compiled, on one process or many, with or without a GradScaler."""
