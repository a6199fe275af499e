"""The engine behind the operations: state, the order of a step, replicas, and what is loaded and retrieved."""
