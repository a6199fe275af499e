"""The engine behind TensorFlow's operations.

Configuration: `proto` (written by protoc), `wire` (what is wrong with bytes), `messages` (tables
and optimizers), `parse` (a configuration as a plan, and back), `shapes`, `describe`.
Running: `system` (the operations), `step_queue` (their order), `enqueue` (their ids), `replicas`,
`system_tables`.
"""
