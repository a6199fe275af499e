"""A training of two embedding tables on eight devices: two learning rates, and who has the work."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import counted, number, percent
from ...live import Description, Menu, Slider, Toggle
from .._lab import Control, Lab, Target
from .._one_table import RULES, TableRule, chances, labeled, popular, weights
from .picture import UNFAIR, DrawnTraining, RunView, load

STEPS, DEVICES, WIDTH = 30, 8, 4
STRATEGIES = (("div", "neighbors (div)"), ("mod", "in turn (mod)"))
DEALT = {"div": "as neighbors", "mod": "dealt out in turn"}
_APART = 4.0  # learning rates that differ by this factor are what the sentence is about
# Samples of a device; words in a sample.
NAMES, ROWS, SAMPLES, IDS = ("words", "users"), (16, 8), 2, 2


class TpuEmbeddingRunTrace(NamedTuple):
    """A training, how much of it is done, and what it was asked to be."""

    settings: dict[str, Any]
    step: int
    moved: tuple[np.ndarray, ...]
    loss: np.ndarray
    unique: tuple[np.ndarray, ...]
    traffic: np.ndarray

    @property
    def so_far(self) -> np.ndarray:
        """Rows that devices asked of each other in the steps done, (devices, devices)."""
        return np.asarray(self.traffic[: self.step].sum(axis=0))

    @property
    def served(self) -> np.ndarray:
        """The number of rows requested from each device in the steps done."""
        return np.asarray(self.so_far.sum(axis=0))

    @property
    def asked(self) -> np.ndarray:
        """The number of requests for each word's row in the steps done."""
        ids = self.unique[0][: self.step].ravel()
        return np.bincount(ids[ids < ROWS[0]], minlength=ROWS[0])

    @property
    def owner(self) -> np.ndarray:
        """The device that holds each word."""
        from ...tpu import Shards

        return np.asarray(
            Shards(ROWS[0], DEVICES, self.settings["strategy"]).owner(np.arange(ROWS[0]))
        )

    @property
    def popular(self) -> np.ndarray:
        """The words by how popular they are, which their ids say; none where all are equally popular."""
        return np.arange(ROWS[0] if self.settings["zipf"] else 0)

    @property
    def elsewhere(self) -> tuple[str, float]:
        """The name of the other way to deal rows out, and the most that a device then serves, in fair shares."""
        other, words = next(pair for pair in DEALT.items() if pair[0] != self.settings["strategy"])
        return words, load(_traffic(self.settings["zipf"], other)[: self.step].sum(axis=(0, 1)))


def _late_but_low(trace: TpuEmbeddingRunTrace) -> tuple[bool, str]:
    s, last = trace.settings, trace.loss[-5:].mean(axis=0)
    good = s["rule"] == "sgd" and s["pipelined"] and bool((last <= 0.3).all())
    return good, f"They are {number(float(last[0]))} and {number(float(last[1]))} now"


def _one_device(trace: TpuEmbeddingRunTrace) -> tuple[bool, str]:
    times = load(trace.traffic.sum(axis=(0, 1)))
    return times >= 3, f"The busiest one serves {times:.2f} times the mean now"


_PLAIN = {
    "step": STEPS,
    "rule": "sgd",
    "rate_words": 0.5,
    "rate_users": 0.1,
    "zipf": 1.0,
    "strategy": "div",
    "pipelined": False,
}
# At 0.5 the sum for the most popular word goes too far.
_POPULAR = {**_PLAIN, "zipf": 1.5, "rate_words": 0.2}


