"""Multiple choice as buttons: one for each letter, and what is said of the one that was pressed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ipywidgets import HTML, Button, HBox, Layout, VBox

from .questions import Choice, Feedback, as_html


class Buttons:
    """A multiple-choice question in a notebook.

    Shows itself as its buttons; in a script, as its sentence.

    Args:
        question: the exercise.
        answered: from a letter to feedback, for each press.
    """

    def __init__(self, question: Choice, answered: Callable[[str], Feedback]) -> None:
        self._question, self._answered = question, answered
        self._box: VBox | None = None
        self._solved: Feedback | None = None
        self._right_letter = ""  # once it was pressed

    def __repr__(self) -> str:
        *others, last = (f"({letter})" for letter in self._question.letters)
        return f"{self._question.question} Press {', '.join(others)} or {last}."

    def _repr_html_(self) -> str:
        return f"<p>{as_html(repr(self))}</p>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        shown = self.box._repr_mimebundle_(**kwargs) or {}
        return {**shown, "text/plain": repr(self), "text/html": self._repr_html_()}

    @property
    def box(self) -> VBox:
        """The widget, made when it is first needed."""
        if self._box is None:
            self._said = HTML()
            self._buttons = [self._button(letter) for letter in self._question.letters]
            self._box = VBox([HBox(self._buttons), self._said])
        return self._box

    def press(self, letter: str) -> Feedback:
        """Answer with a letter, as its button does. After the right one, others change nothing."""
        if self._solved is not None:
            words = f"The right answer was ({self._right_letter}). {self._solved.text}"
            self._say(f"<p>{as_html(words)}</p>")
            return self._solved
        feedback = self._answered(letter)
        _ = self.box
        for button in self._buttons:
            pressed = button.description == f"({letter})"
            button.button_style = ("success" if feedback.right else "warning") if pressed else ""
            # Jupyter's white cannot be read on these colors.
            button.style.text_color = "black" if pressed else None
        self._say(feedback._repr_html_())
        if feedback.right:
            self._solved = feedback
            self._right_letter = letter
        return feedback

    def _say(self, html: str) -> None:
        self._said.value = f'<div role="status">{html}</div>'

    def _button(self, letter: str) -> Button:
        button = Button(
            description=f"({letter})", tooltip=f"Answer ({letter})", layout=Layout(width="4em")
        )
        button.on_click(lambda _: self.press(letter))
        return button
