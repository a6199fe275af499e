"""Kinds of questions: for a letter, for what a function judges, for a function; and what is said of answers."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np

from .._base.numbers import number
from .pictures import Difference, Show, bars, shapes

Draw = Callable[[np.random.Generator], dict[str, Any]]

_ALIKE = 20  # first characters of the messages of two errors that are one mistake


@dataclass(frozen=True)
class Feedback:
    """The answer to an answer: `right`, and what to think about next.

    Shows itself as a sentence; where a result differs from the wanted one, in a page also as a
    picture of both.

    Args:
        right: whether it is.
        text: the hint, or why.
        difference: the result and the wanted one, where there are two.
        progress: how many exercises of the notebook are solved.
        mistake: the hint of the mistake that was recognized; empty if none was.
        is_answer: False for the code that a notebook comes with, and for None.
    """

    right: bool
    text: str
    difference: Difference | None = field(default=None, compare=False)
    progress: str = ""
    mistake: str = field(default="", compare=False)
    is_answer: bool = True

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        said = f"{self._verdict} {self.text}"
        return f"{said} ({self.progress})" if self.progress else said

    @property
    def _verdict(self) -> str:
        if not self.is_answer:
            return "Your turn."
        return "Right." if self.right else "Not yet."

    def _repr_html_(self) -> str:
        return (
            self.difference.html(repr(self)) if self.difference else f"<p>{as_html(repr(self))}</p>"
        )


class Choice:
    """An exercise that is answered with one of several letters: called with one, it gives feedback.

    Args:
        question: what is asked, in one sentence.
        **options: by letter, whether it is right, and what to say of it.
    """

    def __init__(self, question: str, **options: tuple[bool, str]) -> None:
        self.question, self._options = question, options

    def __call__(self, answer: Any) -> Feedback:
        letters = ", ".join(map(repr, self.letters))
        if answer is None:  # nobody has answered yet
            return Feedback(False, f"Write your guess first: one of {letters}.", is_answer=False)
        letter = answer.strip(" ()").lower() if isinstance(answer, str) else ""
        if letter not in self._options:
            return Feedback(False, f"The answers are {letters}; got {answer!r}.")
        right, said = self._options[letter]
        return Feedback(right, said, mistake="" if right else f"({letter}) {said}")

    @property
    def letters(self) -> list[str]:
        """The letters that may be answered."""
        return list(self._options)

    @property
    def letter(self) -> str:
        """The right one."""
        (letter,) = (letter for letter, (right, _) in self._options.items() if right)
        return letter

    @property
    def mistakes(self) -> list[tuple[str, str]]:
        """The wrong letters, and what is said of each."""
        return [(letter, said) for letter, (right, said) in self._options.items() if not right]


@dataclass(frozen=True)
class Judged:
    """An exercise with a way of its own to look at an answer.

    Args:
        question: what is asked, in one sentence.
        judge: a function of an answer, and of a case by keywords, that returns feedback.
        mistakes: pairs of a wrong answer and words of its hint.
        starter: code that the notebook's cell begins with.
        solution: code that solves it, where NumPy is `np`.
        draw: a function that draws a case; None if there is only one.
        cases: keywords for `judge`, one call for each; the first that fails gives the feedback.
    """

    question: str
    judge: Callable[..., Feedback]
    mistakes: Sequence[tuple[Any, str]]
    starter: str = ""
    solution: str = ""
    draw: Draw | None = None
    cases: Sequence[Mapping[str, Any]] = ({},)

    def __call__(self, answer: Any) -> Feedback:
        for case in self.cases:
            feedback = self.judge(answer, **case)
            if not feedback.right:
                break
        if feedback.right:
            return feedback
        sentences = re.split(r"(?<=[.?!]) ", feedback.text)
        known = (said for _, hint in self.mistakes for said in sentences if hint in said)
        return replace(feedback, mistake=next(known, ""))


# What is caught from the code of an answer. SystemExit comes from `sys.exit()`, and would end the
# caller. KeyboardInterrupt is left out: it comes from a reader who stops an answer that takes too
# long.
FAILURES = (Exception, SystemExit)


def error_in_words(error: BaseException) -> str:
    """Say what an answer raises.

    >>> error_in_words(ValueError("no"))
    'raises ValueError: no'
    >>> error_in_words(SystemExit(1))
    'raises SystemExit: 1. It must return its result and leave Python running'
    """
    if isinstance(error, SystemExit):
        return f"raises SystemExit: {error}. It must return its result and leave Python running"
    return f"raises {type(error).__name__}: {error}"


def no_function(answer: object) -> str:
    """Return what to say if an answer isn't a function; an empty text if it is one."""
    return (
        ""
        if callable(answer)
        else f"Pass the function itself, without calling it; got {type(answer).__name__}."
    )


