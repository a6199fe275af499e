"""Why a row moved, and which traps a step is in."""
