"""The lab and its picture: run adagrad."""
