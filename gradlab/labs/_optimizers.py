"""Any rules of the catalog, racing from one start."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._base.numbers import counted, number, percent
from ..figures.race import Racer, RaceView
from ..live import Description, Drag, Menu, Slider
from ..models.surfaces import REACH, SURFACES, unturned, walk
from ..rules import catalog
from ._lab import Control, Lab, Target

STEPS, _PER_DECADE = 160, 6
RATES = tuple(10.0 ** (k / _PER_DECADE) for k in range(-4 * _PER_DECADE, 3 * _PER_DECADE + 1))
PLACES = ("first", "second", "third", "fourth")
_NO_DESCENT = ("Assign", "FrequencyEstimator", "UserDefined")  # they do not go downhill, or not by themselves
_TITLES = {"StochasticGradientDescent": "Gradient descent"}
_FLOOR = 1e-9  # losses below it are as good as none when rates are compared
NOBODY = "none"
_ORDINALS = ("1st", "2nd", "3rd", "4th")


class Race(NamedTuple):
    """Places of the racers after `step` steps; None for a place without a rule.

    `heavy` is the place to follow. `reference` has the losses of that rule where the ravine is not turned.
    """

    surface: str
    start: np.ndarray
    step: int
    noise: float
    factor: float
    racers: tuple[Racer | None, ...]
    heavy: int
    reference: np.ndarray | None

    @property
    def order(self) -> list[Racer]:
        """The racers, lowest loss first, those without a number last."""
        return sorted(filter(None, self.racers), key=lambda racer: np.nan_to_num(racer.loss[-1], nan=np.inf))

    def distance(self, racer: Racer) -> float:
        """Return how far a racer is from the nearest minimum."""
        return float(SURFACES[self.surface].distance(racer.path[-1].astype(np.float64)))


def _descent_wins(trace: Race) -> tuple[bool, str]:
    losses = {racer.title: racer.loss[-1] for racer in trace.order}
    plain_one, adam = (losses.get(title) for title in (_title("StochasticGradientDescent"), "Adam"))
    if plain_one is None or adam is None:
        return False, "Now they do not both race"
    as_asked = {
        "on another surface": trace.surface in ("rosenbrock", "beale"),
        "with noise": trace.noise == 0,
        "not at their own rates": trace.factor == 1,
        f"after {counted(trace.step, 'step')}": trace.step == STEPS,
    }
    but = "".join(f", {words}" for words, kept in as_asked.items() if not kept)
    first = f"{_share(plain_one)} of that at the start" if np.isfinite(plain_one) else _share(plain_one)
    now = f"Now the loss of gradient descent is {first}, that of Adam {_share(adam)}{but}"
    return bool(plain_one < adam) and not but, now


def _valley_floor(trace: Race) -> tuple[bool, str]:
    near = min((trace.distance(racer) for racer in trace.order), default=np.inf)
    there = trace.surface == "rosenbrock" and trace.start[0] < 0 and trace.step == 100
    now = f"Now the nearest is {number(near)} away, after {counted(trace.step, 'step')}"
    return there and near < 0.1, now if trace.surface == "rosenbrock" else "Now this is another surface"


class optimizers(Lab):
    """Race any rules of the catalog over a loss of two weights, from a start that you drag.

    At a glance: Turn the ravine and Adagrad goes from first to last.

    Every rule runs with a learning rate of its own on this surface and from this start: the one that is soonest low for
    good and stays in the picture. A factor that is one for all multiplies it: move it and see who forgives. A rate that
    is not each one's own may end lower; a ring marks the one that does.

    Controls: `surface` (bowl, ravine, turned, rosenbrock, saddle, beale, himmelblau, plateau), `first`, `second`,
    `third`, `fourth` (names of rules, or "none" for the last two), `heavy` (whose lines are heavy), `factor` (log
    scale), `noise` (a share of the first gradient), `step`, and the start, `x` and `y`.

    >>> optimizers(surface="turned", y=-0.6).description.summary.partition(";")[0]
    'After 160 steps Adagrad is 4th of 4, with a loss 2.3e-05 of that at the start'
    """

    label = "A race of optimizers"
    axis = "step"

    presets: ClassVar = {}
    targets: ClassVar = {
        "descent_wins": Target(
            "in Rosenbrock's valley or on Beale's function, find a start from which gradient descent ends lower than "
            "Adam, both at their own rates and without noise",
            _descent_wins,
        ),
        "valley": Target(
            "in Rosenbrock's valley, from a start with a negative first weight, bring a rule within 0.1 of the minimum "
            "after 100 steps",
            _valley_floor,
        ),
    }

    def make_controls(self) -> list[Control]:
        surfaces = [(name, surface.title) for name, surface in SURFACES.items()]
        rules = [(name, _title(name)) for name in catalog() if name not in _NO_DESCENT]
        nobody = [(NOBODY, "nobody")]
        x, y = SURFACES["ravine"].start
        return [
            Slider("step", "Steps done", 0, STEPS, STEPS, scale="integer", step=2, play=True),
            Slider("factor", "Rate, times each one's own", 0.01, 100.0, 1.0, scale="log", step=_PER_DECADE),
            Menu("surface", "Surface", surfaces, "ravine"),
            Menu("heavy", "Heavy line", [(place, f"{place} rule") for place in PLACES], "third"),
            Menu("first", "First rule", rules, "StochasticGradientDescent", folded=True),
            Menu("second", "Second rule", rules, "Momentum", folded=True),
            Menu("third", "Third rule", nobody + rules, "Adagrad", folded=True),
            Menu("fourth", "Fourth rule", nobody + rules, "Adam", folded=True),
            Slider("noise", "Gradient noise", 0.0, 1.0, 0.0, step=0.05, folded=True),
            Slider("x", "Start of the first weight", -REACH, REACH, x, step=0.01, hidden=True),
            Slider("y", "Start of the second weight", -REACH, REACH, y, step=0.01, hidden=True),
        ]

    def compute(self, values: dict[str, Any]) -> Race:
        surface, step, noise = values["surface"], values["step"], values["noise"]
        start, racers = (values["x"], values["y"]), []
        for place in PLACES:
            name = values[place]
            racers.append(None if name == NOBODY else _racer(surface, name, start, noise, values["factor"], step))
        heavy, reference = PLACES.index(values["heavy"]), None
        if surface == "turned" and (followed := values[values["heavy"]]) != NOBODY:
            reference = _racer("ravine", followed, unturned(*start), noise, values["factor"], step).loss
        return Race(surface, np.array(start), step, noise, values["factor"], tuple(racers), heavy, reference)

    def make_view(self) -> RaceView:
        return RaceView(STEPS, RATES)

    def draw(self, view: RaceView, trace: Race) -> None:
        reference, heavy = None, trace.racers[trace.heavy]
        if heavy is not None and trace.reference is not None:
            reference = (f"{heavy.title},\nnot turned", trace.reference)
        view.draw(trace.surface, trace.start, trace.racers, trace.heavy, reference)

    def drags(self, view: RaceView) -> list[Drag]:
        return [Drag(view.plane, x="x", y="y", label="drag the start")]

    def describe(self, trace: Race) -> Description:
        surface, steps = SURFACES[trace.surface], counted(trace.step, "step")
        said = self._order(trace)
        start = f"({number(trace.start[0])}, {number(trace.start[1])})"
        racers = [(place, racer) for place, racer in zip(PLACES, trace.racers, strict=True) if racer is not None]
        return Description(
            alt=f"{_ascii(surface.title)}: after {steps} {said}. The start is {start}, and losses are above "
            "the lowest one.",
            summary=f"After {steps} {said}.",
            table=(
                ("surface", f"{surface.title}: {surface.formula}"),
                ("steps done", f"{trace.step} of {STEPS}"),
                ("start", start),
                ("noise", f"{percent(trace.noise)} of the first gradient"),
                *(row for place, racer in racers for row in _table(trace, place, racer)),
            ),
        )

    @staticmethod
    def _order(trace: Race) -> str:
        """The racer to follow with its rank, or the first one, and then the others, lowest loss first."""
        order, followed = trace.order, trace.racers[trace.heavy]
        one = order[0] if followed is None else followed
        place = 1 + next(k for k, racer in enumerate(order) if racer is one)
        others = ", ".join(f"{racer.title} {_share(racer.loss[-1])}" for racer in order if racer is not one)
        end = (
            f"with a loss {_share(one.loss[-1])} of that at the start"
            if np.isfinite(one.loss[-1])
            else "without a number"
        )
        return f"{one.title} is {_ORDINALS[place - 1]} of {len(order)}, {end}; {others}"

    def columns(self, trace: Race) -> dict[str, np.ndarray]:
        columns = {"step": np.arange(trace.step + 1)}
        for place, racer in zip(PLACES, trace.racers, strict=True):
            if racer is not None:
                numbers = {"loss": racer.loss, "first_weight": racer.path[:, 0], "second_weight": racer.path[:, 1]}
                columns |= {f"{place}_{name}": column for name, column in numbers.items()}
        return columns


def _preset(surface: str, *names: str, **more: Any) -> dict[str, Any]:
    """Rules on a surface from its own start, at their own rates."""
    (x, y), last = SURFACES[surface].start, {"factor": 1.0, "noise": 0.0, "step": STEPS, "heavy": "third"}
    return {"surface": surface, **dict(zip(PLACES, names, strict=True)), "x": x, "y": y, **last, **more}


_FOUR = ("StochasticGradientDescent", "Momentum", "Adagrad", "Adam")
optimizers.presets = {
    "Ravine": _preset("ravine", *_FOUR),
    "The same, turned": _preset("turned", *_FOUR),
    "Saddle": _preset("saddle", *_FOUR),
    "Plateau": _preset("plateau", "StochasticGradientDescent", "RMSProp", "Lion", "Adam"),
    "Noise": _preset("bowl", *_FOUR, noise=1.0),
}


def _title(name: str) -> str:
    return _TITLES.get(name, name)


def _racer(surface: str, name: str, start: tuple[float, float], noise: float, factor: float, step: int) -> Racer:
    paths, losses, own = _raced(surface, name, start, noise)
    rate = own + round(_PER_DECADE * np.log10(factor))
    k = min(max(rate, 0), len(RATES) - 1)
    return Racer(_title(name), RATES[k], paths[: step + 1, k], losses[: step + 1, k], losses[step])


@functools.lru_cache(maxsize=128)
def _raced(surface: str, name: str, start: tuple[float, float], noise: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Paths (steps + 1, rates, 2), losses (steps + 1, rates) as shares of the first, and which rate is its own."""
    ground, rates = SURFACES[surface], np.tile(RATES, (STEPS, 1))
    paths = np.asarray(walk(ground, catalog()[name](), start, rates, noise=noise)[0])
    with np.errstate(all="ignore"):
        above = np.asarray(ground.above(paths))
        losses = above / max(float(above[0, 0]), _FLOOR)
        near = (np.abs(paths) <= 1.25 * REACH).all(axis=2) & (above <= _heights(surface))
    return paths, losses, _own(losses, np.asarray(near.all(axis=0)))


