"""The lab of words: its numbers are the training's, a clicked word is traced, rare words slow down
less.
"""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._word_rates.lab import WordRatesTrace
from gradlab.models.word_topics import shipped, train

TEXT = shipped()


def shown(**params: object) -> WordRatesTrace:
    lab = gl.labs.word_rates(**params)
    return lab.compute(lab.params)


def test_the_rates_are_those_of_a_training_with_the_librarys_rule() -> None:
    trace = shown(initial=1.0, learning_rate=0.5, step=100)
    expected = train(gl.rules.Adagrad(1.0), 0.5)
    np.testing.assert_array_equal(trace.now, expected.rate[100])
    columns = gl.labs.word_rates().columns(trace)
    np.testing.assert_array_equal(columns["effective_rate"], expected.rate[100])
    np.testing.assert_array_equal(columns["accumulator"], expected.accumulator[100])
    assert columns["times_in_text"][0] == TEXT.counts.max()
    assert tuple(columns["word"]) == TEXT.words


def test_rates_fall_with_the_root_of_the_frequency() -> None:
    table = dict(gl.labs.word_rates(initial=0.01).description.table)
    assert -0.6 < float(table["slope of all words"]) < -0.45
    assert (
        dict(gl.labs.word_rates(rule="descent").description.table)["slope of all words"] == "0.00"
    )


def test_the_line_is_the_rate_where_every_occurrence_counts_alike() -> None:
    trace = shown(initial=1.0)
    times, rates = trace.even.T
    accumulators = (0.3 / rates) ** 2
    slopes = np.diff(accumulators) / np.diff(times)
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-3)
    total = (trace.training.accumulator[-1] - 1).sum()
    assert np.interp(TEXT.counts, times, accumulators - 1).sum() == pytest.approx(total, rel=1e-2)
    assert np.ptp(shown(rule="descent").even[:, 1]) == 0


def test_before_the_first_step_all_words_have_one_rate() -> None:
    trace = shown(step=0)
    assert np.ptp(trace.now) == 0
    assert trace.even[:, 1] == pytest.approx(trace.now[0])


def test_the_words_say_what_is_traced() -> None:
    words = gl.labs.word_rates(word="return", step=128).description
    assert words.summary.startswith("“return” has ")
    table = dict(words.table)
    seen, _, total = table["“return” seen"].removesuffix(" times").split()
    assert 0 < int(seen) < int(total) == TEXT.counts[TEXT.words.index("return")]
    assert table["steps done"] == "128 of 256, 16 lines each"
    assert (
        dict(gl.labs.word_rates(word="pdb").description.table)["“pdb” speaks for, in the end"]
        == "the debugger"
    )
    assert (
        dict(gl.labs.word_rates(rule="descent").description.table)["accumulator of “lambda”"]
        == "none"
    )


def test_a_clicked_word_is_traced_and_the_selection_follows_the_menu() -> None:
    lab = gl.labs.word_rates()
    assert lab.live.selected is None
    lab.live.word = "yield"
    assert lab.live.selected is None  # nothing is selected by itself
    lab.live.selected = TEXT.words.index("return")
    assert lab.params["word"] == "return"
    lab.live.word = "class"
    assert TEXT.words[lab.live.selected] == "class"
    lab.live.selected = None
    assert lab.params["word"] == "class"
    lab.live.selected = len(TEXT.words)
    assert lab.params["word"] == "class"


def test_every_dot_goes_by_its_word() -> None:
    lab = gl.labs.word_rates()
    items = lab.live.description.items
    assert items is not None
    assert tuple(items.names) == TEXT.words
    np.testing.assert_array_equal(items.values["effective rate"], lab.compute(lab.params).now)


def test_the_slider_ends_where_the_lines_end() -> None:
    assert gl.labs.word_rates().params["step"] == TEXT.steps


def test_a_setting_is_trained_once() -> None:
    assert shown(initial=0.5, step=0).training is shown(initial=0.5, step=256, word="the").training


