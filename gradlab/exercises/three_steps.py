"""Questions and predictions of the three-steps notebook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._base.numbers import counted
from ..clip import clip_by_global_norm, clip_by_norm
from ..train import GATE_NONE, MomentumOptimizer
from ..train.gate import product_race
from ..train.variable import Variable, variable_collection
from . import scene
from .clipping import by_global_norm
from .pictures import Difference, of_numbers, of_words
from .prediction import Prediction
from .prediction_picture import Quantity
from .questions import (
    FAILURES,
    Choice,
    Coded,
    Feedback,
    Judged,
    error_in_words,
    no_function,
    norm_of,
    quiet,
)
from .random_cases import random_arrays, random_quarters

none = Choice(
    "What does apply_gradients do with the pair (None, variable)?",
    a=(False, "It raises an error only if every gradient is None. Here one of three is."),
    b=(True, "It skips the pair without a warning: the variable and its slots stay as they are."),
    c=(
        False,
        "The weights would be the same, but zero is a gradient. What would momentum do with it?",
    ),
)

zero = Choice(
    "Where does a variable go whose gradient is zero, under momentum?",
    a=(
        False,
        "Under plain gradient descent. Momentum keeps a sum of earlier gradients. Is that zero?",
    ),
    b=(
        True,
        "The slot is 0.9 times what it was, and the variable moves by it. A gradient of None "
        "would have left the variable in place.",
    ),
    c=(False, "Nothing pulls it back: the gradient is zero. What is still in the slot?"),
)

shared = Choice(
    "What does compute_gradients give for a variable that the loss reads in two places?",
    a=(
        False,
        "One pair for each variable, however often it is read. So what happens to the two parts?",
    ),
    b=(False, "Then the other place would never learn. By the chain rule the two parts are ..."),
    c=(True, "The parts are summed. aggregation_method chooses how; the values are the same."),
)

sessions = Choice(
    "In how many of 60 sessions of TensorFlow, on an idle machine, does GATE_NONE make `a` wrong?",
    a=(
        False,
        (
            "An answer on Stack Overflow says that this graph is too simple to race. Running it "
            "shows otherwise."
        ),
    ),
    b=(
        False,
        (
            "A race isn't always a coin toss: on an idle machine, one thread or four pick the "
            "same order every time."
        ),
    ),
    c=(
        True,
        (
            "On an idle machine b is always updated first, on a busy one not: a "
            "test may pass and a run fail."
        ),
    ),
)


# Write minimize


_MOVED = ("v[0]", "v[1]", "w[0]", "w[1]", "other[0]", "other[1]", "global_step")


def _minimized(answer: Any, rate: float = 0.25, start: Sequence[float] = (4.0, -8.0)) -> Feedback:
    if said := no_function(answer):
        return Feedback(False, said)
    play = getattr(answer, "play", None)  # a function that runs in another process is played there
    try:
        with quiet():
            ends = play(scene, rate, list(start)) if play else scene.play(answer, rate, list(start))
    except FAILURES as error:
        return Feedback(False, f"It {error_in_words(error)}")
    v, w, other, steps = ends
    return _moved(v, w, other, steps, rate, list(start))


def _moved(
    v: list[float], w: list[float], other: list[float], steps: int, rate: float, start: list[float]
) -> Feedback:
    """Feedback on where a step on the squares took the variables."""
    right = [x - rate * 2 * x for x in start]
    hint = ""
    if v == w == start:
        hint = "No variable has moved. compute_gradients changes nothing; which step does?"
    elif other != start:
        hint = "A variable that is not in var_list has moved. Who needs to know var_list?"
    elif start in (v, w):
        hint = "Only one of the two variables of var_list has moved."
    elif (v, w) != (right, right):
        hint = (
            f"v went from {start} to {v}; one step of rate {rate} ends at "
            f"{right}. How many were there?"
        )
    elif steps != 1:
        hint = f"global_step is {steps} after one step. Who adds to it, if it is handed on?"
    if hint:
        return Feedback(
            False, hint, of_numbers(_MOVED, [*right, *right, *start, 1], [*v, *w, *other, steps])
        )
    return Feedback(True, "That is all that minimize is. Now there is a place between the two.")


def _only(
    choose: Callable[[Any], Any], times: int = 1, steps: Callable[[Any], Any] = lambda steps: steps
) -> Any:
    """A minimize that takes some of the variables, so many times, and counts the steps or does not."""

    def minimize(opt: Any, loss: Any, var_list: Any, global_step: Any) -> None:
        for _ in range(times):
            opt.apply_gradients(
                opt.compute_gradients(loss, var_list=choose(var_list)), steps(global_step)
            )

    return minimize


def _draw_minimize(rng: np.random.Generator) -> dict[str, Any]:
    return {"rate": 0.125, "start": (random_quarters(rng, 2) + 1 / 8).tolist()}


minimize = Judged(
    "Write minimize(opt, loss, var_list, global_step) from the two steps it is made of.",
    judge=_minimized,
    mistakes=(
        (
            lambda opt, loss, var_list, global_step: opt.compute_gradients(loss),
            "No variable has moved",
        ),
        (
            lambda opt, loss, var_list, global_step: opt.minimize(loss),
            "minimize is what you are writing",
        ),
        (
            lambda opt, loss, var_list, global_step: opt.compute_gradients(loss(), var_list),
            "loss must be a function",
        ),
        (_only(lambda var_list: None), "not in var_list has moved"),
        (_only(lambda var_list: var_list[:1]), "Only one of the two"),
        (_only(lambda var_list: var_list, times=2), "How many were there?"),
        (_only(lambda var_list: var_list, steps=lambda steps: None), "Who adds to it"),
    ),
    starter="""
