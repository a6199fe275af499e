"""Configurations: messages to plans, rules and shapes, and back; what a configuration says, in words."""
