"""One gradient as an arrow under the four clips."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import number
from ...clip import (
    ClipReport,
    clip_by_average_norm,
    clip_by_global_norm,
    clip_by_norm,
    clip_by_value,
    clip_report,
)
from ...errors import ClipWarning
from ...live import Description, Drag, Menu, Slider
from .._lab import Control, Lab, Target
from .picture import REACH, TURNED, ArrowsView

METHODS = (
    ("value", "value of each entry"),
    ("norm", "norm"),
    ("average", "average norm"),
    ("global", "global norm"),
)


class Clipped(NamedTuple):
    """A gradient before and after, the region left alone, and norm after against norm before along its direction."""

    before: np.ndarray
    after: np.ndarray
    region: np.ndarray
    curve: np.ndarray
    report: ClipReport
    method: str
    limit: float


def _turns_25(trace: Clipped) -> tuple[bool, str]:
    turned = np.nan_to_num(trace.report.angle)
    return bool(turned > 25), f"Now it turns by {turned:.1f} degrees"


def clip_arrows(
    *,
    limit: float = 2.0,
    method: Literal["value", "norm", "average", "global"] = "value",
    others: float = 0.0,
    g1: float = 4.5,
    g2: float = 2.5,
    target: Literal["turn_25"] | None = None,
) -> ClipArrowsLab:
    """Drag a two-entry gradient and see it clipped by value, norm, average norm or global norm.

    At a glance: A clip by value turns the arrow, a clip by norm only shortens it.

    Args:
        limit: the clip limit, 0.05 to 6.
        method: "value" clips each entry, "norm" by the norm, "average" by the norm over the number
            of entries, "global" by the norm together with `others`.
        others: the norm of all other tensors, 0 to 10, which only the global norm looks at.
        g1: the first entry of the gradient, -6 to 6.
        g2: the second entry, -6 to 6.
        target: a goal that is shown above the picture until it is reached.

    >>> lab = clip_arrows(method="norm", g1=3.0, g2=4.0, limit=2.5)
    >>> lab.description.summary
    'A clip by norm shortens the arrow from 5 to 2.5 and does not turn it.'
    """
    return ClipArrowsLab(target, limit=limit, method=method, others=others, g1=g1, g2=g2)


class ClipArrowsLab(Lab):
    """Lab of `clip_arrows`: a gradient of two entries under four clips."""

    function = "clip_arrows"
    label = "Four ways to clip one gradient"
    axis = "limit"
    presets: ClassVar = {
        "Inside the box": {"method": "value", "limit": 2.0, "g1": 1.5, "g2": -1.0, "others": 0.0},
        "On the diagonal": {"method": "value", "limit": 2.0, "g1": 4.0, "g2": 4.0, "others": 0.0},
        "Never turned": {"method": "norm", "limit": 2.0, "g1": 4.5, "g2": 2.5, "others": 0.0},
        "Twice the room": {"method": "average", "limit": 2.0, "g1": 4.5, "g2": 2.5, "others": 0.0},
        "No room beside the others": {
            "method": "global",
            "limit": 2.0,
            "g1": 1.0,
            "g2": 0.5,
            "others": 6.0,
        },
    }
    targets: ClassVar = {
        "turn_25": Target("make the clip turn the gradient by more than 25 degrees", _turns_25)
    }

    def make_controls(self) -> list[Control]:
        return [
            Slider("limit", "Limit", 0.05, 6.0, 2.0, step=0.05, play=True),
            Menu("method", "Clip by", METHODS, "value"),
            Slider("others", "Others, in global norm", 0.0, 10.0, 0.0, step=0.1),
            Slider("g1", "First entry", -REACH, REACH, 4.5, step=0.05, folded=True),
            Slider("g2", "Second entry", -REACH, REACH, 2.5, step=0.05, folded=True),
        ]

    def idle(self, values: dict[str, Any]) -> Iterable[str]:
        return ["others"] * (values["method"] != "global")

    def compute(self, values: dict[str, Any]) -> Clipped:
        method, limit, others = values["method"], values["limit"], values["others"]
        before = np.array([values["g1"], values["g2"]], np.float32)
        direction = before / max(float(np.hypot(*before)), 1e-9)
        norms = _norms_along(direction, method, limit, others)
        along = [_clip(direction * n, method, limit, others) for n in norms]
        after = _clip(before, method, limit, others)
        curve = np.stack([norms, [float(np.hypot(*v)) for v in along]], axis=1)
        return Clipped(
            before,
            after,
            _region(method, limit, others),
            curve,
            clip_report([before], [after]),
            method,
            limit,
        )

    def make_view(self) -> ArrowsView:
        return ArrowsView()

    def draw(self, view: ArrowsView, trace: Clipped) -> None:
        view.draw(
            trace.before,
            trace.after,
            trace.region,
            trace.curve,
            float(np.nan_to_num(trace.report.angle)),
        )

    def drags(self, view: ArrowsView) -> list[Drag]:
        return [Drag(view.plane, x="g1", y="g2", label="drag the gradient")]

    def describe(self, trace: Clipped) -> Description:
        r, name = trace.report, dict(METHODS)[trace.method]
        turned = 0.0 if np.isnan(r.angle) else r.angle
        change = (
            f"norm {number(r.norm_before)} becomes {number(r.norm_after)}, "
            f"turned by {turned:.1f} degrees"
        )
        before, after = (f"({number(v[0])}, {number(v[1])})" for v in (trace.before, trace.after))
        return Description(
            alt=f"Clipping the gradient {before} by {name} at {number(trace.limit)} gives "
            f"{after}: {change}.",
            summary=_message(trace),
            table=(
                ("clip by", name),
                ("limit", f"{number(trace.limit)}"),
                ("gradient before", before),
                ("gradient after", after),
                ("factor", f"{number(r.factor)}"),
                ("turned by", f"{turned:.1f} degrees"),
            ),
        )

    def columns(self, trace: Clipped) -> dict[str, np.ndarray]:
        return {"norm_before": trace.curve[:, 0], "norm_after": trace.curve[:, 1]}


def _message(trace: Clipped) -> str:
    """Say whether the clip shortens the arrow, and whether it turns it."""
    report, clip = trace.report, dict(METHODS)[trace.method].partition(" of ")[0]
    if np.allclose(trace.before, trace.after):  # a factor of 1 can be off by rounding
        return f"A clip by {clip} leaves the arrow alone: its norm is {number(report.norm_before)}."
    shorter = f"shortens it from {number(report.norm_before)} to {number(report.norm_after)}"
    if np.nan_to_num(report.angle) >= TURNED:
        return f"A clip by {clip} turns the arrow by {report.angle:.1f} degrees, and {shorter}."
    return f"A clip by {clip} {shorter.replace('it', 'the arrow', 1)} and does not turn it."


def _clip(g: np.ndarray, method: str, limit: float, others: float) -> np.ndarray:
    """The library's own clip of one gradient; `others` stands for the rest of a step."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClipWarning)
        if method == "value":
            return np.asarray(clip_by_value(g, -limit, limit))
        if method == "norm":
            return np.asarray(clip_by_norm(g, limit))
        if method == "average":
            return np.asarray(clip_by_average_norm(g, limit))
        return np.asarray(clip_by_global_norm([g, np.array([others], np.float32)], limit)[0][0])


def _norms_along(direction: np.ndarray, method: str, limit: float, others: float) -> np.ndarray:
    """Norms at which to clip for the curve: evenly spaced, and exactly where a limit begins to act."""
    if method == "value":
        kinks = [limit / abs(float(d)) for d in direction if d]
    else:
        kinks = [float(np.hypot(*_region(method, limit, others)[0]))]
    even = np.linspace(0, 1.5 * REACH, 61)
    return np.union1d(even, [k for k in kinks if k < even[-1]]).astype(np.float32)


def _region(method: str, limit: float, others: float) -> np.ndarray:
    """Outline of the gradients that pass unclipped: a box, or a ball whose radius the method
    decides.
    """
    if method == "value":
        return limit * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]], float)
    radius = {
        "norm": limit,
        "average": 2 * limit,
        "global": np.sqrt(max(limit**2 - others**2, 0.0)),
    }[method]
    turn = np.linspace(0, 2 * np.pi, 121)
    return np.asarray(radius * np.stack([np.cos(turn), np.sin(turn)], axis=1))