def my_minimize(opt, loss, var_list, global_step):
    pass
""",
    solution="""
def my_minimize(opt, loss, var_list, global_step):
    grads_and_vars = opt.compute_gradients(loss, var_list=var_list)
    return opt.apply_gradients(grads_and_vars, global_step=global_step)
""",
    draw=_draw_minimize,
)


# Write an order that races


def _raced(answer: Any) -> Feedback:
    run = product_race(GATE_NONE)
    if said := _no_order(answer, run.tasks):
        return Feedback(False, said)
    listed = list(answer)
    for task in listed:
        if task not in run.ready:
            own = task.replace("update", "gradient")
            return Feedback(
                False,
                f"{task!r} cannot run before {own!r}: even GATE_NONE lets an update wait for that.",
            )
        run.run(task)
    if not run.raced:
        return Feedback(
            False,
            "Both gradients come first and read the old values. Which update could overtake one?",
        )
    (wrong,) = run.raced
    said = f"{wrong} is wrong, for its gradient read an updated value."
    return Feedback(True, f"{said} GATE_OP would have held {listed[1]!r} back.")


def _no_order(answer: Any, tasks: Sequence[str]) -> str:
    """Return what is wrong with an answer that doesn't hold every task once."""
    listed = answer if isinstance(answer, list | tuple) else []
    if unknown := [task for task in listed if task not in tasks]:
        return f"{unknown[0]!r} isn't one of the tasks; they are {', '.join(map(repr, tasks))}."
    if twice := [task for task in tasks if listed.count(task) > 1]:
        return (
            f"A step runs every task once, and {twice[0]!r} is there "
            f"{listed.count(twice[0])} times."
        )
    if len(listed) < len(tasks):
        return f"Write a list of all four tasks, each once: {', '.join(map(repr, tasks))}."
    return ""


race = Judged(
    "Write the four tasks of a step on sum(a @ b) in an order that "
    "GATE_NONE allows and that goes wrong.",
    judge=_raced,
    mistakes=(
        (["gradient a", "update a"], "a list of all four tasks"),
        (["gradient a", "update a", "gradient b", "apply b"], "'apply b' isn't one of the tasks"),
        (["gradient a", "gradient a", "update a", "update b"], "A step runs every task once"),
        (
            ["update a", "gradient a", "gradient b", "update b"],
            "even GATE_NONE lets an update wait",
        ),
        (["gradient a", "gradient b", "update a", "update b"], "Both gradients come first"),
    ),
    starter="""
order = None
""",
    solution="""
order = ["gradient b", "update b", "gradient a", "update a"]
""",
)


_GRADIENTS: tuple[list[Any], ...] = (
    [[3.0, 4.0], None, [[12.0]]],
    [[0.3, 0.4], None, [[0.2]]],
    [None, [6.0], [-8.0]],
)


