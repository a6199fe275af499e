"""The loss of each batch that a Keras 3 model trains on: the number that the step differentiates, before it is scaled.

What Keras tells callbacks is a running mean, weighted by sizes that it does not tell, and NaN from the first NaN on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from .ring import Ring, backend
from .tap import together

Tensor = Any


class Losses:
    """Wraps methods of one model; `close` leaves it as it was.

    A step that works out several losses, or none in the way that Keras's own does, has none that is known: NaN.

    Args:
        model: a compiled model. ring: gives the ring that notes a loss for each batch, once it is there.
    """

    def __init__(self, model: Any, ring: Callable[[], Ring | None]) -> None:
        self._model, self._ring = model, ring
        self._found: dict[int, list[Tensor]] = {}  # in the step that is traced now, by replica
        # JAX differentiates a function in which the loss is worked out, so it may be looked at only behind that.
        source = "_update_metrics_variables" if backend() == "jax" else "compute_loss"
        vars(model)["train_step"] = self._noting(model.train_step)
        self._wrapped = ["train_step"]
        if hasattr(model, source):
            wrap = self._handed_on if backend() == "jax" else self._worked_out
            vars(model)[source] = wrap(getattr(model, source))
            self._wrapped.append(source)

    def close(self) -> None:
        """Take the wrappers off."""
        for name in self._wrapped:
            vars(self._model).pop(name, None)

    def _find(self, loss: Tensor) -> None:
        """A loss; of a step that is not one of training nobody asks."""
        if (found := self._found.get(_replica())) is not None:
            found.append(loss)

    def _worked_out(self, original: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def compute_loss(*args: Any, **kwargs: Any) -> Tensor:
            loss = original(*args, **kwargs)
            self._find(loss)
            return loss

        return compute_loss

    def _handed_on(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def update_metrics_variables(metrics: Sequence[Tensor], loss: Tensor, *args: Any, **kwargs: Any) -> Any:
            self._find(loss)
            return original(metrics, loss, *args, **kwargs)

        return update_metrics_variables

    def _noting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def train_step(*args: Any) -> Any:
            replica = _replica()
            self._found[replica] = []
            try:
                result = original(*args)
            finally:
                found = self._found.pop(replica)
            loss = found[0] if len(found) == 1 else float("nan")
            return self._with(result, loss)

        return train_step

    def _with(self, result: Any, loss: Tensor | float) -> Any:
        """Return what a step returns, with its loss in the ring."""
        ring = self._ring()
        if ring is None:
            return result
        match backend():
            case "jax":
                return self._in_state(ring, result, loss)
            case "tensorflow":
                together([loss], lambda whole: ring.note(whole[0]))  # Keras has divided it by the replicas
            case _:
                ring.note(loss)
        return result

    def _in_state(self, ring: Ring, result: Any, loss: Tensor | float) -> Any:
        """JAX's steps have the variables of the optimizer among what they return."""
        import keras

        logs, (trainable, others, now, metrics) = result
        variables = self._model.optimizer.variables
        with keras.StatelessScope(state_mapping=list(zip(variables, now, strict=True))) as scope:
            ring.note(loss)
        return logs, (trainable, others, [scope.get_current_value(v) for v in variables], metrics)


def _replica() -> int:
    """Each of TensorFlow's replicas has a thread; torch.compile cannot see through such a question."""
    return threading.get_ident() if backend() == "tensorflow" else 0
