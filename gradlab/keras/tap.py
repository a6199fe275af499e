"""A ring of rows on a Keras 3 optimizer: filled where its gradients are about to be clipped, and never saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .ring import Ring

Tensor = Any


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
        self._wrapped = [
            (inner, "_backend_apply_gradients", self._apply),
            (inner, "_clip_gradients", self._clip),
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
        def apply(grads: Sequence[Tensor], variables: Sequence[Any]) -> Any:
            self._present = variables
            return original(grads, variables)

        return apply

    def _clip(self, original: Callable[..., Any]) -> Callable[..., Any]:
        from keras import ops

        def clip(grads: Sequence[Tensor]) -> Any:
            found = {id(_bare(v)): g for v, g in zip(self._present, grads, strict=True)}
            self._ring.append(
                [found.get(id(_bare(v))) for v in self._variables], ops.convert_to_tensor(self._inner.iterations)
            )
            return original(grads)

        return clip

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
