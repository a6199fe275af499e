"""The whole suite's settings: devices, workers, random examples."""

from types import SimpleNamespace

import jax
import pytest

from tests import conftest


def test_there_are_eight_devices() -> None:
    assert len(jax.devices("cpu")) == 8


@pytest.mark.parametrize(
    ("files", "workers"), [([], range(1, conftest.MOST_WORKERS + 1)), (["tests/clip"], [0])]
)
def test_a_few_files_are_run_without_workers(files: list[str], workers: list[int]) -> None:
    config = SimpleNamespace(option=SimpleNamespace(file_or_dir=files))
    assert conftest.pytest_xdist_auto_num_workers(config) in workers  # type: ignore[arg-type]
