"""One step of an embedding table, from the ids of a batch to the rows that have moved."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from ..._base.numbers import counted, number, often
from ...live import Description, Items, LiveFigure, Menu, Slider, Toggle
from .._lab import Control, Lab, Target
from .._one_table import (
    DEVICES,
    FAR,
    ROWS,
    RULES,
    SAMPLES,
    STEPS,
    WIDTH,
    TableRule,
    ascii_words,
    choosing,
    folded,
    labeled,
)
from .picture import EmbeddingView, OneStep
from .row_story import (
    CLIPS,
    DECAYS,
    FORMULAS,
    LAST,
    Moved,
    in_a_sentence,
    listed,
    story,
    trained,
)

_PLAIN = {
    "step": 1,
    "rule": "adagrad",
    "combiner": "mean",
    "zipf": 1.0,
    "duplicates": 0.0,
    "last": "ordinary",
    "accumulate": True,
    "clip": "none",
    "decay": "none",
}


def _moved_by_nothing(trace: Moved) -> tuple[bool, str]:
    if not trace.wanted:
        return False, f"Row {trace.row} is not looked up now"
    nothing, moved = not trace.total.any(), trace.why.moved
    good = (
        trace.settings["rule"] == "adam" and trace.settings["decay"] == "none" and nothing and moved
    )
    return (
        good,
        (
            f"Row {trace.row} gets {'0' if nothing else 'a gradient'} and "
            f"{'moves' if moved else 'stands still'} now"
        ),
    )


def _farther_alone(trace: Moved) -> tuple[bool, str]:
    if trace.wanted < 2:
        return False, f"Row {trace.row} is not looked up twice now"
    together = trace._replace(settings={**trace.settings, "accumulate": True})
    far, near = trace.distance, together.distance
    good = not trace.settings["accumulate"] and trace.step == 1 and far >= 1.5 * near > 0
    return (
        good,
        (
            f"Row {trace.row} moves by {number(far)} in step {trace.step}, "
            f"by {number(near)} at once now"
        ),
    )


def tpu_embedding(
    *,
    row: int = 0,
    step: int = 1,
    rule: TableRule = "adagrad",
    zipf: float = 1.0,
    combiner: Literal["sum", "mean", "sqrtn"] = "mean",
    learning_rate: float = 0.5,
    duplicates: float = 0.2,
    last: Literal["ordinary", "empty", "zero", "drop", "clamp", "wrap", "raise"] = "ordinary",
    accumulate: bool = True,
    clip: Literal["none", "sum", "contribution"] = "none",
    decay: Literal["none", "before", "after", "multiply"] = "none",
    target: Literal["moved_by_nothing", "farther_alone"] | None = None,
) -> TpuEmbeddingLab:
    """Follow the ids of a batch to the rows of an embedding table and the gradients on their way back.

    At a glance: A row is fetched once, used by several samples, and moved once, by the sum of their
    gradients.

    Eight samples name up to three ids each; row 0 is the most popular. Every row is fetched once,
    scaled and summed into samples, and the gradients that come back are summed for each row before
    the optimizer runs. Click a row, or move to it with the keys, to see why it moves. The row's ids
    are shown as the last ones of their samples.

    Args:
        row: the row that is followed, 0 to 23.
        step: 1 to 12.
        rule: the optimizer.
        zipf: how popular the popular rows are, 0 to 2.
        combiner: how the rows of a sample become one.
        learning_rate: 0.01 to 1.
        duplicates: the share of ids that repeat the first one of their sample, 0 to 1.
        last: what the last sample holds: "ordinary" ids, none ("empty"), weights that cancel
            ("zero"), or an id out of range, which is dropped, clamped, wrapped or refused
            ("raise").
        accumulate: whether the gradients of a row are summed first; otherwise each lookup is an
            update.
        clip: the gradients: not at all ("none"), their "sum", or each "contribution".
        decay: of the weights: "none", subtracted "before" or "after" the step, or "multiply" before
            it.
        target: a goal that is shown above the picture until it is reached.

    >>> tpu_embedding().description.summary
    "Row 0 is named 4 times, fetched once, and moves by the sum of 3 samples' gradients."
    """
    return TpuEmbeddingLab(
        target,
        row=row,
        step=step,
        rule=rule,
        zipf=zipf,
        combiner=combiner,
        learning_rate=learning_rate,
        duplicates=duplicates,
        last=last,
        accumulate=accumulate,
        clip=clip,
        decay=decay,
    )


class TpuEmbeddingLab(Lab):
    """Lab of `tpu_embedding`: one batch, one table, one row that is followed."""

    function = "tpu_embedding"
    label = "One step of an embedding table"
    axis = "row"
    presets: ClassVar = {
        "A popular id": {**_PLAIN, "zipf": 1.5, "row": 0},
        "Mean counts duplicates": {**_PLAIN, "zipf": 0.5, "duplicates": 0.7, "row": 14},
        "A padding sample": {**_PLAIN, "last": "empty", "row": 8},
        "An id out of range": {**_PLAIN, "last": "clamp", "row": ROWS - 1},
        "FTRL and a zero gradient": {
            **_PLAIN,
            "zipf": 0.5,
            "last": "zero",
            "rule": "ftrl",
            "row": 22,
        },
    }
    targets: ClassVar = {
        "moved_by_nothing": Target(
            "with the tables' Adam and without decay, make a row move in a step in which its "
            "gradients sum to 0",
            _moved_by_nothing,
        ),
        "farther_alone": Target(
            "in step 1, make a row move 1.5 times as far without accumulation as with it",
            _farther_alone,
        ),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("row", "Row to follow", 0, ROWS - 1, 0, scale="integer", play=True),
            Slider("step", "Step", 1, STEPS, 1, scale="integer"),
            Menu("rule", "Optimizer", labeled(), "adagrad"),
            Slider("zipf", "Popularity of ids", 0.0, 2.0, 1.0, step=0.1),
            Menu("combiner", "Combiner", ("sum", "mean", "sqrtn"), "mean", folded=True),
            Slider(
                "learning_rate", "Learning rate", 0.01, 1.0, 0.5, scale="log", step=10, folded=True
            ),
            Slider("duplicates", "Repeated ids", 0.0, 1.0, 0.2, step=0.1, folded=True),
            Menu("last", "Ids of the last sample", [*LAST.items()], "ordinary", folded=True),
            Toggle("accumulate", "Sum gradients first", True, folded=True),
            Menu("clip", "Clip gradients", [*CLIPS.items()], "none", folded=True),
            Menu("decay", "Weight decay", [*DECAYS.items()], "none", folded=True),
        ]

    def compute(self, values: dict[str, Any]) -> Moved:
        settings = {name: value for name, value in values.items() if name not in ("step", "row")}
        return Moved(trained(**settings), settings, values["step"], values["row"])

    def make_view(self) -> EmbeddingView:
        return EmbeddingView(SAMPLES, ROWS, WIDTH, DEVICES)

    def draw(self, view: EmbeddingView, trace: Moved) -> None:
        view.draw(_shown(trace))

    def items(self, view: EmbeddingView, trace: Moved) -> Items:
        table = trace.run.trace.states.tables[0][trace.step]
        places = {view.table: view.strip.places()}
        values = {f"weight {k}": table[:, k] for k in range(WIDTH)}
        values |= {f"{name}, mean": x.mean(axis=1) for name, x in trace.slots.items()}
        return Items("row", places, values)

    def make_live(self, view: EmbeddingView, **params: Any) -> LiveFigure:
        """Return a lab's widget in which a click on a row selects it."""
        return choosing(super().make_live(view, **params), ROWS)

    def describe(self, trace: Moved) -> Description:
        d, s = trace.lookups, trace.settings
        rule, why = RULES[s["rule"]][0], in_a_sentence(trace)
        head = (
            f"Step {trace.step}: {counted(len(d.inverse), 'lookup')} fetch "
            f"{counted(len(np.unique(d.unique)), 'row')}"
        )
        refused = f" {trace.run.refused}." if trace.run.refused else ""
        return Description(
            alt=ascii_words(
                f"{head} of a table of {ROWS}, combiner {s['combiner']}, {rule}, learning rate "
                f"{number(s['learning_rate'])}.{refused} {why}"
            ),
            summary=_message(trace),
            table=(
                ("optimizer", rule),
                ("learning rate", number(s["learning_rate"])),
                ("distance that the row moves", number(trace.distance)),
                ("lookups", f"{len(d.inverse)}"),
                ("rows fetched", f"{len(d.unique)}"),
                ("unique, uint32", listed(d.unique)),
                ("inverse, uint32", listed(d.inverse)),
                ("samples, uint32", listed(d.samples)),
                ("weights, float32", listed(d.weights)),
                *(
                    (line.words, listed(line.values))
                    for line in story(trace)
                    if line.values is not None
                ),
                ("refused", trace.run.refused or "nothing"),
            ),
        )

    def columns(self, trace: Moved) -> dict[str, np.ndarray]:
        before, after = (trace.run.trace.states.tables[0][trace.step - k] for k in (1, 0))
        columns = {"row": np.arange(ROWS)}
        columns |= {
            f"{when}_{k}": x[:, k]
            for when, x in (("before", before), ("after", after))
            for k in range(WIDTH)
        }
        return columns | {
            f"{name}_{k}": x[:, k] for name, x in trace.slots.items() for k in range(WIDTH)
        }


