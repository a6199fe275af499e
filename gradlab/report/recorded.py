"""Section on the recording: tensors, norms and loss over time, steps that aren't finite, and caveats."""

from __future__ import annotations

from functools import partial
from html import escape

import numpy as np

from .._base.numbers import counted, listed, number
from ..record.analysis.diagnosis import first_nonfinite_step, frontier_in, peak, trouble_in_tensors
from ..record.analysis.summary import medians
from ._html import Section, paragraph, picture, table
from ._run import Run
from .picture import Course, course_figure, map_figure, nonfinite_figure

ROWS = 12  # of the run in the table
MOST = 200  # rows of the table


def overview(run: Run) -> Section:
    """The size of the run, a map of its norms, and a table of its tensors."""
    rec = run.rec
    if rec.norms_only:
        return Section("recorded", "What was logged", rec.about[0], partial(_about, run))
    entries = sum(rec.sizes)
    skipped = f" ({rec.skipped_steps:,} of them skipped)" if rec.skipped_steps else ""
    missing = f", {rec.missing_steps:,} more missing," if rec.missing_steps else ""
    steps = f"{counted(rec.seen, 'step')}{skipped}{missing}"
    sentence = f"{steps} of {counted(len(rec.names), 'tensor')} with {counted(entries, 'entry')}"
    kept = (
        "every step has a bucket of its own"
        if rec.stride == 1
        else f"in {counted(len(rec), 'bucket')}: {run.merged}"
    )
    trouble = trouble_in_tensors(rec)
    said = f"{sentence}; {kept}. {trouble}".strip()
    return Section("recorded", "What was recorded", said, partial(_overview, run))


def _about(run: Run) -> str:
    """Return what else is said of a log."""
    return "".join(paragraph(sentence) for sentence in run.rec.about[1:])


def _overview(run: Run) -> str:
    rec = run.rec
    norm, typical = rec["norm"].astype(float), medians(rec)
    largest = int(typical.argmax())
    alt = (
        f"Map of the norm of {counted(len(rec.names), 'tensor')} over {counted(rec.seen, 'step')}; "
        f"the largest is {rec.names[largest]} with a median norm of {number(typical[largest])}."
    )
    return picture("map", partial(map_figure, norm, rec.step, rec.seen, rec.names), alt) + _tensors(
        run, typical
    )


def _tensors(run: Run, typical: np.ndarray) -> str:
    rec = run.rec
    largest, bad = rec["largest"].max(axis=0), rec.nonfinite_by_tensor
    order = np.argsort(-typical, kind="stable")
    rows = [
        (
            rec.names[k],
            " × ".join(map(str, rec.shapes[k])) or "one number",
            number(rec.sizes[k]),
            number(typical[k]),
            number(largest[k]),
            number(bad[k]),
        )
        for k in map(int, order)
    ]
    error = float(rec.quantile_error.max())
    middle = f"median norm (within {number(100 * error, 2)}%)" if error else "median norm"
    head = ("tensor", "shape", "entries", middle, "largest entry", "steps with NaN or Inf")
    return table("Tensors by median norm, largest first", head, rows)


def course(run: Run) -> Section:
    """Return how the norms are spread, where the largest is, and how the loss went."""
    sentence = f"{_norms(run)} {_loss(run)}"
    return Section("course", "Loss and gradient norm", sentence, partial(_course, run, sentence))


def _course(run: Run, sentence: str) -> str:
    rec = run.rec
    limit = np.nan if run.limit is None else run.limit
    drawn = Course(rec.step, rec.seen, rec.global_norm, rec["global_norm_low"], run.loss, limit)
    return picture(
        "course", partial(course_figure, drawn), f"Norm and loss over the run. {sentence}"
    ) + _some_rows(run)


