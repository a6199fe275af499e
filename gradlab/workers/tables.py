"""The problem whose weights are tables of a `gl.tpu.Plan`: a batch reads some rows and moves those alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.arrays import Array, quiet
from .._base.derivatives import differentiator
from .._base.slices import IndexedSlices
from ..errors import InvalidArgumentError
from .rows import Rows, count_rows_of_shard, take_rows
from .validation import check_finite

if TYPE_CHECKING:
    from ..tpu import Batch, Plan

Activations = tuple[np.ndarray, ...]
_BLOCK = 1024  # rows that a generator of their own draws


@dataclass(frozen=True)
class Tables:
    """Embedding tables that several workers train: the plan says which there are, a loss says what of.

        activations = for each feature its rows, combined
        gradient of a row = sum over its lookups of weight * dL/da

    Args:
        plan: a `gl.tpu.Plan` of one core; its tables move by their own rules and rates, and lazily:
            rows that a batch does not name stay as they are.
        draw: function (rng) -> (ids of each feature by its name, batch), where the batch is the
            rest of what `loss_of` needs.
        loss_of: function (activations, batch) -> scalar; activations are a tuple, one array for
            each feature.
        watch: a result of `draw`, whose loss is watched.
        gradient_of: function (activations, batch) -> the loss's derivatives by the activations, one
            for each feature. None: JAX takes them, or autograd where there is no JAX.
        scale: tables start with `scale` times standard normal numbers of `seed`.

    Rows are NumPy arrays and sums are NumPy's, in the order of the lookups, so that a row has the
    same bits on every machine, whatever the other rows. The gradient of a table is IndexedSlices,
    each row once.

    Not in TensorFlow, whose parameter servers hold tables as variables like any other.

    Raises:
        ValueError: a plan of several cores, a pipelined one, one that clips each contribution,
            rates that come with each step, rules that move every row, or a scale that isn't a
            number.

    >>> from gradlab.tpu import Feature, Ids, Plan, Table
    >>> plan = Plan((Table("words", 100, 2, learning_rate=0.5),), (Feature("word", 0, (4,)),))
    >>> def draw(rng):
    ...     return {"word": Ids(range(4), rng.integers(100, size=4))}, np.float32(1.0)
    >>> problem = Tables(plan, draw, lambda a, goal: ((a[0] - goal) ** 2).mean(), draw(np.random.default_rng(0)))
    >>> from gradlab.workers import Experiment, run
    >>> trace = run(Experiment(problem, workers=2, gradients=60, staleness=1))
    >>> problem.loss(trace.weights) < problem.loss(problem.start())
    True
    """

    plan: Plan
    draw: Callable[[np.random.Generator], tuple[Mapping[str, Any], Any]]
    loss_of: Callable[[Any, Any], Any]
    watch: tuple[Mapping[str, Any], Any]
    gradient_of: Callable[[Any, Any], Sequence[Any]] | None = None
    scale: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        check_finite("scale", self.scale)
        if self.plan.cores != 1 or self.plan.pipelined:
            raise InvalidArgumentError(
                "workers are the cores here: give a plan of cores=1 that is not pipelined, not "
                f"{self.plan.cores} with pipelined={self.plan.pipelined}"
            )
        if self.plan.policy.gradient_clip_place != "sum":
            raise InvalidArgumentError(
                "workers send a row's sum, so limits are of it: gradient_clip_place='sum'"
            )
        for table in self.plan.tables:
            if table.tags:
                raise InvalidArgumentError(
                    f"table {table.name!r} needs a rate that is fixed: workers have no step"
                )
            if not (table.rule.lazy and table.accumulate):
                raise InvalidArgumentError(
                    f"table {table.name!r} needs a lazy rule and accumulate=True: only rows that "
                    "are named move"
                )

    def start(self) -> dict[str, Array]:
        return self.start_of_shard(0, 1)

    def start_of_shard(self, shard: int, shards: int) -> dict[str, Array]:
        """The rows of `start` that a shard has, of which no more is made than a block at a time."""
        return {
            table.name: self._start(k, shard, shards) for k, table in enumerate(self.plan.tables)
        }

    def rows(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The ids of the rows that the batch of this generator reads: int32, ascending, for each table."""
        return self._ids(self._batch(self.draw(rng)[0]))

    def gradient(
        self, weights: Mapping[str, Array | Rows], rng: np.random.Generator
    ) -> dict[str, IndexedSlices]:
        """The gradient of each table, of rows of it or of all of it."""
        ids, batch = self.draw(rng)
        lookups = self._batch(ids)
        activations = self._activations(weights, lookups)
        return self._rows_of(lookups, self._derivatives(activations, batch))

    @quiet
    def loss(self, weights: Mapping[str, Array | Rows]) -> float:
        ids, batch = self.watch
        return float(self.loss_of(self._activations(weights, self._batch(ids)), batch))

    def _start(self, k: int, shard: int, shards: int) -> np.ndarray:
        table = self.plan.tables[k]
        start = np.empty((count_rows_of_shard(table.rows, shard, shards), table.width), np.float32)
        filled = 0
        for first in range(0, table.rows, _BLOCK):
            size = min(_BLOCK, table.rows - first), table.width
            block = np.random.default_rng([self.seed, k, first // _BLOCK]).standard_normal(
                size, np.float32
            )
            rows = block[(shard - first) % shards :: shards]
            np.multiply(rows, np.float32(self.scale), out=start[filled : filled + len(rows)])
            filled += len(rows)
        return start

    def _batch(self, ids: Mapping[str, Any]) -> Batch:
        # Which brings JAX where it is installed; only those with tables need it.
        from ..tpu import make_batch

        return make_batch(self.plan, ids)

    def _ids(self, lookups: Batch) -> dict[str, np.ndarray]:
        """Return the ids of the rows, by table, without the padding of a batch, whose ids are past
        the table's end.
        """
        pairs = zip(self.plan.tables, lookups.tables, strict=True)
        return {table.name: t.unique[t.unique < table.rows].astype(np.int32) for table, t in pairs}

    def _activations(self, weights: Mapping[str, Array | Rows], lookups: Batch) -> Activations:
        from ..tpu.lookup import split_features, sum_rows
        from ..tpu.storage import quantize

        outputs: list[Array] = []
        ids = self._ids(lookups)
        for k, (table, t) in enumerate(zip(self.plan.tables, lookups.tables, strict=True)):
            rows = np.asarray(take_rows(weights[table.name], ids[table.name]))
            if table.levels is not None:
                rows = np.asarray(quantize(rows, *table.levels))
            outputs.append(
                sum_rows(self.plan.samples_of(k), rows, t.inverse, t.samples, t.weights)[None]
            )
        return tuple(map(np.asarray, split_features(self.plan, outputs)))

    def _derivatives(self, activations: Activations, batch: Any) -> list[np.ndarray]:
        gradient_of = self.gradient_of or _derivative(self.loss_of)
        derivatives = gradient_of(activations, batch)
        expected = [a.shape for a in activations]
        shapes = [np.shape(g) for g in derivatives]
        if shapes != expected:
            raise InvalidArgumentError(
                f"gradient_of must return arrays like the activations, {expected}; got {shapes}"
            )
        return [np.asarray(g, np.float32) for g in derivatives]

    def _rows_of(self, lookups: Batch, derivatives: list[np.ndarray]) -> dict[str, IndexedSlices]:
        from ..tpu.lookup import sum_rows

        gradient = {}
        ids = self._ids(lookups)
        for k, (table, t) in enumerate(zip(self.plan.tables, lookups.tables, strict=True)):
            parts = [derivatives[f].reshape(-1, table.width) for f in self.plan.features_of(k)]
            of_table = np.concatenate([np.zeros((0, table.width), np.float32), *parts])
            sums = sum_rows(len(ids[table.name]), of_table, t.samples, t.inverse, t.weights)
            gradient[table.name] = IndexedSlices(sums, ids[table.name], (table.rows, table.width))
        return gradient


@lru_cache(maxsize=32)
def _derivative(loss_of: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Sequence[Any]]:
    value_and_gradient = differentiator().value_and_gradient(loss_of, False)
    return lambda activations, batch: value_and_gradient(activations, batch)[1]
