"""The model that the course follows: from its words, which part of Python's documentation a line is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.arrays import Array, quiet
from .._variables.autodiff import gather
from ..models.word_topics import TOPICS, Lines, chosen, errors, scores, shipped, softmax, words_of

if TYPE_CHECKING:
    from .problems import Weights


@dataclass(frozen=True)
class Reader:
    """Read a line of Python's documentation, and say which of eight topics it is from: softmax regression.

        p = softmax(sum of the rows of the line's words + bias),  loss = mean of -log p[topic] over `batch` lines

    Weights, float32, start at 0: "words" (867, 8), one row for each word, and "bias" (8,). `loss` and `accuracy` are
    taken over the 457 lines held out. Not in TensorFlow. Source: the documentation of Python, PSF licence.

    Raises: ValueError: a text without a known word; batch < 1.

    >>> reader = Reader()
    >>> round(reader.loss(reader.start()), 3), reader.topics[1]
    (2.079, 'the debugger')
    """

    batch: int = 16

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"batch must be 1 line or more, got {self.batch!r}")

    @property
    def topics(self) -> tuple[str, ...]:
        """What the eight columns stand for."""
        return tuple(TOPICS.values())

    @property
    def words(self) -> tuple[str, ...]:
        """What the rows stand for, most frequent first."""
        return shipped().words

    def start(self) -> dict[str, Array]:
        return {
            "words": np.zeros((len(self.words), len(TOPICS)), np.float32),
            "bias": np.zeros(len(TOPICS), np.float32),
        }

    def draw(self, rng: np.random.Generator) -> Lines:
        """The lines of one batch."""
        lines = shipped().train
        return chosen(lines, rng.integers(len(lines.topics), size=self.batch))

    def gradient(self, weights: Weights, rng: np.random.Generator) -> dict[str, Array]:
        lines = self.draw(rng)
        error = errors(_scores(weights, lines), lines) / np.float32(self.batch)
        words = np.zeros_like(weights["words"])
        np.add.at(words, lines.words, np.repeat(error, np.diff(lines.starts), axis=0))
        return {"words": words, "bias": error.sum(axis=0)}

    def loss_of(self, weights: Any, lines: Lines) -> Array:
        """The loss of these lines, for JAX to differentiate; of Variables, the words' gradient comes as slices.

        >>> import gradlab as gl
        >>> reader, opt = Reader(batch=2), gl.train.GradientDescentOptimizer(1.0)
        >>> table, bias = (gl.Variable(w, name=name) for name, w in reader.start().items())
        >>> lines = reader.draw(np.random.default_rng(0))
        >>> loss = lambda: reader.loss_of({"words": table, "bias": bias}, lines)
        >>> type(opt.compute_gradients(loss, [table, bias])[0][0]).__name__
        'IndexedSlices'
        """
        from .._steps.jax import jax

        count = len(lines.topics)
        of_line = np.repeat(np.arange(count), np.diff(lines.starts))
        found = jax.ops.segment_sum(gather(weights["words"], lines.words), of_line, count) + weights["bias"]
        return -jax.nn.log_softmax(found)[np.arange(count), lines.topics].mean()

    @quiet
    def loss(self, weights: Weights) -> float:
        lines = shipped().held_out
        chance = softmax(_scores(weights, lines).astype(np.float64))
        return float(-np.log(chance[np.arange(len(chance)), lines.topics]).mean())

    @quiet
    def accuracy(self, weights: Weights) -> float:
        """The share of the held-out lines whose topic is found."""
        lines = shipped().held_out
        return float((_scores(weights, lines).argmax(axis=1) == lines.topics).mean())

    def read(self, text: str, weights: Weights) -> dict[str, float]:
        """The chance of each topic for a text of your own, most likely first.

        >>> reader = Reader()
        >>> reader.read("set a breakpoint and step through the stack", reader.start())["the debugger"]
        0.125
        """
        row = {word: k for k, word in enumerate(self.words)}
        known = [row[word] for word in words_of(text) if word in row]
        if not known:
            raise ValueError(f"no word of {text!r} is known; the {len(row)} words of the reader are in `words`")
        lines = Lines(np.array(known), np.array([0, len(known)]), np.zeros(1, np.int8))
        chance = softmax(_scores(weights, lines))[0]
        return {self.topics[k]: round(float(chance[k]), 3) for k in np.argsort(-chance, kind="stable")}


def _scores(weights: Weights, lines: Lines) -> Array:
    return scores(np.asarray(weights["words"]), lines) + weights["bias"]
