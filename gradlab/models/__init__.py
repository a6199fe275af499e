"""What the labs train, the data they train on, and the recordings that ship."""
