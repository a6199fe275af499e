"""Five libraries' Adagrads on the same gradients, with the first digit that differs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import counted, listed
from ...live import Description, Menu, Slider
from ...rules import Adagrad
from ...rules.adagrad import LIBRARIES
from .._lab import Control, Lab
from .picture import Cell, DigitsView

STEPS, RATE = 20, 0.5
SCALES = (2.0, 0.1, 0.001)  # of the gradients of the three weights
WEIGHTS = ("first weight", "second weight", "third weight")
_COUNTS = ("no", "one", "two", "three", "four", "five")
_ALONE = ("NaN", "ValueError")  # ends that need no other library to be told


class Case(NamedTuple):
    """Settings given to all libraries, in words and for a menu; None keeps each library's default."""

    words: str
    label: str
    accumulator: float | None = None
    epsilon: float | None = None
    dtype: type = np.float32
    # "huge": the square of one gradient overflows; "zero", "tiny": those of the last weight vanish.
    special: str = ""


CASES = {
    "defaults": Case("defaults of each library", "defaults of each library"),
    "matched": Case("accumulator 0.1 and epsilon 1e-7 for all", "same settings for all", 0.1, 1e-7),
    "epsilon": Case(
        "accumulator 0.1 and a large epsilon, 0.01, for all", "a large epsilon", 0.1, 0.01
    ),
    "zero": Case("accumulator 0 and epsilon 1e-7 for all", "accumulator 0", 0.0, 1e-7),
    "nothing": Case(
        "accumulator 0, epsilon 0, one gradient always 0",
        "no memory, no epsilon",
        0.0,
        0.0,
        special="zero",
    ),
    "huge": Case("one huge gradient at step 5", "one huge gradient", 0.1, 1e-7, special="huge"),
    "half": Case(
        "accumulator 0 and epsilon 1e-7, in float16",
        "accumulator 0, float16",
        0.0,
        1e-7,
        np.float16,
        "tiny",
    ),
}


class Parted(NamedTuple):
    """Gradients of the step (3,), the weights of every library (3,), None where it refuses, and which to compare with.

    `rules` has the settings that each library really uses.
    """

    case: str
    step: int
    gradient: np.ndarray
    weights: dict[str, np.ndarray | None]
    rules: dict[str, Adagrad]
    wanted: str

    @property
    def frozen(self) -> list[int]:
        """The weights that their last gradient moved in no library."""
        paths = [path for path in _paths(self.case).values() if path is not None]
        moved = [
            self.gradient[k] == 0 or any(p[self.step, k] != p[self.step - 1, k] for p in paths)
            for k in range(3)
        ]
        return [k for k in range(3) if self.step and not moved[k]]

    @property
    def reference(self) -> str:
        """The library compared with: the wanted one, or the first one if that refuses."""
        others = (name for name, w in self.weights.items() if w is not None)
        return self.wanted if self.weights[self.wanted] is not None else next(others)

    @property
    def instead(self) -> str:
        """Why it is not the wanted one."""
        return "" if self.reference == self.wanted else f"{self.wanted} refuses accumulator 0"


def adagrad_libraries(
    *,
    step: int = 5,
    case: Literal["defaults", "matched", "epsilon", "zero", "nothing", "huge", "half"] = "defaults",
    reference: Literal[
        "TensorFlow 1", "Keras legacy", "Keras 3", "optax", "PyTorch"
    ] = "TensorFlow 1",
) -> AdagradLibrariesLab:
    """Give five libraries' Adagrads the same gradients and see at which digit their weights part.

    At a glance: Five libraries' Adagrads share their formula, and part at a digit, or at the first
    step.

    The numbers of TensorFlow 1 and both Keras are theirs bit for bit. For optax and PyTorch the
    formula and its order are; XLA's roots and PyTorch's fused products can move the last digits.

    Args:
        step: how many steps are done, 0 to 20.
        case: the settings, the dtype and the gradients: the "defaults" of each library; the same
            settings for all ("matched"), with a large "epsilon", with an accumulator of 0 ("zero"),
            with an accumulator and an epsilon of 0 ("nothing"), with one "huge" gradient; or an
            accumulator of 0 in float16 ("half").
        reference: the library that the others are compared with.

    >>> adagrad_libraries(case="matched", step=1).description.summary
    'optax parts from TensorFlow 1 at digit 7, the other three agree.'
    """
    return AdagradLibrariesLab(step=step, case=case, reference=reference)