def tpu_embedding_run(
    *,
    zipf: float = 1.5,
    step: int = STEPS,
    strategy: Literal["div", "mod"] = "div",
    rule: TableRule = "sgd",
    rate_words: float = 0.2,
    rate_users: float = 0.1,
    pipelined: bool = False,
    target: Literal["late_but_low", "one_device"] | None = None,
) -> TpuEmbeddingRunLab:
    """Train two embedding tables whose rows are dealt out over eight devices, each table with its own learning rate.

    At a glance: One device serves a third of everything, because popular rows are neighbors.

    Every device has two samples, each with two words and one user. Words are popular by Zipf's law,
    users are not. A device asks for a row once, however many of its samples name it.

    Args:
        zipf: how popular the popular words are, 0 to 2.
        step: how many steps are done, 0 to 30.
        strategy: how rows are dealt out: "div" gives a device neighbors, "mod" every eighth row.
        rule: the optimizer.
        rate_words: the learning rate of words, 0.01 to 1: entry 0 of what is sent with the
            gradients.
        rate_users: the learning rate of users, 0.01 to 1: entry 1.
        pipelined: whether lookups do not wait for the update of the step before.
        target: a goal that is shown above the picture until it is reached.

    >>> tpu_embedding_run().description.summary
    'Device 0 serves 36% of all rows: it holds the two most popular words.'
    """
    return TpuEmbeddingRunLab(
        target,
        zipf=zipf,
        step=step,
        strategy=strategy,
        rule=rule,
        rate_words=rate_words,
        rate_users=rate_users,
        pipelined=pipelined,
    )


class TpuEmbeddingRunLab(Lab):
    """Lab of `tpu_embedding_run`: two tables over eight devices, trained."""

    function = "tpu_embedding_run"
    label = "Two embedding tables on eight devices"
    axis = "zipf"
    presets: ClassVar = {
        "Two rates": _PLAIN,
        "One update late": {**_PLAIN, "pipelined": True},
        "Adam without correction": {
            **_PLAIN,
            "rule": "adam",
            "rate_words": 0.1,
            "rate_users": 0.1,
            "step": 2,
        },
        "Popular rows on one device": _POPULAR,
        "Rows dealt out in turn": {**_POPULAR, "strategy": "mod"},
    }
    targets: ClassVar = {
        "late_but_low": Target(
            "with SGD and updates one step late, bring the mean loss of the last five steps to "
            "0.3 for both tables",
            _late_but_low,
        ),
        "one_device": Target(
            f"in {STEPS} steps, make one device serve at least 3 times as many rows as the mean "
            "of all devices",
            _one_device,
        ),
    }

    def make_controls(self) -> list[Control]:
        rates = [
            Slider(
                f"rate_{name}",
                f"Learning rate, {name}",
                0.01,
                1.0,
                rate,
                scale="log",
                step=10,
                folded=True,
            )
            for name, rate in zip(NAMES, (0.2, 0.1), strict=True)
        ]
        return [
            Slider("zipf", "Popularity of words", 0.0, 2.0, 1.5, step=0.1, play=True),
            Slider("step", "Steps done", 0, STEPS, STEPS, scale="integer"),
            Menu("strategy", "Rows of a device", STRATEGIES, "div"),
            Menu("rule", "Optimizer", labeled(), "sgd"),
            *rates,
            Toggle("pipelined", "Updates one step late", False, folded=True),
        ]

    def compute(self, values: dict[str, Any]) -> TpuEmbeddingRunTrace:
        settings = {name: value for name, value in values.items() if name != "step"}
        training = {name: value for name, value in settings.items() if name != "strategy"}
        moved, loss, unique = _trained(**training)
        traffic = _traffic(values["zipf"], values["strategy"])
        return TpuEmbeddingRunTrace(settings, values["step"], moved, loss, unique, traffic)

    def make_view(self) -> RunView:
        return RunView(NAMES, ROWS[0], STEPS, DEVICES)

    def draw(self, view: RunView, trace: TpuEmbeddingRunTrace) -> None:
        view.draw(
            DrawnTraining(
                trace.step,
                trace.so_far,
                trace.asked,
                trace.owner,
                trace.popular,
                trace.loss,
                trace.elsewhere,
            )
        )

    def describe(self, trace: TpuEmbeddingRunTrace) -> Description:
        s, k = trace.settings, trace.step
        loss = [number(float(x)) for x in trace.loss[k - 1]] if k else ["none yet"] * 2
        far = [int((x[k] > 0).sum()) for x in trace.moved]
        asked, served = int(trace.so_far.sum()), trace.served
        away = asked - int(np.trace(trace.so_far))
        moved = f"{far[0]} of {ROWS[0]} words and {far[1]} of {ROWS[1]} users have moved"
        said, other = _message(trace), f"{trace.elsewhere[1]:.1f} times its share"
        traffic = _traffic_message(trace)
        return Description(
            alt=f"Two tables on {DEVICES} devices, rows by {s['strategy']}, optimizer "
            f"{RULES[s['rule']][0]}, rates {number(s['rate_words'])} and "
            f"{number(s['rate_users'])}, {counted(k, 'step')} done. {traffic} {away:,} of "
            f"{asked:,} rows came from another device. Loss {loss[0]} of {NAMES[0]}, "
            f"{loss[1]} of {NAMES[1]}.",
            summary=said,
            table=(
                ("optimizer", RULES[s["rule"]][0]),
                ("learning rates sent", f"{number(s['rate_words'])}, {number(s['rate_users'])}"),
                *((f"loss of {name}", x) for name, x in zip(NAMES, loss, strict=True)),
                ("rows that have moved", moved),
                ("rows asked for", f"{asked}, {away} of another device"),
                ("rows that each device served", ", ".join(map(str, served))),
                ("busiest device", f"{load(served):.1f} times its share"),
                (f"busiest device, rows {trace.elsewhere[0]}", other),
                ("requests for each word", ", ".join(map(str, trace.asked))),
                ("lookups wait for the update before", "no" if s["pipelined"] else "yes"),
            ),
        )

    def columns(self, trace: TpuEmbeddingRunTrace) -> dict[str, np.ndarray]:
        steps = np.arange(1, STEPS + 1)
        losses = {f"loss_{name}": trace.loss[:, k] for k, name in enumerate(NAMES)}
        return (
            {"step": steps}
            | losses
            | {f"rows_of_{d}": trace.traffic[:, :, d].sum(axis=1) for d in range(DEVICES)}
        )


