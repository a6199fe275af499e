"""A run of your own to ask about: the reader of `word_topics` with two hidden layers, recorded step by step.

The words of a line become the sum of their rows, two layers of ReLU units follow, and a readout
says which topic the line is from. Row 0 of the table is for words that are not known, of which the
lines to learn from have none. How long the steps took is the machine's: `recordings/` holds what
ships with the package, and `python -m gradlab.models.reader_run` writes it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from .._base.named_leaves import named_leaves
from ..record import Agreement, Recorder
from ..record.analysis.agreement import estimate
from ..rules import Momentum
from .word_topics import TOPICS, Lines, chosen
from .word_topics import shipped as lines

WIDTH, HIDDEN, BATCH, STEPS, ENTRIES = 16, 32, 64, 512, 128  # eight passes over the lines
RULE, LEARNING_RATE = Momentum(0.9), 0.32  # rather bold: some units die
PROBE_EVERY = 2  # steps
OTHER_SEEDS = (1, 2, 3, 4)  # of runs whose probes alone are shipped
LAYERS = ("hidden1", "hidden2", "readout")

Weights = Mapping[str, Any]


def initial_weights(seed: int = 0) -> dict[str, Any]:
    """Normal weights: embed (1 + words, 16), hidden layers (16, 32) and (32, 32), readout (32, 8), biases.

    They are float64, so that every machine records the same run: in float32, different orders of
    summation lead to other runs within 300 steps.
    """
    draw = np.random.default_rng(seed).standard_normal
    widths = (WIDTH, HIDDEN, HIDDEN, len(TOPICS))
    weights: dict[str, Any] = {
        "embed": 0.1 * draw((1 + len(lines().words), WIDTH), np.float32).astype(np.float64)
    }
    for layer, rows, columns in zip(LAYERS, widths[:-1], widths[1:], strict=True):
        scale = np.sqrt(2 / rows)
        weights[layer] = {
            "b": np.zeros(columns),
            "w": scale * draw((rows, columns), np.float32).astype(np.float64),
        }
    return weights


def loss_and_gradient(weights: Weights, some: Lines) -> tuple[float, dict[str, Any]]:
    """Mean cross-entropy of some lines, in nats, and its gradient, shaped as the weights."""
    inputs = [np.add.reduceat(weights["embed"][1 + some.words], some.starts[:-1], axis=0)]
    for layer in LAYERS:
        x = inputs[-1] @ weights[layer]["w"] + weights[layer]["b"]
        inputs.append(x if layer == LAYERS[-1] else np.maximum(x, 0))
    scores = inputs[-1] - inputs[-1].max(axis=1, keepdims=True)
    log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    right = np.arange(len(some.topics)), some.topics
    error, gradient = np.exp(log_p), dict[str, Any]()
    error[right] -= 1
    error /= len(some.topics)
    for k in (2, 1, 0):
        gradient[LAYERS[k]] = {"b": error.sum(axis=0), "w": inputs[k].T @ error}
        error = error @ weights[LAYERS[k]]["w"].T
        error *= inputs[k] > 0 if k else 1
    gradient["embed"] = np.zeros_like(weights["embed"])
    np.add.at(gradient["embed"], 1 + some.words, np.repeat(error, np.diff(some.starts), axis=0))
    return -float(log_p[right].mean()), gradient


def record(steps: int = STEPS, seed: int = 0) -> Recorder:
    """Train with momentum on batches of 64 lines, over and over, and record every gradient; a probe in every 2nd step.

        m = 0.9 m + g,  w -= 0.32 m

    Args:
        steps: how many.
        seed: of the weights and the probes; of the order of lines, too, which seed 0 takes as they
            are.

    Returns:
        a Recorder with tensors embed, hidden1/b, hidden1/w, ..., readout/w and scalar loss (nats).
        Gradients are those of the mean loss. A probe is the gradient of 64 lines drawn at random,
        apart from the batches.

    Not in TensorFlow.

    >>> record(steps=2)
    <gradlab.Recorder: 2 steps of embed, hidden1/b, hidden1/w, hidden2/b, hidden2/w, readout/b, readout/w and loss>
    """
    weights, rec = initial_weights(seed), Recorder(steps, entries=ENTRIES)
    text = ordered(seed)
    draw = np.random.default_rng([seed, 8])
    slots: dict[str, Any] = {name: RULE.init(w) for name, w in named_leaves(weights)}
    for step in range(steps):
        if step % PROBE_EVERY == 0:
            other = chosen(text, draw.integers(len(text.topics), size=BATCH))
            rec.probe(loss_and_gradient(weights, other)[1])
        loss, gradient = loss_and_gradient(weights, batch(text, step))
        rec.record(gradient, loss=loss)
        for (name, w), (_, g) in zip(named_leaves(weights), named_leaves(gradient), strict=True):
            new, slots[name] = RULE(w, slots[name], g, LEARNING_RATE)
            w[...] = new
    return rec


def ordered(seed: int) -> Lines:
    """The lines to learn from, whole batches of them, in the order in which a seed trains on them."""
    train = lines().train
    whole = len(train.topics) // BATCH * BATCH
    order = np.arange(whole)
    return chosen(
        train, order if seed == 0 else np.random.default_rng([seed, 7]).permutation(whole)
    )


def batch(some: Lines, step: int) -> Lines:
    """The lines of one step; after the last whole batch the first one comes again."""
    first = step % (len(some.topics) // BATCH) * BATCH
    last = first + BATCH
    starts = some.starts[first : last + 1]
    return Lines(some.words[starts[0] : starts[-1]], starts - starts[0], some.topics[first:last])


def _file(name: str = "reader_run") -> Any:
    return files("gradlab.models.recordings") / f"{name}.npz"


@cache
def shipped() -> Recorder:
    """The recording that comes with the package, of seed 0.

    >>> shipped().seen, shipped().stride
    (512, 1)
    """
    return Recorder.load(str(_file()))


@cache
def agreements() -> tuple[Agreement, ...]:
    """How much gradients agree in five runs, of seeds 0 to 4; `shipped` is the first of them.

    >>> len(agreements()), agreements()[0].in_words(2) == shipped().agreement().in_words(2)
    (5, True)
    """
    with np.load(str(_file("reader_run-probes"))) as stored:
        step, products = stored["step"], stored["products"].astype(np.float64)
    # No step of these runs was skipped, so a step is an update.
    others = [estimate(of_seed, step, step, 0, STEPS) for of_seed in products]
    return (shipped().agreement(), *others)


def main() -> None:
    """Write the recordings that ship with the package."""
    rec = record()
    rec.save(str(_file()))
    print(f"{_file()}: {rec}")
    others = [record(seed=seed).probe_products() for seed in OTHER_SEEDS]
    step = others[0][0]
    products = np.array([of_run for _, of_run in others], np.float32)
    np.savez_compressed(str(_file("reader_run-probes")), step=step, products=products)


if __name__ == "__main__":
    main()
