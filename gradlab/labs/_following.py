"""Labs that follow a recorder while it records: when they are drawn again, and what that may cost."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np

from .._base.forks import renew_in_child
from .._base.numbers import counted
from .._base.time_share import Pace
from ..errors import InvalidArgumentError
from ..live import Description, Preset, Slider
from ..live.scheduling import attention, drawing, in_background
from ..record import Recorder
from ..record.listeners import follow, here
from ._lab import Control, Lab
from ._own_run import NOTHING, is_awaited, opened, stand_in

if TYPE_CHECKING:
    from ..live import LiveFigure

SHARE = 0.02  # of the time, that drawing all labs takes at most while they follow
SECONDS = 0.3  # between two pictures, at least
BURST = 1.0  # seconds of it at once: the first pictures, whose axes change, are there without delay
QUIET = 2.0  # seconds without a step, after which a run counts as over for now
_TICK = 0.1
_WAITS = "Waiting for the first step"

_log = logging.getLogger(__name__)
ViewT = TypeVar("ViewT", bound=Any)


class AxesRoom(NamedTuple):
    """Room in the axes of a picture: one that fits is drawn much faster.

    Attributes:
        steps: how many.
        stride: of a bucket.
        ranges: (smallest, largest) of what is on a log axis; NaN for nothing.
    """

    steps: int
    stride: int
    ranges: tuple[tuple[float, float], ...]

    def holds(self, other: AxesRoom) -> bool:
        """Tell whether all of another fits."""
        inside = (
            np.isnan(low) or a <= low <= high <= b
            for (a, b), (low, high) in zip(self.ranges, other.ranges, strict=True)
        )
        return self.stride == other.stride and other.steps <= self.steps and all(inside)

    def to_grow(self) -> AxesRoom:
        """More than is needed now, so that it is enough for a while."""
        steps = max(100, 2 * self.steps)
        return AxesRoom(steps, self.stride, tuple((low / 3, high * 3) for low, high in self.ranges))


def positive_range(x: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest of what is finite and above 0; NaN of nothing."""
    there = x[np.isfinite(x) & (x > 0)]
    return (float(there.min()), float(there.max())) if there.size else (np.nan, np.nan)


class FollowingLab(Lab):
    """A lab on a recorder that may go on recording: its picture grows, its sliders reach as far as the norms do.

    A lab that follows gives `renewed`, `own_presets`, `needs` and `arrange_still`, calls `follow`
    when it is made, and looks at `waits` before it draws: of a recorder without steps it shows a
    picture that waits for the first one.
    """

    waits = False  # the recording is a stand-in; nothing of it is shown
    # Even where there is room: the still parts show the data themselves.
    still_changes: ClassVar[bool] = False
    _follower: LabFollower | None = None
    _room: AxesRoom | None = None  # that the picture has, if it was drawn for more than there was

    def taken(self, recording: Any) -> Recorder:
        """The recording to begin with: as it is now, or a stand-in for one that has no steps yet."""
        self.waits = is_awaited(recording)
        return stand_in(recording) if self.waits else opened(recording)

    def signed(self, view: ViewT) -> ViewT:
        """A new view, with a word on it if the lab waits."""
        if self.waits:
            axes = view.figure.axes[0]
            axes.text(
                0.5,
                0.5,
                _WAITS,
                ha="center",
                va="center",
                fontsize=15,
                transform=axes.transAxes,
                gid=_WAITS,
            )
        return view

    def save(
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Any
    ) -> str:
        self.fresh()
        if self.waits:
            raise InvalidArgumentError(f"{NOTHING}; there is nothing to save yet")
        return super().save(path, theme, **params)

    def _describe(self, trace: Any) -> Description:
        if not self.waits:
            return super()._describe(trace)
        words = (
            f"{_WAITS} of {counted(len(self._awaited().names), 'tensor')}; "
            "the picture follows the run."
        )
        return Description(alt=words, summary=words, table=(("steps", "none yet"),))

    def _awaited(self) -> Recorder:
        assert self._follower is not None  # or it would not wait
        return self._follower.recorder

    def renewed(self, rec: Recorder) -> list[Control]:
        """Take over another recording of the same run; the controls as they would be for it."""
        raise NotImplementedError(f"{type(self).__name__} must define renewed(rec)")

    def own_presets(self) -> dict[str, Mapping[str, Any]]:
        """Presets for this recording."""
        raise NotImplementedError(f"{type(self).__name__} must define own_presets()")

    def needs(self) -> AxesRoom:
        """Return what the axes must have room for."""
        raise NotImplementedError(f"{type(self).__name__} must define needs()")

    def arrange_still(self, view: Any) -> None:
        """Fit the still parts of a view to `self._room`, or to what the lab needs."""
        raise NotImplementedError(f"{type(self).__name__} must define arrange_still(view)")

    @property
    def follows(self) -> bool:
        """True for a recorder that may go on."""
        return self._follower is not None

    def follow(self, recording: Any) -> None:
        """Hear of its steps, if it is a recorder."""
        if isinstance(recording, Recorder):
            self._follower = LabFollower(self, recording)
            self._follower.shown = here(recording)

    def fresh(self) -> None:
        if self._live is None and self._follower is not None and self._follower.is_behind:
            _, moved = self._take(self._follower.next())
            self._initial |= moved

    def take(self, rec: Recorder, growing: bool) -> None:
        """Show the run as it is in `rec`; `growing`: there is more to come."""
        with drawing:
            if (live := self._live) is None:
                return
            waited = self.waits
            wider, moved = self._take(rec)
            presets = [Preset(label, dict(values)) for label, values in self.presets.items()]
            fits = self._room is not None and self._room.holds(self.needs()) and not waited
            if growing and fits and not self.still_changes:
                live.renew(wider, presets)
            else:
                self._room = self.needs().to_grow() if growing else None
                live.renew(wider, presets, self._arrange)
            if moved:
                live.set(**moved)

    def _arrange(self) -> None:
        for sign in [text for text in self._view.figure.axes[0].texts if text.get_gid() == _WAITS]:
            sign.remove()
        self.arrange_still(self._view)

    def _take(self, rec: Recorder) -> tuple[list[Slider], dict[str, float]]:
        """The sliders that reach farther than before, and those that move by themselves.

        With the first step a slider goes where it would have begun, and from then on one at the end
        of the steps stays there, unless somebody has moved it.
        """
        wider, moved = [], {}
        first, self.waits = self.waits, False
        for new in self.renewed(rec):
            old = self._controls[new.name]
            if isinstance(old, Slider) and isinstance(new, Slider):
                value, is_step = self.params[new.name], new.name == "step"
                low, high = min(old.minimum, new.minimum), max(old.maximum, new.maximum)
                if (low, high) != (old.minimum, old.maximum):
                    wider.append(
                        replace(
                            old, minimum=low, maximum=high, step=new.step if is_step else old.step
                        )
                    )
                if value != new.value and (
                    (first and value == old.value) or (is_step and value == old.maximum)
                ):
                    moved[new.name] = new.value
        self._controls |= {slider.name: slider for slider in wider}
        self.presets = self.own_presets()  # type: ignore[misc]
        return wider, moved


