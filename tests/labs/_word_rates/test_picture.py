"""The picture of words: one dot each, the chosen one marked in every panel, names that do not
repeat.
"""

import numpy as np

from gradlab.labs._word_rates.picture import WordsView

WORDS, COUNTS = ["the", "class", "rare"], np.array([1000, 100, 5])
RATE = np.array([[1.0, 1.0, 1.0], [0.125, 0.5, 1.0]])
EVEN = np.array([[5.0, 0.9], [1000.0, 0.1]])


def drawn(step: int = 1, word: int = 2, accumulator: np.ndarray = 1 / RATE**2) -> WordsView:
    view = WordsView(WORDS, COUNTS, 1)
    view.draw(step, word, RATE, accumulator, EVEN, np.array([[False], [True]]))
    return view


def test_every_word_is_a_dot_at_its_count_and_rate() -> None:
    view = drawn()
    np.testing.assert_array_equal(view._dots.get_xydata(), np.stack([COUNTS, RATE[1]], axis=1))
    assert view._here.get_xydata().tolist() == [[5, 1], [1000, 0.125]]
    assert drawn(step=0)._dots.get_ydata().tolist() == [1, 1, 1]


def test_the_story_of_the_chosen_word_is_drawn_beside_that_of_the_first() -> None:
    view = drawn(word=1)
    assert [line.get_ydata().tolist() for line in view._story] == [[1, 4], [1, 0.5]]
    assert [line.get_ydata().tolist() for line in view._frequent] == [[1, 64], [1, 0.125]]
    assert [line.get_xydata().tolist() for line in view._now] == [
        [[1, 4], [1, 64]],
        [[1, 0.5], [1, 0.125]],
    ]
    assert view._times.get_text() == "4 ×" and view._times.get_visible()
    early = drawn(step=0, word=1)
    assert [len(line.get_ydata()) for line in early._story] == [1, 1]
    assert early._ahead[1].get_ydata()[[0, 1, 3, 4]].tolist() == [1, 0.5, 1, 0.125]


def test_a_word_is_named_once() -> None:
    assert [text.get_text() for text in drawn(word=1)._names] == [
        "class, 100 times",
        "the, 1,000 times",
    ]
    assert [text.get_text() for text in drawn(word=0)._names] == ["the, 1,000 times", ""]


def test_a_rule_without_accumulators_says_so() -> None:
    assert [note.get_text() for note in drawn()._none] == ["", ""]
    notes = [note.get_text() for note in drawn(accumulator=np.full((2, 3), np.nan))._none]
    assert notes == ["this rule keeps none", "this rule: the learning rate alone"]


def test_a_tick_for_each_step_that_sees_a_word_is_black_once_it_is_done() -> None:
    view, seen = (
        WordsView(WORDS, COUNTS, 4),
        np.array([[False, True, False, True], [True, True, True, True]]),
    )
    rate = np.ones((5, 3))
    for step, done, coming in ((0, [], [2, 4, 1, 2, 3, 4]), (3, [2, 1, 2, 3], [4, 4])):
        view.draw(step, 2, rate, rate, EVEN, seen)
        for ticks, expected in ((view._seen, done), (view._coming, coming)):
            # Below both panels.
            assert [list(line.get_xdata()[::3]) for line in ticks] == [expected] * 2
    assert [[one.get_text() for one in lanes] for lanes in view._lanes] == [["rare", "the"]] * 2
    for axes in (view.accumulator, view.rate):
        low, high = axes.get_ylim()
        ticks = [tick for tick in axes.get_yticks() if low <= tick <= high]
        strip = np.log(min(ticks) / low) / np.log(high / low)
        assert len(ticks) >= 3 and strip > 0.15  # no number stands beside the strip


def test_values_stand_beside_the_marks_the_higher_one_above() -> None:
    view = drawn(word=1)
    assert [[one.get_text() for one in pair] for pair in view._told] == [
        ["the 64", "class 4"],
        ["class 0.5", "the 0.12"],
    ]
    assert [one.get_position() for one in view._told[0]] == [(1, 64), (1, 4)]
    assert [one.get_visible() for one in drawn(word=0)._told[0]] == [True, False]
    assert not any(one.get_visible() for one in drawn(accumulator=np.full((2, 3), np.nan))._told[0])


def test_the_title_of_all_words_says_what_is_seen_of_them() -> None:
    view = drawn()
    assert view.cloud.get_title("left") == "All words"
    view.draw(1, 2, RATE, RATE, EVEN, np.array([[False], [True]]), "seen")
    assert view.cloud.get_title("left") == "seen"
