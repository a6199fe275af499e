"""The reader's gradient is that of its loss, it learns, and it reads a line of one's own."""

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab.models.word_topics import shipped
from gradlab.workers import Experiment, Reader, replay, run
from gradlab.workers.problems import from_config, get_config

READER = Reader(batch=5)


def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        name: 0.3 * rng.standard_normal(w.shape, np.float32) for name, w in READER.start().items()
    }


@pytest.mark.exhaustive
def test_the_gradient_is_that_of_the_loss() -> None:
    w = weights()
    lines = READER.draw(np.random.default_rng(3))
    expected = jax.grad(READER.loss_of)(w, lines)
    for name, g in READER.gradient(w, np.random.default_rng(3)).items():
        assert g.dtype == np.float32
        np.testing.assert_allclose(g, expected[name], atol=1e-6)


def test_the_loss_watched_is_that_of_the_lines_held_out() -> None:
    w, held_out = weights(), shipped().held_out
    assert READER.loss(w) == pytest.approx(float(READER.loss_of(w, held_out)), rel=1e-5)


def test_through_variables_the_words_come_as_slices() -> None:
    lines = READER.draw(np.random.default_rng(3))
    table, bias = (gl.Variable(w, name=name) for name, w in weights().items())
    rows, whole = gl.gradients(
        lambda: READER.loss_of({"words": table, "bias": bias}, lines), [table, bias]
    )
    expected = READER.gradient(weights(), np.random.default_rng(3))
    assert rows.indices.tolist() == lines.words.tolist()
    np.testing.assert_allclose(rows.to_dense(), expected["words"], atol=1e-6)
    np.testing.assert_allclose(whole, expected["bias"], atol=1e-6)


def test_workers_train_it_and_the_log_gives_the_same_weights() -> None:
    e = Experiment(
        Reader(), gl.rules.Adagrad(), learning_rate=0.5, workers=3, staleness=4, gradients=300
    )
    trace = run(e)
    assert Reader().accuracy(Reader().start()) < 0.35 < 0.55 < Reader().accuracy(trace.weights)
    again = replay(e, trace)
    assert all(np.array_equal(again[name], w) for name, w in trace.weights.items())


def test_it_reads_a_line_of_ones_own() -> None:
    trace = run(
        Experiment(Reader(), gl.rules.Adagrad(), learning_rate=0.5, workers=1, gradients=300)
    )
    found = Reader().read("Set a breakpoint, then step with pdb.", trace.weights)
    assert next(iter(found)) == "the debugger"
    assert sum(found.values()) == pytest.approx(1, abs=0.01)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_what_cannot_be_read() -> None:
    with pytest.raises(
        ValueError, match=r"no word of 'qwxyz' is known; the 867 words of the reader are in `words`"
    ):
        READER.read("qwxyz", READER.start())
    with pytest.raises(ValueError, match="batch must be 1 line or more, got 0"):
        Reader(batch=0)


def test_it_goes_through_a_file_by_name() -> None:
    assert from_config(get_config(READER) or {}) == READER


def test_what_it_reads_prints_as_a_table() -> None:
    said = repr(READER.read("set a breakpoint", READER.start())).split("\n")
    assert len(said) == 8
    assert {line.split()[-1] for line in said} == {"12.5%"}
    assert len({len(line) for line in said}) == 1