# What becomes of an id that the table does not have.
_BROUGHT_BACK = {"clamp": "clamped to", "wrap": "wrapped to"}


def _shown(trace: Moved) -> OneStep:
    run, k, found = trace.run, trace.step - 1, trace.lookups
    asked, row = run.asked[k], trace.row
    gain, mine, made = (
        np.full(len(asked.id), np.nan),
        np.zeros(len(asked.id), bool),
        asked.made & (not run.refused),
    )
    if not run.refused:
        gain[made], mine[made] = found.weights, found.unique[found.inverse] == row
    before, after = (run.trace.states.tables[0][j][row] for j in (k, trace.step))
    slots = (
        (name, *(slot[j][row] for j in (k, trace.step)))
        for name, slot in zip(run.slots, run.trace.states.slots[0], strict=True)
    )
    total = np.zeros(WIDTH, np.float32) if run.refused else trace.total
    times = min(int(mine.sum()), 1) if trace.settings["accumulate"] else int(mine.sum())
    return OneStep(
        row,
        asked.sample,
        asked.id,
        made,
        mine,
        gain,
        run.trace.activations[0][k],
        run.trace.gradients[0][k],
        before,
        total,
        after,
        next(slots, None),
        _how(trace),
        np.unique(found.unique),
        times,
        folded(run.refused, 36),
    )


