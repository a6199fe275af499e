"""A ring of rows on a Keras 3 optimizer: filled where its gradients are about to be clipped, and never saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .ring import Ring

Tensor = Any

# Keras's private parts: nothing public takes a variable off an optimizer, or sees the mean of micro-batches.
TRACKS = ("_track_variable", "_untrack_variable")
ACCUMULATES = ("_backend_apply_gradients", "_clip_gradients")
KNOWN = "Keras 3.15"  # has all of them


def check_optimizer(optimizer: Any) -> None:
    """Refuse an optimizer of a Keras that lacks what a tap needs, before anything of it is changed.

    Raises NotImplementedError.
    """
    accumulates = bool(optimizer.gradient_accumulation_steps)
    needed = TRACKS + (ACCUMULATES if accumulates else ())
    if missing := [name for name in needed if not hasattr(optimizer, name)]:
        instead = "leave out gradient_accumulation_steps" if missing[0] in ACCUMULATES else "write the loop yourself"
        raise NotImplementedError(
            f"gl.keras.record needs {' and '.join(missing)}, which this version of Keras does not have for "
            f"{type(optimizer).__name__}; use {KNOWN}, or {instead}"
        )


class Tap:
    """Wraps methods of one optimizer, not of its class; `close` leaves it as it was.

    Args:
        outer: the model's optimizer. inner: the one in it that clips and steps, the same but for LossScaleOptimizer.
        variables: all that are trained. ring: gets a row for each update.
    """

    def __init__(self, outer: Any, inner: Any, variables: Sequence[Any], ring: Ring) -> None:
        if previous := vars(inner).get("_gradlab_tap"):  # of a fit that did not end
            previous.close()
        self._inner, self._variables, self._ring = inner, variables, ring
        self._present: Sequence[Any] = ()  # the variables whose gradients are on their way to the clip
        means = zip(ACCUMULATES, (self._backend_apply, self._clip), strict=True)
        steps = means if inner.gradient_accumulation_steps else [("apply", self._apply)]
        self._wrapped = [
            *((inner, name, wrap) for name, wrap in steps),
            (outer, "save_own_variables", self._without_ring),
            (outer, "load_own_variables", self._without_ring),
        ]
        for owner, name, wrap in self._wrapped:
            vars(owner)[name] = wrap(getattr(owner, name))
        vars(inner)["_gradlab_tap"] = self

    def close(self) -> None:
        """Take the wrappers and the ring's variables off."""
        for owner, name, _ in self._wrapped:
            vars(owner).pop(name, None)
        vars(self._inner).pop("_gradlab_tap", None)
        self._untrack()

    def _apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(grads: Sequence[Tensor | None], trainable_variables: Sequence[Any] | None = None) -> Any:
            variables = self._variables if trainable_variables is None else trainable_variables
            left = [self._unscaled(g, v) for g, v in zip(grads, variables, strict=True)]
            if any(g is not None for g in left):
                self._append(left, variables)
            return original(grads, trainable_variables)

        return apply

    def _unscaled(self, g: Tensor | None, variable: Any) -> Tensor | None:
        """Return what Keras clips of a gradient: nothing of one that takes the place of its variable (float8)."""
        if g is None or getattr(variable, "overwrite_with_gradient", False):
            return None
        scale = self._inner.loss_scale_factor
        return g if scale is None else g / scale

    def _backend_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(grads: Sequence[Tensor], variables: Sequence[Any]) -> Any:
            self._present = variables
            return original(grads, variables)

        return apply

    def _clip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def clip(grads: Sequence[Tensor]) -> Any:
            self._append(grads, self._present)
            return original(grads)

        return clip

    def _append(self, grads: Sequence[Tensor | None], variables: Sequence[Any]) -> None:
        from keras import ops

        found = {id(_bare(v)): g for v, g in zip(variables, grads, strict=True)}
        row = [found.get(id(_bare(v))) for v in self._variables]
        self._ring.append(row, ops.convert_to_tensor(self._inner.iterations))

    def _without_ring(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def with_store(store: Any) -> None:
            self._untrack()
            try:
                original(store)
            finally:
                for v in self._ring.variables:
                    self._inner._track_variable(v)

        return with_store

    def _untrack(self) -> None:
        for v in self._ring.variables:
            self._inner._untrack_variable(v)


def _bare(variable: Any) -> Any:
    """TensorFlow's own variable of a Keras variable, which optimizers are given by either name."""
    return getattr(variable, "value", variable) if hasattr(variable, "path") else variable
