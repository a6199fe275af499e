"""A recorder on a Keras 3 model: gradients as they come to the optimizer's clip, measured in the compiled step."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._base.extras import need
from ....errors import InvalidArgumentError, RecordingWarning, warn
from ... import Recorder
from ...analysis.noise import SCALARS
from ..attachment import Attached
from .batches import Batches, Made
from .ring import Ring, backend
from .taps import LossTap, OptimizerTap, check_optimizer

_MARK = "_gradlab_recording"  # on an optimizer that is recorded


def record(
    recorder: Recorder,
    model: Any = None,
    *,
    every: int = 64,
    weights: bool = False,
    noise_scale: bool = False,
) -> Any:
    """A callback for `model.fit` of Keras 3, whatever its backend: it records the gradients of every step.

    They are measured inside the compiled step, where the optimizer clips, before it does: unscaled,
    and with `gradient_accumulation_steps` the mean of the micro-batches, one step for each update.
    On several devices they are those of the whole batch: with TensorFlow's strategies summed over
    the replicas, each of which clips its own part. A step that a `train_step` of your own leaves
    out, by not calling the optimizer, has no row. A step that LossScaleOptimizer skips is recorded
    as skipped, with its scale and the tensors that hold NaN or Inf. A variable without a gradient
    has norm 0 in that step. No step calls back or waits; every `every` steps, and after each epoch,
    they are read. While it records, the optimizer has some variables more, which are not saved, and
    the train step is compiled again; after `fit` all is as before. Gradients that TensorFlow keeps
    as slices, those of embeddings, are made dense to be measured.

    "loss" is what the step differentiates, before it is scaled, of each batch alone: not the
    running mean that Keras shows. Of several replicas, and of accumulated batches, it is the mean.
    It is NaN, not known, in a `train_step` of your own that does not call `compute_loss` once (JAX:
    that does not hand one loss to Keras's metrics).

    For `train_on_batch` give the model, too: what is returned records it from then on, until its
    `close()`; it is a context manager.

    Args:
        recorder: takes the steps; the tensors' names are the variables' paths.
        model: a compiled model that is trained with `train_on_batch`.
        every: steps between two hand-overs to the recorder.
        weights: norms of weights and updates as well, in every `recorder.sample_every`-th step:
            `Recorder.updates`. They are compared within the step, which may cost a copy of the
            weights.
        noise_scale: norms of the micro-batches of `gradient_accumulation_steps` as well:
            `Recorder.noise_scale`.

    Raises:
        TypeError: a model, in `fit` as well, that is not Keras 3's, such as tf_keras's: write the
            loop yourself there, with `recorder.record(zip(gradients, variables), loss=loss)`.
        ValueError: every < 1; a model that is not compiled; a recorder that holds other tensors;
            two recordings in one fit; `gradient_accumulation_steps`, or weights=True, on several
            replicas of TensorFlow; noise_scale=True without `gradient_accumulation_steps`.
        ImportError: Keras is missing.
        NotImplementedError: in `fit`, a version of Keras without the private parts that this needs.

    Not in TensorFlow.

    >>> import keras
    >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, name="out", use_bias=False)], name="net")
    >>> model.compile(keras.optimizers.SGD(0.1, clipnorm=1e-3), "mse")
    >>> rec = Recorder()
    >>> _ = model.fit(np.ones((8, 2)), np.full(8, 9.0), 4, verbose=0, callbacks=[record(rec)])
    >>> rec
    <gradlab.Recorder: 2 steps of net/out/kernel and loss>
    >>> with record(rec, model):
    ...     _ = model.train_on_batch(np.ones((4, 2)), np.full(4, 9.0))
    >>> rec.seen
    3
    """
    if every < 1:
        raise InvalidArgumentError(f"every must be >= 1, got {every}")
    recording = _class()(recorder, every, weights, noise_scale)
    if model is not None:
        recording.set_model(model)
        recording.attach()
        recording._join()
    return recording


@functools.cache
def _class() -> type:
    return type("Recording", (_Recording, need("keras.callbacks", "gl.record.keras").Callback), {})


class _Recording(Attached[Recorder]):
    """The callback's methods; Keras's own base class is joined to it when Keras is there."""

    # on_train_batch_end only writes a number down, so that no step waits for its logs.
    async_safe = True
    params: dict[str, Any] | None
    _model: Any
    _waiting: tuple[
        dict[str, np.ndarray], list[list[int]]
    ]  # steps, and which batches each is made of

    def __init__(self, recorder: Recorder, every: int, weights: bool, noise_scale: bool) -> None:
        super().__init__()
        self.recorder, self._every, self._weights, self._noise_scale = (
            recorder,
            every,
            weights,
            noise_scale,
        )
        self._attached = False

    def set_model(self, model: Any) -> None:
        import keras

        if not isinstance(model, keras.Model):
            raise TypeError(
                f"gl.record.keras is for models of Keras 3, got one of {type(model).__module__}; "
                "in a loop of yours, recorder.record(zip(gradients, model.trainable_variables), "
                "loss=loss) does the same"
            )
        if self._attached and model is not self._model:
            raise InvalidArgumentError(
                "this recording is of another model; make another with gl.record.keras"
            )
        super().set_model(model)  # type: ignore[misc]
        self._model = model

    def attach(self) -> None:
        """Record the steps of the model from here on."""
        outer = getattr(self._model, "optimizer", None)
        if outer is None:
            raise InvalidArgumentError(
                "the model has no optimizer: compile it with one before it is recorded"
            )
        inner = _inner(outer)
        check_optimizer(outer, inner)
        self._check_places(inner)
        self._take_over(inner)
        variables = list(self._model.trainable_variables) if _is_built(self._model) else None
        if variables is None and backend() != "tensorflow":
            raise InvalidArgumentError(
                "the model has no variables yet: call it on a batch of data before"
            )
        self._executed = self._model.steps_per_execution
        self._room = self._size = max(self._every, self._executed)
        self._batches, self._waiting = Batches(), ({}, [])
        self._tap = OptimizerTap(outer, inner, self._begin, variables)
        self._losses = LossTap(self._model, lambda: self._tap.ring)
        self._made = Made(self._tap.taken())
        self._inner, self._attached, self._by_batch, self._numbered = inner, True, False, True
        vars(inner)[_MARK] = self
        vars(self._model)["train_on_batch"] = self._one_batch(self._model.train_on_batch)
        self._model.make_train_function(force=True)

    def close(self) -> Recorder:
        """Hand over the last steps, leave the model as it was, and return the recorder."""
        if self._attached:
            try:
                self._read()
            finally:
                self._detach()
        self._leave()
        return self.recorder

    def flush(self) -> Recorder:
        """Hand over the steps so far, and return the recorder."""
        if self._attached:
            self._read()
        return self.recorder

    def _detach(self) -> None:
        self._attached = False
        self._tap.close()
        self._losses.close()
        vars(self._inner).pop(_MARK, None)
        vars(self._model).pop("train_on_batch", None)
        self._model.make_train_function(force=True)

    def _take_over(self, inner: Any) -> None:
        """End an earlier recording of this optimizer, that of a fit that broke off or of a cell
        that ran before.
        """
        earlier = vars(inner).get(_MARK)
        if earlier is None:
            return
        if earlier.params is not None and earlier.params is self.params:
            raise InvalidArgumentError(
                "one fit has two recordings of the same optimizer; give it one of them"
            )
        if earlier.params is None:
            earlier.close()
            warn("this optimizer was recorded before; that recording is closed", RecordingWarning)
        else:
            earlier._detach()

    def _check_places(self, inner: Any) -> None:
        """Refuse what Keras itself cannot do, or what is measured nowhere."""
        if inner.gradient_accumulation_steps and _replicas(self._model) > 1:
            raise InvalidArgumentError(
                "gradient_accumulation_steps on several replicas of TensorFlow cannot be recorded; "
                "leave it out and make batches larger, or use the backend jax with "
                "keras.distribution"
            )

        if self._weights and _replicas(self._model) > 1:
            raise InvalidArgumentError(
                "weights on several replicas of TensorFlow cannot be recorded; leave weights out"
            )
        if self._noise_scale and not inner.gradient_accumulation_steps:
            raise InvalidArgumentError(
                "noise_scale compares micro-batches: give the optimizer "
                "gradient_accumulation_steps, or leave it out"
            )

    def _begin(self, variables: Sequence[Any]) -> Ring:
        """Make room, now that the variables are known."""
        try:
            self.recorder.prepare(
                {v.path: v.shape for v in variables}, ["loss", *SCALARS * self._noise_scale]
            )
            if self._weights:
                self.recorder.sampler.ensure_columns()
        except ValueError:
            if self._attached:  # inside a step
                self._detach()
            raise
        inner = _inner(self._model.optimizer)
        micro_batches = inner.gradient_accumulation_steps if self._noise_scale else 0
        return Ring(inner, self.recorder.layout, self._size, self._weights, micro_batches)

    def _one_batch(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def train_on_batch(*args: Any, **kwargs: Any) -> Any:
            # So what callbacks are told, if somebody calls them, counts no batch.
            self._by_batch = True
            self._make_room()
            begun = time.perf_counter()
            result = original(*args, **kwargs)
            self._batches.add(time.perf_counter() - begun)
            return result

        return train_on_batch

    def _make_room(self) -> None:
        if self._room < self._executed:
            self._read()
        self._room -= self._executed

    def on_train_begin(self, logs: Any = None) -> None:
        if self._attached:
            raise InvalidArgumentError(
                "this recording is attached already; in fit give gl.record.keras(recorder)"
            )
        self.attach()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        if not self._by_batch:
            self._batches.begin(batch)
            self._make_room()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        steps = (self.params or {}).get("steps")
        # The last execution may be a short one.
        last = batch if steps is None else min(batch, steps - 1)
        self._batches.end(last)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if not self._by_batch:
            self._batches.end_epoch()
        self._read()
        self._batches.align()
        self._made.restart(self._tap.taken(), self._batches.executed)
        self._numbered = True  # where steps are no batches in one epoch, they may be in the next

    def on_train_end(self, logs: Any = None) -> None:
        self._detach()

    def _read(self) -> None:
        """Hand over the steps in the ring; those wait for the next time whose batches are not known
        yet.
        """
        self._room = self._size
        if self._tap.ring is None:
            return
        if backend() == "jax":
            self._model.jax_state_sync()
        columns = self._tap.ring.drain()
        self._batches.loss += self._tap.ring.losses()
        made = self._made.of(columns.pop("before"), columns["skipped"])
        self._compare(self._made.count(self._tap.taken()))
        columns["loss"], columns["seconds"] = np.full((2, len(made)), np.nan)
        steps = {
            name: np.concatenate([self._waiting[0].get(name, x[:0]), x])
            for name, x in columns.items()
        }
        made = self._waiting[1] + made
        n = (
            sum(some[-1] < len(self._batches.seconds) for some in made)
            if self._numbered
            else len(made)
        )
        if n and self._numbered:
            steps["loss"][:n], steps["seconds"][:n] = np.transpose(
                [self._batches.of(some) for some in made[:n]]
            )
        self._waiting = {name: x[n:] for name, x in steps.items()}, made[n:]
        if n:
            self._hand_over({name: x[:n] for name, x in steps.items()})

    def _hand_over(self, steps: dict[str, np.ndarray]) -> None:
        recorder, moved = self.recorder, steps.pop("moved", None)
        first = recorder.seen
        recorder.extend(steps)
        if moved is None:
            return
        for k in np.flatnonzero(moved.any(axis=(1, 2))):
            if first + k >= recorder.sampler.next_due:
                recorder.sampler.append_if_moved(
                    first + int(k), np.stack([steps["norm"][k], *moved[k]])
                )

    def _compare(self, applied: int) -> None:
        """Warn if the optimizer was not called once for each batch: then which step is of which
        batch is not known.
        """
        if self._numbered and applied != self._batches.executed:
            self._numbered = False
            warn(
                f"the optimizer was called {applied} times in {self._batches.executed} batches: "
                "the loss and the time of these steps are not known",
                RecordingWarning,
            )


def _inner(optimizer: Any) -> Any:
    """The optimizer that clips and steps, which LossScaleOptimizer has inside."""
    return getattr(optimizer, "inner_optimizer", optimizer)


def _is_built(model: Any) -> bool:
    """Tell whether all variables are there.

    On TensorFlow a subclassed model gets them within its first step.
    """
    return bool(model.trainable_variables) and all(layer.built for layer in model._flatten_layers())


def _replicas(model: Any) -> int:
    """Return how many replicas of TensorFlow train a model."""
    strategy = getattr(model, "distribute_strategy", None)
    return strategy.num_replicas_in_sync if strategy else 1
