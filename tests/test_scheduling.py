"""Order of tests, and what happens to those of a worker that crashes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import parts, scheduling

ONE, TWO, THREE = (f"tests/{name}.py::test_{name}" for name in ("one", "two", "three"))


def item(file: str, *markers: str) -> SimpleNamespace:
    return SimpleNamespace(path=Path(file), iter_markers=lambda: [SimpleNamespace(name=name) for name in markers])


def test_files_that_take_long_come_first_and_stay_whole() -> None:
    short, many, page = [item("a.py")], [item("b.py")] * 30, [item("c.py", "browser"), item("c.py")]
    notebook, long = [item("d.ipynb")] * 6, [item("e.py"), item("e.py", "browser", "long")]
    items = scheduling.longest_first([*short, *many, *page, *notebook, *long])
    assert items == [*long, *notebook, *page, *many, *short]


def test_what_one_worker_is_given_together_counts_together() -> None:
    pages = [[item(str(parts.ROOT / "tests" / "browser" / f"test_{k}.py"), "browser")] * k for k in (1, 2, 3)]
    longer = [item("longer.py", "browser")] * 4
    assert scheduling.longest_first([*longer, *pages[0], *pages[1], *pages[2]]) == [
        *pages[2],
        *pages[1],
        *pages[0],
        *longer,
    ]


class Worker:
    """What a scheduler knows of a process that runs tests."""

    def __init__(self) -> None:
        self.gateway, self.shutting_down = SimpleNamespace(id="gw"), False
        self.told = list[int]()

    def send_runtest_some(self, indices: list[int]) -> None:
        assert indices, "a worker that is told to run nothing does not report, and waits for ever"
        self.told += indices

    def shutdown(self) -> None:
        self.shutting_down = True


@pytest.fixture
def schedule() -> scheduling.ByFile:
    options: Any = SimpleNamespace(option=SimpleNamespace(loadscopereorder=False), getvalue=lambda name: ["popen"])
    return scheduling.ByFile(options)


def test_a_crash_costs_one_test_and_no_wait(schedule: scheduling.ByFile) -> None:
    tests = [f"{file}[{k}]" for file in (ONE, TWO, THREE) for k in range(4)]
    first, second = Worker(), Worker()
    schedule.numnodes = 2
    for worker in (first, second):
        schedule.add_node(worker)
        schedule.add_node_collection(worker, tests)
    schedule.schedule()
    assert (first.told, second.told) == ([0, 1, 2, 3], [4, 5, 6, 7])
    for index in (0, 1, 2):  # the first worker is given the third file, too, and ends the first one
        schedule.mark_test_complete(first, index)
    schedule.mark_test_complete(first, 3)
    assert first.told[4:] == [8, 9, 10, 11]

    assert schedule.remove_node(first) == tests[8]
    third = Worker()
    schedule.add_node(third)
    schedule._reschedule(third)  # before it has said which tests it found
    schedule.add_node_collection(third, tests)
    schedule.schedule()
    assert third.told == [9, 10, 11]
    for worker in (second, third):
        for index in worker.told:
            schedule.mark_test_complete(worker, index)
    assert schedule.tests_finished and second.shutting_down and third.shutting_down
    assert schedule.remove_node(second) is None


def test_a_worker_that_comes_later_has_the_next_test_before_it_ends_one(schedule: scheduling.ByFile) -> None:
    tests, crashes, worker = [ONE, TWO, THREE], Worker(), Worker()
    schedule.numnodes = 1
    for node in (crashes, worker):
        schedule.add_node(node)
        schedule.add_node_collection(node, tests)
        schedule.schedule()
        if node is crashes:
            assert schedule.remove_node(node) == ONE
    assert worker.told == [2, 1] and not worker.shutting_down
    schedule.mark_test_complete(worker, 2)
    assert worker.shutting_down


def test_files_of_a_library_go_to_one_worker(schedule: scheduling.ByFile) -> None:
    for prefixes in (scheduling.WITH_TENSORFLOW, scheduling.WITH_TORCH):
        files = [[*parts.ROOT.glob(f"{prefix}*")] for prefix in prefixes]
        assert all(files), "each names some file"
        names = [path.relative_to(parts.ROOT).as_posix() for found in files for path in found]
        assert len({schedule._split_scope(f"{name}::test") for name in names}) == 1
