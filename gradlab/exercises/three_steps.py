"""Questions of the three-steps notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._variables.gate import product_race
from .._variables.variable import Variable, variable_collection
from ..train import GATE_NONE, GradientDescentOptimizer
from ._feedback import Feedback
from .choice import Choice, Judged
from .coded import no_function, quiet
from .pictures import of_numbers

none = Choice(
    "What does apply_gradients do with the pair (None, variable)?",
    a=(False, "It does if every gradient is None, for then there is nothing to do. Here one of three is."),
    b=(True, "It skips the pair and says nothing: the variable and its slots stay as they are."),
    c=(False, "The weights would be the same, but zero is a gradient. What would momentum do with it?"),
)

zero = Choice(
    "Where does a variable go whose gradient is zero, under momentum?",
    a=(False, "Under plain gradient descent. Momentum keeps a sum of earlier gradients. Is that zero?"),
    b=(True, "The slot is 0.9 times what it was, and the variable moves by it. None would have stopped it."),
    c=(False, "Nothing pulls it back: the gradient is zero. What is still in the slot?"),
)

shared = Choice(
    "What does compute_gradients give for a variable that the loss reads in two places?",
    a=(False, "One pair for each variable, however often it is read. So what happens to the two parts?"),
    b=(False, "Then the other place would never learn. By the chain rule the two parts are ..."),
    c=(True, "The parts are summed. aggregation_method chooses how; the values are the same."),
)

sessions = Choice(
    "In how many of 60 sessions of TensorFlow does GATE_NONE make `a` wrong?",
    a=(False, "An answer on Stack Overflow says so: too simple a graph to race. Somebody ran it since."),
    b=(False, "A race need not be a lottery: with one thread and with many, the scheduler has its habits."),
    c=(True, "With resource variables b is updated first, every time. With the old ones it was never."),
)


# Write minimize


class _Undressed(GradientDescentOptimizer):
    """An optimizer whose minimize is still to be written."""

    def minimize(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("minimize is what you are writing: call the two steps it is made of")


_MOVED = ("v[0]", "v[1]", "w[0]", "w[1]", "other[0]", "other[1]", "global_step")


def _minimized(answer: Any) -> Feedback:
    if said := no_function(answer):
        return Feedback(False, said)
    with variable_collection(), quiet():
        v, w, other = (Variable([4.0, -8.0], name=name) for name in ("v", "w", "other"))
        steps = Variable(np.int64(0), trainable=False, name="global_step")
        try:
            answer(_Undressed(0.25), lambda: (v * v).sum() + (w * w).sum() + (other * other).sum(), [v, w], steps)
        except Exception as error:
            return Feedback(False, f"It raises {type(error).__name__}: {error}")
    return _moved(v.numpy().tolist(), w.numpy().tolist(), other.numpy().tolist(), int(steps.numpy()))


def _moved(v: list[float], w: list[float], other: list[float], steps: int) -> Feedback:
    """Feedback on where a step of rate 0.25 on the squares took variables that began at (4, -8)."""
    start, right = [4.0, -8.0], [2.0, -4.0]
    hint = ""
    if v == w == start:
        hint = "No variable has moved. compute_gradients changes nothing; which step does?"
    elif other != start:
        hint = "A variable that is not in var_list has moved. Who needs to know var_list?"
    elif start in (v, w):
        hint = "Only one of the two variables of var_list has moved."
    elif (v, w) != (right, right):
        hint = f"v went from {start} to {v}; one step of rate 0.25 ends at {right}. How many were there?"
    elif steps != 1:
        hint = f"global_step is {steps} after one step. Who adds to it, if it is handed on?"
    if hint:
        return Feedback(False, hint, of_numbers(_MOVED, [*right, *right, *start, 1], [*v, *w, *other, steps]))
    return Feedback(True, "That is all that minimize is. Now there is a place between the two.")


def _only(choose: Callable[[Any], Any], times: int = 1, steps: Callable[[Any], Any] = lambda steps: steps) -> Any:
    """A minimize that takes some of the variables, so many times, and counts the steps or does not."""

    def minimize(opt: Any, loss: Any, var_list: Any, global_step: Any) -> None:
        for _ in range(times):
            opt.apply_gradients(opt.compute_gradients(loss, var_list=choose(var_list)), steps(global_step))

    return minimize


minimize = Judged(
    "Write minimize(opt, loss, var_list, global_step) from the two steps it is made of.",
    judge=_minimized,
    mistakes=(
        (lambda opt, loss, var_list, global_step: opt.compute_gradients(loss), "No variable has moved"),
        (lambda opt, loss, var_list, global_step: opt.minimize(loss), "minimize is what you are writing"),
        (_only(lambda var_list: None), "not in var_list has moved"),
        (_only(lambda var_list: var_list[:1]), "Only one of the two"),
        (_only(lambda var_list: var_list, times=2), "How many were there?"),
        (_only(lambda var_list: var_list, steps=lambda steps: None), "Who adds to it"),
    ),
)


# Write an order that races


def _raced(answer: Any) -> Feedback:
    run = product_race(GATE_NONE)
    listed = answer if isinstance(answer, list | tuple) else []
    if sorted(map(str, listed)) != sorted(run.tasks):
        return Feedback(False, f"Write a list of all four tasks, each once: {', '.join(map(repr, run.tasks))}.")
    for task in listed:
        if task not in run.ready:
            own = task.replace("update", "gradient")
            return Feedback(False, f"{task!r} cannot run before {own!r}: even GATE_NONE lets an update wait for that.")
        run.run(task)
    if not run.raced:
        return Feedback(False, "Both gradients come first and read the old values. Which update could overtake one?")
    (wrong,) = run.raced
    said = f"{wrong} is wrong, for its gradient read an updated value."
    return Feedback(True, f"{said} GATE_OP would have held {listed[1]!r} back.")


race = Judged(
    "Write the four tasks of a step on sum(a @ b) in an order that GATE_NONE allows and that goes wrong.",
    judge=_raced,
    mistakes=(
        (["gradient a", "update a"], "a list of all four tasks"),
        (["update a", "gradient a", "gradient b", "update b"], "even GATE_NONE lets an update wait"),
        (["gradient a", "gradient b", "update a", "update b"], "Both gradients come first"),
    ),
)
