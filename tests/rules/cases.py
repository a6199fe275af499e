"""Every rule of the catalog with inputs that mean something to it, and every choice its fields
offer.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

import gradlab as gl
from gradlab.rules import Rule

_RNG = np.random.default_rng(1)
W, G = (_RNG.normal(size=(8, 3)).astype(np.float32) for _ in range(2))


@dataclass(frozen=True)
class Case:
    """A rule, and weights, gradient and rate to try it with."""

    rule: Rule
    w: np.ndarray = field(default_factory=W.copy)
    g: np.ndarray = field(default_factory=G.copy)
    lr: np.ndarray = field(default_factory=lambda: np.float32(0.1))

    def started(self) -> tuple[Rule, np.ndarray, tuple[np.ndarray, ...]]:
        """The rule at its second step, with weights and slots that hold more than their start."""
        shared = self.rule.start()
        w, slots = self.rule.at(shared)(
            self.w, self.rule.init(self.w), (self.g * 0.5).astype(np.float32), self.lr
        )
        return self.rule.at(self.rule.advance(shared)), w, slots


# What the standard inputs would make meaningless.
INPUTS: dict[str, dict[str, Any]] = {
    # Its rate is the number of the step, its weights are estimates from max_delta down, and no
    # gradient comes in.
    "FrequencyEstimator": {
        "w": np.full((8, 3), 100, np.float32),
        "g": np.zeros((8, 3), np.float32),
        "lr": 7.0,
    },
}
# Rules whose first step is not one against the gradient, and what it is instead: the new weights.
SETS_WEIGHTS: dict[str, typing.Callable[[Case], Any]] = {
    "Assign": lambda case: case.g,  # the gradient is the weight
    # Visits are counted, gradients are not read.
    "FrequencyEstimator": lambda case: 0.9 * case.w + 0.1 * case.lr,
}


def heavy(w: Any, slots: Any, g: Any, lr: Any) -> Any:
    """A function for `UserDefined`, with a slot and a Python number, which must not widen any
    dtype.
    """
    m = 0.5 * slots[0] + g
    return w - lr * m, (m,)


# Numbers that switch on what the defaults leave out.
NUMBERS: list[Rule] = [
    gl.rules.ProximalGradientDescent(0.5, 0.5),
    gl.rules.ProximalAdagrad(0.1, 0.5, 0.5),
    gl.rules.BoundedAdagrad(True, 0.05, 0.5),
    gl.rules.AdagradMomentum(0.9, True, 3.0, 0.9, 1e-3),
    gl.rules.AdagradDA(0.1, 0.05, 0.5),
    gl.rules.FrequencyAwareAdagrad(0.05, 0.5, 1.5, 0.5, 0.9),
    gl.rules.RMSProp(momentum=0.5),
    gl.rules.CenteredRMSProp(momentum=0.5),
    gl.rules.Ftrl(-0.75, 0.05, 0.5, 0.5, 0.5),
    gl.rules.ProximalYogi(l1=0.05, l2=0.5),
    gl.rules.OnlineYogi(l1=0.05, l2=0.5),
    gl.rules.MdlAdagradLight(
        0.5, -0.5, -0.1, 0.5, 0.5, 0.01, 0.5, 0.2, 0.5, 0.1, mdl_regularize=True
    ),
    gl.rules.UserDefined(heavy, {"m": 0.0}),
]


def _choices(rule: type[Rule]) -> list[Rule]:
    """The rule with one field changed, for each other word or truth value a field may have."""
    hints = typing.get_type_hints(rule)
    found: list[Rule] = []
    for f in dataclasses.fields(rule):
        hint = hints[f.name]
        words = (
            typing.get_args(hint)
            if typing.get_origin(hint) is Literal
            else (True, False)
            if hint is bool
            else ()
        )
        found += [rule(**{f.name: word}) for word in words if word != f.default]
    return found


def _named(rule: Rule) -> str:
    """The rule as one would write it, with what differs from its defaults only."""
    fields = [(f.name, getattr(rule, f.name), f.default) for f in dataclasses.fields(rule)]
    changed = [f"{name}={getattr(x, '__name__', x)}" for name, x, default in fields if x != default]
    return f"{type(rule).__name__}({', '.join(changed)})"


def _case(rule: Rule) -> Case:
    inputs = {
        name: np.asarray(x, np.float32) for name, x in INPUTS.get(type(rule).__name__, {}).items()
    }
    return Case(rule, **inputs)


DEFAULTS = {name: _case(rule()) for name, rule in gl.rules.catalog().items()}
VARIANTS = {
    _named(rule): _case(rule)
    for rule in [
        *NUMBERS,
        *(choice for rule in gl.rules.catalog().values() for choice in _choices(rule)),
    ]
}
ALL = DEFAULTS | VARIANTS
