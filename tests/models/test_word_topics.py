"""The model of words: its gradient is that of its loss, a step touches its own words only, and it
learns.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.models import word_topics
from gradlab.models.word_topics import BATCH, FEWEST, TOPICS, shipped, train
from gradlab.rules import Adagrad, StochasticGradientDescent

TEXT = shipped()


def test_the_text_is_that_of_pythons_documentation() -> None:
    assert len(TEXT.words) > 700
    assert TEXT.words[0] == "the"
    assert {"lambda", "return", "dictionary"} < set(TEXT.words)
    assert len(set(TEXT.words) & set(word_topics.read().words)) > 0.8 * len(TEXT.words)


@pytest.mark.parametrize("lines", [TEXT.train, TEXT.held_out], ids=["train", "held out"])
def test_every_line_has_words_and_a_topic(lines: word_topics.Lines) -> None:
    assert lines.starts[0] == 0 and lines.starts[-1] == len(lines.words)
    assert (np.diff(lines.starts) > 0).all()
    assert len(lines.topics) == len(lines.starts) - 1
    assert set(lines.topics) == set(range(len(TOPICS)))
    assert lines.words.max() < len(TEXT.words)


def test_words_come_most_frequent_first() -> None:
    assert (np.diff(TEXT.counts) <= 0).all()
    assert TEXT.counts[-1] == FEWEST


def test_writing_the_file_again_gives_a_text_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_topics, "_file", lambda: tmp_path / "again.npz")
    word_topics.main()
    again, now = shipped.__wrapped__(), word_topics.read()
    assert again.words == now.words
    for part, other in ((again.train, now.train), (again.held_out, now.held_out)):
        for x, y in zip(part, other, strict=True):
            np.testing.assert_array_equal(x, y)


def test_the_gradient_is_that_of_the_cross_entropy() -> None:
    weights = (
        np.random.default_rng(0).normal(0, 0.5, (len(TEXT.words), len(TOPICS))).astype(np.float32)
    )
    step = 3
    lines = word_topics.chosen(TEXT.train, np.arange(BATCH) + step * BATCH)
    slices = word_topics.gradient(weights, lines)
    dense = np.zeros_like(weights)
    np.add.at(dense, slices.indices, slices.values)

    counts = np.zeros((BATCH, len(TEXT.words)), np.float32)  # how often each line has each word
    for k, line in enumerate(range(step * BATCH, (step + 1) * BATCH)):
        np.add.at(
            counts[k], TEXT.train.words[TEXT.train.starts[line] : TEXT.train.starts[line + 1]], 1
        )
    topics = TEXT.train.topics[step * BATCH : (step + 1) * BATCH]

    def loss(w: jax.Array) -> jax.Array:
        scores = jax.nn.log_softmax(jnp.matmul(counts, w, precision="highest"))
        return -scores[np.arange(BATCH), topics].sum()

    np.testing.assert_allclose(dense, jax.grad(loss)(jnp.asarray(weights)), rtol=1e-4, atol=1e-5)


def test_a_step_moves_the_accumulators_of_its_words_only() -> None:
    rule = Adagrad(initial_accumulator_value=0.5)
    accumulator = train(rule, 0.3).accumulator
    assert (accumulator[0] == 0.5).all()
    first = set(TEXT.train.words[: TEXT.train.starts[BATCH]])
    assert set(np.flatnonzero(accumulator[1] != 0.5)) == first
    assert (np.diff(accumulator, axis=0) >= 0).all()
    assert (accumulator[-1] > 0.5).sum() > 0.99 * len(TEXT.words)


def test_the_rate_is_the_learning_rate_over_the_root_of_the_accumulator() -> None:
    training = train(Adagrad(epsilon=0.0), 0.3)
    np.testing.assert_allclose(
        training.rate, np.float32(0.3) / np.sqrt(training.accumulator), rtol=1e-6
    )
    assert training.rate.shape == (TEXT.steps + 1, len(TEXT.words))


def test_gradient_descent_has_one_rate_and_no_accumulator() -> None:
    training = train(StochasticGradientDescent(), 0.1)
    assert (training.rate == np.float32(0.1)).all()
    assert np.isnan(training.accumulator).all()


def test_it_learns_and_adagrad_learns_more() -> None:
    guessed = np.bincount(TEXT.held_out.topics).max() / len(TEXT.held_out.topics)
    plain, adagrad = train(StochasticGradientDescent(), 0.1), train(Adagrad(), 0.3)
    assert adagrad.right[0] < guessed < 0.35 < 0.6 < plain.right[-1] < adagrad.right[-1]
    topic = list(TOPICS)[adagrad.weights[TEXT.words.index("pdb")].argmax()]
    assert topic == "debugger"
