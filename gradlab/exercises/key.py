"""The teacher's key of every exercise and prediction, and cells with the answers filled in.

The code that solves an exercise is text, as it would stand in the notebook's cell, where NumPy is `np`. The letters of
choices are not here: a choice knows its own.
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

import numpy as np

from .catalog import EXERCISES, PREDICTIONS
from .questions import Choice

CODE = {
    "start.descent": """
def step(weights, grads, lr):
    return [w if g is None else w - lr * g for w, g in zip(weights, grads)]
""",
    "start.norm": """
def norm(grads):
    return np.sqrt(sum((g * g).sum() for g in grads))
""",
    "three_steps.process": """
def process(grads_and_vars):
    norm = np.sqrt(sum((g * g).sum() for g, v in grads_and_vars if g is not None))
    return [(g if g is None else g / max(norm, 1.0), v) for g, v in grads_and_vars]
""",
    "three_steps.minimize": """
def my_minimize(opt, loss, var_list, global_step):
    grads_and_vars = opt.compute_gradients(loss, var_list=var_list)
    return opt.apply_gradients(grads_and_vars, global_step=global_step)
""",
    "three_steps.race": """
order = ["gradient b", "update b", "gradient a", "update a"]
""",
    "clipping.by_norm": """
def my_clip_by_norm(t, limit):
    norm = np.sqrt((t * t).sum())
    return t * limit / max(norm, limit)
""",
    "clipping.by_global_norm": """
def my_clip_by_global_norm(tensors, limit):
    norm = np.sqrt(sum((t * t).sum() for t in tensors))
    return [t * limit / max(norm, limit) for t in tensors]
""",
    "clipping.keep_95": """
my_limit = 1.25
""",
    "adagrad.step": """
def adagrad_step(w, accumulator, g, lr):
    accumulator = accumulator + g * g
    return [w - lr * g / np.sqrt(accumulator), accumulator]
""",
    "adagrad.sparse": """
def sparse_step(w, accumulator, indices, values, lr):
    for row in np.unique(indices):
        g = values[indices == row].sum()
        accumulator[row] += g * g
        w[row] -= lr * g / np.sqrt(accumulator[row])
    return [w, accumulator]
""",
    "staleness.accept": """
def accept(global_step, local_steps, limit):
    return global_step - local_steps <= limit
""",
    "staleness.compensate": """
def compensate(g, w_now, w_read, strength):
    return g + strength * g * g * (w_now - w_read)
""",
    "accumulators.mean": """
def mean(grads, local_steps, step):
    accepted = [g for g, local_step in zip(grads, local_steps) if local_step >= step]
    return sum(accepted) / len(accepted)
""",
    "accumulators.row_mean": """
def row_mean(indices, values, rows):
    total, count = np.zeros(rows), np.zeros(rows)
    for i, v in zip(indices, values):
        total[i] += v
        count[i] += 1
    return total / np.maximum(count, 1)
""",
    "tpu_embeddings.pooled": """
def pooled(table, samples, ids, count):
    total = np.zeros((count, table.shape[1]))
    np.add.at(total, samples, table[ids])
    lookups = np.bincount(samples, minlength=count)
    return total / np.maximum(lookups, 1)[:, None]
""",
    "tpu_embeddings.row_gradient": """
def row_gradient(samples, ids, gradients, rows):
    found = np.zeros(rows)
    lookups = np.bincount(samples)
    np.add.at(found, ids, gradients[samples] / lookups[samples])
    return found
""",
    "tpu_embeddings.rate": """
def rate(lr, beta1, beta2, step):
    return lr * np.sqrt(1 - beta2**step) / (1 - beta1**step)
""",
    "your_run.fired": """
def share_fired(norms, limit):
    return np.mean(~(norms <= limit))
""",
    "your_run.suggest": """
def suggest(norms, percentile):
    return np.percentile(norms[np.isfinite(norms) & (norms > 0)], percentile)
