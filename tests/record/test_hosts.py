"""All hosts record the same run: NumPy, optax and PyTorch here, Keras 3 in
attach/keras/test_loops.py.
"""

from pathlib import Path

import pytest

from tests.notebooks import your_run
from tests.record import hosts


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("optax", marks=pytest.mark.exhaustive),
        pytest.param("torch", marks=pytest.mark.torch),
    ],
)
def test_a_host_in_this_process(host: str, tmp_path: Path) -> None:
    rec = hosts.HOSTS[host]()
    hosts.assert_same(rec)
    if host == "optax":  # any file will do for the notebook
        rec.save(tmp_path / "run.npz")
        assert hosts.SIZE in your_run.report_on(tmp_path / "run.npz")
