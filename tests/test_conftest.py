"""The whole suite's settings: devices, workers, random examples."""

from types import SimpleNamespace

import jax
import pytest

from tests import conftest, parts, programs


def test_there_are_eight_devices() -> None:
    assert len(jax.devices("cpu")) == 8


@pytest.mark.parametrize(("files", "workers"), [([], range(1, conftest.MOST_WORKERS + 1)), (["tests/clip"], [0])])
def test_a_few_files_are_run_without_workers(files: list[str], workers: list[int]) -> None:
    config = SimpleNamespace(option=SimpleNamespace(file_or_dir=files))
    assert conftest.pytest_xdist_auto_num_workers(config) in workers  # type: ignore[arg-type]


def test_quick_files_are_there() -> None:
    files = {path for path in (parts.ROOT / "tests").rglob("test_*.py") if programs.are_quick(path)}
    for start in programs.QUICK:
        assert any(path.relative_to(parts.ROOT).as_posix().startswith(start) for path in files), start


def test_programs_here_are_compiled_in_full() -> None:
    assert not jax.config.read("jax_disable_most_optimizations")
    with programs.quick():
        assert jax.config.read("jax_disable_most_optimizations")
    assert not jax.config.read("jax_disable_most_optimizations")