@dataclass(frozen=True)
class Coded:
    """An exercise that is answered with a function: called with an answer, it gives feedback.

    Args:
        question: what is asked, in one sentence.
        cases: arguments to try, by name, in order; arrays and lists of arrays are copied before
            each call.
        right: the function that gives the wanted results.
        mistakes: pairs of a wrong function and its hint; the first that gives the same result as
            the answer, on the first case the answer fails, is the one meant.
        otherwise: the hint for any other wrong result, from the result and the arguments.
        done: what to say in the end.
        starter: code that the notebook's cell begins with.
        solution: code that solves it, where NumPy is `np`.
        draw: a function that draws a case.
        show: how a result that differs is shown beside the wanted one.
        keeps: whether the function must leave its arguments as they are.
    """

    question: str
    cases: Sequence[Mapping[str, Any]]
    right: Callable[..., Any]
    mistakes: Sequence[tuple[Callable[..., Any], str]]
    otherwise: Callable[..., str]
    done: str
    starter: str = ""
    solution: str = ""
    draw: Draw | None = None
    show: Show = field(default_factory=bars)
    keeps: bool = False

    def __call__(self, answer: Any) -> Feedback:
        if said := no_function(answer):
            return Feedback(False, said)
        for case in self.cases:
            if (wrong := self._wrong(answer, case)) is not None:
                given = ", ".join(f"{name} = {_shown(value)}" for name, value in case.items())
                return replace(wrong, text=f"For {given} it {wrong.text}")
        return Feedback(True, self.done)

    def _wrong(self, answer: Callable[..., Any], case: Mapping[str, Any]) -> Feedback | None:
        """Return what is wrong with an answer in one case, in words and as a picture; nothing if it
        is right.
        """
        wanted, arguments = (
            _like([], _called(self.right, copy.deepcopy(case))),
            copy.deepcopy(dict(case)),
        )
        try:
            given = _called(answer, arguments)
        except FAILURES as error:
            hint = next(
                (hint for mistake, hint in self.mistakes if _raises(mistake, case, error)), ""
            )
            words = error_in_words(error)
            if hint:
                words += f". {hint}"
            return Feedback(False, words, mistake=hint)
        if given is None:
            return Feedback(False, said := "returns None; did you forget `return`?", mistake=said)
        got = _like(wanted, given)
        if _same(got, wanted):
            changed = next(
                (name for name in case if not _unchanged(arguments[name], case[name])), ""
            )
            hint = "Leave it as it is: return new arrays."
            said = f"returns the right result, but changes `{changed}`. {hint}"
            return Feedback(False, said, mistake=hint) if changed and self.keeps else None
        hints = (
            hint for mistake, hint in self.mistakes if _same(got, _given(mistake, case, wanted))
        )
        hint = next(hints, "")
        if _form(got) != _form(wanted):
            said = (
                f"{_shown(got)}. {hint}"
                if hint
                else f"{given!r}. The result must be {_form(wanted)}."
            )
            return Feedback(
                False, f"returns {said}", None if got is None else shapes(wanted, got), mistake=hint
            )
        with quiet():
            picture = self.show(wanted, got, case, answer)
        # True and False, not 1.0 and 0.0.
        seen = given if getattr(given, "dtype", "") == "bool" else got
        said = f"returns {_shown(seen)}. {hint or self.otherwise(got, **case)}"
        return Feedback(False, said, picture, mistake=hint)


def norm_of(tensors: Any) -> float:
    """The common norm of tensors, however they are kept."""
    return float(np.sqrt(sum((np.asarray(t, np.float64) ** 2).sum() for t in tensors)))


@contextmanager
def quiet() -> Iterator[None]:
    """Without warnings: what is wrong with an answer is said by the feedback."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _called(function: Callable[..., Any], case: Mapping[str, Any]) -> Any:
    with quiet():
        return function(*case.values())


def _unchanged(after: Any, before: Any) -> bool:
    """Tell whether an argument is what it was: an array, a number, or a list of arrays and None."""
    if isinstance(before, list):
        return (
            isinstance(after, list)
            and len(after) == len(before)
            and all(map(_unchanged, after, before))
        )
    return np.array_equal(after, before)


def _raises(mistake: Callable[..., Any], case: Mapping[str, Any], theirs: BaseException) -> bool:
    """Tell whether it fails in the same way as the answer: with the same type, and words that begin
    the same.
    """
    try:
        _called(mistake, copy.deepcopy(case))
    except Exception as error:
        return type(error) is type(theirs) and str(error)[:_ALIKE] == str(theirs)[:_ALIKE]
    return False


def _given(mistake: Callable[..., Any], case: Mapping[str, Any], wanted: Any) -> Any:
    """Its result, in the form that is wanted; None if it raises."""
    try:
        return _like(wanted, _called(mistake, copy.deepcopy(case)))
    except Exception:
        return None


def _like(wanted: Any, value: Any) -> Any:
    """A result as a list of arrays or as one array, whichever is wanted; None if it is neither."""
    try:
        if isinstance(wanted, list) and isinstance(value, list | tuple):
            return [np.asarray(part, np.float64) for part in value]
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        return None


def as_html(text: str) -> str:
    """Return HTML for a text in which code stands between backticks.

    >>> as_html("The rows in `indices` do, if a < b.")
    'The rows in <code>indices</code> do, if a &lt; b.'
    """
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _form(value: Any) -> str:
    if isinstance(value, list):
        return f"a list of arrays of shapes {', '.join(str(part.shape) for part in value)}"
    if value is None:
        return "no array"
    return "one number" if value.shape == () else f"an array of shape {value.shape}"


def _same(a: Any, b: Any) -> bool:
    """Tell whether two results have one form and agree up to rounding; NaN agrees with NaN, nothing
    with None.
    """
    if a is None or _form(a) != _form(b):
        return False
    if isinstance(a, list):
        return all(map(_same, a, b))
    return bool(np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True))


def _shown(value: Any) -> str:
    """A number, an array or a list of arrays, rounded, as one would write it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if value is None or isinstance(value, float):
        return "None" if value is None else number(value, 6)
    array = np.asarray(value)
    return str(
        (array if array.dtype.kind in "iub" else np.round(array.astype(np.float64), 4)).tolist()
    )
