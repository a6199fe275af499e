"""The ways to run a rule: on whole arrays, on rows, on each occurrence; as pure functions, and in place."""
