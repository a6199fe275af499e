"""What the answers of the notebook on your own run claim is so."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import check, your_run
from gradlab.exercises.your_run import Share


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
    before = gl.models.char_rnn.shipped()[1.0].global_norm
    after = [
        gl.clip_by_global_norm([np.float32([norm])], 1.0)[1] for norm in np.minimum(before, 1.0)
    ]
    assert max(after) <= 1.0


def test_another_limit_is_another_run() -> None:
    runs = gl.models.char_rnn.shipped()
    told, happened = (
        runs[limit].what_if(clip_global_norm=1.0).fraction_fired for limit in (None, 1.0)
    )
    assert told > happened + 0.5
    assert "It did in 02_clipping" in check("your_run.counterfactual", "c").text


def test_a_hint_for_what_has_no_name() -> None:
    assert check("your_run.fired", lambda norms, limit: 7.0).text.endswith("divide by all 4.")
    assert check("your_run.suggest", lambda norms, percentile: 7.5).text.endswith(
        "75th percentile."
    )


TRUTH = Share().truth(np.array(Share.at))


def test_a_limit_from_the_first_steps_is_too_low_for_the_rest() -> None:
    norms = gl.models.char_rnn.shipped()[3.0].global_norm
    assert TRUTH[2] == pytest.approx(100 * (norms[20:] > np.percentile(norms[:20], 95)).mean())
    assert 40 < TRUTH[0] < 50
    assert TRUTH[3] > 5
    assert TRUTH[-1] == 0
    assert "its first 200 steps never fires later" in Share().said(
        np.array([60, 50, 40, 30, 20, 10.0]), TRUTH
    )
    assert Share().truth(np.array([150.0])) > 0  # the first half isn't enough
    assert Share().truth(np.array([50.0])) > 9
    assert Share().truth(np.array([100.0])) == pytest.approx(5, abs=1)


def test_few_norms_make_a_poor_percentile_without_any_drift() -> None:
    assert "about 19% after 5 steps" in Share().said(np.full(6, 5.0), TRUTH)
    norms = gl.models.char_rnn.shipped()[3.0].global_norm.astype(float)
    draw = np.random.default_rng(0)
    orders = [draw.permutation(norms) for _ in range(1000)]
    after = {
        n: np.mean([(x[n:] > np.percentile(x[:n], 95)).mean() for x in orders]) for n in (5, 100)
    }
    assert after[5] == pytest.approx(0.19, abs=0.01)
    assert after[100] == pytest.approx(0.055, abs=0.01)


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ([5, 5, 5, 5, 5, 6], "Without drift"),
        ([0, 5, 10, 15, 20, 25], "norms are small at first"),
        ([15, 12, 10, 8, 6, 5], "every second step"),
        ([60, 50, 40, 30, 20, 10], "calms down"),
        ([50, 40, 30, 10, 5, 2], "wrong by far"),
    ],
)
def test_what_is_said_depends_on_the_guess(guess: list[float], said: str) -> None:
    assert said in Share().said(np.array(guess, float), TRUTH)
