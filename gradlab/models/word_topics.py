"""A real sparse model: from its words, which part of Python's documentation a line is.

Softmax regression with one row of eight weights for every word; a step reads sixteen lines and
moves the rows of their words only. The lines ship in `recordings/`, for another Python has other
documentation; `python -m gradlab.models.word_topics` writes them again.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from .._base.slices import IndexedSlices
from ..rules import Adagrad, Rule, dense_and_sparse

# Long topics of pydoc of which none is a part of another, and what to call them.
TOPICS = {
    "compound": "compound statements",
    "debugger": "the debugger",
    "formatstrings": "format strings",
    "specialnames": "special methods",
    "string-methods": "string methods",
    "types": "the type hierarchy",
    "typesmapping": "dictionaries",
    "typesseq": "sequences",
}
BATCH, FEWEST = 16, 5  # lines of a step; times a word must be seen to have a row
_HELD_OUT = 10  # every tenth line is for measuring


class Lines(NamedTuple):
    """Lines one after another: the words of line i are words[starts[i] : starts[i + 1]], it is of topics[i]."""

    words: np.ndarray
    starts: np.ndarray
    topics: np.ndarray


class Text(NamedTuple):
    """The words that have a row, most frequent first, and the lines to learn from and to measure by."""

    words: tuple[str, ...]
    train: Lines
    held_out: Lines

    @property
    def counts(self) -> np.ndarray:
        """The number of occurrences of each word in the training lines."""
        return np.bincount(self.train.words, minlength=len(self.words))

    @property
    def steps(self) -> int:
        """Steps of one pass over the lines."""
        return len(self.train.topics) // BATCH


class Training(NamedTuple):
    """One pass, before the first step and after each.

    Attributes:
        accumulator: (steps + 1, words) mean accumulator of each row; NaN for a rule that has none.
        rate: (steps + 1, words) learning rate over the root of that mean: the effective rate.
        right: (steps + 1,) share of the held-out lines whose topic is found.
        weights: (words, topics) at the end.
    """

    accumulator: np.ndarray
    rate: np.ndarray
    right: np.ndarray
    weights: np.ndarray


@functools.cache
def shipped() -> Text:
    """The lines that come with the package.

    >>> shipped().words[:3], shipped().steps
    (('the', 'a', 'is'), 256)
    """
    with np.load(str(_file())) as data:
        train, held_out = (
            Lines(*(data[f"{part}_{name}"] for name in Lines._fields))
            for part in ("train", "held_out")
        )
        return Text(tuple(str(data["vocabulary"]).split()), train, held_out)


def train(rule: Rule, learning_rate: float, text: Text | None = None) -> Training:
    """One pass over the lines, from weights 0.

        p = softmax(sum of the rows of the words of a line)
        g = (p - one_hot(topic)) for every word of the line; the loss is the sum over the lines of a step

    Raises whatever the rule raises. Not in TensorFlow. Source of the case for it: Duchi, Hazan &
    Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization" (2011).

    >>> training = train(Adagrad(), 0.3)
    >>> bool(training.rate[-1, -1] > 10 * training.rate[-1, 0])  # a rare word and "the"
    True
    """
    text = shipped() if text is None else text
    weights: np.ndarray = np.zeros((len(text.words), len(TOPICS)), np.float32)
    slots, seen, right = rule.init(weights), [], []
    for step in range(text.steps + 1):
        if step:
            now = chosen(text.train, np.arange(BATCH) + (step - 1) * BATCH)
            moved, slots = dense_and_sparse.rows(
                rule, weights, slots, gradient(weights, now), learning_rate
            )
            weights = np.asarray(moved)
        seen.append(
            slots[0].mean(axis=1)
            if isinstance(rule, Adagrad)
            else np.full(len(weights), np.nan, np.float32)
        )
        right.append(np.mean(scores(weights, text.held_out).argmax(axis=1) == text.held_out.topics))
    accumulator, rate = np.array(seen), np.float32(learning_rate)
    rates = (
        rate / rule.root(accumulator)
        if isinstance(rule, Adagrad)
        else np.full_like(accumulator, rate)
    )
    return Training(accumulator, np.asarray(rates), np.array(right), weights)


def chosen(lines: Lines, which: np.ndarray) -> Lines:
    """Some of the lines, one after another."""
    parts = [lines.words[lines.starts[i] : lines.starts[i + 1]] for i in which]
    return Lines(
        np.concatenate(parts), np.cumsum([0, *map(len, parts)], dtype=np.int32), lines.topics[which]
    )


def gradient(weights: np.ndarray, lines: Lines) -> IndexedSlices:
    """The gradient of the loss of these lines: a slice for every word, several of which may be one row."""
    error = errors(scores(weights, lines), lines)
    return IndexedSlices(
        np.repeat(error, np.diff(lines.starts), axis=0), lines.words, weights.shape
    )


def errors(found: np.ndarray, lines: Lines) -> np.ndarray:
    """(lines, topics) gradient of the loss by the scores: what was guessed less what is true."""
    error = softmax(found)
    error[np.arange(len(error)), lines.topics] -= 1
    return error


def scores(weights: np.ndarray, lines: Lines) -> np.ndarray:
    """(lines, topics) sum of the rows of the words of each line."""
    return np.add.reduceat(weights[lines.words], lines.starts[:-1], axis=0)


def softmax(found: np.ndarray) -> np.ndarray:
    """Scores as chances: each row sums to 1."""
    p: np.ndarray = np.exp(found - found.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p


def read() -> Text:
    """The lines of the running Python's documentation, shuffled, those without a frequent word left out."""
    from pydoc_data.topics import topics

    lines = [
        (number, words_of(line))
        for number, name in enumerate(TOPICS)
        for line in topics[name].split("\n")
    ]
    order = np.random.default_rng(0).permutation(len(lines))
    held_out, train = (
        [lines[i] for i in part]
        for part in (order[::_HELD_OUT], np.delete(order, np.s_[::_HELD_OUT]))
    )
    counted = Counter(word for _, words in train for word in words)
    ranked = sorted(
        (word for word in counted if counted[word] >= FEWEST),
        key=lambda word: (-counted[word], word),
    )
    rows = {word: row for row, word in enumerate(ranked)}
    return Text(tuple(ranked), _numbered(train, rows), _numbered(held_out, rows))


def words_of(text: str) -> list[str]:
    """The words of a text, in small letters; what has no letter is none.

    >>> words_of("Call __init__(self) 2 times")
    ['call', '__init__', 'self', 'times']
    """
    return re.findall("[a-z_]*[a-z][a-z_]*", text.lower())


def _numbered(lines: list[tuple[int, list[str]]], rows: dict[str, int]) -> Lines:
    kept = [(topic, [rows[word] for word in words if word in rows]) for topic, words in lines]
    kept = [(topic, words) for topic, words in kept if words]
    starts = np.cumsum([0, *(len(words) for _, words in kept)], dtype=np.int32)
    words = np.array([row for _, words in kept for row in words], np.int16)
    return Lines(words, starts, np.array([topic for topic, _ in kept], np.int8))


def _file() -> Any:
    return files("gradlab.models.recordings") / "python_lines.npz"


def main() -> None:
    """Write the lines that ship with the package."""
    text = read()
    parts = {"train": text.train, "held_out": text.held_out}
    arrays = {
        f"{part}_{name}": x for part, lines in parts.items() for name, x in lines._asdict().items()
    }
    np.savez_compressed(str(_file()), vocabulary=np.array(" ".join(text.words)), **arrays)


if __name__ == "__main__":
    main()
