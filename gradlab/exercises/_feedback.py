"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from .pictures import Difference


@dataclass(frozen=True)
class Feedback:
    """The answer to an answer: `right`, and what to think about next.

    Shows itself as a sentence; where a result differs from the wanted one, in a page also as a picture of both.

    Args:
        right: whether it is. text: the hint, or why. difference: the result and the wanted one, where there are two.
        standing: how many exercises of the notebook are solved.
    """

    right: bool
    text: str
    difference: Difference | None = field(default=None, compare=False)
    standing: str = ""

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        said = f"{'Right.' if self.right else 'Not yet.'} {self.text}"
        return f"{said} ({self.standing})" if self.standing else said

    def _repr_html_(self) -> str:
        return self.difference.html(repr(self)) if self.difference else f"<p>{escape(repr(self))}</p>"
