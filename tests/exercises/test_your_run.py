"""What the answers of the notebook on your own run claim is so."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import check, your_run


def recorded(norms: np.ndarray) -> gl.Recorder:
    recorder = gl.Recorder(len(norms))
    for norm in norms:
        recorder.record({"w": np.float32([norm])})
    return recorder


@pytest.mark.parametrize("case", your_run.fired.cases, ids=["plain", "equal", "nonfinite"])
def test_the_share_is_that_of_what_if(case: dict[str, np.ndarray]) -> None:
    answer = recorded(case["norms"]).what_if(clip_global_norm=case["limit"])
    assert answer.fraction_fired == pytest.approx(your_run.fired.right(**case))


@pytest.mark.parametrize("case", your_run.suggest.cases, ids=["plain", "nonfinite", "zeros"])
def test_the_suggestion_is_that_of_the_summary(case: dict[str, np.ndarray]) -> None:
    suggested = recorded(case["norms"]).summary(percentile=case["percentile"]).suggested
    assert suggested == pytest.approx(your_run.suggest.right(**case))


@pytest.mark.parametrize(("name", "letter"), [("before", "b"), ("counterfactual", "b")])
def test_right_letters(name: str, letter: str) -> None:
    assert check(f"your_run.{name}", letter).right


def test_a_recorder_after_the_clip_sees_no_norm_above_the_limit() -> None:
    before = gl.char_rnn.shipped()[1.0].global_norm
    after = [gl.clip_by_global_norm([np.float32([norm])], 1.0)[1] for norm in np.minimum(before, 1.0)]
    assert max(after) <= 1.0


def test_another_limit_is_another_run() -> None:
    runs = gl.char_rnn.shipped()
    told, happened = (runs[limit].what_if(clip_global_norm=1.0).fraction_fired for limit in (None, 1.0))
    assert told > happened + 0.5


def test_a_hint_for_what_has_no_name() -> None:
    assert check("your_run.fired", lambda norms, limit: 7.0).text.endswith("divide by all 4.")
    assert check("your_run.suggest", lambda norms, percentile: 7.5).text.endswith("75th percentile.")
