"""NumPy in blocks of the cache."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.rules import blocks, dense_and_sparse


@pytest.mark.parametrize("way", [dense_and_sparse.rows, dense_and_sparse.each])
def test_new_rows_write_nothing(way: Any) -> None:
    w, slot = np.ones((5, 2)), np.ones((5, 2))
    for x in (w, slot):
        x.flags.writeable = False
    g = gl.IndexedSlices(np.ones((3, 2)), np.array([4, 1, 4]), (5, 2))
    named, (new_w, new_slot) = blocks.new_rows(gl.rules.Momentum(0.5), w, (slot,), g, 1.0, way)
    at = named.tolist().index(4)
    assert sorted(named.tolist()) == [1, 4]
    assert new_slot[at].tolist() == ([1.75] * 2 if way is dense_and_sparse.each else [2.5] * 2)
    assert new_w[at].tolist() == (
        [1 - 1.5 - 1.75] * 2 if way is dense_and_sparse.each else [-1.5] * 2
    )


def test_cores_share_large_arrays_and_the_bits_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    rule, rng = gl.rules.Adagrad(), np.random.default_rng(0)
    w, g = (rng.normal(size=100_001).astype(np.float32) for _ in range(2))
    g[::9] = 1e-41
    monkeypatch.setattr(blocks, "BLOCK", 1000)
    monkeypatch.setattr(blocks.os, "cpu_count", lambda: 4)
    expected, (slot,) = rule(w, rule.init(w), g, 0.1)
    new = np.empty_like(w), (np.empty_like(w),)
    blocks.step(rule, w, rule.init(w), g, 0.1, new)
    np.testing.assert_array_equal(new[0], expected)
    np.testing.assert_array_equal(new[1][0], slot)


class Odd(gl.rules.Rule):
    """Raises in the last block only."""

    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        if g[-1] == 7:
            raise ArithmeticError("seven")
        return w, slots


def test_what_a_core_raises_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 100)
    w, g = np.zeros(100_000), np.zeros(100_000)
    g[-1] = 7
    with pytest.raises(ArithmeticError, match="seven"):
        blocks.step(Odd(), w, (), g, 0.1, (w.copy(), ()))
