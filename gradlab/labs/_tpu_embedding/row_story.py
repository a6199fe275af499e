"""The steps of a small table, and why a row moved in one of them."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ..._base.numbers import number, signed
from ...errors import InvalidArgumentError
from .._one_table import FAR, ROWS, RULES, SAMPLES, STEPS, WIDTH, BatchIds, asked, folded, weights
from .picture import MOST_LOOKUPS

LIMIT = 0.5  # of a gradient
DECAY = 0.1
LAST = {
    "ordinary": "two ids", "empty": "none: padding", "zero": "two, weights 1 and −1",
    "drop": f"id {FAR}, dropped", "clamp": f"id {FAR}, clamped", "wrap": f"id {FAR}, wrapped",
    "raise": f"id {FAR}, refused",
}  # fmt: skip
CLIPS = {"none": "not at all", "sum": f"their sum to ±{LIMIT}", "contribution": f"each to ±{LIMIT}"}
DECAYS = {
    "none": "none",
    "before": f"− {DECAY} w, before",
    "after": f"− {DECAY} w, after",
    "multiply": f"× {DECAY}, before",
}

# What rules take from a row, of its sum and of its first slot after the step; of the others the
# picture tells the name.
FORMULAS: dict[str, tuple[str, ...]] = {
    "sgd": ("− rate × sum",),
    "momentum": ("− rate × memory",),
    "adagrad": ("− rate × sum", "÷ √memory"),
    "bounded_adagrad": ("− rate × sum", "÷ √memory before"),
    "rms_prop": ("− rate × sum", "÷ √memory"),
}


class TableRun(NamedTuple):
    """All steps of one setting: what was asked for, what happened, and why it was refused, if it was."""

    asked: tuple[BatchIds, ...]
    trace: Any
    slots: tuple[str, ...]
    refused: str


class Moved(NamedTuple):
    """A step of a run, and the row that is looked at."""

    run: TableRun
    settings: dict[str, Any]
    step: int
    row: int

    @property
    def lookups(self) -> Any:
        """The deduplication data of the step, without what only fills them up."""
        one = type(self.run.trace.lookups[0])(
            *(x[self.step - 1] for x in self.run.trace.lookups[0])
        )
        real = int((one.samples < SAMPLES).sum())
        return one._replace(
            unique=one.unique[one.unique < ROWS],
            inverse=one.inverse[:real],
            samples=one.samples[:real],
            weights=one.weights[:real],
        )

    @property
    def why(self) -> Any:
        """The library's explanation of what the chosen row is after the step."""
        return _explained(self.step, self.row, **self.settings)

    @property
    def wanted(self) -> int:
        """The number of the step's lookups of the chosen row."""
        return 0 if self.run.refused else len(self.why.contributions)

    @property
    def total(self) -> np.ndarray:
        """The sum that the rule got for the row in all its runs, before limits, (width,)."""
        return (
            np.sum([run.total for run in self.why.runs], axis=0)
            if self.why.runs
            else np.zeros(WIDTH, np.float32)
        )

    @property
    def distance(self) -> float:
        """The distance that the row moves."""
        return float(np.linalg.norm(self.why.weights_after - self.why.weights_before))

    @property
    def slots(self) -> dict[str, np.ndarray]:
        """The slots after the step, (rows, width)."""
        return {
            name: s[self.step]
            for name, s in zip(self.run.slots, self.run.trace.states.slots[0], strict=True)
        }


