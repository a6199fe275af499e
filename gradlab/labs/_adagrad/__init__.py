"""The lab and its picture: adagrad."""
