"""Ctrl-C at instants of every call: every gradient is in one update or still waits, and no token is gone."""

import pytest

from tests.train.sync_replicas.books import CALLS, stopped

APART = 19  # instants between two that are tried here; the fault bench tries any


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_at_any_instant(name: str) -> None:
    for instant in range(len(name), 5000, APART):
        wrong, came = stopped(name, instant)
        assert not wrong, f"at instant {instant}: {wrong}"
        if not came:
            assert instant > 40
            return
    raise AssertionError("it never ends")
