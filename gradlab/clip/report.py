"""A report of what a clip changed; no original library returns one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._base.arrays import quiet
from .._base.named_leaves import named_leaves
from .._base.numbers import number, percent


@dataclass(frozen=True)
class ClipReport:
    """The effect of one clip on a step, or on one tensor of it.

    Attributes:
        norm_before, norm_after: Euclidean norms.
        factor: norm_after / norm_before; 1 where both are 0.
        fraction_clipped: share of entries, 0 to 1, that changed by more than rounding (2 ulp).
        angle: degrees by which the direction turned; NaN where a side is 0 or not finite.
        nonfinite: names of the tensors that held NaN or Inf before.
        tensors: the same per tensor, by name.
    """

    norm_before: float
    norm_after: float
    factor: float
    fraction_clipped: float
    angle: float
    nonfinite: tuple[str, ...] = ()
    tensors: dict[str, ClipReport] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [_line("all", self)]
        for name, tensor in self.tensors.items():
            lines.append(_line(name, tensor))
        if self.nonfinite:
            lines.append(f"not finite: {', '.join(self.nonfinite)}")
        return "\n".join(lines)


def _line(name: str, r: ClipReport) -> str:
    return (
        f"{name:<12} norm {number(r.norm_before, 4)} -> {number(r.norm_after, 4)}  factor "
        f"{number(r.factor)}  entries hit {percent(r.fraction_clipped)}  turned {r.angle:.1f} deg"
    )


@quiet
def clip_report(before: Any, after: Any) -> ClipReport:
    """Compare gradients before and after any clip, per tensor and as one vector.

        factor = |after| / |before|,  angle = arccos(before . after / (|before| |after|))

    Args:
        before, after: an array, a list of (gradient, variable) pairs, or any tree; None entries are
            left out. Norms are computed in float64, so a float32 norm that overflows is still
            reported.

    Raises:
        ValueError: the two hold different numbers of tensors, or shapes differ.

    Not in TensorFlow.

    >>> r = clip_report([np.array([3.0, 4.0])], [np.array([1.0, 1.0])])
    >>> round(r.norm_before, 3), round(r.factor, 3), r.fraction_clipped, round(r.angle, 2)
    (5.0, 0.283, 1.0, 8.13)
    """
    old = {name: np.asarray(g) for name, g in named_leaves(before)}
    new = {name: np.asarray(g) for name, g in named_leaves(after)}
    if len(old) != len(new):
        raise ValueError(
            f"before holds {len(old)} tensors, after holds {len(new)}; give the same list twice"
        )
    sums = {}
    for (name, a), b in zip(old.items(), new.values(), strict=True):
        if a.shape != b.shape:
            raise ValueError(f"{name} has shape {a.shape} before and {b.shape} after")
        sums[name] = _Sums.of(a, b)
    tensors = {name: s.report((name,)) for name, s in sums.items()}
    total = sum(sums.values(), _Sums())
    names = tuple(name for name, s in sums.items() if s.nonfinite)
    return replace(total.report(names), tensors=tensors)


@dataclass(frozen=True)
class _Sums:
    """The sums that a report is computed from; those of several tensors are added."""

    squares_before: float = 0.0
    squares_after: float = 0.0
    dot: float = 0.0
    changed: int = 0
    size: int = 0
    nonfinite: int = 0

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray) -> _Sums:
        x = a.astype(np.float64)
        y = b.astype(np.float64)
        # Not `>`: a difference of NaN counts as a change.
        changed = ~(np.abs(x - y) <= 2 * np.spacing(np.abs(a)).astype(np.float64))
        return cls(
            squares_before=float((x * x).sum()),
            squares_after=float((y * y).sum()),
            dot=float((x * y).sum()),
            changed=int(changed.sum()),
            size=a.size,
            nonfinite=int((~np.isfinite(x)).sum()),
        )

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(*(getattr(self, f) + getattr(other, f) for f in self.__dataclass_fields__))

    def report(self, names: tuple[str, ...]) -> ClipReport:
        norm_before = math.sqrt(self.squares_before)
        norm_after = math.sqrt(self.squares_after)
        return ClipReport(
            norm_before=norm_before,
            norm_after=norm_after,
            factor=norm_after / norm_before if norm_before else 1.0,
            fraction_clipped=self.changed / self.size if self.size else 0.0,
            angle=turn_angle(self.dot, norm_before, norm_after),
            nonfinite=names if self.nonfinite else (),
        )


@quiet
def turn_angle(dot: Any, before: Any, after: Any) -> Any:
    """Return the angle in degrees between two vectors, from their dot product and their norms."""
    cosine = np.clip(dot / np.multiply(before, after, dtype=np.float64), -1.0, 1.0)
    degrees = np.degrees(np.arccos(cosine))
    return degrees if np.ndim(degrees) else float(degrees)
