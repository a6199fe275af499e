"""Any rules of the catalog, racing from one start."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import counted, listed, number, percent, signed, times_as
from ..._base.paired import Comparison
from ...live import Description, Drag, Menu, Slider
from ...models.surfaces import REACH, SURFACES, unturned, walk
from ...rules import catalog
from .._lab import Control, Lab, Target
from .picture import LOWEST, Racer, RaceView

STEPS, _PER_DECADE = 160, 6
RATES = tuple(10.0 ** (k / _PER_DECADE) for k in range(-4 * _PER_DECADE, 3 * _PER_DECADE + 1))
PLACES = ("first", "second", "third", "fourth")
_COUNTS = ("no", "one", "two", "three", "four")
# They do not go downhill, or not by themselves.
_NO_DESCENT = ("Assign", "FrequencyEstimator", "UserDefined")
RuleName = Literal[
    "StochasticGradientDescent",
    "Momentum",
    "KerasMomentum",
    "ProximalGradientDescent",
    "Adagrad",
    "BoundedAdagrad",
    "ProximalAdagrad",
    "AdagradMomentum",
    "AdagradDA",
    "FrequencyAwareAdagrad",
    "RowWiseAdagrad",
    "Adadelta",
    "RMSProp",
    "CenteredRMSProp",
    "Adam",
    "AdaMax",
    "AddSign",
    "PowerSign",
    "AMSGrad",
    "Nadam",
    "ScheduleFreeSGD",
    "ScheduleFreeAdam",
    "PartialRowWiseAdam",
    "ProximalYogi",
    "LaProp",
    "Lion",
    "Ftrl",
    "OnlineYogi",
    "MdlAdagradLight",
]
_TITLES = {"StochasticGradientDescent": "Gradient descent"}
_FLOOR = 1e-9  # losses below it are as good as none when rates are compared
_BOTTOM = 1e-12  # a loss below this share of the first is rounding
NOBODY = "none"
# Which rule is lowest under noise is judged on other draws than the one that is shown, for which
# the rates are chosen.
NOISE_SEEDS = tuple(range(1, 11))


class OptimizersTrace(NamedTuple):
    """Places of the racers after `step` steps; None for a place without a rule.

    `heavy` is the place to follow. `straight` has the same racers where the ravine is not turned.
    """

    surface: str
    start: np.ndarray
    step: int
    noise: float
    factor: float
    racers: tuple[Racer | None, ...]
    heavy: int
    straight: tuple[Racer | None, ...] | None
    # Under noise: title -> losses at this step in other draws, (seeds,).
    draws: dict[str, np.ndarray] | None = None

    @property
    def order(self) -> list[Racer]:
        """The racers, lowest loss first, those without a number last."""
        return sorted(filter(None, self.racers), key=_end)

    @property
    def followed(self) -> Racer:
        """The racer to follow: that of the heavy line, or the first one where nobody has it."""
        return self.racers[self.heavy] or self.order[0]

    def distance(self, racer: Racer) -> float:
        """Return how far a racer is from the nearest minimum."""
        return float(SURFACES[self.surface].distance(racer.path[-1].astype(np.float64)))


def _end(racer: Racer) -> float:
    """The loss after the last step; what is rounding is none, and what has no number is endless."""
    last = float(np.nan_to_num(racer.loss[-1], nan=np.inf))
    return last if last >= _BOTTOM else 0.0


def _rank(racer: Racer, racers: tuple[Racer | None, ...]) -> int:
    """Return one more than the number of lower racers: those at the same height share their rank."""
    return 1 + sum(_end(other) < _end(racer) for other in racers if other is not None)


def _descent_wins(trace: OptimizersTrace) -> tuple[bool, str]:
    ends = {racer.title: _end(racer) for racer in trace.order}
    descent, adam = (ends.get(title) for title in (_title("StochasticGradientDescent"), "Adam"))
    if descent is None or adam is None:
        return False, "Now they do not both race"
    as_asked = {
        "on another surface": trace.surface in ("rosenbrock", "beale"),
        "with noise": trace.noise == 0,
        "not at their own rates": trace.factor == 1,
        f"after {counted(trace.step, 'step')}": trace.step == STEPS,
    }
    but = "".join(f", {words}" for words, kept in as_asked.items() if not kept)
    now = (
        "has no finite loss"
        if not np.isfinite(descent)
        else "is lower than Adam"
        if descent < adam
        else (f"is {times_as(descent / max(adam, _BOTTOM), 'high')} as Adam")
    )
    return bool(descent < adam) and not but, f"Now gradient descent {now}{but}"


def _valley_floor(trace: OptimizersTrace) -> tuple[bool, str]:
    near = min((trace.distance(racer) for racer in trace.order), default=np.inf)
    there = trace.surface == "rosenbrock" and trace.start[0] < 0 and trace.step == 100
    now = f"Now the nearest is {number(near)} away, after {counted(trace.step, 'step')}"
    return (
        there and near < 0.1,
        now if trace.surface == "rosenbrock" else "Now this is another surface",
    )


def optimizers(
    *,
    step: int = STEPS,
    factor: float = 1.0,
    surface: Literal[
        "bowl", "ravine", "turned", "rosenbrock", "saddle", "beale", "himmelblau", "plateau"
    ] = "turned",
    heavy: Literal["first", "second", "third", "fourth"] = "third",
    first: RuleName = "StochasticGradientDescent",
    second: RuleName = "Momentum",
    third: RuleName | Literal["none"] = "Adagrad",
    fourth: RuleName | Literal["none"] = "Adam",
    noise: float = 0.0,
    x: float = -1.7,
    y: float = -0.6,
    target: Literal["descent_wins", "valley"] | None = None,
) -> OptimizersLab:
    """Race any rules of the catalog over a loss of two weights, from a start that you drag.

    At a glance: Turn the ravine, and from this start Adagrad goes from first to last.

    Every rule runs with a learning rate of its own on this surface and from this start: the rate
    whose loss falls soonest and stays low, on a path inside the picture. So what is said holds for
    this surface and this start; another start can reverse it. Under noise the rules are compared
    over ten other draws of it. A factor that is one for all multiplies the rates: move it and see
    who forgives.

    Args:
        step: how many steps are done, 0 to 160.
        factor: of all learning rates, 0.01 to 100.
        surface: the loss.
        heavy: the place whose lines are heavy.
        first: a rule of `gl.rules.catalog()`.
        second: the second rule.
        third: the third rule, or "none".
        fourth: the fourth rule, or "none".
        noise: added to the gradients, 0 to 1, as a share of the first gradient.
        x: the first weight at the start, -2 to 2.
        y: the second weight at the start, -2 to 2.
        target: a goal that is shown above the picture until it is reached.

    >>> optimizers().description.summary
    'From this start, turning the ravine takes Adagrad from first to last of four.'
    """
    return OptimizersLab(
        target,
        step=step,
        factor=factor,
        surface=surface,
        heavy=heavy,
        first=first,
        second=second,
        third=third,
        fourth=fourth,
        noise=noise,
        x=x,
        y=y,
    )


class OptimizersLab(Lab):
    """Lab of `optimizers`: up to four rules on one loss."""

    function = "optimizers"
    label = "A race of optimizers"
    axis = "step"

    presets: ClassVar = {}
    targets: ClassVar = {
        "descent_wins": Target(
            "in Rosenbrock's valley or on Beale's function, find a start from which gradient "
            "descent ends lower than Adam, both at their own rates and without noise",
            _descent_wins,
        ),
        "valley": Target(
            "in Rosenbrock's valley, from a start with a negative first weight, bring a rule "
            "within 0.1 of the minimum after 100 steps",
            _valley_floor,
        ),
    }

    def make_controls(self) -> list[Control]:
        surfaces = [(name, surface.title) for name, surface in SURFACES.items()]
        rules = [(name, _title(name)) for name in catalog() if name not in _NO_DESCENT]
        nobody = [(NOBODY, "No rule")]
        x, y = SURFACES["turned"].start
        return [
            Slider("step", "Steps done", 0, STEPS, STEPS, scale="integer", step=2, play=True),
            Slider(
                "factor", "Rate, times its own", 0.01, 100.0, 1.0, scale="log", step=_PER_DECADE
            ),
            Menu("surface", "Surface", surfaces, "turned"),
            Menu(
                "heavy",
                "Heavy line",
                [(place, f"{place.capitalize()} rule") for place in PLACES],
                "third",
            ),
            Menu("first", "First rule", rules, "StochasticGradientDescent", folded=True),
            Menu("second", "Second rule", rules, "Momentum", folded=True),
            Menu("third", "Third rule", nobody + rules, "Adagrad", folded=True),
            Menu("fourth", "Fourth rule", nobody + rules, "Adam", folded=True),
            Slider("noise", "Gradient noise", 0.0, 1.0, 0.0, step=0.05, folded=True),
            Slider("x", "Start of the first weight", -REACH, REACH, x, step=0.01, hidden=True),
            Slider("y", "Start of the second weight", -REACH, REACH, y, step=0.01, hidden=True),
        ]

    def compute(self, values: dict[str, Any]) -> OptimizersTrace:
        surface, start = values["surface"], (values["x"], values["y"])

        def race(surface: str, start: tuple[float, float]) -> tuple[Racer | None, ...]:
            settings = values["noise"], values["factor"], values["step"]
            names = [values[place] for place in PLACES]
            return tuple(
                None if name == NOBODY else _racer(surface, name, start, *settings)
                for name in names
            )

        straight = race("ravine", unturned(*start)) if surface == "turned" else None
        heavy = PLACES.index(values["heavy"])
        settings = values["step"], values["noise"], values["factor"]
        racers = race(surface, start)
        draws = None
        if values["noise"] and values["step"]:
            rates = {
                values[place]: racer.rate
                for place, racer in zip(PLACES, racers, strict=True)
                if racer is not None
            }
            draws = {
                _title(name): _drawn_again(surface, name, start, values["noise"], rate)[
                    values["step"]
                ]
                for name, rate in rates.items()
            }
        return OptimizersTrace(surface, np.array(start), *settings, racers, heavy, straight, draws)

    def make_view(self) -> RaceView:
        return RaceView(STEPS, RATES)

    def draw(self, view: RaceView, trace: OptimizersTrace) -> None:
        straight = trace.straight and trace.straight[trace.heavy]
        reference = ("not turned", straight.loss) if straight else None
        view.draw(trace.surface, trace.start, trace.racers, trace.heavy, reference)

    def drags(self, view: RaceView) -> list[Drag]:
        return [Drag(view.plane, x="x", y="y", label="drag the start")]

    def describe(self, trace: OptimizersTrace) -> Description:
        surface, steps = SURFACES[trace.surface], counted(trace.step, "step")
        start = f"({number(trace.start[0])}, {number(trace.start[1])})"
        losses = ", ".join(f"{racer.title} {_share(racer.loss[-1])}" for racer in trace.order)
        racers = [
            (place, racer)
            for place, racer in zip(PLACES, trace.racers, strict=True)
            if racer is not None
        ]
        return Description(
            alt=f"{_ascii(surface.title)}: after {steps}, losses as shares of that at the start: "
            f"{losses}. The start is {start}, and {trace.followed.title} is followed.",
            summary=_message(trace),
            table=(
                ("surface", f"{surface.title}: {surface.formula}"),
                ("steps done", f"{trace.step} of {STEPS}"),
                ("start", start),
                ("noise", f"{percent(trace.noise)} of the first gradient"),
                *(row for place, racer in racers for row in _table(trace, place, racer)),
            ),
        )

    def columns(self, trace: OptimizersTrace) -> dict[str, np.ndarray]:
        columns = {"step": np.arange(trace.step + 1)}
        for place, racer in zip(PLACES, trace.racers, strict=True):
            if racer is not None:
                numbers = {
                    "loss": racer.loss,
                    "first_weight": racer.path[:, 0],
                    "second_weight": racer.path[:, 1],
                }
                columns |= {f"{place}_{name}": column for name, column in numbers.items()}
        return columns


def _preset(surface: str, *names: str, **more: Any) -> dict[str, Any]:
    """Rules on a surface from its own start, at their own rates."""
    (x, y), last = (
        SURFACES[surface].start,
        {"factor": 1.0, "noise": 0.0, "step": STEPS, "heavy": "third"},
    )
    return {
        "surface": surface,
        **dict(zip(PLACES, names, strict=True)),
        "x": x,
        "y": y,
        **last,
        **more,
    }


_FOUR = ("StochasticGradientDescent", "Momentum", "Adagrad", "Adam")
OptimizersLab.presets = {
    "Ravine": _preset("ravine", *_FOUR),
    "The same, turned": _preset("turned", *_FOUR),
    "Saddle": _preset("saddle", *_FOUR),
    "Plateau": _preset("plateau", "StochasticGradientDescent", "RMSProp", "Lion", "Adam"),
    "Noise": _preset("bowl", *_FOUR, noise=1.0),
}


def _title(name: str) -> str:
    return _TITLES.get(name, name)


def _racer(
    surface: str, name: str, start: tuple[float, float], noise: float, factor: float, step: int
) -> Racer:
    paths, losses, own = _raced(surface, name, start, noise)
    rate = own + round(_PER_DECADE * np.log10(factor))
    k = min(max(rate, 0), len(RATES) - 1)
    return Racer(
        _title(name), RATES[k], paths[: step + 1, k], losses[: step + 1, k], losses[step], k != rate
    )


@functools.lru_cache(maxsize=128)
def _raced(
    surface: str, name: str, start: tuple[float, float], noise: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """Paths (steps + 1, rates, 2), losses (steps + 1, rates) as shares of the first, and which rate
    is its own.
    """
    ground, rates = SURFACES[surface], np.tile(RATES, (STEPS, 1))
    paths = np.asarray(walk(ground, catalog()[name](), start, rates, noise=noise)[0])
    with np.errstate(all="ignore"):
        above = np.asarray(ground.above(paths))
        losses = above / max(float(above[0, 0]), _FLOOR)
        near = (np.abs(paths) <= 1.25 * REACH).all(axis=2) & (above <= _heights(surface))
    return paths, losses, _own(losses, np.asarray(near.all(axis=0)))


@functools.lru_cache(maxsize=128)
def _drawn_again(
    surface: str, name: str, start: tuple[float, float], noise: float, rate: float
) -> np.ndarray:
    """Losses (steps + 1, seeds) as shares of the first, under draws of the noise that are not the
    one shown.
    """
    ground, rates = SURFACES[surface], np.full((STEPS, len(NOISE_SEEDS)), rate)
    paths = np.asarray(
        walk(ground, catalog()[name](), start, rates, noise=noise, seeds=NOISE_SEEDS)[0]
    )
    with np.errstate(all="ignore"):
        above = np.asarray(ground.above(paths))
        return np.asarray(above / max(float(above[0, 0]), _FLOOR))


def _own(losses: np.ndarray, stays: np.ndarray) -> int:
    """The rate whose loss falls soonest and stays low, on a path inside the picture where there is
    one.
    """
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
    return (
        "without a number"
        if not np.isfinite(loss)
        else "below 1e-12"
        if loss < 1e-12
        else number(loss, 2)
    )


def _message(trace: OptimizersTrace) -> str:
    """Say what turning the ravine does to the rule that is followed; elsewhere, which rule is
    lowest.
    """
    count, followed = len(trace.order), trace.followed
    if trace.step == 0:
        all_of_them = "Both" if count == 2 else f"All {_COUNTS[count]}"
        return f"{all_of_them} rules start at {_point(trace.start)}."
    when = [f"after {counted(trace.step, 'step')}"] * (trace.step < STEPS)
    rest = ""
    if any(racer.capped for racer in trace.order):
        rest = (
            f" (at most {number(RATES[-1])})"
            if trace.factor > 1
            else f" (at least {number(RATES[0])})"
        )
    when += [f"at {number(trace.factor)} times their own rates{rest}"] * (trace.factor != 1)
    before = trace.straight and trace.straight[trace.heavy]
    if trace.draws is not None and len(trace.draws) > 1:
        said = _lowest_under_noise(trace.draws)
    elif trace.straight and before and np.isfinite(_end(before)) and np.isfinite(_end(followed)):
        ranks = [_rank(before, trace.straight), _rank(followed, trace.racers)]
        old, new = (_ordinal(rank, count) for rank in ranks)
        name = _inside(followed)
        moves = f"leaves {name} {new}" if old == new else f"takes {name} from {old} to {new}"
        said = f"turning the ravine {moves} of {_COUNTS[count]}."
        when = when or ["from this start"]
    else:
        said = _lowest(trace)
        said = said if when else f"here {said}"
    said = ", ".join([" ".join(when), said] if when else [said])
    return said[0].upper() + said[1:]


def _lowest(trace: OptimizersTrace) -> str:
    """Say which rule is lowest, and how far above it is the one to follow, or the next."""
    order, least = trace.order, _end(trace.order[0])
    if not np.isfinite(least):
        return "no rule has a finite loss."
    first = [racer for racer in order if _end(racer) == least]
    many, whole = len(first) > 1, trace.step == STEPS
    verb = ("end" if many else "ends") if whole else "are" if many else "is"
    said, above = (
        f"{listed([_inside(racer) for racer in first])} {verb} lowest",
        order[len(first) :],
    )
    if not above:
        return f"{said}."
    other = trace.followed if _end(trace.followed) > least else above[0]
    if not np.isfinite(_end(other)):
        return f"{said}; {_inside(other)} has no finite loss."
    high = times_as(_end(other) / max(least, _BOTTOM), "high", at_least=least < _BOTTOM)
    high = high if _end(other) >= LOWEST else "below the picture, too"
    rank = _ordinal(_rank(other, trace.racers), len(order))
    return f"{said}; {_inside(other)}, {rank}, is {high}."


def _lowest_under_noise(draws: dict[str, np.ndarray]) -> str:
    """Say which rules are lowest over all draws of the noise, as far as the draws tell them apart."""
    finite = {name: losses for name, losses in draws.items() if np.isfinite(losses).all()}
    among = f"in {len(NOISE_SEEDS)} draws of the noise"
    if len(finite) < 2:
        return f"{among} fewer than two rules keep a finite loss."
    # Losses of one rule differ by factors, so their logarithms are compared.
    comparison = Comparison(
        "log loss", {name: np.log10(np.maximum(losses, _BOTTOM)) for name, losses in finite.items()}
    )
    level = comparison.level_with_best
    names = _inside_names(level)
    if len(level) == 1:
        return f"{among} {names} ends lowest."
    if len(level) == len(draws):
        return f"{among} these rules can't be told apart."
    rest = [name for name in draws if name not in level]
    higher = (
        f"{'end' if len(rest) > 1 else 'ends'} higher than {_inside_names([comparison.leader])}"
    )
    return f"{among} {names} can't be told apart; {_inside_names(rest)} {higher}."


def _inside_names(titles: Sequence[str]) -> str:
    """Titles of rules inside a sentence: only names of rules keep their capitals."""
    return listed(
        [title.lower() if title in _TITLES.values() else title for title in titles],
        most=len(PLACES),
    )


def _inside(racer: Racer) -> str:
    """The title inside a sentence: names of rules keep their capitals."""
    return racer.title if racer.title not in _TITLES.values() else racer.title.lower()


def _ordinal(rank: int, count: int) -> str:
    return "last" if rank == count else PLACES[rank - 1]


def _point(weights: np.ndarray) -> str:
    return f"({', '.join(signed(number(w)) for w in weights)})"


def _table(trace: OptimizersTrace, place: str, racer: Racer) -> list[tuple[str, str]]:
    where = " and ".join(number(w) for w in racer.path[-1])
    return [
        (f"{place} rule", f"{racer.title}, learning rate {number(racer.rate)}"),
        (f"{place}: loss, of that at the start", _share(racer.loss[-1])),
        (f"{place}: weights", where),
        (f"{place}: distance to the nearest minimum", number(trace.distance(racer))),
    ]


def _ascii(text: str) -> str:
    return text.replace("°", " degrees")
