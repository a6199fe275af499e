"""Five libraries' global-norm clips on the same gradients, in cases where they differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import listed, number, signed
from ...clip.peers import GLOBAL_NORM_CLIPS
from ...live import Description, Menu
from .._lab import Control, Lab
from .picture import LibrariesView

# name: (what the menu says, first tensor, second tensor, limit)
CASES: dict[str, tuple[str, list[float], list[float], float]] = {
    "above": ("above the limit", [3.0, 4.0], [12.0], 1.0),
    "below": ("below the limit", [0.1, 0.7], [0.3], 41.0),
    "at": ("exactly at the limit", [3.0, 4.0], [12.0], 13.0),
    "inf": ("one infinite entry", [np.inf, 4.0], [12.0], 1.0),
    "nan": ("one NaN entry", [np.nan, 4.0], [12.0], 1.0),
    "overflow": ("the square overflows", [1e30, 4.0], [12.0], 1.0),
    "zero": ("gradient 0, limit 0", [0.0, 0.0], [0.0], 0.0),
    "limit_zero": ("limit 0", [3.0, 4.0], [12.0], 0.0),
    "negative": ("negative limit", [3.0, 4.0], [12.0], -1.0),
    "limit_inf": ("infinite limit", [3.0, 4.0], [12.0], np.inf),
}


_COUNTS = ("no", "one", "two", "three", "four", "five")


class ClipLibrariesTrace(NamedTuple):
    """The gradient (3 entries of 2 tensors), the limit, and what each library makes of it; None where it raises."""

    case: str
    gradient: np.ndarray
    limit: float
    results: dict[str, np.ndarray | None]


def clip_libraries(
    *,
    case: Literal[
        "above",
        "below",
        "at",
        "inf",
        "nan",
        "overflow",
        "zero",
        "limit_zero",
        "negative",
        "limit_inf",
    ] = "overflow",
) -> ClipLibrariesLab:
    """Choose an edge case and compare TensorFlow, Keras 3, optax, PyTorch and JAX's example optimizers entry by entry.

    At a glance: One limit, five libraries: at the edges they give different numbers, or none.

    Args:
        case: the gradient and the limit: a norm "above", "below" or "at" the limit; an entry that
            is "inf" or "nan"; a square that overflows ("overflow"); a gradient of zeros ("zero"); a
            limit of 0 ("limit_zero"), a negative one ("negative") or an infinite one ("limit_inf").

    >>> clip_libraries(case="overflow").description.summary
    'The square overflows: TensorFlow and Keras 3 give NaN; the other three give 0.'
    """
    return ClipLibrariesLab(case=case)


class ClipLibrariesLab(Lab):
    """Lab of `clip_libraries`: five libraries' clips on one edge case."""

    function = "clip_libraries"
    label = "Same gradients, five libraries"
    axis = "case"
    presets: ClassVar = {
        "All agree": {"case": "above"},
        "Infinity spreads": {"case": "inf"},
        "Finite, and yet NaN": {"case": "overflow"},
        "Signs flip": {"case": "negative"},
    }

    def make_controls(self) -> list[Control]:
        return [
            Menu("case", "Case", tuple((name, case[0]) for name, case in CASES.items()), "overflow")
        ]

    def compute(self, values: dict[str, Any]) -> ClipLibrariesTrace:
        _, first, second, limit = CASES[values["case"]]
        tensors = [np.array(first, np.float32), np.array(second, np.float32)]
        results = {name: _clipped(clip, tensors, limit) for name, clip in GLOBAL_NORM_CLIPS.items()}
        return ClipLibrariesTrace(values["case"], np.concatenate(tensors), limit, results)

    def make_view(self) -> LibrariesView:
        return LibrariesView(
            ["gradient", *GLOBAL_NORM_CLIPS],
            ["first tensor, entry 1", "first tensor, entry 2", "second tensor"],
        )

    def draw(self, view: LibrariesView, trace: ClipLibrariesTrace) -> None:
        texts, looks = [[f"{x:.6g}" for x in trace.gradient]], [["kept"] * trace.gradient.size]
        for row in trace.results.values():
            kinds = (
                ["error"] * trace.gradient.size if row is None else _happened(trace.gradient, row)
            )
            texts.append(["ZeroDivisionError"] * len(kinds) if row is None else _cells(row, kinds))
            looks.append(kinds)
        view.draw(trace.limit, texts, looks)

    def describe(self, trace: ClipLibrariesTrace) -> Description:
        outcomes: dict[str, list[str]] = {}
        for name, row in trace.results.items():
            outcomes.setdefault(_outcome(trace.gradient, row), []).append(name)
        said = "; ".join(_sentence(names, outcome) for outcome, names in outcomes.items())
        case = CASES[trace.case][0]
        rows = [("gradient", _row(trace.gradient)), ("limit", f"{number(trace.limit)}")]
        return Description(
            alt=f"Five libraries clip the gradient {_row(trace.gradient)} by global norm at "
            f"{number(trace.limit)}: {said}.",
            summary=f"{case[0].upper()}{case[1:]}: {_in_short(outcomes)}.",
            table=(*rows, *((name, _row(row)) for name, row in trace.results.items())),
        )

    def columns(self, trace: ClipLibrariesTrace) -> dict[str, np.ndarray]:
        missing = np.full_like(trace.gradient, np.nan)
        return {"gradient": trace.gradient} | {
            n: missing if r is None else r for n, r in trace.results.items()
        }


