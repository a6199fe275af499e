"""Steps of one small table under every setting of its lab, and what there is to tell of a row."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .._base.errors import InvalidArgumentError
from ..figures.tpu_embedding import MOST_LOOKUPS
from ._tables import RULES, chances, popular, weights

STEPS, ROWS, WIDTH, SAMPLES, DEVICES = 12, 24, 4, 8, 8
_OF = (2, 1, 3, 2, 3, 1, 2, 2)  # ids of each sample
FAR, LIMIT, DECAY = 30, 0.5, 0.1  # an id that the table does not have; the limit of a gradient; the decay
LAST = {
    "ordinary": "two ids", "empty": "none: padding", "zero": "two, weights 1 and −1",
    "drop": f"id {FAR}, dropped", "clamp": f"id {FAR}, clamped", "wrap": f"id {FAR}, wrapped",
    "raise": f"id {FAR}, refused",
}  # fmt: skip
CLIPS = {"none": "not at all", "sum": f"their sum to ±{LIMIT}", "contribution": f"each to ±{LIMIT}"}
DECAYS = {
    "none": "none", "before": f"− {DECAY} w, before", "after": f"− {DECAY} w, after", "multiply": f"× {DECAY}, before",
}  # fmt: skip


class Asked(NamedTuple):
    """The ids of a batch as they come: sample, id and weight of each lookup, and whether it is made."""

    sample: np.ndarray
    id: np.ndarray
    weight: np.ndarray
    made: np.ndarray


class Run(NamedTuple):
    """All steps of one setting: what was asked for, what happened, and why it was refused, if it was."""

    asked: tuple[Asked, ...]
    trace: Any
    slots: tuple[str, ...]
    refused: str


class Moved(NamedTuple):
    """A step of a run, and the row that is looked at."""

    run: Run
    settings: dict[str, Any]
    step: int
    row: int

    @property
    def lookups(self) -> Any:
        """The deduplication data of the step, without what only fills them up."""
        one = type(self.run.trace.lookups[0])(*(x[self.step - 1] for x in self.run.trace.lookups[0]))
        real = int((one.samples < SAMPLES).sum())
        return one._replace(
            unique=one.unique[one.unique < ROWS], inverse=one.inverse[:real], samples=one.samples[:real],
            weights=one.weights[:real],
        )  # fmt: skip

    @property
    def why(self) -> Any:
        """The library's explanation of what the chosen row is after the step."""
        return _explained(self.step, self.row, **self.settings)

    @property
    def wanted(self) -> int:
        """How many lookups of the step are of the chosen row."""
        return 0 if self.run.refused else len(self.why.contributions)

    @property
    def total(self) -> np.ndarray:
        """What the rule got for the row in all its runs, before limits, (width,)."""
        return np.sum([run.total for run in self.why.runs], axis=0) if self.why.runs else np.zeros(WIDTH, np.float32)

    @property
    def distance(self) -> float:
        """How far the row moves."""
        return float(np.linalg.norm(self.why.weights_after - self.why.weights_before))

    @property
    def slots(self) -> dict[str, np.ndarray]:
        """The slots after the step, (rows, width)."""
        return {name: s[self.step] for name, s in zip(self.run.slots, self.run.trace.states.slots[0], strict=True)}


def asked(step: int, zipf: float, duplicates: float, last: str) -> Asked:
    """The ids of a step."""
    sample = np.repeat(np.arange(SAMPLES), _OF)
    first = np.searchsorted(sample, sample)
    ids = popular(chances(3, STEPS, len(sample))[step], ROWS, zipf)
    again = chances(4, STEPS, len(sample))[step] < duplicates
    ids = np.where(again, ids[first], ids)
    weight = np.ones(len(sample), np.float32)
    if last == "empty":
        sample, ids, weight = sample[: -_OF[-1]], ids[: -_OF[-1]], weight[: -_OF[-1]]
    elif last == "zero":
        weight[-1] = -1
    elif last != "ordinary":
        ids[-1] = FAR
    made = (ids < ROWS) | (last not in ("drop", "raise"))
    return Asked(sample, ids, weight, made)


@functools.lru_cache(maxsize=128)
def trained(
    rule: str, combiner: Any, learning_rate: float, zipf: float, duplicates: float, last: str, accumulate: bool,
    clip: str, decay: str,
) -> Run:  # fmt: skip
    """All steps of a setting."""
    from ..models.tpu_runs.traces import record, sized
    from ..tpu import Ids, create, make_batch

    asks = tuple(asked(k, zipf, duplicates, last) for k in range(STEPS))
    given = [{"id": Ids(a.sample, a.id, a.weight)} for a in asks]
    plan = _plan(rule, combiner, accumulate, clip, decay, last if last in ("clamp", "wrap") else "drop")
    batches = [sized(make_batch(plan, ids), 1, MOST_LOOKUPS, MOST_LOOKUPS, SAMPLES) for ids in given]
    begin, end = weights(ROWS, WIDTH)
    rates = np.stack([np.full(STEPS, learning_rate), np.arange(1, STEPS + 1)], axis=1)[:, : plan.tag_count]
    trace = record(create(plan, [begin]), create(plan, [end]), batches, rates)
    refused = _refusal(given[0]) if last == "raise" else ""
    return Run(asks, trace.refused() if refused else trace, tuple(plan.tables[0].rule.slots), refused)


@functools.lru_cache(maxsize=512)
def _explained(step: int, row: int, **settings: Any) -> Any:
    from ..tpu import Ids, explain

    run = trained(**settings)
    now = run.asked[step - 1]
    return explain(run.trace.step(step - 1, {"id": Ids(now.sample, now.id, now.weight)}), row=row)


def _refusal(ids: Any) -> str:
    """What is said of ids that are refused."""
    from ..tpu import make_batch

    try:
        make_batch(_plan("sgd", "sum", True, "none", "none", "raise"), ids)
    except InvalidArgumentError as error:
        return str(error)
    return ""


@functools.cache
def _plan(rule: str, combiner: Any, accumulate: bool, clip: str, decay: str, outside: Any) -> Any:
    from ..tpu import Feature, Plan, Policy, Table, Tag

    table = Table(
        "words", ROWS, WIDTH, RULES[rule][1], Tag(0), combiner,
        gradient_limits=(None, None) if clip == "none" else (-LIMIT, LIMIT),
        weight_decay=0.0 if decay == "none" else DECAY, accumulate=accumulate,
        step_counter=Tag(1) if rule == "frequency_aware" else None,
    )  # fmt: skip
    policy = Policy(
        out_of_range=outside,
        gradient_clip_place="contribution" if clip == "contribution" else "sum",
        weight_decay_place="after" if decay == "after" else "before",
        weight_decay_kind="multiply" if decay == "multiply" else "subtract",
    )
    return Plan((table,), (Feature("id", 0, (SAMPLES,)),), policy=policy)