def _norms(run: Run) -> str:
    """Give the median norm and the largest, and what stands out there."""
    top, median = peak(run.rec), run.median
    if top is None:
        return "No step has a gradient that is finite and not 0."
    times = f", {number(top.norm / median)} times that," if top.norm >= 2 * median else ""
    largest = "the largest finite one" if run.rec.nonfinite_steps else "the largest"
    said = (
        f"The median gradient norm is {run.median_in_words}; {largest}{times} is "
        f"{number(top.norm)} at {run.rec.step_in_words(top.step)}."
    )
    return f"{said} {top}".strip()


def loss_at_the_ends(run: Run) -> tuple[float, float] | None:
    """Return the medians of the first and the last tenth of the finite losses; None where there are none."""
    found = run.loss_course
    if found is None or np.isnan(found.start):
        return None
    return found.start, found.end


def _loss(run: Run) -> str:
    return "No loss was recorded." if run.loss_course is None else str(run.loss_course)


def _some_rows(run: Run) -> str:
    rec = run.rec
    places = np.unique(np.linspace(0, len(rec) - 1, ROWS).round().astype(int))
    rows = [
        (
            _steps(int(rec.step[k]), int(rec.bucket_steps[k])),
            number(rec.global_norm[k]),
            number(run.loss[k]) if np.isfinite(run.loss[k]) else "not recorded",
        )
        for k in map(int, places)
    ]
    return table(
        f"{counted(len(rows), 'bucket')} of the run, evenly spread",
        ("step", "global norm", "loss"),
        rows,
    )


def nonfinite(run: Run) -> Section:
    """Return how many steps that were taken held such, when it began, and in which tensors."""
    rec, title = run.rec, "Steps that are not finite"
    count, taken = rec["nonfinite"], rec.seen - rec.skipped_steps
    rows = np.flatnonzero(count.any(axis=1) & (rec.taken > 0) & ~np.isfinite(rec.global_norm))
    if not rec.nonfinite_steps:
        if rec.skipped_steps or rec.missing_steps:
            return Section(
                "nonfinite",
                title,
                f"None of the {number(taken)} steps that were taken held NaN or Inf.",
            )
        return Section("nonfinite", title, f"No step of {number(rec.seen)} held NaN or Inf.")
    of = (
        f"{counted(taken, 'step')} that were taken" if rec.skipped_steps else counted(taken, "step")
    )
    if rec.norms_only:
        exact = first_nonfinite_step(rec)
        sentence = f"The norm of {number(rec.nonfinite_steps)} of {of} is NaN or Inf"
        sentence += "." if exact is None else f", first that of {rec.step_in_words(exact)}."
        sentence += " In which tensors, a log doesn't say."
        return Section("nonfinite", title, sentence, partial(paragraph, _advice(run)))
    is_bad = count[rows[0]] > 0
    names = [rec.names[k] for k in np.flatnonzero(is_bad)]
    origin = frontier_in(rec, int(rows[0]))
    who = listed(names)
    if origin:
        who = f"{'all' if is_bad.all() else f'{len(names)} of'} {counted(len(rec.names), 'tensor')}"
    sentence = (
        f"{number(rec.nonfinite_steps)} of {of} held NaN or Inf, first "
        f"{_first_of(run, int(rows[0]), who)}."
    )
    return Section(
        "nonfinite", title, f"{sentence} {origin}".strip(), partial(_nonfinite, run, rows, sentence)
    )


def _first_of(run: Run, row: int, who: str) -> str:
    """Say in which step NaN or Inf first came up, as exactly as that is known, and in which
    tensors.
    """
    exact, where = first_nonfinite_step(run.rec), when(run, row)
    if exact is None or run.rec.bucket_steps[row] == 1:
        return f"{where} in {who}"
    norms = run.rec.every_step("largest")[run.rec.step[row] :][: run.rec.bucket_steps[row]]
    if np.isfinite(norms).sum() == len(norms) - 1:
        return f"in step {exact:,} in {who}"  # no other step of the bucket held any
    return f"in step {exact:,}, and {where} in {who}"


def _nonfinite(run: Run, rows: np.ndarray, sentence: str) -> str:
    rec = run.rec
    shown = picture(
        "nonfinite",
        partial(nonfinite_figure, rec["nonfinite"], rec.step, rec.seen, rec.names),
        sentence,
    )
    return shown + paragraph(_advice(run)) + _places(run, rows)