def _clipped(
    clip: Callable[..., list[np.ndarray]], tensors: list[np.ndarray], limit: float
) -> np.ndarray | None:
    """All entries after the clip, or None where the library raises."""
    try:
        return np.concatenate(clip([t.copy() for t in tensors], limit))
    except ZeroDivisionError:
        return None


def _happened(before: np.ndarray, after: np.ndarray) -> list[str]:
    """Return what became of each entry: keys of figures.libraries.LOOKS."""
    last_digit = np.abs(after - before) <= 4 * np.spacing(np.abs(before))
    checks = {
        "NaN": np.isnan(after),
        "kept": after == before,
        "set to 0": after == 0,
        "sign flipped": np.sign(after) != np.sign(before),
        "last digit moved": last_digit,
    }
    return list(np.select(list(checks.values()), list(checks), "scaled").tolist())


def _outcome(before: np.ndarray, after: np.ndarray | None) -> str:
    """Return what became of all entries, in words that follow several names."""
    if after is None:
        return "raise ZeroDivisionError"
    kinds = set(_happened(before, after))
    if kinds == {"NaN", "set to 0"}:
        return "give one NaN and zeros"
    for kind, words in (
        ("NaN", "give NaN"),
        ("sign flipped", "flip the signs"),
        ("scaled", "scale to the limit"),
        ("set to 0", "give 0"),
        ("last digit moved", "move the last digit"),
    ):
        if kind in kinds:
            return words
    return "change nothing"


def _in_short(outcomes: dict[str, list[str]]) -> str:
    """Names by what they do, the last ones by how many they are, if they are many."""
    parts = [_sentence(names, outcome) for outcome, names in outcomes.items()]
    outcome, names = list(outcomes.items())[-1]
    if len(names) > 2:
        parts[-1] = f"{'the other' if len(parts) > 1 else 'all'} {_COUNTS[len(names)]} {outcome}"
    return "; ".join(parts)


def _sentence(names: list[str], outcome: str) -> str:
    """Names, "and", and what they do."""
    if len(names) == 1:
        verb, rest = outcome.split(" ", 1)
        return f"{names[0]} {verb}s {rest}"
    return f"{listed(names, len(names))} {outcome}"


def _cells(values: np.ndarray, kinds: list[str]) -> list[str]:
    return [
        "NaN" if kind == "NaN" else f"{signed(f'{value:.8g}')}\n{kind}"
        for value, kind in zip(values, kinds, strict=True)
    ]


def _row(values: np.ndarray | None) -> str:
    return (
        "ZeroDivisionError" if values is None else "(" + ", ".join(f"{v:.8g}" for v in values) + ")"
    )
