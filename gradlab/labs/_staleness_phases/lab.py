"""Diagram of accepted gradients by number of workers and staleness limit, while speeds are dragged."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import amount, counted, number, percent, whole_percent
from ...live import Description, Drag, Items, LiveFigure, Menu, Slider
from ...workers import Bowl, Diagram, Experiment, Speeds, sweep
from .._lab import Control, Lab, Target
from .picture import PhasesView, Scale

LIMITS, WORKERS = range(25), range(1, 17)
GRADIENTS = 400  # handed in at every place of the diagram
_TIME = 100  # ticks that a gradient takes
POLICIES = {"drop": "drop the stale", "wait": "wait for the slowest"}


MEASURES = {
    "acceptance": Scale("gradients accepted", 1.0, percent),
    "slow": Scale("accepted, slow worker", 1.0, percent),
    "throughput": Scale("updates per gradient time", float(WORKERS[-1]), number),
    "staleness": Scale("mean staleness", float(WORKERS[-1]), number),
    "waiting": Scale("time that workers wait", 1.0, percent),
}


class Phases(NamedTuple):
    """A diagram of a policy, what is shown of it, and the place that is looked at."""

    policy: str
    speeds: Speeds
    diagram: Diagram
    measure: str
    limit: int
    workers: int

    def values(self, measure: str) -> np.ndarray:
        """One measure (limits, workers)."""
        diagram = self.diagram
        if measure == "throughput":
            return np.asarray(diagram.throughput * _TIME)
        if measure == "slow":
            return np.asarray(diagram.accepted[..., 0] / np.maximum(1, diagram.handed_in[..., 0]))
        values: np.ndarray = getattr(diagram, measure)
        return values

    def here(self, measure: str, limit: int | None = None) -> float:
        """One measure at the place that is looked at, or at another limit with as many workers."""
        limit = self.limit if limit is None else limit
        return float(self.values(measure)[limit - LIMITS[0], self.workers - WORKERS[0]])

    @property
    def straggler(self) -> float:
        """The slowdown of one worker."""
        return self.speeds.slow[0]


def _lowest(measure: str, share: float, workers: int) -> Callable[[Phases], tuple[bool, str]]:
    """With a straggler under "drop": whether this limit gives such a share and the one below it
    does not.
    """

    def reached(trace: Phases) -> tuple[bool, str]:
        here, below = (
            trace.here(measure),
            trace.here(measure, trace.limit - 1) if trace.limit > LIMITS[0] else 0.0,
        )
        asked = {
            "under another policy": trace.policy == "drop",
            f"with {counted(trace.workers, 'worker')}": trace.workers >= workers,
            "without such a straggler": trace.straggler >= 3,
        }
        but = "".join(f", {words}" for words, kept in asked.items() if not kept)
        now = (
            f"Now limit {trace.limit} accepts {percent(here)}, the one below it "
            f"{percent(below)}{but}"
        )
        return here >= share > below and not but, now

    return reached


def staleness_phases(
    *,
    straggler: float = 1.0,
    measure: Literal["acceptance", "slow", "throughput", "staleness", "waiting"] = "acceptance",
    policy: Literal["drop", "wait"] = "drop",
    limit: int = 4,
    workers: int = 8,
    spread: float = 0.2,
    target: Literal["nine_of_ten", "not_starving"] | None = None,
) -> StalenessPhasesLab:
    """Acceptance, throughput and staleness for every limit and every number of workers, while you drag their speeds.

    At a glance: The more workers, the higher the limit that still accepts most gradients.

    One worker can be slow. Drag the diamond, or click a place, to read its numbers and to cut
    through the diagram.

    Args:
        straggler: how many times slower one worker is, 1 to 5.
        measure: what colors show: "acceptance", that of the "slow" worker, "throughput",
            "staleness" or "waiting".
        policy: "drop" stale gradients, or "wait" for slow workers.
        limit: the most staleness that "drop" accepts, or the most gradients that "wait" lets a
            worker be ahead, 0 to 24.
        workers: 1 to 16.
        spread: of the time that a gradient takes, 0 to 1.
        target: a goal that is shown above the picture until it is reached.

    >>> staleness_phases(limit=1, workers=4).description.summary
    'With 4 workers, limit 1 accepts 52% of the gradients; 16 workers need limit 8 for that.'
    """
    return StalenessPhasesLab(
        target,
        straggler=straggler,
        measure=measure,
        policy=policy,
        limit=limit,
        workers=workers,
        spread=spread,
    )


class StalenessPhasesLab(Lab):
    """Lab of `staleness_phases`: every limit and every number of workers."""

    function = "staleness_phases"
    label = "Phases of staleness"
    axis = "straggler"
    presets: ClassVar = {
        "What is dropped": {
            "measure": "acceptance",
            "policy": "drop",
            "straggler": 1.0,
            "spread": 0.2,
        },
        "Where the slow one starves": {
            "measure": "slow",
            "policy": "drop",
            "straggler": 3.0,
            "spread": 0.2,
        },
        "How stale gradients are": {
            "measure": "staleness",
            "policy": "drop",
            "straggler": 1.0,
            "spread": 0.2,
        },
        "What waiting costs": {
            "measure": "throughput",
            "policy": "wait",
            "straggler": 3.0,
            "spread": 0.2,
        },
    }
    targets: ClassVar = {
        "nine_of_ten": Target(
            "with “drop” and at least 12 workers, one of them at least 3 times slower, find the "
            "lowest limit that accepts 90% of the gradients",
            _lowest("acceptance", 0.9, 12),
        ),
        "not_starving": Target(
            "with “drop” and at least 6 workers, one of them at least 3 times slower, find the "
            "lowest limit that accepts half of the slow worker's gradients",
            _lowest("slow", 0.5, 6),
        ),
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("straggler", "Straggler", 1.0, 5.0, 1.0, step=0.25, unit="times", play=True),
            Menu(
                "measure",
                "Color",
                [(name, scale.name) for name, scale in MEASURES.items()],
                "acceptance",
            ),
            Menu("policy", "Policy", [*POLICIES.items()], "drop"),
            Slider("limit", "Staleness limit", LIMITS[0], LIMITS[-1], 4, scale="integer"),
            Slider("workers", "Workers", WORKERS[0], WORKERS[-1], 8, scale="integer", folded=True),
            Slider("spread", "Spread of speed", 0.0, 1.0, 0.2, step=0.05, folded=True),
        ]

    def compute(self, values: dict[str, Any]) -> Phases:
        speeds, diagram = _swept(values["policy"], values["straggler"], values["spread"])
        return Phases(
            values["policy"], speeds, diagram, values["measure"], values["limit"], values["workers"]
        )

    def make_view(self) -> PhasesView:
        return PhasesView(LIMITS, WORKERS)

    def draw(self, view: PhasesView, trace: Phases) -> None:
        view.draw(trace.values(trace.measure), MEASURES[trace.measure], trace.limit, trace.workers)

    def drags(self, view: PhasesView) -> list[Drag]:
        return [Drag(view.plane, x="limit", y="workers", label="limit and workers")]

    def items(self, view: PhasesView, trace: Phases) -> Items:
        limit, workers = _places()
        values = dict(
            _in_numbers(scale, trace.values(name).ravel()) for name, scale in MEASURES.items()
        )
        names = [
            f"limit {x}, {counted(y, 'worker')}"
            for x, y in zip(limit.tolist(), workers.tolist(), strict=True)
        ]
        return Items("place", {view.plane: (limit, workers)}, values, names)

    def make_live(self, view: PhasesView, **params: Any) -> LiveFigure:
        """Return a lab's widget in which a click on a place selects it."""
        live = super().make_live(view, **params)
        limit, workers = _places()

        def look(change: Any) -> None:
            if change.new is not None and change.new < len(limit):
                live.set(limit=int(limit[change.new]), workers=int(workers[change.new]))

        def follow(change: Any) -> None:
            if live.selected is not None:
                live.selected = int(
                    np.flatnonzero(
                        (limit == live.values["limit"]) & (workers == live.values["workers"])
                    )[0]
                )

        live.observe(look, names="selected")
        live.observe(follow, names=["limit", "workers"])
        return live

    def describe(self, trace: Phases) -> Description:
        where = f"limit {trace.limit} and {counted(trace.workers, 'worker')}"
        scale, shown = MEASURES[trace.measure], trace.values(trace.measure)
        half = float((shown >= scale.top / 2).mean())
        said = "; ".join(
            f"{measure.name}: {measure.write(trace.here(name))}"
            for name, measure in MEASURES.items()
        )
        return Description(
            alt=f"Policy {trace.policy}, one worker {number(trace.straggler)} times as slow, "
            f"spread {number(trace.speeds.spread)}. At {where}: {said}. In {percent(half)} of "
            f"the places {scale.name} is {scale.write(scale.top / 2)} or more.",
            summary=_message(trace),
            table=(
                ("policy", POLICIES[trace.policy]),
                ("place", where),
                *(
                    (measure.name, measure.write(trace.here(name)))
                    for name, measure in MEASURES.items()
                ),
                ("gradients handed in", f"{GRADIENTS}"),
                (
                    f"places where {scale.name} is {scale.write(scale.top / 2)} or more",
                    percent(half),
                ),
            ),
        )

    def columns(self, trace: Phases) -> dict[str, np.ndarray]:
        limit, workers = _places()
        return {"limit": limit, "workers": workers} | {
            name: trace.values(name).ravel() for name in MEASURES
        }


