"""All faults, in the order of the table."""

from tests.faults import files, memory
from tests.faults.fault import Fault

FAULTS: list[Fault] = [*files.FAULTS, *memory.FAULTS]
