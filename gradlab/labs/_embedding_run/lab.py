"""Parts of the embedding labs: rules, popular ids, steps of one small table, and why a row moved."""

from __future__ import annotations

import functools
from typing import Any, Literal, NamedTuple

import numpy as np

from ... import rules
from ..._base.numbers import number, signed
from ...errors import InvalidArgumentError
from ...live import LiveFigure
from ...rules import Rule
from .picture import MOST_LOOKUPS

# Every optimizer that trains a table. Numbers are TensorFlow's defaults for TPUs; those that have
# none are moderate.
RULES: dict[str, tuple[str, Rule]] = {
    "sgd": ("SGD", rules.StochasticGradientDescent()),
    "momentum": ("Momentum", rules.Momentum(0.9)),
    "adagrad": ("Adagrad", rules.Adagrad(0.1, epsilon=0.0)),
    "adagrad_momentum": (
        "Adagrad with momentum",
        rules.AdagradMomentum(0.9, initial_accumulator_value=0.1),
    ),
    "bounded_adagrad": ("Bounded Adagrad", rules.BoundedAdagrad(max_accumulator=2.0)),
    "proximal_adagrad": (
        "Proximal Adagrad",
        rules.ProximalAdagrad(0.1, l1_regularization_strength=0.1),
    ),
    "frequency_aware": ("Frequency-aware Adagrad", rules.FrequencyAwareAdagrad()),
    "adadelta": ("Adadelta", rules.Adadelta(epsilon=1e-3)),
    "rms_prop": ("RMSProp", rules.RMSProp(initial_rms=0.0)),
    "centered_rms_prop": ("Centered RMSProp", rules.CenteredRMSProp(initial_rms=1.0)),
    "adam": ("Adam, as tables have it", rules.Adam(bias_correction=False)),
    "adam_corrected": ("Adam, bias corrected", rules.Adam()),
    "proximal_yogi": ("Proximal Yogi", rules.ProximalYogi()),
    "lion": ("Lion", rules.Lion()),
    "ftrl": ("FTRL", rules.Ftrl()),
    "online_yogi": ("Online Yogi", rules.OnlineYogi()),
    "mdl_adagrad_light": ("MDL Adagrad Light", rules.MdlAdagradLight()),
}

TableRule = Literal[
    "sgd",
    "momentum",
    "adagrad",
    "adagrad_momentum",
    "bounded_adagrad",
    "proximal_adagrad",
    "frequency_aware",
    "adadelta",
    "rms_prop",
    "centered_rms_prop",
    "adam",
    "adam_corrected",
    "proximal_yogi",
    "lion",
    "ftrl",
    "online_yogi",
    "mdl_adagrad_light",
]

# What rules take from a row, of its sum and of its first slot after the step; of the others the
# picture tells the name.
FORMULAS: dict[str, tuple[str, ...]] = {
    "sgd": ("− rate × sum",),
    "momentum": ("− rate × memory",),
    "adagrad": ("− rate × sum", "÷ √memory"),
    "bounded_adagrad": ("− rate × sum", "÷ √memory before"),
    "rms_prop": ("− rate × sum", "÷ √memory"),
}


def labeled() -> list[tuple[str, str]]:
    """The options of a menu of rules."""
    return [(name, label) for name, (label, _) in RULES.items()]


def choosing(live: LiveFigure, rows: int) -> LiveFigure:
    """Tie the control "row" to the selection: a click moves the control, which moves the selection."""

    def look(change: Any) -> None:
        if change.new is not None and change.new < rows:
            live.set(row=change.new)

    def follow(change: Any) -> None:
        if live.selected is not None:
            live.selected = change.new

    live.observe(look, names="selected")
    live.observe(follow, names="row")
    return live


def popular(chance: np.ndarray, rows: int, zipf: float) -> np.ndarray:
    """Ids for numbers in [0, 1): row r is wanted in proportion to (r + 1) ** -zipf."""
    share = np.cumsum(np.arange(1.0, rows + 1) ** -zipf)
    return np.searchsorted(share / share[-1], chance, side="right").clip(max=rows - 1)


@functools.cache
def chances(seed: int, *shape: int) -> np.ndarray:
    """Return the same numbers in [0, 1) every time, so that ids change little when a knob is moved a little."""
    return np.random.default_rng(seed).random(shape)


@functools.cache
def weights(rows: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A table to begin with, and the one to learn; numbers with two digits."""
    rng = np.random.default_rng(seed)
    begin, end = rng.normal(0, 0.4, (rows, width)), rng.normal(0, 0.8, (rows, width))
    return np.round(begin, 2).astype(np.float32), np.round(end, 2).astype(np.float32)


STEPS, ROWS, WIDTH, SAMPLES, DEVICES = 12, 24, 4, 8, 8
_OF = (2, 1, 3, 2, 3, 1, 2, 2)  # ids of each sample
# An id that the table does not have; the limit of a gradient; the decay.
FAR, LIMIT, DECAY = 30, 0.5, 0.1
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


class BatchIds(NamedTuple):
    """The ids of a batch as they come: sample, id and weight of each lookup, and whether it is made."""

    sample: np.ndarray
    id: np.ndarray
    weight: np.ndarray
    made: np.ndarray


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


def asked(step: int, zipf: float, duplicates: float, last: str) -> BatchIds:
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
    return BatchIds(sample, ids, weight, made)


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


def ascii_words(words: str) -> str:
    """Without what an attribute of a page cannot hold, and in ASCII."""
    return words.replace("'", "").replace("−", "-").replace("±", "+-").replace("×", "x")


def folded(words: str, width: int) -> list[str]:
    """Words in lines of fewer characters than that."""
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
