"""Parts of the labs on embedding tables: rules, popular ids, and batches of one small table."""

from __future__ import annotations

import functools
from typing import Any, Literal, NamedTuple

import numpy as np

from .. import rules
from ..live import LiveFigure
from ..rules import Rule

# Every optimizer that trains a table. Numbers are TensorFlow's defaults for TPUs; those that have
# none are moderate.
RULES: dict[str, tuple[str, Rule]] = {
    "sgd": ("SGD", rules.StochasticGradientDescent()),
    "momentum": ("Momentum", rules.Momentum(0.9)),
    "adagrad": ("Adagrad", rules.Adagrad(0.1, epsilon=0.0)),
    "adagrad_momentum": (
        "Adagrad with momentum",
        rules.AdagradMomentum(0.9, initial_accumulator_value=0.1),
    ),
    "bounded_adagrad": ("Bounded Adagrad", rules.BoundedAdagrad(max_accumulator=2.0)),
    "proximal_adagrad": (
        "Proximal Adagrad",
        rules.ProximalAdagrad(0.1, l1_regularization_strength=0.1),
    ),
    "frequency_aware": ("Frequency-aware Adagrad", rules.FrequencyAwareAdagrad()),
    "adadelta": ("Adadelta", rules.Adadelta(epsilon=1e-3)),
    "rms_prop": ("RMSProp", rules.RMSProp(initial_rms=0.0)),
    "centered_rms_prop": ("Centered RMSProp", rules.CenteredRMSProp(initial_rms=1.0)),
    "adam": ("Adam, as tables have it", rules.Adam(bias_correction=False)),
    "adam_corrected": ("Adam, bias corrected", rules.Adam()),
    "proximal_yogi": ("Proximal Yogi", rules.ProximalYogi()),
    "lion": ("Lion", rules.Lion()),
    "ftrl": ("FTRL", rules.Ftrl()),
    "online_yogi": ("Online Yogi", rules.OnlineYogi()),
    "mdl_adagrad_light": ("MDL Adagrad Light", rules.MdlAdagradLight()),
}

TableRule = Literal[
    "sgd",
    "momentum",
    "adagrad",
    "adagrad_momentum",
    "bounded_adagrad",
    "proximal_adagrad",
    "frequency_aware",
    "adadelta",
    "rms_prop",
    "centered_rms_prop",
    "adam",
    "adam_corrected",
    "proximal_yogi",
    "lion",
    "ftrl",
    "online_yogi",
    "mdl_adagrad_light",
]


def labeled() -> list[tuple[str, str]]:
    """The options of a menu of rules."""
    return [(name, label) for name, (label, _) in RULES.items()]


def choosing(live: LiveFigure, rows: int) -> LiveFigure:
    """Tie the control "row" to the selection: a click moves the control, which moves the selection."""

    def look(change: Any) -> None:
        if change.new is not None and change.new < rows:
            live.set(row=change.new)

    def follow(change: Any) -> None:
        if live.selected is not None:
            live.selected = change.new

    live.observe(look, names="selected")
    live.observe(follow, names="row")
    return live


def popular(chance: np.ndarray, rows: int, zipf: float) -> np.ndarray:
    """Ids for numbers in [0, 1): row r is wanted in proportion to (r + 1) ** -zipf."""
    share = np.cumsum(np.arange(1.0, rows + 1) ** -zipf)
    return np.searchsorted(share / share[-1], chance, side="right").clip(max=rows - 1)


@functools.cache
def chances(seed: int, *shape: int) -> np.ndarray:
    """Return the same numbers in [0, 1) every time, so that ids change little when a knob is moved a little."""
    return np.random.default_rng(seed).random(shape)


@functools.cache
def weights(rows: int, width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A table to begin with, and the one to learn; numbers with two digits."""
    rng = np.random.default_rng(seed)
    begin, end = rng.normal(0, 0.4, (rows, width)), rng.normal(0, 0.8, (rows, width))
    return np.round(begin, 2).astype(np.float32), np.round(end, 2).astype(np.float32)


STEPS, ROWS, WIDTH, SAMPLES, DEVICES = 12, 24, 4, 8, 8
_OF = (2, 1, 3, 2, 3, 1, 2, 2)  # ids of each sample
FAR = 30  # an id that the table does not have


class BatchIds(NamedTuple):
    """The ids of a batch as they come: sample, id and weight of each lookup, and whether it is made."""

    sample: np.ndarray
    id: np.ndarray
    weight: np.ndarray
    made: np.ndarray


def asked(step: int, zipf: float, duplicates: float, last: str) -> BatchIds:
    """The ids of a step."""
    sample = np.repeat(np.arange(SAMPLES), _OF)
    first = np.searchsorted(sample, sample)
    ids = popular(chances(3, STEPS, len(sample))[step], ROWS, zipf)
    again = chances(4, STEPS, len(sample))[step] < duplicates
    ids = np.where(again, ids[first], ids)
    weight = np.ones(len(sample), np.float32)
    if last == "empty":
        sample, ids, weight = sample[: -_OF[-1]], ids[: -_OF[-1]], weight[: -_OF[-1]]
    elif last == "zero":
        weight[-1] = -1
    elif last != "ordinary":
        ids[-1] = FAR
    made = (ids < ROWS) | (last not in ("drop", "raise"))
    return BatchIds(sample, ids, weight, made)


def ascii_words(words: str) -> str:
    """Without what an attribute of a page cannot hold, and in ASCII."""
    return words.replace("'", "").replace("−", "-").replace("±", "+-").replace("×", "x")


def folded(words: str, width: int) -> list[str]:
    """Words in lines of fewer characters than that."""
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
