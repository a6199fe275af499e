"""Sentences of the notebooks that state a number: the number, computed from what ships."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.workers.problems import shipped as lines_of_the_reader
from tests.notebooks import save
from tests.notebooks.test_course import cells


def says(notebook: str, *sentences: str) -> None:
    """The prose holds these words, whatever its line breaks: a sentence and the test of its number change together."""
    (path,) = save.FOLDER.glob(f"{notebook}*.ipynb")
    text = " ".join("\n".join(cells(path, "markdown")).split())
    missing = [sentence for sentence in sentences if sentence not in text]
    assert not missing, missing


def lines_with(word: str) -> int:
    train, words = lines_of_the_reader().train, gl.workers.Reader().words
    of_line = np.repeat(np.arange(len(train.topics)), np.diff(train.starts))
    return len(np.unique(of_line[train.words == words.index(word)]))


def test_how_often_words_occur() -> None:
    says("03", 'meets "the" in 40% of its 4,098 training lines, and "lambda" in five of them')
    count = len(lines_of_the_reader().train.topics)
    assert count == 4_098
    assert round(lines_with("the") / count, 2) == 0.40
    assert lines_with("lambda") == 5


def test_the_reader_before_training() -> None:
    says(
        "00", "a row of eight numbers for each of 867 words", "names the first topic every time. About one line in five"
    )
    reader = gl.workers.Reader()
    start = reader.start()
    assert start["words"].shape == (867, 8) and start["bias"].shape == (8,)
    assert reader.accuracy(start) == pytest.approx(np.mean(lines_of_the_reader().held_out.topics == 0))
    assert reader.accuracy(start) == pytest.approx(1 / 5, abs=0.02)


def test_how_the_run_without_a_limit_goes_wrong() -> None:
    says(
        "02",
        "its loss falls for ten steps, from 4.6 to 3.4",
        "Then come gradients whose norm is three to eight times as large, and 40 steps later the loss is above 20",
        "one gradient is more than 10,000 times as large as the median",
        "The explosion near step 250 isn't where the run went wrong",
    )
    run = gl.char_rnn.shipped()[None]
    loss, norm = run.every_step("loss"), run.every_step("global_norm")
    assert loss.argmin() == 10 and [round(float(x), 1) for x in loss[[0, 10]]] == [4.6, 3.4]
    before = np.median(norm[:11])
    spikes = norm[11:30][norm[11:30] > 3 * before] / before
    assert len(spikes) >= 3 and spikes.min() > 3 and 8 < spikes.max() < 8.5
    assert loss[:49].max() < 20 < loss[49:55].max()
    assert norm.max() > 10_000 * np.median(norm) and 245 < norm.argmax() < 265
    assert loss[norm.argmax()] > 20  # long after the loss left the others


def test_which_limit_fired_how_often_and_which_run_ended_lowest() -> None:
    says("02", "That limit fired on 98% of its steps")
    says("02", "The run trained with limit 1, which fired on 10% of its steps, ended with the lowest loss of the five")
    runs = gl.char_rnn.shipped()
    assert len(runs) == 5
    for limit, share in ((0.3, 0.98), (1.0, 0.10)):
        assert round(float((runs[limit].every_step("global_norm") > limit).mean()), 2) == share
    ends = {limit: run.every_step("loss")[-30:].mean() for limit, run in runs.items()}
    assert min(ends, key=lambda limit: ends[limit]) == 1.0


def test_workers_in_lock_step() -> None:
    says(
        "04",
        "**Eight workers in lock-step need a limit of seven,**",
        "After the first round, every gradient of the four workers has staleness 3.",
    )
    for workers in (4, 8):
        steady = gl.workers.Speeds(spread=0.0)
        e = gl.workers.Experiment(gl.workers.Bowl(), workers=workers, policy="apply", gradients=80, speeds=steady)
        assert set(gl.workers.run(e).staleness[workers:].tolist()) == {workers - 1}
