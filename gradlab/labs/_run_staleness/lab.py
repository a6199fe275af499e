"""Several workers at the speed of a recorded run: how stale its gradients would come, and what of
them would hold.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import amount, counted, number, whole_percent
from ...live import Description, Drag, Items, Menu, Slider
from ...record import Agreement, Recorder
from ...record.analysis.agreement import known_agreement
from ...workers import Bowl, Experiment, Speeds
from ...workers.simulated import decide
from .._following import AxesRoom, FollowingLab
from .._lab import Control, Target
from .._own_run import Recording, RunLab, without_none
from .picture import OLDEST, AgreementCurve, Stale, StalenessView

GRADIENTS = 300
_TIME = 100  # ticks of a median step
_MOST = 16  # workers
_LIMITS = np.array([0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, OLDEST])  # of the curve
_SPEEDS = (("measured", "as recorded"), ("equal", "all equal"))


class RunStalenessTrace(NamedTuple):
    """A run of several workers under one limit.

    Attributes:
        workers, straggler, limit: the settings.
        staleness: (gradients,) of each handed in, in updates.
        accepted, last: (gradients,) whether it was, and whether it is of the last worker.
        by_limit: share accepted under each of `_LIMITS`.
        agreement: of the recorded run; None without probes.
        known: whether the speeds are the recorded ones.
    """

    workers: int
    straggler: float
    limit: int
    staleness: np.ndarray
    accepted: np.ndarray
    last: np.ndarray
    by_limit: np.ndarray
    agreement: Agreement | None
    known: bool

    @property
    def dropped(self) -> float:
        """Share of the gradients that the limit drops."""
        return float(1 - self.accepted.mean())

    @property
    def oldest(self) -> int:
        """The largest staleness that was accepted."""
        return int(self.staleness[self.accepted].max(initial=0))

    @property
    def mean(self) -> float:
        """The mean staleness."""
        return float(self.staleness.mean())

    def agrees(self, lag: int) -> float:
        """The agreement of gradients some updates apart; NaN where it isn't known."""
        if self.agreement is None or not self.agreement.is_known(lag):
            return np.nan
        return float(self.agreement.value[lag])

    def agrees_in_words(self, lag: int) -> str:
        """The same with its interval, or why it isn't known."""
        return (
            "not known without probes" if self.agreement is None else self.agreement.in_words(lag)
        )


def _workers(trace: RunStalenessTrace) -> str:
    return counted(trace.workers, "worker")


def _accepted_young(trace: RunStalenessTrace) -> tuple[bool, str]:
    accepted = whole_percent(1 - trace.dropped)
    now = (
        f"Now with {_workers(trace)} {accepted} are accepted, the oldest "
        f"{counted(trace.oldest, 'update')} stale"
    )
    return (
        trace.workers >= 4 and trace.straggler >= 3 and trace.dropped <= 0.15 and trace.oldest <= 5,
        now,
    )


def _worth_having(trace: RunStalenessTrace) -> tuple[bool, str]:
    mean = float(trace.staleness[trace.accepted].mean()) if trace.accepted.any() else 0.0
    dropped = whole_percent(trace.dropped)
    now = (
        f"Now accepted gradients are {mean:.1f} updates stale in the "
        f"mean, and {dropped} are dropped"
    )
    return trace.workers >= 12 and mean <= 3 and trace.dropped <= 0.6, now


def run_staleness(
    recording: Recording | None = None,
    *,
    limit: int = 7,
    workers: int = 8,
    straggler: float = 1.0,
    speeds: Literal["measured", "equal"] | None = None,
    target: Literal["kept_fresh", "worth_having"] | None = None,
) -> RunStalenessLab:
    """Let several workers share a recorded run: how stale gradients come, what a limit drops, how much still agrees.

    At a glance: With 8 workers most gradients are 2 to 8 updates stale; below, how much gradients
    so far apart agree.

    A step of a worker takes as long as one of the recorded steps, drawn at random; where no times
    were recorded all steps are equal. Below the staleness stands how much true gradients of the run
    that many updates apart agree, with 95% intervals, if the run was recorded with probes
    (`Recorder.probe`, `Recorder.agreement`). Without probes nothing can be said of it: gradients of
    single batches differ because batches do. Thin lines are runs of other seeds.

    Of your own recorder it follows the run while it goes on, see `run_layers`.

    Args:
        recording: your own `Recorder`, or the path of one that was saved; by default the shipped
            run of the reader.
        limit: the most staleness accepted, as by `DropStaleGradientOptimizer`, 0 to 24.
        workers: 1 to 16.
        straggler: how many times slower the last worker is, 1 to 5.
        speeds: "measured", the default if the run has times, or "equal".
        target: a goal that is shown above the picture until it is reached.

    Raises:
        ValueError: the file isn't a recording, or nothing is recorded yet.
        TypeError: neither a recording nor a path.

    >>> run_staleness(workers=1, limit=0).description.summary
    'With 1 worker no gradient is stale; limit 0 drops none.'
    """
    return RunStalenessLab(
        recording,
        target=target,
        limit=limit,
        workers=workers,
        straggler=straggler,
        **without_none(speeds=speeds),
    )


