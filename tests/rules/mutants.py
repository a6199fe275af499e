"""Rules with one mistake each, for `test_mutations.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gradlab._base.arrays import namespace, set_rows
from gradlab.rules import AdagradDA, Adam, Rule


@dataclass(frozen=True)
class Plain(Rule):
    """Adagrad without a mistake, in pieces that can be broken one at a time."""

    initial_accumulator_value: float = 0.1
    epsilon: float = 0.25
    slots: ClassVar[dict[str, float | str]] = {"accumulator": "initial_accumulator_value"}

    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        accumulator = slots[0] + self.square(g)
        return w - (g * lr) / self.root(accumulator), (accumulator,)

    def square(self, g: Any) -> Any:
        return g * g

    def root(self, accumulator: Any) -> Any:
        return namespace(accumulator).sqrt(accumulator) + self.epsilon


class WrongSign(Plain):
    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        accumulator = slots[0] + self.square(g)
        return w + (g * lr) / self.root(accumulator), (accumulator,)


class EpsilonInsideTheRoot(Plain):
    def root(self, accumulator: Any) -> Any:
        return namespace(accumulator).sqrt(accumulator + self.epsilon)


class EpsilonForgotten(Plain):
    def root(self, accumulator: Any) -> Any:
        return namespace(accumulator).sqrt(accumulator)


class RootForgotten(Plain):
    def root(self, accumulator: Any) -> Any:
        return accumulator + self.epsilon


class NormOfARow(Plain):
    def square(self, g: Any) -> Any:
        return (g * g).mean(axis=-1, keepdims=True)


class NormOfAllRows(Plain):
    def square(self, g: Any) -> Any:
        return (g * g).mean()


class GradientsNotSquared(Plain):
    def square(self, g: Any) -> Any:
        return abs(g)


class UsedBeforeItIsAddedTo(Plain):
    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        return w - (g * lr) / self.root(slots[0]), (slots[0] + self.square(g),)


class NothingKept(Plain):
    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        return super().step(w, slots, g, lr)[0], slots


class WrittenInPlace(Plain):
    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        (accumulator,) = slots
        accumulator += g * g
        return w - (g * lr) / self.root(accumulator), (accumulator,)


class OnlyForNumPy(Plain):
    def root(self, accumulator: Any) -> Any:
        return np.sqrt(np.asarray(accumulator)) + self.epsilon


class BranchesOnValues(Plain):
    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        return super().step(w, slots, g, lr) if (g != 0).any() else (w * 1, (slots[0] * 1,))


class WiderNumber(Plain):
    def root(self, accumulator: Any) -> Any:
        return namespace(accumulator).sqrt(accumulator) + np.float64(0.25)


class NoBiasCorrection(Adam):
    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        m = slots[0] + (g - slots[0]) * (w.dtype.type(1) - self.beta1)
        v = slots[1] + (g * g - slots[1]) * (w.dtype.type(1) - self.beta2)
        return w - (m * lr) / (namespace(w).sqrt(v) + self.epsilon), (m, v)


class PowersStandStill(Adam):
    def advance(self, shared: Any) -> Any:
        return dict(shared)


class PowersMultipliedInPlace(Adam):
    def advance(self, shared: Any) -> Any:
        shared["beta1_power"] = shared["beta1_power"] * np.float32(self.beta1)
        shared["beta2_power"] = shared["beta2_power"] * np.float32(self.beta2)
        return shared


class CountsInPythonNumbers(AdagradDA):
    def start(self) -> Any:
        return {"global_step": 1.0}


class Unhashable(Plain):
    __hash__ = None  # type: ignore[assignment]


def last_slice_counts(rule: Rule, w: Any, slots: Any, g: Any, lr: Any) -> Any:
    """How slices meet a rule if nobody adds up those of one row."""
    new_w, new_slots = rule(w[g.indices], tuple(s[g.indices] for s in slots), g.values, lr)
    set_slots = [set_rows(s, g.indices, n) for s, n in zip(slots, new_slots, strict=True)]
    return set_rows(w, g.indices, new_w), tuple(set_slots)
