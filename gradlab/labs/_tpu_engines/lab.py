"""Classic engine and SparseCores on the same ids, with and without sums of gradients."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import are, counted, number
from ...errors import InvalidArgumentError
from ...live import Description, Items, LiveFigure, Menu, Slider
from .._lab import Control, Lab, Target
from .._one_table import (
    ROWS,
    RULES,
    SAMPLES,
    WIDTH,
    ascii_words,
    asked,
    choosing,
    folded,
    weights,
)
from .._quantities import TraceQuantity, csv_columns, tooltip_values
from .picture import CORES, Engines, EnginesView

LOOKUPS, RATE = 17, 0.3  # room for lookups; the learning rate
# That SparseCores of TensorFlow have.
_KNOWN = ("sgd", "adagrad", "adagrad_momentum", "adam", "ftrl")
BEYOND = {"refuse": "are refused", "drop": "are dropped", "split": "go in another minibatch"}


class Compared(NamedTuple):
    """One batch, as two engines get it, and what it does to the table."""

    settings: dict[str, Any]
    row: int
    shown: Engines
    dropped: int
    short: tuple[int, ...]  # samples that get less than they asked for
    minibatches: int
    refused: str

    @property
    def lookups(self) -> int:
        """In the buffers of all minibatches that are shown."""
        return len(self.shown.core)


# How far each row moves.
MOVES = (
    TraceQuantity("classic", lambda trace: trace.shown.moved[0], "moved by the classic engine"),
    TraceQuantity("sparsecore", lambda trace: trace.shown.moved[1], "by SparseCores"),
    TraceQuantity("accumulation_off", lambda trace: trace.shown.moved[2], "without accumulation"),
)


def _dropped_late(trace: Compared) -> tuple[bool, str]:
    s = trace.settings
    return s[
        "limit"
    ] >= 5 and trace.dropped >= 2, f"{trace.dropped} are dropped at limit {s['limit']} now"


def _split_in_four(trace: Compared) -> tuple[bool, str]:
    parts, repeated = trace.minibatches, trace.settings["duplicates"] > 0
    return parts >= 4 and not repeated, f"{parts} now{', with ids repeated' * repeated}"


_PLAIN = {
    "limit": 8,
    "beyond": "drop",
    "rule": "adagrad",
    "combiner": "mean",
    "zipf": 1.0,
    "duplicates": 0.3,
    "row": 20,
}


def tpu_engines(
    *,
    limit: int = 4,
    beyond: Literal["refuse", "drop", "split"] = "drop",
    rule: Literal["sgd", "adagrad", "adagrad_momentum", "adam", "ftrl"] = "adagrad",
    combiner: Literal["sum", "mean", "sqrtn"] = "mean",
    zipf: float = 1.0,
    duplicates: float = 0.3,
    row: int = 20,
    target: Literal["dropped", "four"] | None = None,
) -> TpuEnginesLab:
    """Hand the ids of one batch to the classic engine and to two SparseCores, and let a table sum gradients or not.

    At a glance: What has no room in the buffer of a SparseCore is dropped, and its row moves
    otherwise.

    The classic engine gets every row once, and for each lookup which of them it is, for which
    sample and how much. A SparseCore has half of the samples; its buffer has a partition for each
    SparseCore that has rows, even ones or odd ones, and ids that a sample repeats are one lookup
    with a larger gain.

    Args:
        limit: how many lookups a SparseCore may ask of a partition, 1 to 8.
        beyond: what becomes of lookups beyond the limit: "refuse" the batch, "drop" them, or
            "split" the batch.
        rule: the optimizer.
        combiner: how the rows of a sample become one.
        zipf: how popular the popular rows are, 0 to 2.
        duplicates: the share of ids that repeat the first one of their sample, 0 to 1.
        row: the row that is marked, 0 to 23.
        target: a goal that is shown above the picture until it is reached.

    >>> tpu_engines().description.summary
    '3 lookups are dropped: row 20 moves by 0 instead of 0.363.'
    """
    return TpuEnginesLab(
        target,
        limit=limit,
        beyond=beyond,
        rule=rule,
        combiner=combiner,
        zipf=zipf,
        duplicates=duplicates,
        row=row,
    )


class TpuEnginesLab(Lab):
    """Lab of `tpu_engines`: one batch on two kinds of hardware."""

    function = "tpu_engines"
    label = "Two engines for one batch"
    axis = "limit"
    presets: ClassVar = {
        "Two ways, one answer": _PLAIN,
        "Accumulation off": {**_PLAIN, "zipf": 1.5, "row": 0},
        "Ids are dropped": {**_PLAIN, "limit": 2},
        "Split, and exact": {**_PLAIN, "limit": 2, "beyond": "split"},
        "Refused": {**_PLAIN, "limit": 2, "beyond": "refuse"},
    }
    targets: ClassVar = {
        "dropped": Target("lose at least two lookups with a limit of at least 5", _dropped_late),
        "four": Target(
            "without repeated ids, split the batch into at least 4 minibatches", _split_in_four
        ),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("limit", "Limit of a partition", 1, 8, 4, scale="integer", play=True),
            Menu("beyond", "Lookups beyond that", [*BEYOND.items()], "drop"),
            Menu(
                "rule",
                "Optimizer",
                [(name, RULES[name][0]) for name in _KNOWN],
                "adagrad",
                folded=True,
            ),
            Menu("combiner", "Combiner", ("sum", "mean", "sqrtn"), "mean", folded=True),
            Slider("zipf", "Popularity of ids", 0.0, 2.0, 1.0, step=0.1),
            Slider("duplicates", "Repeated ids", 0.0, 1.0, 0.3, step=0.1, folded=True),
            Slider("row", "Row to follow", 0, ROWS - 1, 20, scale="integer"),
        ]

    def compute(self, values: dict[str, Any]) -> Compared:
        settings = {name: value for name, value in values.items() if name != "row"}
        return _compared(values["row"], **settings)

    def make_view(self) -> EnginesView:
        return EnginesView(ROWS)

    def draw(self, view: EnginesView, trace: Compared) -> None:
        view.draw(trace.shown)

    def items(self, view: EnginesView, trace: Compared) -> Items:
        places = {view.moved: (np.arange(ROWS), trace.shown.moved[0])}
        return Items("row", places, tooltip_values(MOVES, trace))

    def make_live(self, view: EnginesView, **params: Any) -> LiveFigure:
        """Return a lab's widget in which a click on a row selects it."""
        return choosing(super().make_live(view, **params), ROWS)

    def describe(self, trace: Compared) -> Description:
        e, s = trace.shown, trace.settings
        head = (
            f"{counted(len(e.inverse), 'lookup')} of the classic engine are {trace.lookups} in "
            "the buffers "
        )
        head += f"of {CORES} SparseCores"
        head = "Nothing is in the buffers of the SparseCores" if trace.refused else head
        parts = (
            f", in the first of {trace.minibatches} minibatches" if trace.minibatches > 1 else ""
        )
        here = []
        for move in MOVES:
            distance = float(move.values(trace)[trace.row])
            here.append(
                (
                    f"row {trace.row} {move.label}",
                    "nothing" if np.isnan(distance) else number(distance),
                )
            )
        short = (
            f" (from {'samples' if len(trace.short) > 1 else 'sample'} {_listed(trace.short)})"
            if trace.short
            else ""
        )
        said = _message(trace)
        return Description(
            alt=ascii_words(
                f"{said} {head}{parts}; {trace.dropped} dropped{short}. {trace.refused}".strip().rstrip(
                    "."
                )
                + "."
            ),
            summary=said,
            table=(
                ("optimizer", RULES[s["rule"]][0]),
                ("rows that are fetched", f"{len(e.unique)}"),
                ("unique, uint32", _listed(e.unique)),
                ("inverse, uint32", _listed(e.inverse)),
                ("samples, uint32", _listed(e.samples)),
                ("weights, float32", _listed(e.weights)),
                *((f"SparseCore {k}: row, sample, gain", _places(e, k)) for k in range(CORES)),
                ("row pointers", "; ".join(_listed(ends) for ends in e.ends)),
                *here,
                ("lookups dropped", f"{trace.dropped}"),
                ("samples that get less", _listed(trace.short)),
                ("minibatches", f"{trace.minibatches}"),
                ("refused", trace.refused or "nothing"),
            ),
        )

    def columns(self, trace: Compared) -> dict[str, np.ndarray]:
        return {"row": np.arange(ROWS)} | csv_columns(MOVES, trace)


