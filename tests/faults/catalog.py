"""All faults, in the order of the table."""

from tests.faults import (
    accumulators,
    appended,
    damaged_files,
    files,
    memory,
    on_ray,
    rebuilt_files,
    saves,
    training_states,
    workers,
)
from tests.faults.fault import Fault

FAULTS: list[Fault] = [
    *files.FAULTS,
    *appended.FAULTS,
    *saves.FAULTS,
    *training_states.FAULTS,
    *damaged_files.FAULTS,
    *rebuilt_files.FAULTS,
    *workers.FAULTS,
    *accumulators.FAULTS,
    *memory.FAULTS,
]
ON_RAY: list[Fault] = on_ray.FAULTS  # for those who have it
