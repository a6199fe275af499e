"""A real run: vectors of the words of Python's documentation, learned from which words stand near each other.

A word is guessed from the mean of its neighbors' vectors, against words drawn at random. Two tables: "words" gives the
vectors of neighbors, "outputs" those of guesses. The frequent words are in every batch, most rows in hardly any: the
case for which tables are updated row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..._steps.derivatives import differentiator
from ...tpu.mid_level import Adagrad, FeatureConfig, TableConfig, TPUEmbedding
from ..cross_entropy import softplus
from .documentation import Documentation, documentation

WINDOW = 5  # neighbors on either side
BATCH, NOISE, NOISE_WEIGHT = 2048, 512, 5.0  # words of a step; random words for all of them; what these weigh
FREQUENT = 3e-3  # words with a larger share of the text are left out now and then
WIDTH, RATE, PASSES, SHOTS = 32, 0.2, 12, 40
WATCHED = ("list", "tuple", "import", "module", "the", "breakpoint")


@dataclass(frozen=True, eq=False)
class WordVectors:
    """The result of a run, and a short record of it.

    Attributes:
        words: most frequent first. counts: of each. vectors: (words, width).
        loss: (steps,) mean loss of a word, in nats. touched: (steps, 2) distinct rows in each of the two tables.
        watched: some words. shots: (n,) steps at which they were looked at. path: (n, watched, width) their rows there.
    """

    words: tuple[str, ...]
    counts: np.ndarray
    vectors: np.ndarray
    loss: np.ndarray
    touched: np.ndarray
    watched: tuple[str, ...]
    shots: np.ndarray
    path: np.ndarray

    @cached_property
    def unit(self) -> np.ndarray:
        """The vectors less their mean, each of length 1: products are cosines."""
        centered = self.vectors - self.vectors.mean(axis=0)
        unit: np.ndarray = centered / np.linalg.norm(centered, axis=1, keepdims=True)
        return unit

    def neighbors(self, word: str, k: int = 8, fewest: int = 10) -> list[tuple[str, float]]:
        """The k words of the nearest direction and their cosines, among those seen at least `fewest` times.

        Raises:
            ValueError: the text does not have the word.
        """
        row, unit = self._row(word), self.unit
        cosines = np.where(self.counts >= fewest, unit @ unit[row], -np.inf)
        cosines[row] = -np.inf
        return [(self.words[i], float(cosines[i])) for i in np.argsort(-cosines)[:k]]

    neighbours = neighbors  # the name of before

    def similarity(self, a: str, b: str) -> float:
        """The cosine of two words; ValueError if the text does not have one of them."""
        return float(self.unit[self._row(a)] @ self.unit[self._row(b)])

    def _row(self, word: str) -> int:
        if word not in self.words:
            raise ValueError(f"the text has no word {word!r}; its words are small letters and '_', as 'list'")
        return self.words.index(word)


class Samples(NamedTuple):
    """Words to guess and their neighbors: `near` (n, 2 * WINDOW) with -1 where there is none."""

    near: np.ndarray
    word: np.ndarray


def embedding_of(words: int, seed: int = 0) -> TPUEmbedding:
    """Two tables of so many words, and the three features that read them."""

    def spread(shape: Sequence[int], dtype: Any = None) -> np.ndarray:
        return np.random.default_rng([seed, 0]).uniform(-0.5, 0.5, shape) / shape[1]

    vectors = TableConfig(words, WIDTH, spread, name="words", combiner="mean")
    outputs = TableConfig(words, WIDTH, np.zeros, name="outputs")
    return TPUEmbedding(
        {"near": FeatureConfig(vectors), "noise": FeatureConfig(outputs), "word": FeatureConfig(outputs)}, Adagrad(RATE)
    )


def train(passes: int = PASSES, seed: int = 0, text: Documentation | None = None) -> WordVectors:
    """Some passes over the text; 12 take a few seconds, and the same seed gives the same vectors.

        h = mean of the vectors of the neighbors;  loss = softplus(-h . u[word]) + weight * mean softplus(h . u[noise])

    Not in TensorFlow. Source: Mikolov et al., "Distributed Representations of Words and Phrases and their
    Compositionality" (2013), with a bag of neighbors as in their "Efficient Estimation of Word Representations in
    Vector Space" (2013) and noise words shared by a batch.
    """
    text = documentation() if text is None else text
    embedding, log, path = embedding_of(len(text.words), seed), [], []
    watched, batches = [text.words.index(w) for w in WATCHED], list(_batches(text, passes, seed))
    shots = np.unique(np.linspace(0, len(batches), min(SHOTS, len(batches)) + 1).astype(int))
    derivative = differentiator().value_and_gradient(loss_of, compiled=True)
    embedding.build([(BATCH,), (NOISE,), (BATCH,)])
    for step in range(len(batches) + 1):
        if step in shots:
            path.append(_vectors(embedding)[watched])
        if step < len(batches):
            embedding.enqueue(batches[step])
            loss, gradients = derivative(embedding.dequeue())
            embedding.apply_gradients(gradients)
            log.append((loss / BATCH, _touched(batches[step])))
    loss, touched = (np.array(x) for x in zip(*log, strict=True)) if log else (np.zeros(0), np.zeros((0, 2), int))
    return WordVectors(text.words, text.counts, _vectors(embedding), loss, touched, WATCHED, shots, np.stack(path))


def loss_of(activations: Mapping[str, Any]) -> Any:
    """The loss of a batch, summed over its words, so that the gradient of one does not depend on how many there are."""
    near = activations["near"]
    right = softplus(-(near * activations["word"]).sum(axis=1))
    return (right + NOISE_WEIGHT * softplus(near @ activations["noise"].T).mean(axis=1)).sum()


def _vectors(embedding: TPUEmbedding) -> np.ndarray:
    return embedding.system.retrieve(0)[0]


def _touched(ids: Mapping[str, Any]) -> tuple[int, int]:
    """The number of rows of each table that a batch reads."""
    return len(np.unique(ids["near"][1])), len(np.unique(np.concatenate([ids["word"], ids["noise"]])))


def _batches(text: Documentation, passes: int, seed: int) -> Iterator[Mapping[str, Any]]:
    """The ids of each step, shuffled and thinned again in every pass."""
    chances = text.counts**0.75 / (text.counts**0.75).sum()
    for number in range(passes):
        rng = np.random.default_rng([seed, 1, number])
        samples = _samples(text, rng)
        order = rng.permutation(len(samples.word))
        for some in order[: len(order) // BATCH * BATCH].reshape(-1, BATCH):
            noise = rng.choice(len(chances), NOISE, p=chances)
            yield {"near": _bags(samples.near[some]), "noise": noise[:, None], "word": samples.word[some][:, None]}


def _samples(text: Documentation, rng: np.random.Generator) -> Samples:
    keep = np.minimum(1, np.sqrt(FREQUENT * text.counts.sum() / text.counts))
    near, word = [], []
    for ids in text.texts():
        kept = ids[rng.random(ids.size) < keep[ids]]
        padded = np.concatenate([np.full(WINDOW, -1), kept, np.full(WINDOW, -1)])
        around = np.lib.stride_tricks.sliding_window_view(padded, 2 * WINDOW + 1)
        near.append(np.delete(around, WINDOW, axis=1))
        word.append(kept)
    return Samples(np.concatenate(near), np.concatenate(word))


def _bags(near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The neighbors that there are: row splits and ids."""
    there = near >= 0
    return np.cumsum([0, *there.sum(axis=1)]), near[there]
