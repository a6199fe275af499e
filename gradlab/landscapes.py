"""Losses of two weights to watch optimizers on: each with its gradient by formula, a start and where it is lowest.

All of them live on the square from -2 to 2, so that one picture can show any of them; functions that are known on a
larger square are given at a multiple of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ._arrays import Array, namespace
from .rules import Rule

REACH = 2.0  # the domain is -REACH ... REACH in both directions


class Landscape(NamedTuple):
    """One loss f(x, y).

    Attributes:
        title: its name. formula: f(x, y) as text.
        f: x, y of any one shape to values of that shape. slopes: x, y to (df/dx, df/dy).
        start: where a race begins. minima: the places of the lowest value. lowest: that value.
    """

    title: str
    formula: str
    f: Callable[[Array, Array], Array]
    slopes: Callable[[Array, Array], tuple[Array, Array]]
    start: tuple[float, float]
    minima: tuple[tuple[float, float], ...]
    lowest: float = 0.0

    def value(self, w: Array) -> Array:
        """The loss of weights (..., 2), shape (...)."""
        return self.f(w[..., 0], w[..., 1])

    def gradient(self, w: Array) -> Array:
        """Its gradient, shape (..., 2)."""
        return np.stack(self.slopes(w[..., 0], w[..., 1]), axis=-1)

    def distance(self, w: Array) -> Array:
        """How far weights (..., 2) are from the nearest minimum, shape (...)."""
        return np.hypot(*(w[..., None, :] - np.asarray(self.minima, w.dtype)).T).T.min(axis=-1)


# Where the simple ones are lowest: not at 0, to which some rules are drawn whatever the loss.
_X, _Y = 0.5, 0.4


def _ravine_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    return x - _X, 50 * (y - _Y)


def _turned(x: Array, y: Array) -> tuple[Array, Array]:
    """The same point in axes turned by 45 degrees: along the ravine and across it."""
    return (x - _X + y - _Y) / 2**0.5, (y - _Y - x + _X) / 2**0.5


def _ravine(along: Array, across: Array) -> Array:
    return (along * along + 50 * across * across) / 2


def _turned_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    along, across = _turned(x, y)
    return (along - 50 * across) / 2**0.5, (along + 50 * across) / 2**0.5


def _saddle(x: Array, y: Array) -> Array:
    return (x - _X) ** 2 / 2 - y * y / 2 + y**4 / 4


def _rosenbrock_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    off = y - x * x
    return -2 * (1 - x) - 400 * x * off, 200 * off


_BEALE = (1.5, 2.25, 2.625)


def _beale(x: Array, y: Array) -> Array:
    x, y = 2 * x, 2 * y
    return sum((c - x + x * y**k) ** 2 for k, c in enumerate(_BEALE, 1))


def _beale_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    x, y = 2 * x, 2 * y
    terms = [(c - x + x * y**k, y**k - 1, k * x * y ** (k - 1)) for k, c in enumerate(_BEALE, 1)]
    return sum(4 * t * dx for t, dx, _ in terms), sum(4 * t * dy for t, _, dy in terms)


def _himmelblau(x: Array, y: Array) -> Array:
    x, y = 2.5 * x, 2.5 * y
    return (x * x + y - 11) ** 2 + (x + y * y - 7) ** 2


def _himmelblau_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    x, y = 2.5 * x, 2.5 * y
    a, b = x * x + y - 11, x + y * y - 7
    return 2.5 * (4 * x * a + 2 * b), 2.5 * (2 * a + 4 * y * b)


def _hole(x: Array, y: Array) -> Array:
    return namespace(x).exp(-2 * ((x - _X) ** 2 + (y - _Y) ** 2))


def _plateau_slopes(x: Array, y: Array) -> tuple[Array, Array]:
    steep = 4 * _hole(x, y)
    return steep * (x - _X), steep * (y - _Y)


LANDSCAPES: dict[str, Landscape] = {
    "bowl": Landscape(
        "Bowl", "((x - 0.5)² + (y - 0.4)²) / 2", lambda x, y: ((x - _X) ** 2 + (y - _Y) ** 2) / 2,
        lambda x, y: (x - _X, y - _Y), (-1.6, 1.2), ((_X, _Y),),
    ),
    "ravine": Landscape(
        "Ravine along an axis", "((x - 0.5)² + 50 (y - 0.4)²) / 2", lambda x, y: _ravine(x - _X, y - _Y),
        _ravine_slopes, (-1.7, 1.2), ((_X, _Y),),
    ),
    "turned": Landscape(
        "Ravine turned by 45°", "(u² + 50 v²) / 2, u = (x - 0.5 + y - 0.4) / √2, v = (y - 0.4 - x + 0.5) / √2",
        lambda x, y: _ravine(*_turned(x, y)), _turned_slopes, (-1.7, -0.6), ((_X, _Y),),
    ),
    "rosenbrock": Landscape(
        "Rosenbrock's valley", "(1 - x)² + 100 (y - x²)²", lambda x, y: (1 - x) ** 2 + 100 * (y - x * x) ** 2,
        _rosenbrock_slopes, (-1.2, 1.0), ((1.0, 1.0),),
    ),
    "saddle": Landscape(
        "Saddle between two minima", "(x - 0.5)² / 2 - y² / 2 + y⁴ / 4", _saddle,
        lambda x, y: (x - _X, y**3 - y), (-1.5, 0.01), ((_X, -1.0), (_X, 1.0)), -0.25,
    ),
    "beale": Landscape(
        "Beale's function of 2x, 2y", "Σ (c - x + x yᵏ)², c = 1.5, 2.25, 2.625, k = 1, 2, 3", _beale, _beale_slopes,
        (0.5, 1.2), ((1.5, 0.25),),
    ),
    "himmelblau": Landscape(
        "Himmelblau's four minima, 2.5x, 2.5y", "(x² + y - 11)² + (x + y² - 7)²", _himmelblau, _himmelblau_slopes,
        (-0.1, -0.4), ((1.2, 0.8), (-1.1220472, 1.2525250), (-1.5117241, -1.3132744), (1.4337713, -0.7392506)),
    ),
    "plateau": Landscape(
        "Plateau with a hole", "1 - exp(-2 ((x - 0.5)² + (y - 0.4)²))", lambda x, y: 1 - _hole(x, y),
        _plateau_slopes, (-0.9, 1.2), ((_X, _Y),),
    ),
}  # fmt: skip


def race(
    landscape: Landscape, rule: Rule, start: Sequence[float], rates: Sequence[float], steps: int, noise: float = 0.0
) -> Array:
    """The path of a rule from one start, once for every learning rate.

        w = rule(w, slots, gradient(w) + noise * |gradient(start)| * normal, rate)

    The noise of a step is the same for every rule and rate. A path that leaves the numbers goes on as Inf or NaN.

    Returns: float32 (steps + 1, rates, 2). Not in TensorFlow.

    >>> from .rules import StochasticGradientDescent
    >>> path = race(LANDSCAPES["bowl"], StochasticGradientDescent(), (1.5, 0.4), [0.5, 1.0], steps=2)
    >>> LANDSCAPES["bowl"].distance(path).tolist()
    [[1.0, 1.0], [0.5, 0.0], [0.25, 0.0]]
    """
    w = np.tile(np.asarray(start, np.float32), (len(rates), 1))
    size = np.float32(noise * np.linalg.norm(landscape.gradient(w[0])))
    extra = size * np.random.default_rng(0).standard_normal((steps, 2), np.float32)
    slots, shared, learning_rate, path = rule.init(w), rule.start(), np.asarray(rates, np.float32)[:, None], [w]
    with np.errstate(all="ignore"):
        for step in range(steps):
            w, slots = rule.at(shared)(w, slots, landscape.gradient(w) + extra[step], learning_rate)
            shared = rule.advance(shared)
            path.append(w)
    return np.stack(path)
