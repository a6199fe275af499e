"""Each fault a few times; `python -m tests.faults` goes on for as long as it is told to."""

from pathlib import Path

import pytest

from tests.faults.catalog import FAULTS, ON_RAY
from tests.faults.fault import Fault, tried

CASES = [
    pytest.param(
        fault, marks=pytest.mark.ray if fault in ON_RAY else pytest.mark.exhaustive, id=fault.name
    )
    for fault in (*FAULTS, *ON_RAY)
    if fault.short
]


@pytest.mark.parametrize("fault", CASES)
def test_nothing_is_lost(fault: Fault, tmp_path: Path) -> None:
    losses = []
    for seed in range(fault.short):
        folder = tmp_path / str(seed)
        folder.mkdir()
        if lost := tried(fault.once, folder, seed).lost:
            losses.append(f"seed {seed}: {lost}")
    assert len(losses) <= fault.allowed * fault.short, losses
