"""An optimizer that clips the variables themselves after each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ... import clip
from ..._base.arrays import add_rows, namespace, take_rows
from ..._base.slices import IndexedSlices
from ..._base.tensors import compute_now
from ...errors import ClipWarning, warn
from ..copies import get_copy
from ..slots import enter_scope
from ..variable import Variable
from .update_wrapper import UpdateWrapper


class VariableClippingOptimizer(UpdateWrapper):
    """Clip the norms of variables after every step of the wrapped optimizer.

        step of `opt`, then  w = w - (w - clip_by_norm(w, max_norm, axes=clip_dims))

    This limits weights, not gradients. Variables without a gradient, or not listed, are left alone.
    IndexedSlices: only the named rows are clipped. A row that is named k times loses what is above
    the limit k times, so that it ends below it; TensorFlow does this, too. Where axis 0 is among
    the axes, the whole variable is clipped (a warning says so).

    Args:
        opt: the optimizer that computes and updates; another VariableClippingOptimizer works, too,
            for other variables or limits.
        vars_to_clip_dims: the axes along which the norm of a variable is taken, by variable.
        max_norm: the limit.
        use_locking, colocate_clip_ops_with_vars: no effect.
        name: not empty (ValueError).

    Raises:
        ValueError: an axis that a variable doesn't have; raised by its first update.

    What the variables of `opt` share is named under this optimizer: "VariableClipping/beta1_power".

    Source: `tf.contrib.opt.VariableClippingOptimizer`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> v = gl.Variable([[3.0, 4.0], [0.6, 0.8]], name="v")
    >>> sgd = gl.train.GradientDescentOptimizer(1.0)
    >>> opt = gl.contrib.opt.VariableClippingOptimizer(sgd, {v: [1]}, 2.0)
    >>> opt.apply_gradients([([[0.0, 0.0], [0.0, 0.0]], v)])
    >>> [round(x, 2) for x in v.numpy().ravel().tolist()]
    [1.2, 1.6, 0.6, 0.8]
    """

    def __init__(
        self,
        opt: Any,
        vars_to_clip_dims: Mapping[Variable, Sequence[int]],
        max_norm: Any,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False,
        name: str = "VariableClipping",
    ) -> None:
        super().__init__(opt, name)
        self._clip_dims = {v: list(axes) for v, axes in vars_to_clip_dims.items()}
        self._max_norm = max_norm

    def _describe(self, pairs: list[Any], global_step: Variable | None) -> Callable[[], Any]:
        clips = []
        self._list_variables(pairs)
        for g, v in pairs:
            if g is None or v not in self._clip_dims:
                continue
            self._clip(v.value, self._clip_dims[v])  # refuses axes and limits before the step
            clips.append(self._clip_of(g, v))
        with enter_scope(self._name, slots=False):
            update = self._describe_inner(pairs, global_step)

        def run() -> None:
            with enter_scope(self._name, slots=False):
                update()
            for clip_variable in clips:
                clip_variable()

        return run

    def _clip_of(self, g: Any, v: Variable) -> Callable[[], None]:
        """Return the function that clips what an update with this gradient has moved."""
        if not isinstance(g, IndexedSlices):
            return partial(self._clip_whole, v)
        if 0 in self._clip_dims[v]:
            warn(
                f"the clip of {v.name} along axis 0 reads and writes all of its rows at every sparse "
                "step",
                ClipWarning,
            )
            return partial(self._clip_whole, v)
        return lambda: self._clip_rows(v, compute_now(g).indices)

    def _clip(self, x: Any, axes: list[int]) -> Any:
        return clip.clip_by_norm(x, self._max_norm, axes, semantics="tf2.3")

    def _clip_whole(self, v: Variable) -> None:
        with v._lock:
            v.assign_sub(v.value - self._clip(v.value, self._clip_dims[v]))

    def _clip_rows(self, v: Variable, indices: Any) -> None:
        with v._lock:
            indices = namespace(v._value).asarray(indices)
            rows = take_rows(v._value, indices)
            excess = rows - self._clip(rows, self._clip_dims[v])
            v.load(add_rows(v._value, indices, -excess))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        new = super().__deepcopy__(memo)
        new._clip_dims = {get_copy(v, memo): axes for v, axes in self._clip_dims.items()}
        return new

    def _follow(self, old: Variable, new: Variable) -> None:
        super()._follow(old, new)
        if old in self._clip_dims:
            self._clip_dims[new] = self._clip_dims.pop(old)