def _clip_of(gradients: Sequence[list[Any]]) -> Coded:
    """Return what is left to check once the pairs are in order: the clip of the gradients that are
    there.
    """
    there = ([np.array(row, np.float32) for row in rows if row is not None] for rows in gradients)
    done = "Steps with gradients above and below the limit, None among them, come out right."
    return replace(
        by_global_norm, cases=[{"tensors": tensors, "limit": 1.0} for tensors in there], done=done
    )


def _processed(answer: Any, gradients: Sequence[list[Any]] = _GRADIENTS) -> Feedback:
    if said := no_function(answer):
        return Feedback(False, said)
    for rows in gradients:
        pairs = _pairs([None if row is None else np.array(row, np.float32) for row in rows])
        try:
            with quiet():
                given = answer(list(pairs))
                given = list(given) if hasattr(given, "__next__") else given
        except FAILURES as error:
            return Feedback(
                False, f"With the gradients {rows} it {error_in_words(error)}{_on_none(rows)}"
            )
        if said := _no_pairs(given):
            return Feedback(False, f"With the gradients {rows}: {said}")
        if said := _misplaced(given, pairs):
            return Feedback(False, f"With the gradients {rows}: {said}", _beside(given, pairs))
    clip = _clip_of(gradients)
    return clip(
        lambda tensors, limit: [g for g, _ in answer(_pairs([None, *tensors])) if g is not None]
    )


def _pairs(grads: Sequence[np.ndarray | None]) -> list[tuple[Any, Variable]]:
    with variable_collection():  # so that nobody finds these variables among their own
        shapes = [(1,) if g is None else g.shape for g in grads]
        made = [
            Variable(np.ones(shape, np.float32), name=name)
            for name, shape in zip("uvw", shapes, strict=True)
        ]
    return list(zip(grads, made, strict=True))


def _beside(given: Sequence[Any], pairs: Sequence[Any]) -> Difference:
    """The content of each pair, wanted and given."""
    wanted, got = (
        [f"({'None' if g is None else _shape(g)}, {v.name.removesuffix(':0')})" for g, v in rows]
        for rows in (pairs, given)
    )
    return of_words([f"pair {k}" for k in range(max(len(wanted), len(got)))], wanted, got)


def _shape(g: Any) -> str:
    return counted(np.size(g), "number")


def _on_none(rows: Sequence[Any]) -> str:
    return (
        ". Is it the None? A variable that the loss does not read has no gradient."
        if None in rows
        else ""
    )


def _no_pairs(given: Any) -> str:
    """Return what is wrong with an answer that isn't a list of pairs."""
    if given is None:
        return "it returns None; did you forget `return`?"
    if (
        isinstance(given, tuple)
        and len(given) == 2
        and isinstance(given[0], list)
        and np.ndim(given[1]) == 0
    ):
        return (
            "that is what clip_by_global_norm gives: the tensors and the norm. Join the tensors "
            "to their variables."
        )
    if not isinstance(given, list | tuple) or not all(
        isinstance(p, list | tuple) and len(p) == 2 for p in given
    ):
        return (
            "apply_gradients wants what compute_gradients gives: a list "
            "of pairs (gradient, variable)."
        )
    if given and all(isinstance(first, Variable) for first, _ in given):
        return "the gradient comes first in a pair, then the variable."
    return (
        ""
        if all(isinstance(v, Variable) for _, v in given)
        else "the second of each pair must be the variable."
    )


def _misplaced(given: Sequence[Any], pairs: Sequence[Any]) -> str:
    """Return what is wrong with pairs that are lost, moved, or filled."""
    before, after = ([id(v) for _, v in rows] for rows in (pairs, given))
    lost = [(g, v) for g, v in pairs if id(v) not in after]
    if lost and all(g is None for g, _ in lost):
        return (
            "the pair without a gradient is gone. "
            "Code that counts on the order of the pairs finds a different variable there."
        )
    if sorted(before) != sorted(after):
        return f"{len(pairs)} pairs go in and {len(given)} come out: one for each variable, please."
    if before != after:
        return (
            "the pairs come back in another order; a list of names or of norms beside them no "
            "longer fits."
        )
    for (g, v), (new, _) in zip(pairs, given, strict=True):
        if g is None:
            if new is None:
                continue
            return (
                f"{v.name} had no gradient and has {np.asarray(new).tolist()} now. Zero is not "
                "None: momentum goes on."
            )
        if new is None:
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


