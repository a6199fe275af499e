"""Parts of the labs on a recorded run: reading a recording, and sliders that fit its norms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from ..live import LiveFigure, Slider
from ..record import Recorder
from ..record.buckets import AnyRecording, condensed
from ..record.logs.read import open_run
from ._lab import Lab

Recording = str | PathLike[str] | Recorder
NOTHING = "nothing is recorded yet: call rec.record(grads, loss=loss) in every step first"
MOST_DRAWN = 1200  # of a recording that are drawn: more than there are pixels
_DECADES = 8  # of norms; smaller ones are as good as 0


class RunLab(Lab):
    """A lab on one recorded run, of your own or the one that ships.

    Args:
        recording: a `Recorder`, or the path of one that was saved; by default the shipped run of
            the reader.
        target: the name of one of the lab's targets.
        **initial: where the controls start.
    """

    def __init__(
        self, recording: Recording | None = None, *, target: str | None = None, **initial: Any
    ) -> None:
        # Here, or every lab of a recording waits for all update rules.
        from ..models import reader_run

        self.rec = reader_run.shipped() if recording is None else self.taken(recording)
        self.rec.require_tensors(f"The lab {self.function}")
        self.is_shipped = recording is None or recording is reader_run.shipped()
        self.source = "" if recording is None else written(recording)
        super().__init__(target, **initial)

    def taken(self, recording: Recording) -> Recorder:
        """The recording to begin with."""
        return opened(recording)


def opened(recording: Any) -> Recorder:
    """The recording as it is now, or the one in a file, which is not empty.

    Raises:
        ValueError: nothing is recorded yet.
        OSError: there is no such file.
        DataLossError: it is damaged, or something else.
        TypeError: neither a recording nor a path.
    """
    found = _checked(recording)
    if not len(found):
        raise ValueError(
            f"{NOTHING}. gl.labs.clipping and the labs called run_... can wait for the first one"
        )
    return found.snapshot()  # somebody may go on recording while a reader looks at it


def is_awaited(recording: Any) -> bool:
    """True for a recorder that knows its tensors and has no step yet.

    Raises what `opened` raises, and ValueError where a lab does not know for which tensors it would
    wait.
    """
    found = _checked(recording)
    if len(found):
        return False
    if not found.names:
        raise ValueError(
            f"{NOTHING}. A lab can wait for the first one when the recorder knows its tensors: "
            "attach it, or call rec.prepare with their shapes"
        )
    return found is recording


def stand_in(rec: Recorder) -> Recorder:
    """A recording of the same tensors with one step, in which all was 0, for what has to be there before the first."""
    found = Recorder(rec.capacity, entries=rec.entries, sample_every=rec.sample_every)
    found.prepare(dict(zip(rec.names, rec.shapes, strict=True)), rec.scalars)
    zeros = np.zeros((1, len(rec.names)), np.float32)
    entry = np.zeros((1, len(rec.sampled[0])), np.float32)
    found.extend({"norm": zeros, "largest": zeros, "nonfinite": zeros, "entry": entry})
    return found


def _checked(recording: Any) -> Recorder:
    """The recorder itself, or that of a file."""
    if isinstance(recording, str | PathLike):
        recording = open_run(recording)
    if not isinstance(recording, Recorder):
        raise TypeError(
            "a recording is a gl.Recorder, or the path of a file that Recorder.save wrote; got "
            f"{recording!r}"
        )
    return recording


def written(recording: Any) -> str:
    """Return how `code` writes a recording."""
    return repr(str(recording)) if isinstance(recording, str | PathLike) else "recording"


def without_none(**params: Any) -> dict[str, Any]:
    """Return the parameters that aren't None: where a control starts depends on the recording.

    >>> without_none(limit=None, run="1")
    {'run': '1'}
    """
    return {name: value for name, value in params.items() if value is not None}


def in_sight(rec: AnyRecording) -> AnyRecording:
    """The recording in no more buckets than can be drawn."""
    return condensed(rec, MOST_DRAWN)


def every(rec: Recorder) -> str:
    """The name of a bucket: "step", or "bucket of 4 steps".

    >>> from gradlab.models import reader_run
    >>> every(reader_run.shipped())
    'step'
    """
    return "step" if rec.stride == 1 else f"bucket of {rec.stride:,} steps"


def reach(*norms: np.ndarray) -> tuple[float, float]:
    """Round numbers around all norms that are finite and not 0, at most eight decades apart.

    >>> reach(np.array([0.03, 30.0, np.inf, 0.0]))
    (0.02, 50.0)
    """
    there = np.concatenate([np.ravel(x) for x in norms]).astype(np.float64)
    there = there[np.isfinite(there) & (there > 0)]
    if not there.size:
        return 0.1, 10.0
    digits = np.array([1.0, 2.0, 5.0, 10.0])
    floor, ceiling = (10.0 ** np.floor(np.log10(x)) * digits for x in (there.min(), there.max()))
    low, high = (
        floor[floor <= there.min()].max(initial=floor[0]),
        ceiling[ceiling >= there.max()].min(initial=ceiling[-1]),
    )
    high = max(high, 10 * low)
    return float(f"{max(low, high / 10.0**_DECADES):.1g}"), float(f"{high:.1g}")


def limit_slider(norms: tuple[float, float], value: float) -> Slider:
    """A slider for a limit over such norms, at its position nearest to a value."""
    low, high = norms
    slider = Slider(
        "limit", "Limit", low, high, min(max(value, low), high), scale="log", step=40, play=True
    )
    return replace(slider, value=slider.at(slider.position(slider.value)))


def follow_clicks(live: LiveFigure, name: str, options: Sequence[str]) -> LiveFigure:
    """Let a click on an item choose it in the menu `name`, whose options are the items in their order, and back."""

    def choose(change: Any) -> None:
        if change.new is not None and change.new < len(options):
            live.set(**{name: options[change.new]})

    def follow(change: Any) -> None:
        if live.selected is not None:
            live.selected = options.index(change.new) if change.new in options else None

    live.observe(choose, names="selected")
    live.observe(follow, names=name)
    return live