def _message(trace: Compared) -> str:
    """The sentence on what the buffers cost."""
    classic, sparse, _ = trace.shown.moved
    if trace.refused:
        return (
            f"A partition may get {counted(trace.settings['limit'], 'lookup')}: the SparseCores "
            "refuse the batch."
        )
    if trace.dropped:
        row = int(np.abs(sparse - classic).argmax())
        moves = (
            f": row {row} moves by {number(float(sparse[row]))} instead of "
            f"{number(float(classic[row]))}"
        )
        moves = ", but every row moves as far" if np.allclose(sparse, classic, atol=1e-6) else moves
        return f"{counted(trace.dropped, 'lookup')} {are(trace.dropped)} dropped{moves}."
    where = f"in {trace.minibatches} minibatches" if trace.minibatches > 1 else "in the buffers"
    if not np.allclose(sparse, classic, atol=1e-6):
        return f"All lookups have room {where}."
    alone = trace.shown.moved[2, trace.row]
    if abs(alone - classic[trace.row]) > 1e-3:
        moves = f"{number(float(alone))} instead of {number(float(classic[trace.row]))}"
        return (
            f"Every row moves alike; without sums of gradients, row {trace.row} moves by {moves}."
        )
    return f"All lookups have room {where}, and every row moves alike."


def _listed(values: Any) -> str:
    return ", ".join(number(float(v)) for v in values) or "none"


def _places(e: Engines, core: int) -> str:
    mine = e.core == core
    return (
        "; ".join(_listed(x) for x in zip(e.local[mine], e.of[mine], e.gain[mine], strict=True))
        or "none"
    )


