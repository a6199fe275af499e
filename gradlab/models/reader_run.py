"""A run of your own to ask about: the reader of `word_topics` with two hidden layers, recorded step by step.

The words of a line become the sum of their rows, two layers of ReLU units follow, and a readout says which topic the
line is from. Row 0 of the table is for words that are not known, of which the lines to learn from have none. How long
the steps took is the machine's: `recordings/` holds what ships with the package, and
`python -m gradlab.models.reader_run` writes it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from .._base.tree import named_leaves
from ..record import Recorder
from ..rules import Momentum
from .word_topics import TOPICS, Lines
from .word_topics import shipped as lines

WIDTH, HIDDEN, BATCH, STEPS, ENTRIES = 16, 32, 64, 512, 128  # eight passes over the lines
RULE, LEARNING_RATE = Momentum(0.9), 0.005  # rather bold: some units die
LAYERS = ("hidden1", "hidden2", "readout")

Weights = Mapping[str, Any]


def initial_weights(seed: int = 0) -> dict[str, Any]:
    """Normal weights, float32: embed (1 + words, 16), hidden layers (16, 32) and (32, 32), readout (32, 8), biases."""
    draw = np.random.default_rng(seed).standard_normal
    widths = (WIDTH, HIDDEN, HIDDEN, len(TOPICS))
    weights: dict[str, Any] = {"embed": np.float32(0.1) * draw((1 + len(lines().words), WIDTH), np.float32)}
    for layer, rows, columns in zip(LAYERS, widths[:-1], widths[1:], strict=True):
        scale = np.float32(np.sqrt(2 / rows))
        weights[layer] = {"b": np.zeros(columns, np.float32), "w": scale * draw((rows, columns), np.float32)}
    return weights


def loss_and_gradient(weights: Weights, some: Lines) -> tuple[float, dict[str, Any]]:
    """Mean cross-entropy of some lines, in nats; and of its sum the gradient, shaped as the weights."""
    inputs = [np.add.reduceat(weights["embed"][1 + some.words], some.starts[:-1], axis=0)]
    for layer in LAYERS:
        x = inputs[-1] @ weights[layer]["w"] + weights[layer]["b"]
        inputs.append(x if layer == LAYERS[-1] else np.maximum(x, 0))
    scores = inputs[-1] - inputs[-1].max(axis=1, keepdims=True)
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    right = np.arange(len(some.topics)), some.topics
    error, gradient = np.exp(log_p), dict[str, Any]()
    error[right] -= 1
    for k in (2, 1, 0):
        gradient[LAYERS[k]] = {"b": error.sum(axis=0), "w": inputs[k].T @ error}
        error = error @ weights[LAYERS[k]]["w"].T
        error *= inputs[k] > 0 if k else 1
    gradient["embed"] = np.zeros_like(weights["embed"])
    np.add.at(gradient["embed"], 1 + some.words, np.repeat(error, np.diff(some.starts), axis=0))
    return -float(log_p[right].mean()), gradient


def record(steps: int = STEPS) -> Recorder:
    """Train with momentum on batches of 64 lines, over and over, and record every gradient.

        m = 0.9 m + g,  w -= 0.005 m

    Returns: a Recorder with tensors embed, hidden1/b, hidden1/w, ..., readout/w and scalar loss (nats).

    Not in TensorFlow.

    >>> record(steps=2)
    <gradlab.Recorder: 2 steps of embed, hidden1/b, hidden1/w, hidden2/b, hidden2/w, readout/b, readout/w and loss>
    """
    text, weights, rec = lines(), initial_weights(), Recorder(steps, entries=ENTRIES)
    slots: dict[str, Any] = {name: RULE.init(w) for name, w in named_leaves(weights)}
    for step in range(steps):
        loss, gradient = loss_and_gradient(weights, batch(text.train, step))
        rec.record(gradient, loss=loss)
        for (name, w), (_, g) in zip(named_leaves(weights), named_leaves(gradient), strict=True):
            new, slots[name] = RULE(w, slots[name], g, LEARNING_RATE)
            w[...] = new
    return rec


def batch(some: Lines, step: int) -> Lines:
    """The lines of one step; after the last whole batch the first one comes again."""
    first = step % (len(some.topics) // BATCH) * BATCH
    last = first + BATCH
    starts = some.starts[first : last + 1]
    return Lines(some.words[starts[0] : starts[-1]], starts - starts[0], some.topics[first:last])


def _file() -> Any:
    return files("gradlab.models.recordings") / "reader_run.npz"


@cache
def shipped() -> Recorder:
    """The recording that comes with the package.

    >>> shipped().seen, shipped().stride
    (512, 1)
    """
    return Recorder.load(str(_file()))


def main() -> None:
    """Write the recording that ships with the package."""
    rec = record()
    rec.save(str(_file()))
    print(f"{_file()}: {rec}")


if __name__ == "__main__":
    main()
