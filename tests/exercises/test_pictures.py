"""A result that differs is shown beside the wanted one: in a picture, its alternative text and a
table.
"""

import re
from typing import Any

import numpy as np
import pytest

from gradlab.exercises import check
from gradlab.exercises.catalog import EXERCISES
from gradlab.exercises.pictures import arrows, bars, cells, of_words, over, shapes
from gradlab.exercises.questions import Choice, Coded

CODED = [name for name, exercise in EXERCISES.items() if isinstance(exercise, Coded)]


@pytest.mark.parametrize("name", CODED)
def test_every_function_that_gives_something_wrong_is_shown(name: str) -> None:
    for answer, _ in EXERCISES[name].mistakes:
        feedback = EXERCISES[name](answer)  # by `check` the mistake of a starter is no try
        # Nothing to compare.
        if "it raises" in feedback.text or "the right result, but" in feedback.text:
            continue
        difference = feedback.difference
        assert difference is not None
        assert len(difference._alt) > 20
        assert not set("'<>") & set(difference._alt)
    html = EXERCISES[name](EXERCISES[name].mistakes[0][0])._repr_html_()
    assert re.fullmatch(
        r"<figure.*<img alt=\"Wanted beside given\. .+\" .*data:image/png;base64,.*<table>.*", html
    )


@pytest.mark.parametrize(
    "name", [name for name, exercise in EXERCISES.items() if isinstance(exercise, Choice)]
)
def test_a_letter_has_no_picture(name: str) -> None:
    assert check(name, "a")._repr_html_().startswith("<p>")


def test_neither_has_a_right_answer_or_one_that_gives_nothing() -> None:
    for answer in (3, lambda grads: 1 / 0, lambda grads: None):
        assert check("start.norm", answer)._repr_html_().startswith("<p>Not yet. ")
    assert check("start.norm", EXERCISES["start.norm"].right).difference is None  # type: ignore[attr-defined]


def shown(show: Any, wanted: Any, given: Any, **case: Any) -> Any:
    return show(wanted, given, case, lambda x: 2 * x)


def test_entries_are_called_as_one_would_write_them() -> None:
    pair = [np.array([1.0, 2.0]), np.array(3.0)]
    assert shown(bars(), pair, pair).names == ["[0][0]", "[0][1]", "[1]"]
    assert shown(bars("w", "sum"), pair, pair).names == ["w[0]", "w[1]", "sum"]
    assert shown(cells(), np.ones((1, 2)), np.ones((1, 2))).names == ["[0, 0]", "[0, 1]"]
    assert shown(bars(), np.array(1.0), np.array(2.0)).names == ["result"]


def test_the_alternative_text_says_the_difference() -> None:
    difference = shown(bars(), np.array([0.5, -1.0]), np.array([0.5, np.nan]))
    assert difference._alt == "Wanted beside given. [1]: wanted −1, given nan; the other 1 agree."
    words = of_words(["step 8", "step 9"], ["accept", "drop"], ["accept"])
    assert (
        words._alt == "Wanted beside given. step 9: wanted drop, given nothing; the other 1 agree."
    )
    assert "entry 1: wanted 2, given nothing" in shapes(np.array([1.0, 2.0]), np.array(1.0))._alt


def test_a_curve_is_tried_at_many_places_and_falls_back_to_the_one() -> None:
    show = over("x", [1, 2, 3], lambda x: x * x, "square")
    assert shown(show, np.array(9.0), np.array(6.0), x=3).draw.func.__name__ == "lines"
    assert (
        show(np.array(9.0), np.array(6.0), {"x": 3}, lambda x: [6.0][x - 3]).draw.func.__name__
        == "bars"
    )  # type: ignore[attr-defined]


def test_arrows_are_for_two_finite_entries() -> None:
    for given, drawn in (([3.0, 4.0], "arrows"), ([np.inf, 4.0], "bars")):
        assert (
            shown(arrows, np.array([0.6, 0.8]), np.array(given), limit=1.0).draw.func.__name__
            == drawn
        )
    assert shown(arrows, np.ones(3), np.zeros(3)).draw.func.__name__ == "bars"
