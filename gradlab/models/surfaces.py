"""Losses of two weights to watch rules walk on, each with its gradient by formula, and the walk itself.

Those of the catalog live on the square from -2 to 2, so that one picture can show any of them;
functions that are known on a larger square are given at a multiple of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .._base.arrays import Array, namespace
from ..clip import clip_by_norm
from ..rules import Rule

REACH = 2.0  # the catalog is made for -REACH ... REACH in both directions

Point = tuple[float, float]


@dataclass(frozen=True)
class Surface:
    """A loss of two weights. Its results have the dtype of the weights.

    Attributes:
        loss: weights (..., 2) to losses (...).
        gradient: weights (..., 2) to gradients (..., 2).
        minima: the places of the least loss.
        lowest: that loss.
        start: where a walk may begin.
        title: its name.
        formula: the loss as text.
    """

    loss: Callable[[Array], Array]
    gradient: Callable[[Array], Array]
    minima: tuple[Point, ...]
    lowest: float = 0.0
    start: Point = (1.0, 1.0)
    title: str = ""
    formula: str = ""

    def above(self, w: Array) -> Array:
        """The loss of weights (..., 2) above the least one, in float64: (...)."""
        return np.maximum(self.loss(np.asarray(w, np.float64)) - self.lowest, 0)

    def distance(self, w: Array) -> Array:
        """The distance of weights (..., 2) from the nearest minimum, shape (...)."""
        nearest: np.ndarray = np.hypot(
            *(w[..., None, :] - np.asarray(self.minima, w.dtype)).T
        ).T.min(axis=-1)
        return nearest


def walk(
    surface: Surface,
    rule: Rule,
    start: Sequence[float],
    rates: Array,
    clip: float | None = None,
    noise: float = 0.0,
    seeds: Sequence[int] = (0,),
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Follow a rule down a surface in float32, one step for each learning rate.

        g = gradient(w) + noise * |gradient(start)| * normal, then clipped to norm `clip` if one is given
        w, slots = rule(w, slots, g, rate)

    Args:
        rates: (steps,), or (steps, paths) for paths side by side, each of which is what it would be
            alone.
        noise: that of a step is the same in every walk from the same seed, whatever the rule and
            the rate.
        seeds: of the noise: one for all paths, or one for each.

    Returns:
        (weights, slots): (steps + 1, 2) or (steps + 1, paths, 2), and the same for each slot
        (length 1 instead of 2 where it is kept by row). A path is NaN after the first gradient that
        is not finite.

    >>> from gradlab.rules import StochasticGradientDescent
    >>> walk(bowl(2.0), StochasticGradientDescent(), (4.0, 1.0), np.full(2, 0.5))[0].tolist()
    [[4.0, 1.0], [2.0, 0.0], [1.0, 0.0]]
    """
    rates, first = np.asarray(rates, np.float32), np.asarray(start, np.float32)
    is_alone, rates = rates.ndim == 1, rates.reshape(len(rates), -1)
    w: Array = np.tile(first, (rates.shape[1], 1))  # a point is a row, which some rules move as one
    slots, shared = rule.init(w), rule.start()
    path = [(w, *slots)]
    with np.errstate(all="ignore"):
        size = np.float32(noise * np.linalg.norm(surface.gradient(first)) if noise else 0)
        draws = [
            np.random.default_rng(seed).standard_normal((len(rates), 2), np.float32)
            for seed in seeds
        ]
        extra = size * np.stack(draws, axis=1)  # (steps, 1 or paths, 2)
        for step, rate in enumerate(rates[..., None]):
            g = surface.gradient(w) + extra[step]
            finite = np.isfinite(g).all(axis=-1, keepdims=True)
            if clip is not None:
                g = clip_by_norm(np.where(finite, g, np.float32(0)), clip, axes=-1)
            w, slots = rule.at(shared)(w, slots, g, rate)
            w, *kept = (np.where(finite, x, np.float32(np.nan)) for x in (w, *slots))
            slots, shared = tuple(kept), rule.advance(shared)
            path.append((w, *slots))
    weights, *kept = (x[:, 0] if is_alone else x for x in map(np.stack, zip(*path, strict=True)))
    return weights, kept


def _surface(
    f: Callable[[Array, Array], Array],
    slopes: Callable[[Array, Array], tuple[Array, Array]],
    minima: tuple[Point, ...],
    start: Point = Surface.start,
    title: str = "",
    formula: str = "",
    lowest: float = 0.0,
) -> Surface:
    """A surface by f(x, y) and its two derivatives."""

    def loss(w: Array) -> Array:
        return f(w[..., 0], w[..., 1]).astype(w.dtype)

    def gradient(w: Array) -> Array:
        return np.stack(slopes(w[..., 0], w[..., 1]), axis=-1).astype(w.dtype)

    return Surface(loss, gradient, minima, lowest, start, title, formula)


def _quadratic(along: Array, across: Array, condition: float) -> Array:
    return (along * along + condition * across * across) / 2


@lru_cache(64)
def bowl(condition: float = 30.0, bottom: Point = (0.0, 0.0)) -> Surface:
    """A bowl that is `condition` times as steep along the second weight as along the first.

        loss = ((w1 - bottom1) ** 2 + condition * (w2 - bottom2) ** 2) / 2

    >>> bowl(10.0).gradient(np.array([1.0, 1.0])).tolist()
    [1.0, 10.0]
    """
    (x0, y0), steep = bottom, np.float64(condition)  # not rounded to the dtype of the weights
    return _surface(
        lambda x, y: _quadratic(x - x0, y - y0, steep),
        lambda x, y: (x - x0, steep * (y - y0)),
        (bottom,),
    )


