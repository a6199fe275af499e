"""Real ids: the words of Python's own documentation, numbered by how often they come."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np

from ..word_topics import words_of


class Documentation(NamedTuple):
    """Words as rows of a table, and the text as their numbers.

    Attributes:
        words: the vocabulary, most frequent first.
        counts: how often each comes, nearly 1 / rank ("Zipf").
        ids: (n,) int32, the whole text.
        starts: (lines + 1,) where each line begins.
        topics: their names.
        topic: (lines,) the topic that a line is of; lines of one topic follow each other.
    """

    words: tuple[str, ...]
    counts: np.ndarray
    ids: np.ndarray
    starts: np.ndarray
    topics: tuple[str, ...]
    topic: np.ndarray

    def texts(self) -> list[np.ndarray]:
        """The words of each topic."""
        first = self.starts[np.searchsorted(self.topic, np.arange(1, len(self.topics)))]
        return np.split(self.ids, first)


@cache
def documentation() -> Documentation:
    """The documentation of the running Python, whose length differs a little from version to version.

    Lines without a word are left out. Not in TensorFlow. Source: `pydoc_data.topics` of the
    standard library.

    >>> text = documentation()
    >>> text.words[:3], len(text.words) > 3000, len(text.topics) > 70
    (('the', 'a', 'is'), True, True)
    """
    from pydoc_data.topics import topics

    names = tuple(sorted(topics))
    lines = [
        (k, words_of(line)) for k, name in enumerate(names) for line in topics[name].split("\n")
    ]
    lines = [(k, words) for k, words in lines if words]
    counted = Counter(word for _, words in lines for word in words)
    ranked = sorted(counted, key=lambda word: (-counted[word], word))
    rows = {word: row for row, word in enumerate(ranked)}
    return Documentation(
        tuple(ranked),
        np.array([counted[word] for word in ranked]),
        np.array([rows[word] for _, words in lines for word in words], np.int32),
        np.cumsum([0, *(len(words) for _, words in lines)]),
        names,
        np.array([k for k, _ in lines]),
    )
