"""The steps of a recorder on their way to other tools while it records: one file for each of them."""
