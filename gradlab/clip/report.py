"""The effect of a clip in numbers, which none of the originals returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
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
        lines = [_line("all", self)] + [_line(name, r) for name, r in self.tensors.items()]
        lines += [f"not finite: {', '.join(self.nonfinite)}"] if self.nonfinite else []
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
    old, new = ({name: np.asarray(g) for name, g in named_leaves(side)} for side in (before, after))
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
    whole = sum(sums.values(), _Sums())
    names = tuple(name for name, s in sums.items() if s.nonfinite)
    r = whole.report(names)
    return ClipReport(
        r.norm_before, r.norm_after, r.factor, r.fraction_clipped, r.angle, names, tensors
    )


@dataclass(frozen=True)
class _Sums:
    """Sums that a report needs, additive over tensors."""

    before: float = 0.0
    after: float = 0.0
    dot: float = 0.0
    changed: int = 0
    size: int = 0
    nonfinite: int = 0

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray) -> _Sums:
        x, y = a.astype(np.float64), b.astype(np.float64)
        changed = ~(np.abs(x - y) <= 2 * np.spacing(np.abs(a)).astype(np.float64))
        return cls(
            float((x * x).sum()),
            float((y * y).sum()),
            float((x * y).sum()),
            int(changed.sum()),
            a.size,
            int((~np.isfinite(x)).sum()),
        )

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(*(getattr(self, f) + getattr(other, f) for f in self.__dataclass_fields__))

    def report(self, names: tuple[str, ...]) -> ClipReport:
        before, after = math.sqrt(self.before), math.sqrt(self.after)
        return ClipReport(
            before,
            after,
            after / before if before else 1.0,
            self.changed / self.size if self.size else 0.0,
            turn_angle(self.dot, before, after),
            names if self.nonfinite else (),
        )


@quiet
def turn_angle(dot: Any, before: Any, after: Any) -> Any:
    """Angle in degrees between two vectors, from their scalar product and their norms."""
    degrees = np.degrees(
        np.arccos(np.clip(dot / np.multiply(before, after, dtype=np.float64), -1.0, 1.0))
    )
    return degrees if np.ndim(degrees) else float(degrees)
