"""The engine behind the operations: messages that configure it, its state, and the order of a step.

Messages: proto (written by protoc), wire, parse, describe, shapes, optimizer_messages, table_messages.
State and steps: system, current, turns, enqueued, exchange, kept_tables.
"""