def _message(trace: TpuEmbeddingRunTrace) -> str:
    """Say what the settings that differ most from a plain training do; in a plain one, which device
    has the work.
    """
    settings = trace.settings
    if not trace.step:
        return _traffic_message(trace)
    if settings["pipelined"]:
        return _late_message(trace)
    if settings["rule"] in ("adam", "adam_corrected"):
        correction = "without" if settings["rule"] == "adam" else "with"
        # A row's entries move alike in Adam's first step, but for those whose gradient is 0.
        first = float(trace.moved[0][1].max()) / np.sqrt(WIDTH)
        times = number(first / settings["rate_words"], 2)
        size = "as large as" if times == "1" else f"{times} times"
        return f"Adam {correction} bias correction: the first step is {size} the learning rate."
    rates = settings["rate_words"], settings["rate_users"]
    if max(rates) >= _APART * min(rates):
        losses = " and ".join(map(_loss, trace.loss[trace.step - 1]))
        after = counted(trace.step, "step")
        return (
            f"Words learn at rate {number(rates[0])}, users at {number(rates[1])}: loss {losses} "
            f"after {after}."
        )
    return _traffic_message(trace)


def _late_message(trace: TpuEmbeddingRunTrace) -> str:
    """Compare the loss of the table that suffers most from late updates with the same training
    without them.
    """
    training = {name: value for name, value in trace.settings.items() if name != "strategy"}
    _, on_time, _ = _trained(**{**training, "pipelined": False})
    late, timely = trace.loss[trace.step - 1], on_time[trace.step - 1]
    tiny = 1e-30  # a loss may be 0
    table = int(np.argmax(np.log(np.maximum(late, tiny)) - np.log(np.maximum(timely, tiny))))
    after = counted(trace.step, "step")
    return (
        f"One update late, the loss of {NAMES[table]} is {_loss(late[table])} after {after}; "
        f"on time, {_loss(timely[table])}."
    )


def _loss(loss: float) -> str:
    return number(float(loss)) if np.isfinite(loss) else "beyond every number"


