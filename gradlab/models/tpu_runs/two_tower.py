"""A real run of two towers: which topic of Python's documentation is a line from?

One tower reads the words of a line, the other knows a topic by a row of its own and by the words of
its name. They share the table of words. The table of topics has another optimizer and another
learning rate; both rates come with every step: the words' warms up, the topics' corrects the bias
that the Adam of the tables leaves in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.jax_or_numpy import compile_with_jax
from ...rules import Adagrad, Adam
from ...tpu.ids import Ids
from ...tpu.lookup import lookup
from ...tpu.make_batch import make_batch
from ...tpu.plan import Feature, Plan, Table, Tag
from ...tpu.state import State, create
from ...tpu.update import train_step
from ..cross_entropy import log_softmax
from ..word_topics import words_of
from .documentation import Documentation, documentation

BATCH, WIDTH, PASSES, HELD_OUT = 256, 16, 6, 10  # every tenth line is for measuring
WORDS_RATE, WARM_UP, TOPICS_RATE = 0.3, 20, 0.05
ADAM = Adam(bias_correction=False)


@dataclass(frozen=True, eq=False)
class TwoTower:
    """The result of a run, and a short record of it.

    Attributes:
        topics: their names.
        loss: (steps,) mean over the lines of a step, in nats.
        rates: (steps, 2) of words and topics.
        touched: (steps, 2) distinct rows in the tables of words and topics.
        ranks: (held-out lines,) how many topics score higher than the right one; 0 is found.
        state: tables and slots at the end.
    """

    topics: tuple[str, ...]
    loss: np.ndarray
    rates: np.ndarray
    touched: np.ndarray
    ranks: np.ndarray
    state: State

    def found(self, k: int = 1) -> float:
        """The share of held-out lines whose topic is among the first k; chance is k / len(topics)."""
        return float((self.ranks < k).mean())


def plan_of(words: int, topics: int, batch: int = BATCH) -> Plan:
    """Two tables with a learning-rate tag each; two features read the words."""
    tables = (
        Table("words", words, WIDTH, Adagrad(epsilon_place="none"), Tag(0), combiner="sqrtn"),
        Table("topics", topics, WIDTH, ADAM, Tag(1), combiner="sum"),
    )
    return Plan(
        tables,
        (
            Feature("line", 0, (batch,)),
            Feature("name", 0, (topics,)),
            Feature("topic", 1, (topics,)),
        ),
    )


def rates_at(step: int) -> tuple[np.float32, np.float32]:
    """The learning rates of words and topics at a step, counted from 0.

        words: rate * min(1, t / warm_up);   topics: rate * sqrt(1 - beta2 ** t) / (1 - beta1 ** t);   t = step + 1

    >>> [round(float(rate), 4) for rate in rates_at(0)]
    [0.015, 0.0158]
    """
    t = step + 1
    correction = np.sqrt(1 - ADAM.beta2**t) / (1 - ADAM.beta1**t)
    return np.float32(WORDS_RATE * min(1, t / WARM_UP)), np.float32(TOPICS_RATE * correction)


def train(passes: int = PASSES, seed: int = 0, text: Documentation | None = None) -> TwoTower:
    """Some passes over nine tenths of the lines; the same seed gives the same tables.

        score[line, topic] = line . (topic + name);   loss = sum over lines of -log softmax(score)[its topic]

    Not in TensorFlow. Source: Yi et al., "Sampling-Bias-Corrected Neural Modeling for Large Corpus
    Item Recommendations" (2019), for two towers; here all topics are scored, so nothing is sampled.
    """
    text = documentation() if text is None else text
    plan, log = plan_of(len(text.words), len(text.topics)), list[Any]()
    state = create(plan, [_start(t, seed, k) for k, t in enumerate(plan.tables)])
    for step, (ids, topics) in enumerate(_batches(text, passes, seed)):
        batch, now = make_batch(plan, ids), rates_at(step)
        value, state = _step(state, batch, now, loss_of, topics)
        rows = [
            np.count_nonzero(t.unique < table.rows)
            for t, table in zip(batch.tables, plan.tables, strict=True)
        ]
        log.append((float(value) / BATCH, now, rows))
    loss, rates, touched = (np.array([entry[k] for entry in log]) for k in range(3))
    return TwoTower(text.topics, loss, rates, touched, _ranks(text, state), state)


def scores_of(activations: Any) -> Any:
    """(lines, topics)."""
    line, name, topic = activations
    return line @ (name + topic).T


def loss_of(activations: Any, topics: Any) -> Any:
    """The cross-entropy of the lines' topics, summed, so that a line's gradient does not depend on the others."""
    scores = log_softmax(scores_of(activations))
    return -scores[np.arange(len(topics)), topics].sum()


_step = compile_with_jax(donate=(0,), static=("loss",))(train_step)


def _start(table: Table, seed: int, number: int) -> np.ndarray:
    return np.random.default_rng([seed, number]).normal(
        0, 0.3 / np.sqrt(WIDTH), (table.rows, table.width)
    )


def _batches(
    text: Documentation, passes: int, seed: int
) -> Iterator[tuple[Mapping[str, Ids], np.ndarray]]:
    """The ids of each step, and the topics of its lines; lines are shuffled again in every pass."""
    lines = np.delete(np.arange(len(text.topic)), np.s_[::HELD_OUT])
    for number in range(passes):
        order = np.random.default_rng([seed, 2, number]).permutation(lines)
        for some in order[: len(order) // BATCH * BATCH].reshape(-1, BATCH):
            yield {"line": _bags(text, some), **_of_topics(text)}, text.topic[some]


def _bags(text: Documentation, lines: np.ndarray) -> Ids:
    """The words of some lines."""
    words = [text.ids[text.starts[line] : text.starts[line + 1]] for line in lines]
    return Ids(np.repeat(np.arange(len(lines)), [len(w) for w in words]), np.concatenate(words))


def _of_topics(text: Documentation) -> dict[str, Ids]:
    """All topics: each its own row, and the words of its name that the text has."""
    rows, every = {word: k for k, word in enumerate(text.words)}, np.arange(len(text.topics))
    known = [
        (k, rows[word])
        for k, name in enumerate(text.topics)
        for word in words_of(name)
        if word in rows
    ]
    samples, words = np.array(known, int).reshape(-1, 2).T
    return {"name": Ids(samples, words), "topic": Ids(every, every)}


def _ranks(text: Documentation, state: State) -> np.ndarray:
    """The number of topics that score higher than the right one, for held-out lines."""
    lines = np.arange(len(text.topic))[::HELD_OUT]
    plan = plan_of(len(text.words), len(text.topics), len(lines))
    asked = {"line": _bags(text, lines), **_of_topics(text)}
    found = lookup(dataclasses.replace(state, plan=plan), make_batch(plan, asked))[0]
    scores = np.asarray(scores_of(found))
    ranks: np.ndarray = (
        scores > np.take_along_axis(scores, text.topic[lines][:, None], axis=1)
    ).sum(axis=1)
    return ranks
