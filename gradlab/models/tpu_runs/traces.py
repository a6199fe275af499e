"""Training steps with everything that happens inside kept, as NumPy arrays: for pictures and for looking things up."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._base.indices import pad_to
from ..._base.jax_or_numpy import compile_with_jax, jnp, on_host, scan, tree_map
from ...tpu.batch import Batch, Lookups
from ...tpu.lookup import lookup
from ...tpu.plan import PADDING_ID
from ...tpu.state import State
from ...tpu.step_record import Sent, StepRecord
from ...tpu.update import update


class Trace(NamedTuple):
    """Steps of training, one after another along the first axis.

    Fields: lookups: the deduplication data of each table, (steps, n) each. activations, gradients:
    (steps, ...) of each feature. learning_rates: (steps, tags). states: what was before the first
    step and after each, a `State` whose arrays are (steps + 1, ...).
    """

    lookups: tuple[Lookups, ...]
    activations: tuple[np.ndarray, ...]
    gradients: tuple[np.ndarray, ...]
    learning_rates: np.ndarray
    states: State

    def refused(self) -> Trace:
        """Return the same steps if every batch is refused: nothing is looked up, and every state is the first."""
        activations, gradients = tree_map(
            lambda x: np.full_like(x, np.nan), (self.activations, self.gradients)
        )
        none = tree_map(lambda x: np.full_like(x, PADDING_ID), self.lookups)
        states = tree_map(lambda x: np.broadcast_to(x[:1], x.shape), self.states)
        return Trace(none, activations, gradients, self.learning_rates, states)

    def step(self, k: int, ids: Any) -> StepRecord:
        """One step for `explain`, with the ids that it was given."""
        before, after = (tree_map(lambda x, n=n: x[n], self.states) for n in (k, k + 1))
        return StepRecord(
            before, Sent([g[k] for g in self.gradients], self.learning_rates[k], ids), after
        )


def record(state: State, wanted: State, batches: Sequence[Batch], learning_rates: Any) -> Trace:
    """Train toward other tables, and keep what happens in every step.

        loss = sum over all activations of (activation - activation from the wanted tables) ** 2 / 2

    Args:
        wanted: a state of the same plan; its tables have no loss.
        batches: one for each step, all of one size: see `sized`.
        learning_rates: (steps, tags) floats.

    >>> from gradlab.tpu import Feature, Ids, Plan, Table, create, make_batch
    >>> plan = Plan((Table("t", 2, 1, combiner="sum", learning_rate=0.5),), (Feature("f", 0, (1,)),))
    >>> batch = make_batch(plan, {"f": Ids([0], [1])})
    >>> start, wanted = create(plan, [np.zeros((2, 1))]), create(plan, [np.ones((2, 1))])
    >>> record(start, wanted, [batch, batch], np.zeros((2, 0))).states.tables[0][:, 1, 0].tolist()
    [0.0, 0.5, 0.75]
    """
    rates = np.asarray(learning_rates, np.float32)
    together = tree_map(lambda *x: np.stack(x), *batches)
    (activations, gradients), states = on_host(_run(state, wanted, together, rates))
    first = on_host(dataclasses.replace(state, pending=None))
    states = tree_map(lambda x, xs: np.concatenate([np.asarray(x)[None], xs]), first, states)
    return Trace(together.tables, activations, gradients, rates, states)


@compile_with_jax()
def _run(state: State, wanted: State, batches: Batch, rates: Any) -> Any:
    plan = state.plan

    def step(state: State, given: Any) -> Any:
        batch, now = given
        activations, dedup = lookup(state, batch)
        gradients = tuple(a - b for a, b in zip(activations, lookup(wanted, batch)[0], strict=True))
        state = update(state, gradients, [now[k] for k in range(plan.tag_count)], dedup)
        return state, ((activations, gradients), dataclasses.replace(state, pending=None))

    if not plan.pipelined:
        return scan(step, state, (batches, rates), len(rates))[1]
    # The first step of a pipelined plan leaves another kind of state behind than it found.
    first, rest = (tree_map(lambda x, s=s: x[s], (batches, rates)) for s in (0, slice(1, None)))
    state, begun = step(state, first)
    return tree_map(
        lambda x, xs: jnp.concatenate([x[None], xs]),
        begun,
        scan(step, state, rest, len(rates) - 1)[1],
    )


def sized(batch: Batch, cores: int, rows: int, lookups: int, samples: int) -> Batch:
    """The batch with room for so many rows and lookups on each core, so that all batches share one compiled program.

    Args:
        samples: what one core gets from a table, all its features together.

    >>> batch = Batch((Lookups(np.uint32([7]), np.uint32([0]), np.uint32([1]), np.float32([0.5])),))
    >>> [x.tolist() for x in sized(batch, 1, 2, 2, samples=8).tables[0]]
    [[7, 2147483647], [0, 2], [1, 8], [0.5, 0.0]]
    """

    def each(x: Any, size: int, value: Any) -> np.ndarray:
        return np.concatenate([pad_to(one, size, value) for one in np.split(np.asarray(x), cores)])

    tables = []
    for t in batch.tables:
        past_the_end = t.unique.size // cores
        inverse = np.where(np.asarray(t.inverse) < past_the_end, t.inverse, rows).astype(np.uint32)
        tables.append(Lookups(
            each(t.unique, rows, PADDING_ID), each(inverse, lookups, rows),
            each(t.samples, lookups, samples), each(t.weights, lookups, 0),
        ))  # fmt: skip
    return Batch(tuple(tables))
