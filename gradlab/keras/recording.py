"""A recorder on a Keras 3 model: gradients as they come to the optimizer's clip, measured in the compiled step."""

from __future__ import annotations

import functools
import math
import time
from typing import Any

import numpy as np

from .._base.errors import InvalidArgumentError
from .._base.extras import need
from ..record import Recorder
from .tap import Ring, Tap, check_optimizer


def record(recorder: Recorder, *, every: int = 64) -> Any:
    """A callback for `model.fit` of Keras 3, whatever its backend: it records the gradients of every step.

    They are measured inside the compiled step, where the optimizer clips, before it does: unscaled, and with
    `gradient_accumulation_steps` the mean of the micro-batches, one step for each update. What LossScaleOptimizer skips
    is not recorded. A variable without a gradient has norm 0 in that step. No step calls back or waits; every `every`
    steps, and after each epoch, they are read. While it records, the optimizer has four variables more, which are
    not saved, and the train step is compiled anew; after `fit` all is as before. Gradients that TensorFlow keeps as
    slices, those of embeddings, are made dense to be measured.

    "loss" is that of each batch, worked out from the running means in Keras's logs (NaN under LossScaleOptimizer).

    Args:
        recorder: takes the steps; the tensors' names are the variables' paths.
        every: steps between two hand-overs to the recorder.

    Raises:
        TypeError: in `fit`, a model that is not Keras 3's, such as tf_keras's: write the loop yourself there, with
            `recorder.record(zip(gradients, variables), loss=loss)`.
        ValueError: every < 1; in `fit`, several replicas, or a recorder that holds other tensors.
        ImportError: Keras is missing.
        NotImplementedError: in `fit`, a version of Keras without the private parts that this needs.

    Not in TensorFlow.

    >>> import keras
    >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="out", use_bias=False)])
    >>> model.compile(keras.optimizers.SGD(0.1, clipnorm=1e-3), "mse")
    >>> rec = Recorder()
    >>> _ = model.fit(np.ones((8, 2)), np.full(8, 9.0), 4, verbose=0, callbacks=[record(rec)])
    >>> rec
    <gradlab.Recorder: 2 steps of sequential/out/kernel and loss>
    """
    if every < 1:
        raise InvalidArgumentError(f"every must be >= 1, got {every}")
    return _class()(recorder, every)


@functools.cache
def _class() -> type:
    return type("Recording", (_Recording, need("keras.callbacks", "gl.keras.record").Callback), {})