def _message(trace: Phases) -> str:
    """The measure that is shown, at the place that is looked at; of acceptance also what other
    teams need for it.
    """
    team, measure = counted(trace.workers, "worker"), trace.measure
    here = MEASURES[measure].write(trace.here(measure))
    if measure in ("acceptance", "slow"):
        one = "the slow worker's" if trace.straggler > 1 else "worker 1's"
        whose = "the" if measure == "acceptance" else one
        share = float(trace.here(measure))
        accepted = {0.0: "none", 1.0: "all"}.get(share, whole_percent(share))
        return (
            f"With {team}, limit {trace.limit} accepts {accepted} of {whose} "
            f"gradients{_elsewhere(trace)}."
        )
    updates = amount(trace.here(measure), "update", 3)
    said = {
        "throughput": f"{updates} happen{'s' * (here == '1')} while one gradient is computed",
        "staleness": f"gradients are {updates} stale on average",
        "waiting": f"workers wait {here} of the time" if trace.here(measure) else "no worker waits",
    }
    return f"With {team} and limit {trace.limit}, {said[measure]}."


def _elsewhere(trace: Phases) -> str:
    """The lowest limit that accepts as much with the most workers, or if these are the most, with
    half as many.
    """
    accepted, here = trace.values(trace.measure), trace.here(trace.measure)
    if trace.policy != "drop" or here == 0:
        return ""
    others = WORKERS[-1] if trace.workers < WORKERS[-1] else WORKERS[-1] // 2
    enough = np.flatnonzero(accepted[:, others - WORKERS[0]] >= here)
    return f"; {others} workers need limit {LIMITS[int(enough[0])]} for that" if enough.size else ""


def _places() -> tuple[np.ndarray, np.ndarray]:
    """Limit and number of workers of every place, in the order of a diagram."""
    limit, workers = np.meshgrid(LIMITS, WORKERS, indexing="ij")
    return limit.ravel(), workers.ravel()


def _in_numbers(scale: Scale, values: np.ndarray) -> tuple[str, np.ndarray]:
    """A name and plain numbers: shares in percent."""
    return (f"{scale.name} in %", 100 * values) if scale.write is percent else (scale.name, values)


@functools.lru_cache(maxsize=256)
def _swept(policy: str, straggler: float, spread: float) -> tuple[Speeds, Diagram]:
    speeds = Speeds(median=_TIME, spread=spread, slow={0: straggler})
    experiment = Experiment(Bowl(), workers=1, speeds=speeds, policy=policy, gradients=GRADIENTS)
    return speeds, sweep(experiment, staleness=LIMITS, workers=WORKERS)