class AdagradLibrariesLab(Lab):
    """Lab of `adagrad_libraries`: five Adagrads, digit by digit."""

    function = "adagrad_libraries"
    label = "Same gradients, five Adagrads"
    axis = "step"
    presets: ClassVar = {
        "As they come": {"case": "defaults", "step": 5, "reference": "TensorFlow 1"},
        "Same settings, different digits": {
            "case": "matched",
            "step": 10,
            "reference": "Keras legacy",
        },
        "Epsilon in and out": {"case": "epsilon", "step": 5, "reference": "Keras 3"},
        "NaN from nothing": {"case": "nothing", "step": 1, "reference": "optax"},
        "Stopped by one gradient": {"case": "huge", "step": 8, "reference": "TensorFlow 1"},
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("step", "Step", 0, STEPS, 5, scale="integer", play=True),
            Menu("case", "Case", [(name, case.label) for name, case in CASES.items()], "defaults"),
            Menu("reference", "Compare with", tuple(LIBRARIES), "TensorFlow 1"),
        ]

    def compute(self, values: dict[str, Any]) -> Parted:
        case, step = values["case"], values["step"]
        weights = {
            name: None if path is None else path[step] for name, path in _paths(case).items()
        }
        gradient = _gradients(case)[step - 1] if step else np.full(3, np.nan, CASES[case].dtype)
        return Parted(case, step, gradient, weights, _rules(case), values["reference"])

    def make_view(self) -> DigitsView:
        return DigitsView(["gradient", *LIBRARIES], WEIGHTS)

    def draw(self, view: DigitsView, trace: Parted) -> None:
        step = f"of step {trace.step}" if trace.step else "not yet"
        given = [
            Cell(f"{g:.6g}".replace("-", "−") if trace.step else "·", None, "", "same")
            for g in trace.gradient
        ]
        cells, told = [given], [step]
        for name, rule in trace.rules.items():
            cells.append(_cells(trace, name))
            told.append(_settings(rule).replace("epsilon", "ε").replace("no ε", "no epsilon"))
        steps = counted(trace.step, "step")
        beside = (
            "digit by digit beside "
            f"{trace.reference}{f', as {trace.instead}' * bool(trace.instead)}"
        )
        view.draw(f"Weights after {steps}, {beside}", told, cells)

    def describe(self, trace: Parted) -> Description:
        others = [name for name in trace.weights if name != trace.reference]
        said = ", ".join(_said(trace, name) for name in others)
        compared = (
            "first digit that differs from "
            f"{trace.reference}{f' ({trace.instead})' * bool(trace.instead)}"
        )
        return Description(
            alt=f"Five libraries with Adagrad after step {trace.step}, {CASES[trace.case].words}; "
            f"{compared}: {said}.",
            summary=_message(trace),
            table=(
                ("case", CASES[trace.case].words),
                ("gradient", _row(trace.gradient) if trace.step else "none yet"),
                *(
                    (f"{name} ({_settings(rule)})", _row(trace.weights[name]))
                    for name, rule in trace.rules.items()
                ),
            ),
        )

    def columns(self, trace: Parted) -> dict[str, np.ndarray]:
        missing, gradients = np.full((STEPS + 1, 3), np.nan), _gradients(trace.case)
        paths = {
            name: missing if path is None else path for name, path in _paths(trace.case).items()
        }
        return {
            "step": np.repeat(np.arange(STEPS + 1), 3), "weight": np.tile([1, 2, 3], STEPS + 1),
            "gradient": np.concatenate([missing[0], gradients.ravel()]),
            **{name.replace(" ", "_"): path.ravel() for name, path in paths.items()},
        }  # fmt: skip


def _rules(case: str) -> dict[str, Adagrad]:
    """The settings each library really uses."""
    given: dict[str, Any] = {
        "initial_accumulator_value": CASES[case].accumulator,
        "epsilon": CASES[case].epsilon,
    }
    wanted = {name: value for name, value in given.items() if value is not None}
    rules = {name: replace(rule, **wanted) for name, rule in LIBRARIES.items()}
    rules["TensorFlow 1"] = replace(rules["TensorFlow 1"], epsilon=0.0)  # it has none to set
    if rules["Keras legacy"].epsilon == 0:
        # 0 means the default to it.
        rules["Keras legacy"] = replace(rules["Keras legacy"], epsilon=1e-7)
    return rules


@cache
def _gradients(case: str) -> np.ndarray:
    """Return the gradients that every library gets: (STEPS, 3)."""
    gradients = np.random.default_rng(0).normal(size=(STEPS, 3)) * SCALES
    if CASES[case].special == "huge":
        gradients[4, 0] = 1e20
    gradients[:, 2] *= {"zero": 0.0, "tiny": 0.1}.get(CASES[case].special, 1.0)
    return gradients.astype(CASES[case].dtype)


