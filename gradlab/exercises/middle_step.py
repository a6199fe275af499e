"""The middle step of the three: what becomes of the gradients before they are applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._variables.variable import Variable, variable_collection
from ..clip import clip_by_global_norm, clip_by_norm
from ._feedback import Feedback
from .choice import Judged
from .clipping import by_global_norm
from .coded import no_function, norm_of, quiet
from .pictures import Difference, of_words

_GRADIENTS: tuple[list[Any], ...] = ([[3.0, 4.0], None, [[12.0]]], [[0.3, 0.4], None, [[0.2]]], [None, [6.0], [-8.0]])
# What is left to check once the pairs are in order: the clip of the gradients that are there.
_clipped = replace(
    by_global_norm,
    cases=[
        {"tensors": [np.array(row, np.float32) for row in rows if row is not None], "limit": 1.0} for rows in _GRADIENTS
    ],
    done="Three steps with gradients above and below the limit, None among them, come out right.",
)


def _processed(answer: Any) -> Feedback:
    if said := no_function(answer):
        return Feedback(False, said)
    for rows in _GRADIENTS:
        pairs = _pairs([None if row is None else np.array(row, np.float32) for row in rows])
        try:
            with quiet():
                given = answer(list(pairs))
                given = list(given) if hasattr(given, "__next__") else given
        except Exception as error:
            return Feedback(
                False, f"With the gradients {rows} it raises {type(error).__name__}: {error}{_on_none(rows)}"
            )
        if said := _no_pairs(given):
            return Feedback(False, f"With the gradients {rows}: {said}")
        if said := _misplaced(given, pairs):
            return Feedback(False, f"With the gradients {rows}: {said}", _beside(given, pairs))
    return _clipped(lambda tensors, limit: [g for g, _ in answer(_pairs([None, *tensors])) if g is not None])


def _pairs(grads: Sequence[np.ndarray | None]) -> list[tuple[Any, Variable]]:
    with variable_collection():  # so that nobody finds these variables among their own
        shapes = [(1,) if g is None else g.shape for g in grads]
        made = [Variable(np.ones(shape, np.float32), name=name) for name, shape in zip("uvw", shapes, strict=True)]
    return list(zip(grads, made, strict=True))


def _beside(given: Sequence[Any], pairs: Sequence[Any]) -> Difference:
    """What each pair holds, wanted and given."""
    wanted, got = (
        [f"({'None' if g is None else _shape(g)}, {v.name.removesuffix(':0')})" for g, v in rows]
        for rows in (pairs, given)
    )
    return of_words([f"pair {k}" for k in range(max(len(wanted), len(got)))], wanted, got)


def _shape(g: Any) -> str:
    return f"{np.size(g)} number{'s' * (np.size(g) != 1)}"


def _on_none(rows: Sequence[Any]) -> str:
    return ". Is it the None? A variable that the loss does not read has no gradient." if None in rows else ""


def _no_pairs(given: Any) -> str:
    """What is wrong with an answer that is no list of pairs."""
    if given is None:
        return "it gives None; is there a return?"
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], list) and np.ndim(given[1]) == 0:
        return "that is what clip_by_global_norm gives: the tensors and the norm. Join the tensors to their variables."
    if not isinstance(given, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in given):
        return "apply_gradients wants what compute_gradients gives: a list of pairs (gradient, variable)."
    if given and all(isinstance(first, Variable) for first, _ in given):
        return "the gradient comes first in a pair, then the variable."
    return "" if all(isinstance(v, Variable) for _, v in given) else "the second of each pair must be the variable."


def _misplaced(given: Sequence[Any], pairs: Sequence[Any]) -> str:
    """What is wrong with pairs that are lost, moved or filled."""
    before, after = ([id(v) for _, v in rows] for rows in (pairs, given))
    lost = [(g, v) for g, v in pairs if id(v) not in after]
    if lost and all(g is None for g, _ in lost):
        return "the pair without a gradient is gone. Who counts on the order of the pairs finds another variable there."
    if sorted(before) != sorted(after):
        return f"{len(pairs)} pairs go in and {len(given)} come out: one for each variable, please."
    if before != after:
        return "the pairs come back in another order; a list of names or of norms beside them no longer fits."
    for (g, v), (new, _) in zip(pairs, given, strict=True):
        if g is None and new is not None:
            return (
                f"{v.name} had no gradient and has {np.asarray(new).tolist()} now. Zero is not None: momentum goes on."
            )
        if new is None and g is not None:
            return f"{v.name} had a gradient and has none now."
        if np.shape(new) != np.shape(g):
            return f"the gradient of {v.name} has shape {np.shape(new)} now, not {np.shape(g)}."
    return ""


def _with(clip: Callable[[list[Any]], Sequence[Any]]) -> Callable[[Any], Any]:
    """A middle step that clips the gradients that are there, and leaves None where it is."""

    def process(pairs: Any) -> list[Any]:
        clipped = iter(clip([g for g, _ in pairs if g is not None]))
        return [(None if g is None else next(clipped), v) for g, v in pairs]

    return process


process = Judged(
    "Write the middle step: clip by global norm 1, keep None and the order of the pairs.",
    judge=_processed,
    mistakes=(
        (lambda pairs: pairs, "shrink it"),
        (_with(lambda grads: [clip_by_norm(g, 1.0) for g in grads]), "a limit of its own"),
        (_with(lambda grads: [g / norm_of(grads) for g in grads]), "A limit only ever shortens"),
        (lambda pairs: clip_by_global_norm([g for g, _ in pairs], 1.0), "Join the tensors to their variables"),
        (lambda pairs: [(v, g) for g, v in pairs], "the gradient comes first in a pair"),
        (lambda pairs: [(g, v) for g, v in pairs if g is not None], "the pair without a gradient is gone"),
        (lambda pairs: [(0 * v.numpy() if g is None else g, v) for g, v in pairs], "Zero is not None"),
        (lambda pairs: pairs[::-1], "in another order"),
        (lambda pairs: [(g * 1, v) for g, v in pairs], "Is it the None?"),
    ),
)
