"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Feedback:
    """The answer to an answer: `right`, and what to think about next. Shows itself as plain text."""

    right: bool
    text: str

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"{'Right.' if self.right else 'Not yet.'} {self.text}"
