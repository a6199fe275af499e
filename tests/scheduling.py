"""Which worker runs which tests, and in which order."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadFileScheduling

from tests import parts

# Seconds that a test with this marker, or in such a file, takes, roughly; any other one takes OTHERWISE.
SECONDS = {
    "binder": 8.0, "long": 20.0, "ray": 10.0, "trackers": 10.0, "originals": 10.0, "trainers": 5.0, "packaging": 5.0,
    "torch": 1.0, "browser": 4.0, "site": 2.0, "exhaustive": 0.5, "tensorflow": 1.0, ".ipynb": 1.0,
}  # fmt: skip
# Files of few tests that are long: of processes, installs, builds, and of a framework for each of them.
LONG_FILES = {
    "tests/keras/test_loops.py": 75.0, "tests/notebooks/test_without_jax.py": 40.0,
    "tests/packaging/test_editable.py": 30.0, "tests/record/test_hosts.py": 30.0, "tests/report/test_names.py": 70.0,
    "tests/test_parts.py": 50.0, "tests/record/attach/torch/test_compiled.py": 60.0, "tests/record/attach/torch/test_replicas.py": 25.0,
    "tests/workers/test_on_two_nodes.py": 90.0,
}  # fmt: skip
OTHERWISE = 0.05

# Files that run TensorFlow in the process of the worker.
WITH_TENSORFLOW = (
    "tests/conformance/test_live_", "tests/_asynchrony/accumulators/test_arguments", "tests/_variables/test_by_arrays",
    "tests/_variables/test_slots", "tests/golden/test_write", "tests/keras/test_built",
    "tests/clip/test_by_global_norm", "tests/clip/test_by_value", "tests/keras/test_optimizer",
    "tests/keras/test_recording", "tests/labs/test_adagrad_libraries", "tests/raw_ops/test_accumulators",
    "tests/schedules/test_cosine", "tests/train/test_tensorflow", "gradlab/record/attach/keras/recording",
)  # fmt: skip
WITH_TORCH = ("gradlab/record/attach/torch/", "tests/record/test_hosts", "tests/torch/test_")


def group(file: str) -> str:
    """The files that one worker is given together: those of TensorFlow, of PyTorch, and those that drive JupyterLab."""
    if file.startswith("tests/browser/"):  # they share a browser, its pages, and the servers
        return "browser"
    if file.startswith(WITH_TORCH):
        return "torch"
    return "tensorflow" if file.startswith(WITH_TENSORFLOW) else file


def longest_first(items: list[Any]) -> list[Any]:
    """Tests by files, the groups that take longest first: workers are handed them in this order, and end together."""
    seconds: Counter[str] = Counter()
    for item in items:
        kinds = {item.path.suffix, *(marker.name for marker in item.iter_markers())} & SECONDS.keys()
        seconds[_file(item.path)] += max((SECONDS[kind] for kind in kinds), default=OTHERWISE)
    groups: Counter[str] = Counter()
    for file in seconds:
        seconds[file] = max(seconds[file], LONG_FILES.get(file, 0.0))
        groups[group(file)] += seconds[file]

    def place(item: Any) -> tuple[float, str, float]:
        file = _file(item.path)
        return -groups[group(file)], group(file), -seconds[file]

    return sorted(items, key=place)


@cache  # asked for each test
def _file(path: Path) -> str:
    """From the top of the checkout; a file elsewhere by its whole path."""
    return path.relative_to(parts.ROOT).as_posix() if path.is_relative_to(parts.ROOT) else str(path)


class ByFile(LoadFileScheduling):
    """Files go to workers whole; TensorFlow's go to one, PyTorch's to one, those that drive JupyterLab to another.

    It takes two to ten seconds to import the first two, and fifteen of one core to start the last.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group(super()._split_scope(nodeid))

    def remove_node(self, node: Any) -> str | None:
        """Give what a worker has left to do to others, and name the test at which it crashed, which is not run again.

        xdist would hand out files that are done, too: a worker that is given nothing to do is not heard of again.
        """
        files = self.assigned_work.pop(node)
        left = [(file, test) for file, tests in files.items() for test, done in tests.items() if not done]
        if not left:
            return None
        (file, crashed), *others = left
        files[file][crashed] = True
        self.workqueue.update({file: files[file] for file, _ in others})
        for other in self.nodes:
            self._reschedule(other)
        return crashed

    def _reschedule(self, node: Any) -> None:
        """Hand out a file, and more until the worker has two tests: it begins the last when it hears what is next."""
        if node not in self.registered_collections:  # one that was just started
            return
        super()._reschedule(node)
        while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)
