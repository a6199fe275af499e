"""The whole suite's settings: order, devices, random examples."""

from pathlib import Path
from types import SimpleNamespace

import jax
import pytest

from tests import conftest


def item(file: str, *markers: str) -> SimpleNamespace:
    return SimpleNamespace(path=Path(file), iter_markers=lambda: [SimpleNamespace(name=name) for name in markers])


def test_files_that_take_long_come_first_and_stay_whole() -> None:
    short, many, page = [item("a.py")], [item("b.py")] * 30, [item("c.py", "browser"), item("c.py")]
    notebook, long = [item("d.ipynb")] * 6, [item("e.py"), item("e.py", "browser", "long")]
    items = conftest.longest_first([*short, *many, *page, *notebook, *long])
    assert items == [*long, *notebook, *page, *many, *short]


def test_there_are_eight_devices() -> None:
    assert len(jax.devices("cpu")) == 8


@pytest.mark.parametrize(("files", "workers"), [([], range(1, conftest.MOST_WORKERS + 1)), (["tests/clip"], [0])])
def test_a_few_files_are_run_without_workers(files: list[str], workers: list[int]) -> None:
    config = SimpleNamespace(option=SimpleNamespace(file_or_dir=files))
    assert conftest.pytest_xdist_auto_num_workers(config) in workers  # type: ignore[arg-type]