@functools.lru_cache(maxsize=256)
def _compared(
    row: int, limit: int, beyond: str, rule: str, combiner: Any, zipf: float, duplicates: float
) -> Compared:
    from ...tpu import Ids, make_batch

    settings = {"limit": limit, "beyond": beyond, "rule": rule, "combiner": combiner, "zipf": zipf,
                "duplicates": duplicates}  # fmt: skip
    batch = asked(0, zipf, duplicates, "ordinary")
    ids = {"id": Ids(batch.sample, batch.id, batch.weight)}
    classic, alone = (make_batch(_plan(rule, combiner, on), ids) for on in (True, False))
    d = classic.tables[0]
    real = d.samples < SAMPLES
    vectors = [d.unique[d.unique < ROWS], *(x[real] for x in (d.inverse, d.samples, d.weights))]
    nothing = np.zeros(len(vectors[1]), bool)
    moved = np.full((3, ROWS), np.nan)
    moved[0], moved[2] = (
        _moved(_plan(rule, combiner, True), classic),
        _moved(_plan(rule, combiner, False), alone),
    )
    try:
        found = _preprocessed(_plan(rule, combiner, True), ids, limit, beyond)
    except InvalidArgumentError as error:
        none = (np.zeros(0, int),) * 6
        ends, padded = np.zeros((CORES, CORES), int), np.zeros((0, 2), int)
        shown = Engines._make(
            [*vectors, nothing, limit, 1, *none, ends, padded, moved, row, folded(str(error), 46)]
        )
        return Compared(settings, row, shown, 0, (), 1, str(error))
    moved[1] = _moved(_plan(rule, combiner, True), found.batch)
    lost = nothing if beyond != "drop" else ~_read(found, vectors[2], vectors[0][vectors[1]])
    shown = Engines._make(
        [*vectors, lost, limit, found.minibatches, *_buffers(found), moved, row, ()]
    )
    dropped = int(found.statistics["table"].dropped.sum())
    return Compared(settings, row, shown, dropped, _short(classic, found), found.minibatches, "")


def _read(found: Any, samples: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Tell which lookups (n,) the SparseCores make, in any minibatch."""
    read = found.reads["table"]
    sample, row = (
        read.sparse_cores * (SAMPLES // CORES) + read.samples,
        read.positions * CORES + read.partitions,
    )
    return np.isin(samples * ROWS + rows, sample * ROWS + row)


def _short(classic: Any, found: Any) -> tuple[int, ...]:
    """The samples whose gains sum to less in the buffers of the SparseCores than with the classic
    engine.
    """
    read, each = found.reads["table"], SAMPLES // CORES
    got = np.bincount(read.sparse_cores * each + read.samples, read.gains, SAMPLES)
    wanted = np.bincount(classic.tables[0].samples, classic.tables[0].weights, SAMPLES)[:SAMPLES]
    return tuple(np.flatnonzero(got < wanted - 1e-5).tolist())


def _preprocessed(plan: Any, ids: Any, limit: int, beyond: str) -> Any:
    from ...tpu.sparsecore import Limits, preprocess

    return preprocess(
        plan, ids, per_core=CORES, limits=Limits(limit, limit), allow_id_dropping=beyond == "drop",
        minibatching=beyond == "split",
    )  # fmt: skip


def _buffers(found: Any) -> tuple[np.ndarray, ...]:
    """The first minibatch as the SparseCores have it: what stands where, the ends of partitions,
    and what fills up.
    """
    read = found.reads["table"]
    first = read.minibatches == 0
    core, partition, local, sample, gain = (
        x[first]
        for x in (read.sparse_cores, read.partitions, read.positions, read.samples, read.gains)
    )
    place, ends, padded = np.zeros(len(core), int), np.zeros((CORES, CORES), int), []
    for c in range(CORES):
        start = 0
        for p in range(CORES):
            mine = np.flatnonzero((core == c) & (partition == p))
            place[mine] = start + np.arange(len(mine))
            ends[c, p] = start + len(mine)
            start = -(-ends[c, p] // 8) * 8
            padded += [(c, k) for k in range(ends[c, p], start)]
    fills = np.array(padded, int).reshape(-1, 2)
    return core, place, local, sample, gain, local * CORES + partition, ends, fills


def _moved(plan: Any, batch: Any) -> np.ndarray:
    """Return how far a step moves each row."""
    from ...models.tpu_runs.traces import record, sized
    from ...tpu import create

    begin, end = weights(ROWS, WIDTH)
    one = sized(batch, 1, LOOKUPS, LOOKUPS, SAMPLES)
    tables = record(
        create(plan, [begin]), create(plan, [end]), [one], np.full((1, 1), RATE)
    ).states.tables[0]
    return np.asarray(np.linalg.norm(tables[1] - tables[0], axis=1))


@functools.cache
def _plan(rule: str, combiner: Any, accumulate: bool) -> Any:
    from ...tpu import Feature, Plan, Table, Tag

    table = Table("table", ROWS, WIDTH, RULES[rule][1], Tag(0), combiner, accumulate=accumulate)
    return Plan((table,), (Feature("id", 0, (SAMPLES,)),))
