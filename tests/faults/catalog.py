"""All faults, in the order of the table."""

from tests.faults import damaged_files, files, memory, saves, training_states
from tests.faults.fault import Fault

FAULTS: list[Fault] = [
    *files.FAULTS,
    *saves.FAULTS,
    *training_states.FAULTS,
    *damaged_files.FAULTS,
    *memory.FAULTS,
]