@functools.lru_cache(maxsize=128)
def trained(
    rule: str,
    combiner: Any,
    learning_rate: float,
    zipf: float,
    duplicates: float,
    last: str,
    accumulate: bool,
    clip: str,
    decay: str,
) -> TableRun:
    """All steps of a setting."""
    from ...models.tpu_runs.traces import record, sized
    from ...tpu import Ids, create, make_batch

    asks = tuple(asked(k, zipf, duplicates, last) for k in range(STEPS))
    given = [{"id": Ids(a.sample, a.id, a.weight)} for a in asks]
    plan = _plan(
        rule, combiner, accumulate, clip, decay, last if last in ("clamp", "wrap") else "drop"
    )
    batches = [
        sized(make_batch(plan, ids), 1, MOST_LOOKUPS, MOST_LOOKUPS, SAMPLES) for ids in given
    ]
    begin, end = weights(ROWS, WIDTH)
    rates = np.stack([np.full(STEPS, learning_rate), np.arange(1, STEPS + 1)], axis=1)[
        :, : plan.tag_count
    ]
    trace = record(create(plan, [begin]), create(plan, [end]), batches, rates)
    refused = _refusal(given[0]) if last == "raise" else ""
    return TableRun(
        asks, trace.refused() if refused else trace, tuple(plan.tables[0].rule.slots), refused
    )


@functools.lru_cache(maxsize=512)
def _explained(step: int, row: int, **settings: Any) -> Any:
    from ...tpu import Ids, explain

    run = trained(**settings)
    now = run.asked[step - 1]
    return explain(run.trace.step(step - 1, {"id": Ids(now.sample, now.id, now.weight)}), row=row)


def _refusal(ids: Any) -> str:
    """Return what is said of ids that are refused."""
    from ...tpu import make_batch

    try:
        make_batch(_plan("sgd", "sum", True, "none", "none", "raise"), ids)
    except InvalidArgumentError as error:
        return str(error)
    return ""


@functools.cache
def _plan(rule: str, combiner: Any, accumulate: bool, clip: str, decay: str, outside: Any) -> Any:
    from ...tpu import Feature, Plan, Policy, Table, Tag

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


class StoryLine(NamedTuple):
    """One line of a row's story: what it is, its numbers (none: words only), and whether it is a result."""

    words: str
    values: np.ndarray | None = None
    result: bool = False


MOST = 6  # contributions that are told one by one


def in_a_sentence(trace: Moved) -> str:
    """In a sentence or two; the first is the library's."""
    if trace.run.refused:
        return "Nothing is looked up and no row moves."
    why = trace.why
    if not why.contributions:
        return str(why.headline)
    samples = ", ".join(map(str, dict.fromkeys(one.sample for one in why.contributions)))
    where = f"{'samples' if ',' in samples else 'sample'} {samples}"
    return (
        f"{why.headline} Gradients of {where} sum to ({listed(trace.total)}) and move it by "
        f"{number(trace.distance)}."
    )


def story(trace: Moved) -> list[StoryLine]:
    """Return the same, number by number."""
    if trace.run.refused:
        return [StoryLine(words) for words in folded(trace.run.refused, 50)]
    why, row = trace.why, f"row {trace.row}"
    lines = [
        StoryLine(f"sample {one.sample} × {signed(f'{one.gain:.2f}')}", one.product)
        for one in why.contributions
    ]
    if len(lines) > MOST:
        rest = np.sum([one.product for one in why.contributions[MOST - 1 :]], axis=0)
        lines = [*lines[: MOST - 1], StoryLine(f"{len(lines) - MOST + 1} more", rest)]
    if not lines:
        lines = [StoryLine(f"No id asks for {row}.")]
    elif len(why.runs) > 1:
        lines += [StoryLine(f"one update for each, {len(why.runs)} in all")]
    else:
        lines += [StoryLine("their sum", why.runs[0].total, True)]
    for run in why.runs[:1] if len(why.runs) == 1 else ():
        lines += [StoryLine(f"clipped to ±{LIMIT}", run.gradient, True)] * run.clipped
        lines += [StoryLine("decay takes", run.decay)] * bool(run.decay.any())
    lines += [
        StoryLine(f"{row} before", why.weights_before),
        StoryLine(f"{row} after", why.weights_after, True),
    ]
    return lines + [StoryLine(f"{name} after", x) for name, x in why.slots_after.items()]


def listed(values: Any) -> str:
    """Numbers in a row."""
    return ", ".join(number(float(v)) for v in values)