class LabFollower:
    """Hears of the steps of a recorder for one lab, which it does not hold.

    Attributes:
        recorder: the one whose steps these are; of a traced run the one that `absorb` returned
            last.
    """

    def __init__(self, lab: FollowingLab, recorder: Recorder) -> None:
        self.recorder, self._lab = recorder, weakref.ref(lab)
        self.shown = -1  # steps in the last picture
        self._failed = False
        follow(recorder, self)

    @property
    def is_behind(self) -> bool:
        """True if there are steps that the lab does not have."""
        return here(self.recorder) != self.shown

    def next(self) -> Recorder:
        """The recording as it is now."""
        found = self.recorder.snapshot()
        self.shown = found.seen
        return found

    def heard(self, rec: Recorder) -> None:
        """The recorder has more steps; the picture follows now, or soon."""
        self.recorder = rec
        if not self._failed and _live(self._lab()) is not None:
            turns.take(self)

    def show(self, growing: bool) -> None:
        """Draw the lab as the run is now, if somebody may look at it."""
        lab = self._lab()
        if lab is None or (live := _live(lab)) is None:
            return
        if growing and not self.is_behind:
            return
        live.changing = True
        try:
            lab.take(self.next(), growing)
            live.changing = growing
        except Exception as error:  # the training goes on
            self._failed, live.changing = True, False
            _log.warning(
                "the lab %s follows no longer: %s", type(lab).__name__, error, exc_info=error
            )
            live.say(f"It follows the recorder no longer: {type(error).__name__}: {error}")


def _live(lab: Any) -> LiveFigure | None:
    found: LiveFigure | None = None if lab is None else lab._live
    return found


class DrawingQueue:
    """Queue of the labs that follow a recorder in this process.

    A picture is drawn where a step is recorded, or, when no step has come for a moment, in a
    thread, whose only work this is: the last steps of a run are shown, too. Not while another
    thread runs a cell: see `live/scheduling.py`.
    """

    def __init__(self) -> None:
        self.pace = Pace(SHARE, SECONDS, BURST)
        self._waiting: dict[LabFollower, None] = {}  # in their order
        self._growing: weakref.WeakSet[LabFollower] = weakref.WeakSet()
        self._heard = 0.0
        self._guard: threading.Lock
        renew_in_child(self, "_guard", threading.Lock)
        self._busy = threading.Lock()
        self._thread: object | None = None  # or the event loop, where there are no threads

    def take(self, follower: LabFollower) -> None:
        """There are steps to show."""
        self._heard = time.monotonic()
        with self._guard:
            self._waiting.setdefault(follower)
            if self._thread is None:
                self._thread = in_background(self._run())
        if self.pace.due and (
            threading.current_thread() is threading.main_thread() or not attention.runs_cell
        ):
            self._draw()

    def _draw(self) -> None:
        """Draw the picture of the lab that has waited longest."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            with self._guard:
                if not self._waiting:
                    return
                del self._waiting[follower := next(iter(self._waiting))]
                self._growing.add(follower)
            with self.pace.spending():
                follower.show(growing=True)
        finally:
            self._busy.release()

    def _run(self) -> Iterator[float]:
        """Draw what waits while no steps come; when none have come for long, as a run that is over."""
        while True:
            yield _TICK
            quiet = time.monotonic() - self._heard
            if attention.runs_cell or not self.pace.due:
                continue
            if self._waiting and quiet > _TICK:
                self._draw()
            elif quiet > QUIET:
                with self._busy, self.pace.spending():
                    for follower in list(self._growing):
                        follower.show(growing=False)
                    self._growing.clear()
                with self._guard:
                    if not self._waiting:
                        self._thread = None
                        return


turns = DrawingQueue()
