"""`GradientTape`: gradients of what was computed, TensorFlow 2's way."""

from __future__ import annotations

from typing import Any

from .._base.arrays import Array
from .._base.gradient_types import Gradient
from .._base.tensors import Tensor, rebuild_like, recorder
from .autodiff import check_variables, differentiate, gradients, zeros_like
from .variable import Variable, current_collection


class GradientTape:
    """Records what is computed from variables inside a `with` block, for `gradient` afterwards.

    Inside the block operators on variables, NumPy's functions of what they give, `gl.gather` and
    the clips give a `gl.Tensor`: its value stays what it was, and the tape knows how it came about.

    Args:
        persistent: whether `gradient` may be called again.
        watch_accessed_variables: whether trainable variables are watched without `watch`.

    Differs from TensorFlow: jax.numpy isn't recorded and refuses tensors; a loss that needs it is a
    function for `gl.gradients`. A variable that changes inside the block and is read again is
    refused. Only variables have gradients.

    Source: `tf.GradientTape`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0, 2.0])
    >>> with gl.GradientTape() as tape:
    ...     loss = v * v
    >>> loss.numpy(), tape.gradient(loss, [v])
    (array([1., 4.], dtype=float32), [array([2., 4.], dtype=float32)])
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._is_persistent = persistent
        self._watches_accessed = watch_accessed_variables
        self._watched: set[Variable] = set()
        self._reads: dict[Variable, Array] = {}
        self._is_used = False

    def __enter__(self) -> GradientTape:
        # In a Graph every tensor knows how it comes about.
        self._token = recorder.set(None if current_collection().graph else self)
        return self

    def __exit__(self, *error: object) -> None:
        recorder.reset(self._token)

    def watch(self, tensor: Any) -> None:
        """Watch a variable, or a list of them: those that aren't trainable need it."""
        items = tensor if isinstance(tensor, list | tuple) else [tensor]
        self._watched.update(check_variables(items, "tensor"))

    def note_read(self, v: Variable, value: Array) -> None:
        """Remember what was read; a second value of one variable can't be told from the first."""
        if self._reads.setdefault(v, value) is not value:
            raise RuntimeError(
                f"{v.name} changed while a GradientTape recorded: update variables after the block"
            )

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> Any:
        """Return the derivatives of the sum of the target with respect to each source.

        Args:
            target: a tensor that was recorded, or a list of them.
            sources: a variable, or a list, tuple or dict of them.
            output_gradients: gradients upstream of the targets; 1 by default.
            unconnected_gradients: "none" gives None for a variable that the target doesn't depend
                on, "zero" gives zeros.

        Returns:
            gradients in the structure of `sources`: arrays, IndexedSlices for rows read by
            `gl.gather`, None.

        Raises:
            RuntimeError: the tape isn't persistent and was used.
            TypeError: the target isn't a tensor, a source isn't a variable.
            ValueError: `unconnected_gradients` is something else.
        """
        if self._is_used and not self._is_persistent:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients; "
                "make it with persistent=True"
            )
        targets = list(target) if isinstance(target, list | tuple) else [target]
        for y in targets:
            if not isinstance(y, Tensor):
                raise TypeError(
                    f"the target must be a tensor that the tape recorded, got {type(y).__name__}: "
                    "compute it from variables with operators or NumPy's functions inside the "
                    "block, or give gl.gradients a function"
                )
        if unconnected_gradients not in ("none", "zero"):
            raise ValueError(
                f'unconnected_gradients must be "none" or "zero", got {unconnected_gradients!r}'
            )
        variables = check_variables(_list_variables(sources), "sources")
        upstream = output_gradients
        if not isinstance(upstream, list | tuple):
            upstream = [upstream] * len(targets)
        found = dict(zip(variables, self._differentiate(targets, variables, upstream), strict=True))
        if unconnected_gradients == "zero":
            found = {v: zeros_like(v) if g is None else g for v, g in found.items()}
        self._is_used = True
        return _in_structure(sources, found)

    def _differentiate(
        self, targets: list[Tensor], variables: list[Variable], upstream: Any
    ) -> list[Gradient | None]:
        if current_collection().graph:
            return gradients(targets, variables, upstream)
        watched = [v for v in variables if self._is_watched(v)]
        found, _ = differentiate(targets, watched, upstream, at=self._reads)
        by_variable = dict(zip(watched, found, strict=True))
        return [by_variable.get(v) for v in variables]

    def _is_watched(self, v: Variable) -> bool:
        return v in self._watched or (self._watches_accessed and v.trainable)


def _list_variables(sources: Any) -> list[Any]:
    if isinstance(sources, dict):
        sources = list(sources.values())
    return list(sources) if isinstance(sources, list | tuple) else [sources]


def _in_structure(sources: Any, found: dict[Variable, Any]) -> Any:
    if isinstance(sources, dict):
        return {key: found[v] for key, v in sources.items()}
    if isinstance(sources, list | tuple):
        return rebuild_like(sources, [found[v] for v in sources])
    return found[sources]
