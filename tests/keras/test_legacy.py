"""`decay`, which the older versions have on top of a schedule."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import KerasWarning
from gradlab.keras import SGD

F = np.float32
STAIRS = gl.schedules.PiecewiseConstantDecay([1], [0.5, 0.25])


def _rates(opt: SGD, steps: int = 3, dtype: Any = F) -> list[float]:
    """What SGD subtracts of a gradient of 1, step by step."""
    v, path = gl.Variable(np.zeros(1, dtype)), [0.0]
    for _ in range(steps):
        opt.apply_gradients([(np.ones(1, dtype), v)])
        path.append(float(v.numpy()[0]))
    return [a - b for a, b in pairwise(path)]


def test_decay_comes_on_top() -> None:
    assert _rates(SGD(1.0, decay=1.0)) == [1.0, 0.5, pytest.approx(1 / 3)]
    assert _rates(SGD(STAIRS, decay=1.0)) == pytest.approx([0.5, 0.25, 0.25 / 3])


@pytest.mark.parametrize(
    ("version", "at_first", "last"),
    [("tf2.3", 1.0, 0.25), ("tf2.3", 0.0, 1.0), ("legacy", 1.0, 0.5)],
)
def test_decay_set_later(version: Any, at_first: float, last: float) -> None:
    opt = SGD(1.0, decay=at_first, semantics=version)
    _rates(opt, 1)
    if last == 0.25:
        opt.decay = 3.0
    else:
        with pytest.warns(KerasWarning, match="setting decay has no effect"):
            opt.decay = 3.0
    assert _rates(opt, 1) == [last]
    assert float(opt.decay) == 3.0


def test_there_is_no_decay_in_keras_3() -> None:
    opt = SGD(semantics="keras3")
    with pytest.raises(AttributeError, match="have no decay"):
        opt.decay  # noqa: B018
    with pytest.raises(AttributeError, match="have no decay"):
        opt.decay = 1.0
