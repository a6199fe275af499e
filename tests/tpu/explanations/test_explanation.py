"""Words and tables: nothing of the input is markup, long vectors and long lists are cut."""

import dataclasses

import numpy as np

from gradlab.tpu import Explanation, Feature, Ids, Plan, Sent, StepRecord, Table, create, explain
from gradlab.tpu.explanations.explanation import vector


def explained(width: int = 1, samples: int = 1, name: str = "t") -> Explanation:
    plan = Plan((Table(name, 4, width),), (Feature("f<b>", 0, (samples,)),))
    ids = {"f<b>": Ids(np.arange(samples), np.full(samples, 2))}
    return explain(
        StepRecord(create(plan, [np.ones((4, width))]), Sent([np.ones((samples, width))], ids=ids)),
        row=2,
    )


def test_names_are_no_markup() -> None:
    page = explained(name="<i>")._repr_html_()
    assert "<i>" not in page and "&lt;i&gt;" in page and "f&lt;b&gt;" in page
    assert (
        page.count("<caption>") == 2 and page.count('scope="col"') == 11 and 'scope="row"' in page
    )


def test_what_is_long_is_cut() -> None:
    why = explained(width=64, samples=40)
    assert len(why.contributions) == 40
    text = str(why)
    assert "... and 28 more" in text and "... 64 numbers]" in text
    assert max(map(len, text.splitlines())) < 250


def test_vectors() -> None:
    assert vector(np.float32([0.1, -2])) == "[0.1 -2]"
    assert vector(np.arange(6)) == "[0 1 2 3 ... 6 numbers]"


def test_an_explanation_cannot_be_changed() -> None:
    why = explained()
    try:
        why.row = 3  # type: ignore[misc]
    except dataclasses.FrozenInstanceError:
        return
    raise AssertionError("it could be changed")
