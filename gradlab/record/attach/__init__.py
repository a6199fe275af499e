"""Recorders attached to the training loops of other libraries, one file or folder for each."""