""",
}

DISCUSS = {
    "start.reader": "Which words tell a topic after one step, and which only after 256? Why do rare words come late?",
    "three_steps.coast": "What would the curve be with None in place of zero, and with momentum 0.99?",
    "clipping.share": "Where would you put the limit on this curve, and what would you lose on either side?",
    "clipping.turn": "What does a turned step do to a loss whose valley is narrow? Which clip never turns one?",
    "clipping.spikes": "Would you have seen these steps in a curve of the loss that is averaged over ten of them?",
    "adagrad.rate": "The steps add up without a bound. Why does that matter, and when is it still too slow?",
    "adagrad.rare": "Which of the two weights has moved further in total, and is that what you want of a rare word?",
    "staleness.accepted": "What does one more update of patience buy at 2, at 7 and at 12?",
    "staleness.straggler": "What if this worker alone holds the data of one group of users? What could one do for it?",
    "accumulators.collect": "What do two backup workers cost, and what do they save? What becomes of their gradients?",
    "tpu_embeddings.distinct": "How much memory traffic does this save, and what does a larger batch change?",
    "your_run.share": "How would you notice that a limit chosen early is wrong by now? When would you record again?",
}


class Key(NamedTuple):
    """A teacher's view of one exercise or prediction.

    Attributes:
        name: "clipping.below". question: in one sentence. answer: a letter, code, or the result of a prediction.
        why: what is said of a right answer. recognized: what is said of wrong ones; empty for a prediction.
        discuss: what to talk about afterwards; empty for an exercise.
    """

    name: str
    question: str
    answer: str
    why: str
    recognized: tuple[str, ...] = ()
    discuss: str = ""


def key(name: str) -> Key:
    """The key of an exercise or a prediction.

    Raises: ValueError: no exercise and no prediction of that name.

    >>> key("clipping.direction").answer
    'b'
    """
    if name in PREDICTIONS:
        return _of_prediction(name)
    if name not in EXERCISES:
        raise ValueError(f"unknown exercise {name!r}; choose one of: {', '.join([*EXERCISES, *PREDICTIONS])}")
    exercise = EXERCISES[name]
    said = tuple(f"({wrong}) {hint}" if isinstance(exercise, Choice) else hint for wrong, hint in exercise.mistakes)
    answer = exercise.letter if isinstance(exercise, Choice) else CODE[name].strip()
    return Key(name, exercise.question, answer, exercise(value(name)).text, said)


def _of_prediction(name: str) -> Key:
    one = PREDICTIONS[name]()
    result, said = one.solved()
    return Key(name, one.question, ", ".join(result), said, discuss=DISCUSS[name])


def value(name: str) -> Any:
    """The answer itself: a letter, or what the key's code makes when it is executed."""
    exercise = EXERCISES[name]
    if isinstance(exercise, Choice):
        return exercise.letter
    made: dict[str, Any] = {}
    exec(CODE[name], space := {"np": np}, made)
    space.update(made)
    return made.popitem()[1]


def filled(source: str) -> str:
    """A cell in which every answer that is checked, or chosen, is the key's; any other cell as it is.

    >>> print(filled('gl.exercises.choose("clipping.direction")'))
    gl.exercises.check("clipping.direction", "b")
    """
    lines = source.splitlines()
    for name, variable in reversed(checked(source)):
        start, end = definition(source, variable)
        lines[start:end] = CODE[name].strip().splitlines()
    text = "\n".join(lines)
    for name in chosen(text):
        text = text.replace(f'choose("{name}")', f'check("{name}", "{value(name)}")')
    return text


def chosen(source: str) -> list[str]:
    """The multiple-choice exercises that a cell asks."""
    return re.findall(r'exercises\.choose\("([\w.]+)"\)', source)


def checked(source: str) -> list[tuple[str, str]]:
    """The exercises that a cell checks, each with the name of the variable or function that it hands over."""
    if "exercises.check(" not in source:
        return []
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and len(node.args) == 2]
    return [
        (str(call.args[0].value), call.args[1].id)
        for call in calls
        if ast.unparse(call.func).endswith("exercises.check")
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[1], ast.Name)
    ]


def definition(source: str, variable: str) -> tuple[int, int]:
    """The lines at which a cell defines a name, the last one not among them."""
    for node in ast.parse(source).body:
        names = [node.name] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if variable in names:
            return node.lineno - 1, node.end_lineno or node.lineno
    raise ValueError(f"the cell checks {variable} and does not define it")
