"""All faults, in the order of the table."""

from tests.faults import accumulators, files, workers
from tests.faults.fault import Fault

FAULTS: list[Fault] = [*files.FAULTS, *workers.FAULTS, *accumulators.FAULTS]