def _advice(run: Run) -> str:
    """Say what to do about steps that aren't finite."""
    rec = run.rec
    advice = (
        "A clip does not mend such a step. In TensorFlow a clip by global norm makes all of it "
        "NaN; a clip by value bounds Inf but lets NaN through. Skip it."
    )
    first = first_nonfinite_step(rec)
    if first is not None and rec.nonfinite_steps == rec.seen - first and rec.nonfinite_steps > 1:
        advice += (
            f" Here every step from {first:,} on has it, so the weights probably do, too: go back "
            f"to weights from before step {first:,}."
        )
    return advice


def when(run: Run, row: int) -> str:
    """In which steps a bucket lies."""
    many = int(run.rec.bucket_steps[row])
    return f"in step{'s' * (many > 1)} {_steps(int(run.rec.step[row]), many)}"


def _places(run: Run, rows: np.ndarray) -> str:
    rec = run.rec
    where = [(r, k) for r in rows[:MOST] for k in np.flatnonzero(rec["nonfinite"][r])][:MOST]
    lines = [
        (
            _steps(int(rec.step[r]), int(rec.bucket_steps[r])),
            rec.names[k],
            number(rec["nonfinite"][r, k]),
        )
        for r, k in where
    ]
    cut = f", the first {MOST}" if len(where) == MOST else ""
    return table(f"Where NaN and Inf came up{cut}", ("step", "tensor", "entries"), lines)


def caveats(run: Run) -> Section:
    """The caveats that hold for this recording, in plain words."""
    sentence = "All of this is about the gradients of this run as it was, one step at a time."
    return Section("caveats", "What these numbers do not say", sentence, partial(_caveats, run))


def _caveats(run: Run) -> str:
    return "<ul>\n" + "".join(f"<li>{escape(line)}</li>\n" for line in _lines(run)) + "</ul>"


def _lines(run: Run) -> list[str]:
    rec = run.rec
    lines = [
        "With another limit the weights, and so all later gradients, would have been different. A "
        "share counts steps of this run only. To know what a limit does to training, train with "
        "it and record again.",
        "Global norm and norm of each tensor are exact. What is said of a limit on single entries "
        f"is estimated from counts by size, made in {rec.counted_in}; only which steps it fires "
        "on is exact.",
        "A suggested limit says what is unusual in this run, not what is best for the loss.",
    ]
    if rec.norms_only:
        # A log has no tensors, no entries, and norms as exact as it printed them.
        return [lines[0], *rec.about, lines[2]]
    if rec.stride > 1:
        lines.append(
            f"The run had more steps than the recorder has buckets: {run.merged}. How often limits "
            "on the global norm fire is counted step by step. How often they fire on single "
            "tensors is counted by sizes up to "
            f"{number(100 * float(rec.quantile_error.max()), 2)}% apart from what is printed: an "
            "estimate, with bounds."
        )
    if lost := int((~rec.known).sum()):
        lines.append(
            f"Of {counted(lost, 'step')} the single global norms are not known: shares are "
            "estimates, with bounds. A traced run keeps the last gl.Recorder(ring=...) of them, "
            "and all if its state is absorbed in time."
        )
    sampled = len(rec.sampled[0])
    if 0 < sampled < sum(rec.sizes):
        lines.append(
            f"Adagrad is computed on {counted(sampled, 'entry')} of "
            f"{counted(sum(rec.sizes), 'entry')}, chosen evenly over all tensors: shares of "
            "entries are estimates."
        )
    if not sampled:
        lines.append(
            "This recording holds no single entries, so nothing is said of Adagrad and staleness; "
            "gl.Recorder(entries=512), the default, keeps some."
        )
    return lines


def _steps(first: int, many: int) -> str:
    """A step, or the steps of a bucket that stands for several.

    >>> _steps(4, 1), _steps(4, 4)
    ('4', '4 to 7')
    """
    return f"{first}" if many == 1 else f"{first} to {first + many - 1}"