def _draw_process(rng: np.random.Generator) -> dict[str, Any]:
    rows: list[Any] = [array.tolist() for array in random_arrays(rng)[:2]]
    rows.insert(int(rng.integers(3)), None)
    return {"gradients": [rows]}


process = Judged(
    "Write the middle step: clip by global norm 1, keep None and the order of the pairs.",
    judge=_processed,
    mistakes=(
        (lambda pairs: pairs, "shrink it"),
        (_with(lambda grads: [clip_by_norm(g, 1.0) for g in grads]), "a limit of its own"),
        (
            _with(lambda grads: [np.clip(g, -1.0, 1.0) for g in grads]),
            "clips every entry by itself",
        ),
        (_with(lambda grads: [g / norm_of(grads) for g in grads]), "A limit only ever shortens"),
        (
            _with(lambda grads: [g * (norm_of(grads) <= 1.0) for g in grads]),
            "throws the gradient away",
        ),
        (lambda pairs: [(np.clip(g, -1.0, 1.0), v) for g, v in pairs], "Is it the None?"),
        (
            lambda pairs: [(g, np.clip(v.numpy(), -1.0, 1.0)) for g, v in pairs],
            "must be the variable",
        ),
        (
            lambda pairs: clip_by_global_norm([g for g, _ in pairs], 1.0),
            "Join the tensors to their variables",
        ),
        (lambda pairs: [(v, g) for g, v in pairs], "the gradient comes first in a pair"),
        (
            lambda pairs: [(g, v) for g, v in pairs if g is not None],
            "the pair without a gradient is gone",
        ),
        (
            lambda pairs: [(0 * v.numpy() if g is None else g, v) for g, v in pairs],
            "Zero is not None",
        ),
        (lambda pairs: pairs[::-1], "in another order"),
        (lambda pairs: [(g * 1, v) for g, v in pairs], "Is it the None?"),
    ),
    starter="""
def process(grads_and_vars):
    return grads_and_vars
""",
    solution="""
def process(grads_and_vars):
    norm = np.sqrt(sum((g * g).sum() for g, v in grads_and_vars if g is not None))
    return [(g if g is None else g / max(norm, 1.0), v) for g, v in grads_and_vars]
""",
    draw=_draw_process,
)


_STEPS = 30


class Coast(Prediction):
    """Prediction: the distance that momentum carries a variable whose gradient is zero after the first step."""

    name, label = "three_steps.coast", "Predict where momentum goes"
    question = (
        "Momentum 0.9; the gradient is 1 in step 1, then 0. How far has the "
        "variable moved by each step?"
    )
    discuss = "What would the curve be with None in place of zero, and with momentum 0.99?"
    x = Quantity("step", "", 1.0, _STEPS)
    y, step = Quantity("distance", "first steps", 0.0, 15.0), 0.1
    at = (1, 5, 10, 15, 20, 25, 30)

    def truth(self, x: np.ndarray) -> np.ndarray:
        with variable_collection():
            v, opt, moved = Variable([0.0], name="v"), MomentumOptimizer(1.0, 0.9), []
            for step in range(_STEPS):
                opt.apply_gradients([([0.0 if step else 1.0], v)])
                moved.append(-float(v.numpy()[0]))
        return np.asarray(np.interp(x, np.arange(1, _STEPS + 1), moved))

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if np.ptp(guess) < 1:
            return (
                "Zero is a gradient, and not None: the slot shrinks to 0.9 of itself and moves "
                "the variable each time."
            )
        if guess[-1] < guess.max() - 1:
            return (
                "Nothing pulls it back: a gradient of zero asks for nothing, "
                "and the slot keeps its sign."
            )
        if guess[-1] > 12:
            return (
                "It comes to rest: every step is 0.9 of the one before, "
                "and 1 + 0.9 + 0.81 + ... is 10."
            )
        return (
            "In the end it goes ten times as far as its first step, 1 / (1 - 0.9). With None it "
            "would stay at 1."
        )
