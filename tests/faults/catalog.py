"""All faults, in the order of the table."""

from tests.faults import accumulators, files, on_ray, workers
from tests.faults.fault import Fault

FAULTS: list[Fault] = [*files.FAULTS, *workers.FAULTS, *accumulators.FAULTS]
ON_RAY: list[Fault] = on_ray.FAULTS  # for those who have it