def _own(losses: np.ndarray, stays: np.ndarray) -> int:
    """The rate whose loss is soonest and lowest for good; one that leaves the picture only if all of them do."""
    logs = np.log10(np.clip(np.where(np.isfinite(losses), losses, np.inf), _FLOOR, 1 / _FLOOR))
    for_good = np.maximum.accumulate(logs[::-1])[::-1]  # no later loss is higher
    return int((for_good.mean(axis=0) + 100 * ~stays).argmin())


@functools.cache
def _heights(surface: str) -> float:
    """Return what nine tenths of the square are below, counted from the lowest loss."""
    side = np.linspace(-REACH, REACH, 41)
    above = SURFACES[surface].above(np.stack(np.meshgrid(side, side), axis=-1))
    return float(np.quantile(above, 0.9))


def _share(loss: float) -> str:
    return "without a number" if not np.isfinite(loss) else "below 1e-12" if loss < 1e-12 else number(loss, 2)


def _table(trace: Race, place: str, racer: Racer) -> list[tuple[str, str]]:
    where = " and ".join(number(w) for w in racer.path[-1])
    return [
        (f"{place} rule", f"{racer.title}, learning rate {number(racer.rate)}"),
        (f"{place}: loss, of that at the start", _share(racer.loss[-1])),
        (f"{place}: weights", where),
        (f"{place}: distance to the nearest minimum", number(trace.distance(racer))),
    ]


def _ascii(text: str) -> str:
    return text.replace("°", " degrees")