class _Recording:
    """What the callback does; Keras's own base class is joined to it when Keras is there."""

    async_safe = True  # on_train_batch_end only writes a number down, so that no step waits for its logs

    def __init__(self, recorder: Recorder, every: int) -> None:
        super().__init__()
        self.recorder, self._every = recorder, every

    def set_model(self, model: Any) -> None:
        import keras

        if not isinstance(model, keras.Model):
            raise TypeError(
                f"gl.keras.record is for models of Keras 3, got one of {type(model).__module__}; in a loop of yours, "
                "recorder.record(zip(gradients, model.trainable_variables), loss=loss) does the same"
            )
        super().set_model(model)  # type: ignore[misc]
        self._model = model

    def on_train_begin(self, logs: Any = None) -> None:
        _check_one_replica(self._model)
        outer = self._model.optimizer
        inner = getattr(outer, "inner_optimizer", outer)
        check_optimizer(inner)
        variables = list(self._model.trainable_variables)
        if not outer.built:
            outer.build(variables)
        self.recorder.prepare({v.path: v.shape for v in variables}, ["loss"])
        self._executed = self._model.steps_per_execution
        self._room = self._size = max(self._every, self._executed)
        self._ring = Ring(inner, self.recorder.layout, self._size)
        self._tap = Tap(outer, inner, variables, self._ring)
        self._batches = Batches()
        self._waiting: dict[str, np.ndarray] = {}
        self._first = int(inner.iterations)
        self._batches_a_step = inner.gradient_accumulation_steps or 1
        self._numbered = outer is inner  # LossScaleOptimizer leaves batches out, so which is which is not known
        self._model.make_train_function(force=True)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._batches.begin(batch)
        if self._room < self._executed:
            self._read()
            self._room = self._size
        self._room -= self._executed

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        steps = self.params.get("steps")  # type: ignore[attr-defined]
        last = batch if steps is None else min(batch, steps - 1)  # the last execution may be a short one
        self._batches.end(last, (logs or {}).get("loss", np.nan))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self._batches.end_epoch()
        self._read()
        self._room = self._size

    def on_train_end(self, logs: Any = None) -> None:
        self._tap.close()
        self._model.make_train_function(force=True)

    def _read(self) -> None:
        """Hand over the steps in the ring; those wait for the next time whose batches are not known yet."""
        if _backend() == "jax":
            self._model.jax_state_sync()
        columns = self._ring.take()
        steps = (
            {name: np.concatenate([self._waiting[name], x]) for name, x in columns.items()}
            if self._waiting
            else columns
        )
        last = (steps["update"] - self._first + 1) * self._batches_a_step - 1  # batch of each update
        n = int((last < len(self._batches.loss)).sum()) if self._numbered else len(last)
        self._waiting = {name: x[n:] for name, x in steps.items()}
        ready = {name: x[:n] for name, x in steps.items() if name != "update"}
        if self._numbered:
            known = np.array([self._batches.of(int(b), self._batches_a_step) for b in last[:n]]).reshape(n, 2)
            ready |= {"loss": known[:, 0], "seconds": known[:, 1]}
        if n:
            self.recorder.extend(ready)


def _backend() -> str:
    """The name of the backend that Keras was imported with."""
    import keras

    return str(keras.backend.backend())


def _check_one_replica(model: Any) -> None:
    import keras

    strategy = getattr(model, "distribute_strategy", None)
    if keras.distribution.distribution() is not None or (strategy and strategy.num_replicas_in_sync > 1):
        raise InvalidArgumentError(
            "gl.keras.record records a model on one device, this one is distributed over several"
        )


class Batches:
    """How long each batch of `fit` took, and its loss, from what callbacks are told: when it begins, and running means.

    Attributes:
        loss, seconds: by batch, over all epochs.
    """

    def __init__(self) -> None:
        self.loss: list[float] = []
        self.seconds: list[float] = []
        self._start_epoch()

    def _start_epoch(self) -> None:
        self._begun: list[tuple[int, float]] = []  # of executions whose loss is not known: their first batch, the time
        self._means: dict[int, float] = {}  # by last batch of an execution; other threads may write here
        self._total = 0.0

    def begin(self, batch: int) -> None:
        """Batch number `batch` of this epoch begins."""
        self._begun.append((batch, time.perf_counter()))
        self._settle()

    def end(self, batch: int, mean: float) -> None:
        """The mean loss of this epoch after that batch; NaN where there is none. In any thread and any order."""
        self._means[batch] = mean

    def end_epoch(self) -> None:
        """All batches of this epoch have ended."""
        end = max(self._means, default=-1) + 1
        if self._begun and self._begun[-1][0] < end:  # else one began for which there was no data
            self.begin(end)
        self._settle()
        self._start_epoch()

    def of(self, last: int, count: int) -> tuple[float, float]:
        """Mean loss and seconds in all, of `count` batches up to number `last`."""
        some = slice(max(0, last + 1 - count), last + 1)
        return math.fsum(self.loss[some]) / len(self.loss[some]), math.fsum(self.seconds[some])

    def _settle(self) -> None:
        """An execution has one or several batches; they share what is known of it."""
        while len(self._begun) > 1 and (end := self._begun[1][0]) - 1 in self._means:
            (start, then), (_, now) = self._begun.pop(0), self._begun[0]
            total, count = self._means[end - 1] * end, end - start
            self.loss += [(total - self._total) / count] * count
            self.seconds += [(now - then) / count] * count
            self._total = total