@cache
def _paths(case: str) -> dict[str, np.ndarray | None]:
    """The weights of every library after 0, 1, ... steps: (STEPS + 1, 3), None where it refuses."""
    paths: dict[str, np.ndarray | None] = {}
    for name, rule in _rules(case).items():
        w: Any = np.ones(3, CASES[case].dtype)
        slots, path = rule.init(w), [w]
        for g in _gradients(case):
            w, slots = rule(w, slots, g, RATE)
            path.append(w)
        refused = name == "TensorFlow 1" and rule.initial_accumulator_value <= 0  # ValueError
        paths[name] = None if refused else np.array(path)
    return paths


def _text(w: Any) -> str:
    """A number with as many decimals as its dtype can tell apart near 1."""
    return "NaN" if np.isnan(w) else f"{w:.{4 if w.dtype == np.float16 else 8}f}".replace("-", "−")


def _differs(text: str, other: str) -> int | None:
    """The place of the first character that differs."""
    if text == other:
        return None
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False))
    )


def _digits(text: str) -> int:
    """Count the significant digits at the beginning of a number."""
    return len(text.replace(".", "").replace("−", "").lstrip("0"))


def _parts(trace: Parted, name: str) -> list[int | None]:
    """For each weight the place of the first character that differs from the library compared with."""
    ours, theirs = trace.weights[name], trace.weights[trace.reference]
    assert ours is not None and theirs is not None
    return [_differs(_text(w), _text(other)) for w, other in zip(ours, theirs, strict=True)]


def _cells(trace: Parted, name: str) -> list[Cell]:
    weights = trace.weights[name]
    if weights is None:
        return [Cell("ValueError", None, "refuses acc 0", "none")] * 3
    if name == trace.reference:
        return [Cell(_text(w), None, "reference", "same") for w in weights]
    return [_cell(_text(w), at) for w, at in zip(weights, _parts(trace, name), strict=True)]


def _cell(text: str, at: int | None) -> Cell:
    if at is None:
        return Cell(text, None, "same", "same")
    if text == "NaN":
        return Cell(text, None, "no number", "none")
    alike = _digits(text[:at])
    note = f"{counted(alike, 'digit')} alike"
    return Cell(text, at, note, "last digits" if _digits(text) - alike <= 2 else "early")


def _said(trace: Parted, name: str) -> str:
    """Return where a library first differs from the one compared with."""
    weights = trace.weights[name]
    if weights is None:
        return f"{name} ValueError"
    if np.isnan(weights).any():
        return f"{name} NaN"
    places = [
        _digits(_text(w)[:at]) + 1
        for w, at in zip(weights, _parts(trace, name), strict=True)
        if at is not None
    ]
    return f"{name} digit {min(places)}" if places else f"{name} none"


def _message(trace: Parted) -> str:
    """Say which libraries part from the one compared with, and at which digit: the two that differ
    most.
    """
    if trace.frozen:
        weights = listed([WEIGHTS[k] for k in trace.frozen])
        return f"After {counted(trace.step, 'step')} the {weights} no longer moves in any library."
    refused = any(weights is None for weights in trace.weights.values())
    if not trace.step and not refused:
        return (
            f"Before the first step all {_COUNTS[len(trace.weights)]} "
            "libraries have the same weights."
        )
    groups: dict[str, list[str]] = {}
    for name in trace.weights:
        end = _said(trace, name).removeprefix(f"{name} ")
        if name != trace.reference or end == "NaN":
            groups.setdefault(end, []).append(name)
    order = sorted(groups, key=lambda end: (end not in _ALONE, end == "none", end))  # digits rise
    parts, named = [], False
    for end in order[:2]:
        names, many = groups[end], len(groups[end]) > 1
        who = (
            f"the other {_COUNTS[len(names)]}"
            if len(names) > 2 and end == order[-1]
            else listed(names)
        )
        parts.append(f"{who} {_does(end, many, '' if named else trace.reference)}")
        named = named or end not in _ALONE
    said = ("; " if order[0] in _ALONE else ", ").join(parts)
    return f"{said.replace('the', 'The', 1) if said.startswith('the') else said}."


def _does(end: str, many: bool, reference: str) -> str:
    """Say what libraries do that end so; with the one compared with, unless that is said already."""
    s = "" if many else "s"
    if end in _ALONE:
        return {"NaN": f"give{s} NaN", "ValueError": f"refuse{s} accumulator 0"}[end]
    if end == "none":
        return f"agree{s}{f' with {reference}' * bool(reference)}"
    return f"{f'part{s} from {reference} ' * bool(reference)}at {end}"


def _settings(rule: Adagrad) -> str:
    place = (
        f"epsilon {rule.epsilon:g} {rule.epsilon_place}"
        if rule.epsilon_place != "none"
        else "no epsilon"
    )
    return f"acc {rule.initial_accumulator_value:g}, {place}".replace("e-0", "e-")


def _row(weights: np.ndarray | None) -> str:
    return "ValueError" if weights is None else "(" + ", ".join(f"{w:.8g}" for w in weights) + ")"
