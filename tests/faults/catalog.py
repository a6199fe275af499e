"""All faults, in the order of the table."""

from tests.faults import files, training_states
from tests.faults.fault import Fault

FAULTS: list[Fault] = [*files.FAULTS, *training_states.FAULTS]