def _traffic_message(trace: TpuEmbeddingRunTrace) -> str:
    """The busiest device, and why it is."""
    if not trace.step:
        return f"After 0 of {STEPS} steps no device has served a row."
    served, device = trace.served, int(trace.served.argmax())
    times = f"{load(served):.1f} times its share"
    share = f"serves {percent(served[device] / served.sum())} of all rows"
    if not trace.popular.size:
        return f"All words are equally popular: the busiest device, {device}, {share}, {times}."
    most = trace.popular[:2].tolist()
    mine = [word for word in most if trace.owner[word] == device]
    if most[0] not in mine or load(served) < UNFAIR:
        return f"Device {device} {share}, {times}."
    held = "the two most popular words" if len(mine) > 1 else "the most popular word"
    return f"Device {device} {share}: it holds {held}."


@functools.lru_cache(maxsize=64)
def _traffic(zipf: float, strategy: Any) -> np.ndarray:
    """Rows that devices ask of each other in each step, both tables together."""
    from ...tpu import traffic

    plan = _plan("sgd", False)
    return np.array(
        [traffic(plan, batch, strategy=strategy).sum(axis=0) for batch in _batches(zipf)]
    )


@functools.lru_cache(maxsize=64)
def _trained(rule: str, rate_words: float, rate_users: float, zipf: float, pipelined: bool) -> Any:
    """For each table how far rows are from their start, (steps + 1, rows); losses; and ids asked
    for.
    """
    from ...models.tpu_runs.traces import record
    from ...tpu import create

    plan = _plan(rule, pipelined)
    begin, end = zip(*(weights(rows, WIDTH, 1 + k) for k, rows in enumerate(ROWS)), strict=True)
    steps = np.arange(1, STEPS + 1)
    rates = np.stack([np.full(STEPS, rate_words), np.full(STEPS, rate_users), steps], axis=1)[
        :, : plan.tag_count
    ]
    trace = record(create(plan, begin), create(plan, end), _batches(zipf), rates)
    with np.errstate(over="ignore", invalid="ignore"):  # rows that diverge may be beyond float32
        far = (np.linalg.norm(x.astype(float) - x[:1], axis=2) for x in trace.states.tables)
        moved = tuple(np.nan_to_num(x, nan=np.inf, posinf=np.inf) for x in far)
        loss = np.stack(
            [np.square(g, dtype=float).reshape(STEPS, -1).sum(axis=1) / 2 for g in trace.gradients],
            axis=1,
        )
    return moved, loss, tuple(t.unique for t in trace.lookups)


@functools.lru_cache(maxsize=64)
def _batches(zipf: float) -> list[Any]:
    """The ids of every step and device; those of users are the same whatever words are popular."""
    from ...tpu import Batch

    return [Batch(tables) for tables in zip(_lookups(0, zipf), _lookups(1, 0.0), strict=True)]


@functools.lru_cache(maxsize=64)
def _lookups(k: int, zipf: float) -> list[Any]:
    """Return what every step looks up in table k."""
    from ...models.tpu_runs.traces import sized
    from ...tpu import Feature, Ids, Plan, Table, make_batch

    each, most = (IDS, 1)[k], SAMPLES * IDS
    plan = Plan((Table(NAMES[k], ROWS[k], WIDTH),), (Feature("id", 0, (SAMPLES,)),), cores=DEVICES)
    ids = popular(chances(5 + k, STEPS, DEVICES, SAMPLES * each), ROWS[k], zipf)
    sample = np.repeat(np.arange(SAMPLES), each)
    batches = (make_batch(plan, [{"id": Ids(sample, one)} for one in step]) for step in ids)
    return [sized(batch, DEVICES, most, most, SAMPLES).tables[0] for batch in batches]


@functools.cache
def _plan(rule: str, pipelined: bool) -> Any:
    from ...tpu import Feature, Plan, Table, Tag

    counter = Tag(2) if rule == "frequency_aware" else None
    tables = tuple(
        Table(name, rows, WIDTH, RULES[rule][1], Tag(k), step_counter=counter)
        for k, (name, rows) in enumerate(zip(NAMES, ROWS, strict=True))
    )
    features = Feature("word", 0, (SAMPLES,)), Feature("user", 1, (SAMPLES,))
    return Plan(tables, features, cores=DEVICES, pipelined=pipelined)
