"""`make_batch` for either engine: that of TPU v2 to v4 ("classic"), or the SparseCores of v5p and later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._base.options import check_choice
from . import batch, sparsecore
from .batch import Batch, Cores
from .plan import Plan

Engine = Callable[..., Batch]  # what the host makes of a plan and the ids of all cores
ENGINES: dict[str, Engine] = {
    "classic": batch.make_classic_batch,
    "sparsecore": sparsecore.make_batch,
}


def engine_of(engine: str | Engine) -> Engine:
    """Return the function that stands for an engine, by name or itself."""
    if callable(engine):
        return engine
    check_choice("engine", engine, tuple(ENGINES))
    return ENGINES[engine]


def make_batch(plan: Plan, cores: Cores, engine: str | Engine = "classic", **options: Any) -> Batch:
    """Prepare a batch for `lookup`: gains by the combiner, ids by the policy, distinct rows of each core and table.

    Args:
        cores: for each core of the plan, the ids by feature name; a mapping alone is that of the
            only core. A feature that is left out looks nothing up.
        engine: "classic", or "sparsecore": the same lookups, sorted, merged and held to limits as
            SparseCores do; or a function in the place of one.
        options: those of `sparsecore.preprocess`, for that engine.

    Raises:
        InvalidArgumentError: an id outside its table, where the policy raises; samples that the
            feature does not have, lengths that differ; weights that sum to 0, where the policy
            raises. It names table, feature, sample and id.
        ValueError: another number of cores, a feature that the plan does not have, or an unknown
            engine.
        TypeError: an option that the engine does not have.

    Not in TensorFlow, whose host does this behind op `EnqueueTPUEmbeddingSparseBatch` and shows
    none of it.

    >>> from gradlab.tpu import Feature, Ids, Plan, Table
    >>> plan = Plan((Table("t", 10, 1, combiner="sum"),), (Feature("f", 0, (2,)),))
    >>> ids = {"f": Ids([0, 0, 0], [7, 3, 7])}
    >>> make_batch(plan, ids).tables[0].weights.tolist()
    [1.0, 1.0, 1.0]
    >>> make_batch(plan, ids, "sparsecore", per_core=2).tables[0].weights.tolist()
    [1.0, 2.0]
    """
    return engine_of(engine)(plan, cores, **options)