def _how(trace: Moved) -> list[str]:
    """Return how the optimizer moves the row: a formula of what the picture shows, or else its
    name.
    """
    s = trace.settings
    besides = ["clipping"] * (s["clip"] != "none") + ["decay"] * (s["decay"] != "none")
    if besides or len(trace.why.runs) > 1 or s["rule"] not in FORMULAS:
        words = (f"{word} {what}" for word, what in zip(("with", "and"), besides, strict=False))
        return [*folded(RULES[s["rule"]][0], 17), *words]
    return [*FORMULAS[s["rule"]]]


def _message(trace: Moved) -> str:
    """The sentence on what happens to the row."""
    row, named = f"Row {trace.row}", often(trace.wanted)
    if trace.run.refused:
        return f"The batch is refused: {row.lower()} is not looked up, and no row moves."
    if trace.settings["last"] == "empty":
        return f"Sample {SAMPLES - 1} names no id: its activation is 0, and it moves no row."
    if not trace.wanted:
        return f"{row} is named by no id and stays as it is."
    if (
        trace.settings["last"] in _BROUGHT_BACK
        and trace.lookups.unique[trace.lookups.inverse[-1]] == trace.row
    ):
        where = (
            f"Id {FAR}, beyond the {ROWS} rows, is {_BROUGHT_BACK[trace.settings['last']]} row "
            f"{trace.row}"
        )
        return f"{where}, which {'moves' if trace.why.moved else 'stays as it is'}."
    samples = len({one.sample for one in trace.why.contributions})
    if not trace.settings["accumulate"]:
        how = (
            f"by {counted(trace.wanted, 'update')}, one for each"
            if trace.wanted > 1
            else "by one update"
        )
        moves = f"moves {how}" if trace.why.moved else "stays as it is"
        return f"{row} is named and fetched {named}, and {moves}."
    if not trace.why.moved or not trace.total.any():
        moves = (
            "moves, though"
            if trace.why.moved
            else "stays as it is" + ", because" * (not trace.total.any())
        )
        gradients = " its gradients sum to 0" * (not trace.total.any())
        return f"{row} is named {named}, fetched once, and {moves}{gradients}."
    sums = f"the sum of {samples} samples' gradients" if samples > 1 else "one sample's gradient"
    return f"{row} is named {named}, fetched once, and moves by {sums}."
