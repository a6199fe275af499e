"""Vectors of words: what belongs together is near, the run repeats, and its record fits it."""

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab.models.tpu_runs import word_vectors
from gradlab.models.tpu_runs.word_vectors import WATCHED, WordVectors, train

PAIRS = """list tuple, try except, true false, left right, import module, float number, argument parameter, keys values,
try finally, async coroutine, class instance, function argument, dictionary mapping, attribute name, positive negative,
raise exception, break continue, string literal, float complex, global nonlocal"""


@pytest.fixture(scope="module")
def run() -> WordVectors:
    return train()


@pytest.mark.exhaustive
def test_words_that_belong_together_are_near(run: WordVectors) -> None:
    frequent = [w for w, n in zip(run.words, run.counts, strict=True) if n >= 10]
    nearer = []
    for pair in PAIRS.replace("\n", " ").split(", "):
        a, b = pair.split()
        others = np.array([run.similarity(a, w) for w in frequent[::5] if w not in (a, b)])
        nearer.append((others > run.similarity(a, b)).mean())
    assert np.median(nearer) < 0.05, "of words drawn at random half would be nearer"
    assert np.mean(nearer) < 0.15, nearer


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("list", {"tuple", "comma", "brackets", "comprehension", "dict", "set", "dictionary"}),
        ("try", {"finally", "except", "raise", "clause"}),
        ("float", {"complex", "number", "numbers", "floating", "int", "integer"}),
        ("true", {"false", "boolean", "truth"}),
        ("class", {"instance", "derived", "metaclass", "base", "subclass"}),
    ],
)
def test_neighbors_make_sense(run: WordVectors, word: str, expected: set[str]) -> None:
    found = run.neighbors(word, 8)
    assert len({w for w, _ in found} & expected) >= 2, found
    assert word not in dict(found)
    assert sorted((c for _, c in found), reverse=True) == [c for _, c in found]


@pytest.mark.exhaustive
def test_it_learns(run: WordVectors) -> None:
    assert run.loss[-20:].mean() < 0.5 * run.loss[:20].mean()


def test_the_record_fits_the_run(run: WordVectors) -> None:
    assert len(run.loss) == len(run.touched) and run.shots[-1] == len(run.loss)
    assert (run.touched[:, 1] < run.touched[:, 0]).all() and run.touched.max() < len(run.words)
    rows = [run.words.index(w) for w in WATCHED]
    np.testing.assert_array_equal(run.path[-1], run.vectors[rows])
    assert run.path.shape[:2] == (len(run.shots), len(WATCHED))


def test_the_same_seed_gives_the_same_vectors() -> None:
    first, again, other = train(1), train(1), train(1, seed=1)
    np.testing.assert_array_equal(first.vectors, again.vectors)
    assert not np.array_equal(first.vectors, other.vectors)


def test_a_word_that_the_text_does_not_have(run: WordVectors) -> None:
    with pytest.raises(ValueError, match="no word 'List'"):
        run.neighbors("List")


def test_the_first_loss_is_that_of_knowing_nothing(run: WordVectors) -> None:
    assert run.loss[0] == pytest.approx((1 + word_vectors.NOISE_WEIGHT) * np.log(2), rel=1e-3)


def test_a_rare_word_is_explained() -> None:
    text = word_vectors.documentation()
    embedding = word_vectors.embedding_of(len(text.words))
    embedding.build([(word_vectors.BATCH,), (word_vectors.NOISE,), (word_vectors.BATCH,)])
    embedding.system.keeps_steps = True
    batch = next(word_vectors._batches(text, 1, 0))
    embedding.enqueue(batch)
    _, gradients = jax.value_and_grad(word_vectors.loss_of)(embedding.dequeue())
    embedding.apply_gradients(gradients)
    words, times = np.unique(batch["near"][1], return_counts=True)
    why = gl.tpu.explain(embedding, row=int(words[times == 2][0]), table="words")
    assert [c.feature for c in why.contributions] == ["near", "near"] and why.cause == "looked up"
    assert why.ulps is not None and why.ulps <= 1
