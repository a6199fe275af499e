"""All faults, in the order of the table."""

from tests.faults import damaged_files, files, saves, training_states
from tests.faults.fault import Fault

FAULTS: list[Fault] = [*files.FAULTS, *saves.FAULTS, *damaged_files.FAULTS, *training_states.FAULTS]