def test_a_rare_word_keeps_more_of_its_rate_but_not_all() -> None:
    assert "a rare one keeps more of its rate" in gl.labs.glance(gl.labs.word_rates)
    lab = gl.labs.word_rates()
    trace = lab.compute(
        {**lab.params, **lab.presets["Rare words slow down less"], "word": "lambda"}
    )
    kept = trace.now / trace.training.rate[0]
    rarest = kept[-len(kept) // 10 :]
    assert round(float(kept[trace.word]), 2) == 0.43
    assert round(float(np.median(rarest)), 2) == 0.45
    assert round(float(kept[0]), 2) == 0.02


def test_presets_show_what_their_names_say() -> None:
    lab = gl.labs.word_rates()
    traces = {label: lab.compute({**lab.params, **values}) for label, values in lab.presets.items()}
    rare = {label: trace.rare for label, trace in traces.items()}
    assert rare["One rate for all"] == rare["Before the first line"] == 1
    assert (
        rare["Small accumulator"]
        > rare["Rare words slow down less"]
        > 15
        > 7
        > rare["Large accumulator"]
    )
    assert traces["Rare words slow down less"].right > traces["One rate for all"].right > 0.6


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("rare_26", {"initial": 0.01, "learning_rate": 1.0}, {"learning_rate": 0.3}),
        ("rare_26", {"initial": 0.01, "learning_rate": 1.0}, {"rule": "descent"}),
        ("level", {"initial": 10.0}, {"rule": "descent"}),
        ("level", {"initial": 10.0}, {"initial": 10.0, "step": 32}),
    ],
)
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, object], missed: dict[str, object]
) -> None:
    lab = gl.labs.word_rates(target=target)
    assert lab.description.goal.endswith("not yet.")
    lab.set(**reached)
    assert lab.description.goal.endswith("reached.")
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "“lambda” has 20 times the rate of “the”, but is seen in 5 of 256 steps."),
        ({"step": 4}, "“lambda” has 5.4 times the rate of “the”, but is seen in 1 of 4 steps."),
        ({"step": 0}, "Before the first line all 867 words have one rate, 0.949."),
        ({"rule": "descent"}, "With gradient descent all 867 words have one rate, 0.3."),
        (
            {"word": "the"},
            "“the”, seen in 255 of 256 steps, has rate 0.0199; the rarest tenth has 22 times that.",
        ),
    ],
)
def test_the_sentence_compares_rates_and_says_how_often_they_act(
    params: dict[str, object], said: str
) -> None:
    lab = gl.labs.word_rates(**params)
    assert lab.description.summary == said


def test_a_large_rate_is_not_called_a_fast_move() -> None:
    lab = gl.labs.word_rates()
    trace = lab.compute(lab.params)
    rare, frequent = (
        np.abs(np.diff(trace.training.rate[:, word])).astype(bool).sum() for word in (trace.word, 0)
    )
    # Steps in which each moves, for a rate changes where a gradient comes.
    assert rare <= 5 < frequent
    assert "as fast" not in lab.description.summary + lab.description.alt


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "a third of the rate"),
        ({"step": 0}, "the same rate"),
        ({"initial": 1.0}, "half of the rate"),
        ({"initial": 10.0}, "0.76 of the rate"),
    ],
)
def test_the_title_of_all_words_is_their_slope(params: dict[str, object], said: str) -> None:
    lab = gl.labs.word_rates(**params)
    lab.draw(view := lab.make_view(), trace := lab.compute(lab.params))
    assert view.cloud.get_title("left") == f"10 times as often: {said}"
    fit = np.polyfit(np.log(trace.counts), np.log(trace.now), 1)[0]
    share = {"a third": 1 / 3, "the same": 1, "half": 1 / 2}.get(
        said.removesuffix(" of the rate").removesuffix(" rate"), 0.76
    )
    assert 10**fit == pytest.approx(share, rel=0.1)
