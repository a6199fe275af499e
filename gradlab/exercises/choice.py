"""Questions that are answered with a letter, or with anything that a function can judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ._feedback import Feedback


class Choice:
    """An exercise that is answered with one of several letters: called with one, it gives feedback.

    Args:
        question: what is asked, in one sentence. **options: by letter, whether it is right, and what to say of it.
    """

    def __init__(self, question: str, **options: tuple[bool, str]) -> None:
        self.question, self._options = question, options

    def __call__(self, answer: Any) -> Feedback:
        if answer is None:  # nobody has answered yet
            return Feedback(False, f"Write your guess first: one of {self._letters}.")
        letter = answer.strip(" ()").lower() if isinstance(answer, str) else ""
        if letter not in self._options:
            return Feedback(False, f"The answers are {self._letters}; got {answer!r}.")
        return Feedback(*self._options[letter])

    @property
    def letter(self) -> str:
        """The right one."""
        (letter,) = (letter for letter, (right, _) in self._options.items() if right)
        return letter

    @property
    def mistakes(self) -> list[tuple[str, str]]:
        """The wrong letters, and what is said of each."""
        return [(letter, said) for letter, (right, said) in self._options.items() if not right]

    @property
    def _letters(self) -> str:
        return ", ".join(map(repr, self._options))


@dataclass(frozen=True)
class Judged:
    """An exercise with a way of its own to look at an answer.

    Args:
        question: what is asked, in one sentence. judge: from an answer to feedback.
        mistakes: pairs of a wrong answer and words of the hint for whoever gave it.
    """

    question: str
    judge: Callable[[Any], Feedback]
    mistakes: Sequence[tuple[Any, str]]

    def __call__(self, answer: Any) -> Feedback:
        return self.judge(answer)
