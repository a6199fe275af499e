"""Pictures of a result that differs, beside the wanted one, and a description in words.

Each of `bars`, `arrows`, `cells`, `rates` and `levels` gives a function from (wanted, given, case,
answer) to a `Difference`; wanted and given have one form, an array or a list of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..live.description import Description, figure_html
from ..live.scheduling import drawing
from . import answer_picture as drawn
from .answer_picture import number

MOST = 9  # cells of a row that can still be read

Show = Callable[[Any, Any, Mapping[str, Any], Callable[..., Any]], "Difference"]


class Difference(NamedTuple):
    """A wanted result and a given one, entry by entry.

    Attributes:
        names: of the entries.
        wanted, given: in words, as many as there are names or fewer.
        draw: what paints the picture on a figure.
    """

    names: Sequence[str]
    wanted: Sequence[str]
    given: Sequence[str]
    draw: Callable[[Any], None]

    def html(self, said: str) -> str:
        """A figure with the picture, its alternative text, what is said below it, and the numbers as a table."""
        description = Description(
            self._alt, said, tuple((name, words) for name, words, _ in self._rows)
        )
        with drawing:
            picture = drawn.painted(self.draw)
        return figure_html(picture, description, "Wanted beside given")

    @property
    def _rows(self) -> list[tuple[str, str, bool]]:
        """Of each entry its name, both values, and whether they differ."""
        found = []
        for k, name in enumerate(self.names):
            wanted, given = (
                words[k] if k < len(words) else "nothing" for words in (self.wanted, self.given)
            )
            found.append((name, f"wanted {wanted}, given {given}", wanted != given))
        return found

    @property
    def _alt(self) -> str:
        apart = [f"{name}: {words}" for name, words, differs in self._rows if differs]
        same = len(self._rows) - len(apart)
        return (
            "; ".join(
                [f"Wanted beside given. {'; '.join(apart)}"]
                + [f"the other {same} agree"] * (same > 0)
            )
            + "."
        )


def bars(*parts: str) -> Show:
    """Two bars for every number. *parts: names of the arrays of a result that is a list."""

    def show(wanted: Any, given: Any, case: Mapping[str, Any], answer: Any) -> Difference:
        names, left, right = _names(wanted, parts), _flat(wanted), _flat(given)
        return of_numbers(names, left, right)

    return show


def of_numbers(
    names: Sequence[str], wanted: Sequence[float] | np.ndarray, given: Sequence[float] | np.ndarray
) -> Difference:
    """Bars for numbers that have names."""
    left, right = np.asarray(wanted, float), np.asarray(given, float)
    draw = partial(drawn.bars, names=names, wanted=left, given=right)
    return Difference(names, [*map(number, left)], [*map(number, right)], draw)


def arrows(wanted: Any, given: Any, case: Mapping[str, Any], answer: Any) -> Difference:
    """Two arrows and the circle of the limit, if there is one; bars for anything that isn't a vector of two entries."""
    plain = bars()(wanted, given, case, answer)
    if np.shape(wanted) != (2,) or not np.isfinite(given).all():
        return plain
    return plain._replace(
        draw=partial(drawn.arrows, wanted=wanted, given=given, limit=case.get("limit"))
    )


def cells(
    *parts: str,
    heads: Callable[..., Sequence[str]] | None = None,
    words: Mapping[float, str] | None = None,
) -> Show:
    """A table of two rows. heads: names of the entries from the case. words: what some numbers mean."""

    def show(wanted: Any, given: Any, case: Mapping[str, Any], answer: Any) -> Difference:
        names = heads(**case) if heads else _names(wanted, parts)
        left, right = (
            [(words or {}).get(x) or number(x) for x in _flat(value)] for value in (wanted, given)
        )
        return of_words(names, left, right)

    return show


def of_words(names: Sequence[str], wanted: Sequence[str], given: Sequence[str]) -> Difference:
    """A table of two rows of words."""
    return Difference(
        names, wanted, given, partial(drawn.cells, heads=names, wanted=wanted, given=given)
    )


def shapes(wanted: Any, given: Any) -> Difference:
    """Two rows of numbers that have not the same form, as many of them as can be read."""
    left, right = ([*map(number, _flat(value)[:MOST])] for value in (wanted, given))
    return of_words([f"entry {k}" for k in range(max(len(left), len(right)))], left, right)


def over(name: str, x: Sequence[float], right: Callable[..., Any], y: str) -> Show:
    """A curve over one of the arguments. right: the wanted function. y: what it gives."""

    def show(wanted: Any, given: Any, case: Mapping[str, Any], answer: Any) -> Difference:
        try:
            curves = [
                np.array([float(f(**{**case, name: at})) for at in x])
                for f in (right, _by_place(answer, case))
            ]
        except (Exception, SystemExit):
            # An answer that cannot be tried elsewhere is shown where it was.
            return bars()(wanted, given, case, answer)
        said = bars()(wanted, given, case, answer)
        draw = partial(
            drawn.lines, x=np.asarray(x), wanted=curves[0], given=curves[1], names=(name, y)
        )
        return said._replace(names=[f"{y} at {name} {case[name]}"], draw=draw)

    return show


def levels(
    values: str, across: Callable[..., Sequence[tuple[str, float]]], name: str, result: str
) -> Show:
    """Values of steps and lines across. values: the argument. across: lines from (wanted, given, **case)."""

    def show(wanted: Any, given: Any, case: Mapping[str, Any], answer: Any) -> Difference:
        marks = across(float(wanted), float(given), **case)
        said = of_numbers([result], [float(wanted)], [float(given)])
        title = (
            "" if len(marks) > 1 else f"{result}: wanted {said.wanted[0]}, given {said.given[0]}"
        )
        return said._replace(
            draw=partial(drawn.levels, values=case[values], marks=marks, name=name, title=title)
        )

    return show


def _by_place(answer: Callable[..., Any], case: Mapping[str, Any]) -> Callable[..., Any]:
    """An answer whose arguments may have other names, called by the names of the case."""
    return lambda **values: answer(*(values[name] for name in case))


def _flat(value: Any) -> np.ndarray:
    parts = value if isinstance(value, list) else [value]
    return np.concatenate([np.ravel(part) for part in parts]) if parts else np.empty(0)


def _names(value: Any, parts: Sequence[str]) -> list[str]:
    """Names of the entries of a result: [0], [0, 1], [0][1], w[0], result."""
    if isinstance(value, list):
        heads = parts or [f"[{k}]" for k in range(len(value))]
        return [
            f"{head}{place}"
            for head, part in zip(heads, value, strict=True)
            for place in _places(part)
        ]
    return [place or "result" for place in _places(value)]


def _places(part: np.ndarray) -> list[str]:
    return [f"[{', '.join(map(str, place))}]" if place else "" for place in np.ndindex(part.shape)]