# Where the simple ones are lowest: not at 0, to which some rules are drawn whatever the loss.
_X, _Y = 0.5, 0.4
_RAVINE = 50.0  # the condition of a ravine


def _turned(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the same point in axes turned by 45 degrees: along the ravine and across it."""
    return (x - _X + y - _Y) / 2**0.5, (y - _Y - x + _X) / 2**0.5


def unturned(x: float, y: float) -> tuple[float, float]:
    """The point of the ravine along an axis that lies as this one lies in the turned ravine.

    >>> tuple(round(part, 6) for part in unturned(0.5, 0.4))
    (0.5, 0.4)
    """
    along, across = _turned(np.asarray(x), np.asarray(y))
    return float(along) + _X, float(across) + _Y


def _turned_ravine(x: Array, y: Array) -> Array:
    return _quadratic(*_turned(x, y), _RAVINE)


def _turned_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    along, across = _turned(x, y)
    return (along - _RAVINE * across) / 2**0.5, (along + _RAVINE * across) / 2**0.5


def _saddle(x: Array, y: Array) -> Array:
    return (x - _X) ** 2 / 2 - y * y / 2 + y**4 / 4


def _saddle_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    return x - _X, y**3 - y


def _rosenbrock(x: Array, y: Array) -> Array:
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2


def _rosenbrock_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    off = y - x * x
    return -2 * (1 - x) - 400 * x * off, 200 * off


_BEALE = (1.5, 2.25, 2.625)


def _beale(x: Array, y: Array) -> Array:
    x, y = 2 * x, 2 * y
    a, b, c = ((c - x + x * y**k) ** 2 for k, c in enumerate(_BEALE, 1))
    return a + b + c


def _beale_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    x, y = 2 * x, 2 * y
    terms = [(c - x + x * y**k, y**k - 1, k * x * y ** (k - 1)) for k, c in enumerate(_BEALE, 1)]
    (a, b, c), (d, e, f) = [4 * t * dx for t, dx, _ in terms], [4 * t * dy for t, _, dy in terms]
    return a + b + c, d + e + f


def _himmelblau(x: Array, y: Array) -> Array:
    x, y = 2.5 * x, 2.5 * y
    return (x * x + y - 11) ** 2 + (x + y * y - 7) ** 2


def _himmelblau_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    x, y = 2.5 * x, 2.5 * y
    a, b = x * x + y - 11, x + y * y - 7
    return 2.5 * (4 * x * a + 2 * b), 2.5 * (2 * a + 4 * y * b)


def _hole(x: Array, y: Array) -> Array:
    return namespace(x).exp(-2 * ((x - _X) ** 2 + (y - _Y) ** 2))


def _plateau(x: Array, y: Array) -> Array:
    return 1 - _hole(x, y)


def _plateau_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    steep = 4 * _hole(x, y)
    return steep * (x - _X), steep * (y - _Y)


SURFACES: dict[str, Surface] = {
    "bowl": replace(
        bowl(1.0, (_X, _Y)),
        start=(-1.6, 1.2),
        title="Bowl",
        formula="((x - 0.5)² + (y - 0.4)²) / 2",
    ),
    "ravine": replace(
        bowl(_RAVINE, (_X, _Y)),
        start=(-1.7, 1.2),
        title="Ravine along an axis",
        formula=f"((x - 0.5)² + {_RAVINE:g} (y - 0.4)²) / 2",
    ),
    "turned": _surface(
        _turned_ravine,
        _turned_slopes,
        ((_X, _Y),),
        (-1.7, -0.6),
        "Ravine turned by 45°",
        f"(u² + {_RAVINE:g} v²) / 2, u = (x - 0.5 + y - 0.4) / √2, v = (y - 0.4 - x + 0.5) / √2",
    ),
    "rosenbrock": _surface(
        _rosenbrock,
        _rosenbrock_slopes,
        ((1.0, 1.0),),
        (-1.2, 1.0),
        "Rosenbrock's valley",
        "(1 - x)² + 100 (y - x²)²",
    ),
    "saddle": _surface(
        _saddle,
        _saddle_slopes,
        ((_X, -1.0), (_X, 1.0)),
        (-1.5, 0.01),
        "Saddle and two minima",
        "(x - 0.5)² / 2 - y² / 2 + y⁴ / 4",
        lowest=-0.25,
    ),
    "beale": _surface(
        _beale,
        _beale_slopes,
        ((1.5, 0.25),),
        (0.5, 1.2),
        "Beale's function",
        "Σ (c - 2x + 2x (2y)ᵏ)², c = 1.5, 2.25, 2.625, k = 1, 2, 3",
    ),
    "himmelblau": _surface(
        _himmelblau,
        _himmelblau_slopes,
        ((1.2, 0.8), (-1.1220472, 1.2525250), (-1.5117241, -1.3132744), (1.4337713, -0.7392506)),
        (-0.1, -0.4),
        "Himmelblau's four minima",
        "(x² + y - 11)² + (x + y² - 7)², at 2.5x and 2.5y",
    ),
    "plateau": _surface(
        _plateau,
        _plateau_slopes,
        ((_X, _Y),),
        (-0.9, 1.2),
        "Plateau with a hole",
        "1 - exp(-2 ((x - 0.5)² + (y - 0.4)²))",
    ),
}
