"""The training step in which a student's `minimize` is tried.

A grader sends this file to where that function runs.
"""

from typing import Any

import numpy as np

from gradlab.train import GradientDescentOptimizer
from gradlab.train.variable import Variable, variable_collection


class Undressed(GradientDescentOptimizer):
    """An optimizer whose minimize is still to be written."""

    def minimize(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            "minimize is what you are writing: call the two steps it is made of"
        )


def play(minimize: Any, rate: float, start: list[float]) -> list[Any]:
    """Take one step on the squares of three variables, two of them in `var_list`; return them and the global step."""
    with variable_collection():
        v, w, other = (Variable(start, name=name) for name in ("v", "w", "other"))
        steps = Variable(np.int64(0), trainable=False, name="global_step")
        minimize(
            Undressed(rate),
            lambda: (v * v).sum() + (w * w).sum() + (other * other).sum(),
            [v, w],
            steps,
        )
        return [v.numpy().tolist(), w.numpy().tolist(), other.numpy().tolist(), int(steps.numpy())]
