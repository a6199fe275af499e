"""Limits in a report: the tables, by effect, and the reason in words."""

from typing import Any

import numpy as np

from gradlab.report._run import Run
from gradlab.report.limits import limits
from tests.report.conftest import Page, Recorded


def only_last(step: int, grads: dict[str, Any]) -> dict[str, Any]:
    """Tensor k is 1 in the first k steps, then tiny."""
    return {name: g * 0 + (1.0 if step < k else 1e-3) for k, (name, g) in enumerate(grads.items())}


def test_tensors_are_sorted_by_effect_and_folded_beyond_twenty(recorded: Recorded) -> None:
    rec = recorded(change=only_last, shapes={f"w{k}": (1,) for k in range(24)}, steps=30)
    tables = Page(limits(Run(rec, 0.5, 0)).body()).tables
    caption = "Limits on the norm of each tensor alone, by effect"
    head, *first = tables[caption]
    assert head[:2] == ["tensor", "limit 0.005"] or head[0] == "tensor"
    column = head.index("limit 0.5")
    assert [row[0] for row in first] == [f"w{k}" for k in range(23, 3, -1)]
    assert first[0][column] == f"{100 * 23 / 30:.1f}%"
    assert [row[0] for row in tables[f"{caption}, continued"][1:]] == ["w3", "w2", "w1", "w0"]


def test_the_asked_limit_stands_among_the_percentiles_and_the_reason_says_why(recorded: Recorded) -> None:
    rec = recorded()  # norms are the square root of 44 entries times 1 to 20
    said = limits(Run(rec, 100.0, 0))
    assert said.sentence == "Your limit 100 on the global norm fires on 25.0% of 20 steps."
    body = said.body()
    rows = Page(body).tables["Limits on the global norm"][1:]
    assert ["100", "25.0%", "asked about"] in rows
    assert [row[2] for row in rows if row[2] != "asked about"] == [f"{p}th percentile" for p in (50, 75, 90, 95, 99)]
    median = np.sqrt(44) * 10.5
    assert f"A limit near the median, {median:.3g}, would scale down half of the steps" in body
    assert "Your limit fires on 25.0%; the suggested one is 121." in body
