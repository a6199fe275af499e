"""TPU embeddings as TensorFlow's tests use them: gradlab's classes, sparse and ragged tensors, and
two replicas.

`Strategy.run` runs a function once for each replica, in threads. What all replicas do together
(receiving activations, sending gradients) waits until each of them is there, and is one call to
gradlab, whose arrays are those of all cores.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins.graph import Tensor, boxed, raw
from tests.originals.stand_ins.tf_ragged import RaggedTensor, SparseTensor, mapped, rows_of

REPLICAS = 2
_STRATEGY: contextvars.ContextVar[Strategy | None] = contextvars.ContextVar(
    "strategy", default=None
)
_REPLICA: contextvars.ContextVar[int | None] = contextvars.ContextVar("replica", default=None)


class PerReplica:
    """A value of each replica."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def numpy(self) -> Any:
        return np.concatenate([np.asarray(raw(x)) for x in self.values])


class Strategy:
    """`TPUStrategy` with two replicas, which are cores of gradlab's engine."""

    num_replicas_in_sync = REPLICAS

    def __init__(self, *_: Any, **__: Any) -> None:
        self._barrier, self._parts, self._done = (
            threading.Barrier(REPLICAS),
            [None] * REPLICAS,
            None,
        )

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        token = _STRATEGY.set(self)
        try:
            yield self
        finally:
            _STRATEGY.reset(token)

    def run(self, function: Callable[..., Any], args: Any = ()) -> Any:
        results: list[Any] = [None] * REPLICAS
        errors: list[BaseException] = []

        def replica(r: int) -> None:
            _STRATEGY.set(self)
            _REPLICA.set(r)
            try:
                results[r] = function(*(mapped(lambda x: _share(x, r), a) for a in args))
            except BaseException as error:
                errors.append(error)
                self._barrier.abort()

        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(replica, r), daemon=True)
            for r in range(REPLICAS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self._barrier.reset()
        if errors:
            raise next(
                (e for e in errors if not isinstance(e, threading.BrokenBarrierError)), errors[0]
            )
        return _per_replica(results)

    def together(self, part: Any, work: Callable[[list[Any]], Any]) -> Any:
        """`work` on the parts of all replicas, once; each gets what it returns."""
        r = _REPLICA.get()
        assert r is not None
        self._parts[r] = part
        if self._barrier.wait(60) == 0:
            try:
                self._done = work(list(self._parts)), None
            except Exception as error:
                self._done = None, error
        self._barrier.wait(60)
        value, error = self._done
        if error is not None:
            raise error
        return value

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        return dataset

    def experimental_local_results(self, x: Any) -> tuple[Any, ...]:
        return tuple(x.values) if isinstance(x, PerReplica) else (x,)


def _share(x: Any, r: int) -> Any:
    """The rows of a batch that one replica gets."""
    if not isinstance(x, Tensor | SparseTensor | RaggedTensor):
        return x
    rows = rows_of(x)
    count = len(rows) // REPLICAS
    return rows.of(range(r * count, (r + 1) * count))


def _per_replica(results: list[Any]) -> Any:
    first = results[0]
    if isinstance(first, list | tuple):
        return type(first)(_per_replica(list(parts)) for parts in zip(*results, strict=True))
    return first if first is None or isinstance(first, float) else PerReplica(results)


def plain(x: Any) -> Any:
    """Structures of tensors as structures of arrays, and of what gradlab reads as sparse and ragged
    ids.
    """
    if isinstance(x, SparseTensor | RaggedTensor):
        return x.plain()
    if isinstance(x, PerReplica):
        return np.asarray(x.numpy())
    return np.asarray(raw(x)) if isinstance(x, Tensor) else x


class TPUEmbedding(gl.tpu.experimental.embedding.TPUEmbedding):
    """`tpu_embedding_v2.TPUEmbedding`: an engine with two cores within a strategy, none outside."""

    def __init__(
        self, feature_config: Any, optimizer: Any, pipeline_execution_with_tensor_core: bool = False
    ) -> None:
        engine: Any = {"engine": None} if _STRATEGY.get() is None else {"num_cores": REPLICAS}
        super().__init__(feature_config, optimizer, pipeline_execution_with_tensor_core, **engine)

    def build(self, shapes: Any = None, batch_size: Any = None) -> None:
        if isinstance(shapes, int):
            shapes, batch_size = None, shapes
        super().build(shapes, batch_size)

    def enqueue(
        self,
        features: Any,
        weights: Any = None,
        training: bool = True,
        name: Any = None,
        device: Any = None,
    ) -> None:
        given = mapped(plain, features), None if weights is None else mapped(plain, weights)
        if (r := _REPLICA.get()) is None:
            super().enqueue(*given, training, name, device)
            return
        strategy = _STRATEGY.get()
        assert strategy is not None
        cores = lambda parts: [  # noqa: E731
            super(TPUEmbedding, self).enqueue(*x, training, name, k) for k, x in enumerate(parts)
        ]
        del r
        strategy.together(given, cores)

    def dequeue(self, name: Any = None) -> Any:
        strategy, r = _STRATEGY.get(), _REPLICA.get()
        if strategy is None or r is None:
            return mapped(boxed, super().dequeue(name))
        whole = strategy.together(None, lambda _: super(TPUEmbedding, self).dequeue(name))
        return mapped(lambda x: boxed(np.split(np.asarray(x), REPLICAS)[r]), whole)

    def apply_gradients(self, gradients: Any, name: Any = None) -> None:
        strategy, given = _STRATEGY.get(), mapped(plain, gradients)
        if strategy is None or _REPLICA.get() is None:
            super().apply_gradients(given, name)
            return

        def apply(parts: list[Any]) -> None:
            joined = [
                np.concatenate(x) if np.ndim(x[0]) else x[0] for x in zip(*parts, strict=True)
            ]
            super(TPUEmbedding, self).apply_gradients(type(parts[0])(joined), name)

        strategy.together(given, apply)

    @property
    def _variables(self) -> Any:
        """Tables and slots by name, as TensorFlow's tests read them."""
        return {
            table: {k: Tensor.of(x) for k, x in slots.items()}
            for table, slots in self.retrieve().items()
        }

    def _retrieve_variables(self) -> None: ...

    def _create_config_proto(self) -> Any:
        return self._configuration(self._output_shapes)

    @property
    def _output_shapes(self) -> Any:
        return self._shapes

    @_output_shapes.setter
    def _output_shapes(self, shapes: Any) -> None:
        self._shapes = [None if shape is None else tuple(shape) for shape in shapes]


class TPUEmbeddingForServing(gl.tpu.experimental.embedding.TPUEmbeddingForServing):
    """`tpu_embedding_for_serving.TPUEmbeddingForServing`."""

    def __call__(self, features: Any, weights: Any = None) -> Any:
        given = None if weights is None else mapped(plain, weights)
        return mapped(boxed, super().__call__(mapped(plain, features), given))

    @property
    def embedding_tables(self) -> Any:
        return {table: _Table(x) for table, x in super().embedding_tables.items()}

    @property
    def _variables(self) -> Any:
        return self.retrieve()


class _Table(np.ndarray):
    """A table that has `numpy()`, as TensorFlow's variables do."""

    def __new__(cls, x: Any) -> Any:
        return np.asarray(x).view(cls)

    def numpy(self) -> np.ndarray:
        return np.asarray(self)


def constant_initializer(value: Any) -> Callable[..., Any]:
    """`init_ops_v2.Constant`."""
    array = np.asarray(value)
    return lambda shape, dtype=np.float32, **_: np.broadcast_to(
        array.reshape(shape) if array.size > 1 else array, shape
    ).astype(np.float32)


@contextlib.contextmanager
def no_system() -> Iterator[None]:
    """The engine of a case is gone after it."""
    from absl import flags

    flags.FLAGS.mark_as_parsed()
    try:
        yield
    finally:
        with contextlib.suppress(gl.errors.NoSystemError):
            gl.tpu.shutdown_system()
