"""Losses of many tasks, of which some may be missing: gradients of zeros alone mean nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ... import clip
from ..._base.arrays import Array, as_array, namespace
from ..._base.slices import IndexedSlices
from ...errors import InvalidArgumentError
from ..optimizer import Optimizer
from ..rule_optimizer import RuleOptimizer
from ..variable import Variable
from .update_wrapper import UpdateWrapper, describe_update


class MultitaskOptimizerWrapper(UpdateWrapper):
    """Leave variables and slots alone whose gradient is all zeros.

    The loss of a task that is absent from a batch gives such gradients; without this wrapper they
    would pull momentum and means toward 0. What all variables share, such as Adam's powers, and the
    global step move on. Attributes that are not an optimizer's are those of `opt`.

    Args:
        opt: an optimizer that steps by a rule; around another wrapper this one has no effect, as in
            TensorFlow.

    Raises:
        TypeError: `opt` isn't an optimizer of `gl.train` or `gl.contrib.opt`.

    Differs from TensorFlow: `opt` itself is left as it is; there its methods are replaced. Source:
    `tf.contrib.opt.MultitaskOptimizerWrapper`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> v, w = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w")
    >>> opt = gl.contrib.opt.MultitaskOptimizerWrapper(gl.train.MomentumOptimizer(0.5, 0.5))
    >>> for g in (1.0, 0.0):
    ...     opt.apply_gradients([([1.0], v), ([g], w)])
    >>> v.numpy().tolist(), w.numpy().tolist()
    ([-0.25], [0.5])
    """

    def __init__(self, opt: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise TypeError(
                f"opt must be an optimizer such as gl.train.MomentumOptimizer(0.1, 0.9), got {opt!r}"
            )
        super().__init__(opt, opt._name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_opt" not in vars(self):
            raise AttributeError(name)
        return getattr(self._opt, name)

    def _describe(self, pairs: list[Any], global_step: Variable | None) -> Callable[[], Any]:
        if not isinstance(self._opt, RuleOptimizer):
            return self._describe_inner(pairs, global_step)
        return describe_update(partial(self._opt.apply_or_idle, pairs, _is_all_zeros, global_step))


def clip_gradients_by_global_norm(
    gradients_variables: Any, clip_norm: Any = 20.0
) -> tuple[list[tuple[Any, Any]], Array]:
    """Shrink all gradients by one factor so that their global norm is at most clip_norm.

        s = clip_norm * min(1/norm, 1/clip_norm),  result_i = g_i * s

    It is `gl.clip_by_global_norm` on pairs. Gradients of zeros alone don't count, nor do they
    change the norm.

    Args:
        gradients_variables: pairs of (array or None, variable).
        clip_norm: number, or scalar array of the dtype of the gradients.

    Returns:
        (pairs with the clipped gradients, the norm before).

    Raises:
        ValueError: no pairs; IndexedSlices, which TensorFlow refuses, too.

    Source: `tf.contrib.opt.clip_gradients_by_global_norm`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> v, w = gl.Variable([0.0]), gl.Variable([0.0])
    >>> pairs, norm = gl.contrib.opt.clip_gradients_by_global_norm([([3.0], v), ([4.0], w)], 2.5)
    >>> [g.tolist() for g, _ in pairs], float(norm)
    ([[1.5], [2.0]], 5.0)
    """
    pairs = [tuple(pair) for pair in gradients_variables]
    if not pairs:
        raise ValueError("there is nothing to clip: gradients_variables is empty")
    for g, v in pairs:
        if isinstance(g, IndexedSlices):
            raise InvalidArgumentError(
                f"the gradient of {getattr(v, 'name', v)} is IndexedSlices, which this clip does not "
                "take; use gl.clip_by_global_norm"
            )
    gradients = [None if g is None else as_array(g, "a gradient") for g, _ in pairs]
    clipped, norm = clip.clip_by_global_norm(gradients, clip_norm)
    return [(g, v) for g, (_, v) in zip(clipped, pairs, strict=True)], norm


def _is_all_zeros(g: Any) -> bool:
    values = g.values if isinstance(g, IndexedSlices) else g
    # NaN isn't 0.
    return not bool(namespace(values).any(values != np.zeros((), values.dtype)))
