"""The one way to write a file and the one way to read one."""
