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


def choice(answer: object, options: dict[str, tuple[bool, str]]) -> Feedback:
    """Feedback for one of several letters; None means that nobody has answered yet."""
    if answer is None:
        return Feedback(False, f"Write your guess first: one of {', '.join(map(repr, options))}.")
    if not isinstance(answer, str) or answer.strip().lower() not in options:
        return Feedback(False, f"The answers are {', '.join(map(repr, options))}; got {answer!r}.")
    return Feedback(*options[answer.strip().lower()])