class RunStalenessLab(FollowingLab, RunLab):
    """Lab of `run_staleness`: several workers at the speed of a recorded run."""

    function = "run_staleness"
    label = "Staleness at the speed of a recorded run"
    axis = "limit"
    still_changes = True
    presets: ClassVar = {
        "Two workers": {"workers": 2, "limit": 1, "straggler": 1.0},
        "Eight workers": {"workers": 8, "limit": 7, "straggler": 1.0},
        "One of them slow": {"workers": 8, "limit": 7, "straggler": 3.0},
        "A strict limit": {"workers": 8, "limit": 2, "straggler": 1.0},
        "All in step": {"workers": 8, "limit": 7, "straggler": 1.0, "speeds": "equal"},
    }
    targets: ClassVar = {
        "kept_fresh": Target(
            "with at least four workers, the last at least 3 times slower, accept at least 85% of "
            "the gradients, with a staleness of at most 5",
            _accepted_young,
        ),
        "worth_having": Target(
            "with at least twelve workers, accept gradients with a mean staleness of at most 3, "
            "and drop at most 60%",
            _worth_having,
        ),
    }

    def __init__(
        self, recording: Recording | None = None, *, target: str | None = None, **initial: Any
    ) -> None:
        self._grows = isinstance(recording, Recorder)
        super().__init__(recording, target=target, **initial)
        self.presets = self.own_presets()  # type: ignore[misc]
        self.follow(recording)

    def own_presets(self) -> dict[str, Mapping[str, Any]]:
        menu: Any = self._controls["speeds"]
        usual = {"speeds": menu.values()[0]}  # measured, if times were recorded
        return {label: usual | dict(values) for label, values in type(self).presets.items()}

    def renewed(self, rec: Recorder) -> list[Control]:
        self.rec = rec
        return self.make_controls()

    def needs(self) -> AxesRoom:
        return AxesRoom(self.rec.seen, self.rec.stride, ())

    def make_controls(self) -> list[Control]:
        self._seconds = self.rec.durations()
        self._agreement = known_agreement(self.rec)
        # A first step has no time yet.
        speeds = _SPEEDS if self._seconds.size or self._grows else _SPEEDS[1:]
        return [
            Slider("limit", "Staleness limit", 0, OLDEST, 7, scale="integer", play=True),
            Slider("workers", "Workers", 1, _MOST, 8, scale="integer"),
            Slider("straggler", "Straggler", 1.0, 5.0, 1.0, step=0.5, unit="times"),
            Menu("speeds", "Speeds", speeds, speeds[0][0]),
        ]

    def idle(self, values: dict[str, Any]) -> list[str]:
        """A worker that is alone waits for nobody, however long its steps take."""
        return ["straggler", "speeds"] if values["workers"] == 1 else []

    def compute(self, values: dict[str, Any]) -> RunStalenessTrace:
        workers, limit, straggler = values["workers"], values["limit"], values["straggler"]
        known = values["speeds"] == "measured" and bool(self._seconds.size)
        seconds = tuple(self._seconds.tolist()) if known else ()
        staleness, accepted, last = _ran(workers, limit, straggler, seconds)
        by_limit = np.array(
            [_ran(workers, x, straggler, seconds)[1].mean() for x in _LIMITS.tolist()]
        )
        return RunStalenessTrace(
            workers, straggler, limit, staleness, accepted, last, by_limit, self._agreement, known
        )

    def make_view(self) -> StalenessView:
        return self.signed(StalenessView(*self._still()))

    def arrange_still(self, view: StalenessView) -> None:
        view.still(*self._still())

    def _still(self) -> tuple[AgreementCurve, np.ndarray]:
        found = self._agreement
        if found is None:
            return AgreementCurve.unknown(), self._seconds
        others = np.empty((0, len(found.lags)))
        if self.is_shipped:
            others = np.array([run.value for run in _other_seeds()])
        known = np.array([found.is_known(lag) for lag in found.lags.tolist()])
        value, low, high = (
            np.where(known, x, np.nan) for x in (found.value, found.low, found.high)
        )
        return AgreementCurve(found.lags, value, low, high, others), self._seconds

    def draw(self, view: StalenessView, trace: RunStalenessTrace) -> None:
        if self.waits:
            return
        ages, count = np.minimum(trace.staleness, OLDEST), len(trace.staleness)
        shares = np.bincount(ages, minlength=OLDEST + 1) / count
        accepted = np.bincount(ages[trace.accepted], minlength=OLDEST + 1) / count
        lag = round(trace.mean)
        near = lag, trace.agrees(lag), trace.agrees_in_words(lag)
        view.draw(Stale(shares, accepted, trace.mean, trace.limit, _LIMITS, trace.by_limit, *near))

    def items(self, view: StalenessView, trace: RunStalenessTrace) -> Items | None:
        if self.waits:
            return None
        ages, there = np.arange(OLDEST + 1), np.minimum(trace.staleness, OLDEST)
        shares = np.bincount(there, minlength=OLDEST + 1) / len(there)
        agreement = np.array([trace.agrees(age) for age in ages.tolist()])
        values = {"share in %": 100 * shares, "agreement of gradients so far apart": agreement}
        places = {view.ages: (ages, shares / shares.max()), view.agreement: (ages, agreement)}
        return Items("staleness", places, values)

    def drags(self, view: StalenessView) -> list[Drag]:
        places = {
            "staleness": view.ages,
            "agreement": view.agreement,
            "shares accepted": view.by_limit,
        }
        return [
            Drag(axes, x="limit", label=f"drag the limit under the {name}")
            for name, axes in places.items()
        ]

    def describe(self, trace: RunStalenessTrace) -> Description:
        mean, workers = trace.mean, _workers(trace)
        agrees = f"agreement of gradients {counted(round(mean), 'update')} apart"
        dropped = f"limit {trace.limit} drops {whole_percent(trace.dropped)}"
        slow = (
            f", the last one {number(trace.straggler)} times as slow" if trace.straggler > 1 else ""
        )
        return Description(
            alt=f"{workers} at the speed of the recorded steps{slow}: mean staleness "
            f"{number(mean)}, largest {trace.staleness.max()}; {dropped} of {GRADIENTS} "
            f"gradients. {agrees.capitalize()}: "
            f"{trace.agrees_in_words(round(mean)).replace('−', '-')}.",
            summary=_message(trace),
            table=(
                ("workers", workers),
                ("straggler slowdown", f"{number(trace.straggler)} times"),
                ("how long steps take", self._how_long(trace)),
                (
                    "mean and largest staleness",
                    f"{number(mean)} and {counted(trace.staleness.max(), 'update')}",
                ),
                (
                    f"dropped by limit {trace.limit}",
                    f"{whole_percent(trace.dropped)} of {GRADIENTS}",
                ),
                ("oldest accepted", counted(trace.oldest, "update")),
                (
                    "dropped of the last worker",
                    f"{(trace.last & ~trace.accepted).sum()} of {trace.last.sum()}",
                ),
                ("agreement of gradients 1 update apart", trace.agrees_in_words(1)),
                (agrees, trace.agrees_in_words(round(mean))),
                ("how agreement is known", self._how_known()),
            ),
        )

    def _how_known(self) -> str:
        if self._agreement is None:
            return (
                "not at all: call rec.probe(grads) every few steps, with the gradient of a batch "
                "that is not trained on"
            )
        return (
            f"{counted(self._agreement.probes, 'probe')} on batches that were "
            "not trained on; 95% intervals"
        )

    def _how_long(self, trace: RunStalenessTrace) -> str:
        if trace.known:
            low, middle, high = (
                number(x) for x in 1000 * np.percentile(self._seconds, [10, 50, 90])
            )
            merged = f", means of {self.rec.stride}" if self.rec.stride > 1 else ""
            return (
                f"as {len(self._seconds):,} recorded{merged}: {low} to {high} ms, median {middle}"
            )
        return "all the same" + (", for no times were recorded" if not self._seconds.size else "")

    def columns(self, trace: RunStalenessTrace) -> dict[str, np.ndarray]:
        return {"staleness": trace.staleness, "accepted": trace.accepted.astype(int)}


def _message(trace: RunStalenessTrace) -> str:
    """Say how stale gradients are and how many a limit drops."""
    lost = (
        f"limit {trace.limit} drops "
        f"{f'{whole_percent(trace.dropped)} of them' if trace.dropped else 'none'}"
    )
    if not trace.mean:
        return f"With {_workers(trace)} no gradient is stale; limit {trace.limit} drops none."
    stale = f"gradients are {amount(trace.mean, 'update')} stale on average"
    return f"With {_workers(trace)} {stale}; {lost}."


def _other_seeds() -> tuple[Agreement, ...]:
    """The runs of the reader whose probes ship beside the first one's."""
    from ...models import reader_run  # here, as in `RunLab`

    return reader_run.agreements()[1:]


@functools.lru_cache(maxsize=1024)
def _ran(
    workers: int, limit: int, straggler: float, seconds: tuple[float, ...]
) -> tuple[np.ndarray, ...]:
    """Staleness of every gradient, whether it was accepted, and whether it is of the last worker."""
    speeds = Speeds(median=_TIME, spread=0.0, slow={workers - 1: straggler}, measured=seconds)
    experiment = Experiment(
        Bowl(), workers=workers, speeds=speeds, policy="drop", staleness=limit, gradients=GRADIENTS
    )
    trace = decide(experiment)  # no weight is looked at
    return trace.true_staleness, trace.accepted, trace.rounds["worker"] == workers - 1
