"""Questions and predictions of the notebook on stale gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..train.staleness import compensate as compensate_delay
from ..train.staleness import damping, is_accepted
from ..workers import Bowl, Experiment, Speeds
from ..workers.simulated import decide
from .pictures import arrows, cells
from .prediction import Prediction
from .prediction_picture import Quantity
from .questions import Choice, Coded
from .random_cases import as_float32, random_quarters

third = Choice(
    "Three workers read at step 0; the limit is 0. What staleness does the third one show?",
    a=(False, "It was 0 when it read. Meanwhile the first worker's gradient has been applied."),
    b=(
        True,
        "The first update brings the step to 1. The second gradient is dropped, and a drop "
        "changes nothing, not even the step: the third is as stale as the second.",
    ),
    c=(False, "It would be if both gradients before it had been applied. Was the second one?"),
)

both_pass = Choice(
    "Check and update apart, limit 0, two workers that read at step 0: "
    "how many gradients are applied?",
    a=(
        False,
        (
            "That is so if the check and the update are one piece. Here "
            "another worker can act in between."
        ),
    ),
    b=(
        True,
        "If both check before either updates, both pass; if one is done before the other checks, "
        "one is dropped. No worker made a mistake, and still two runs differ.",
    ),
    c=(False, "That is so if both check at once. What if the first has finished long before?"),
)

noted_late = Choice(
    "The step is noted after the forward pass. What may the recorded "
    "staleness be, beside the true one?",
    a=(
        True,
        "The weights are read, then an update is made, then the step is noted: the weights are "
        "one update older than the note says. The check trusts the note.",
    ),
    b=(
        False,
        "For that the step would have to be noted first, and the weights read after an update.",
    ),
    c=(False, "Only if there is no update between the read and the note."),
)


def _steps(now: int, noted: list[int], limit: int) -> dict[str, Any]:
    return {"global_step": now, "local_steps": np.array(noted), "limit": limit}


def _draw_accept(rng: np.random.Generator) -> dict[str, Any]:
    now = int(rng.integers(5, 50))
    return {
        "global_step": now,
        "local_steps": now - rng.integers(-3, 9, 8),
        "limit": int(rng.integers(0, 6)),
    }


accept = Coded(
    question="Write which of many gradients are accepted, from the steps at "
    "which they were read and a limit.",
    cases=[_steps(8, [8, 7, 6, 5, 3, 11], 2), _steps(4, [4, 3, 9], 0)],
    right=lambda now, noted, limit: is_accepted(now - noted, limit),
    mistakes=(
        (lambda now, noted, limit: noted == noted, "That accepts everything."),
        (
            lambda now, noted, limit: np.maximum(now - noted, 1) <= limit,
            (
                "That makes every gradient at least one update stale. One of the current step has "
                "staleness 0."
            ),
        ),
        (lambda now, noted, limit: noted != noted, "That accepts nothing."),
        (
            lambda now, noted, limit: noted - now <= limit,
            (
                "The difference is the other way round: staleness is the current step minus the "
                "step of the read."
            ),
        ),
        (
            lambda now, noted, limit: noted == now,
            (
                "That accepts only gradients of the current step. The limit "
                "says how much staler one may be."
            ),
        ),
        (
            lambda now, noted, limit: now - noted < limit,
            (
                "A gradient exactly as stale as the limit is still accepted: with limit 0 those "
                "of staleness 0 are."
            ),
        ),
        (
            lambda now, noted, limit: now - noted > limit,
            "The other way round: that says which ones to drop.",
        ),
        (
            lambda now, noted, limit: abs(now - noted) <= limit,
            "A restored checkpoint can move the step back: a negative staleness is accepted.",
        ),
    ),
    otherwise=lambda got, global_step, local_steps, limit: (
        f"The staleness is {(global_step - local_steps).tolist()}; it must not exceed {limit}."
    ),
    done="It agrees on 9 gradients, two from before the step was moved back among them.",
    show=cells(
        heads=lambda global_step, local_steps, limit: [f"step {s}" for s in local_steps],
        words={0.0: "drop", 1.0: "accept"},
    ),
    starter="""
def accept(global_step, local_steps, limit):
    return local_steps == global_step
""",
    solution="""
def accept(global_step, local_steps, limit):
    return global_step - local_steps <= limit
""",
    draw=_draw_accept,
)


def _case(g: list[float], now: list[float], read: list[float], strength: float) -> dict[str, Any]:
    return {
        "g": np.array(g, np.float32),
        "w_now": np.array(now, np.float32),
        "w_read": np.array(read, np.float32),
        "strength": strength,
    }


def _draw_compensate(rng: np.random.Generator) -> dict[str, Any]:
    g, now, read = as_float32([random_quarters(rng, 3) for _ in range(3)])
    return {"g": g, "w_now": now, "w_read": read, "strength": float(rng.choice([0.25, 0.5, 2.0]))}


compensate = Coded(
    question="Write delay compensation: an estimate of the gradient at the current weights.",
    cases=[
        _case([2.0, -1.0], [1.0, 1.0], [0.5, 2.0], 0.4),
        _case([3.0, 4.0], [1.0, -1.0], [1.0, -1.0], 1.0),
        _case([-2.0, 0.5], [0.0, 3.0], [1.0, 1.0], 0.25),
    ],
    right=compensate_delay,
    mistakes=(
        (lambda g, now, read, strength: g, "That is the stale gradient as it came."),
        (
            lambda g, now, read, strength: g + strength * g * g * (read - now),
            "That corrects in the wrong direction: the weights went from w_read to w_now.",
        ),
        (
            lambda g, now, read, strength: g + strength * np.abs(g) * (now - read),
            (
                "The slope of the gradient is estimated as strength * g * "
                "g, not as its absolute value."
            ),
        ),
        (
            lambda g, now, read, strength: g + strength * g * (g @ (now - read)),
            (
                "That uses all products of two entries. Delay compensation keeps only the "
                "squares, weight by weight."
            ),
        ),
        (
            lambda g, now, read, strength: g + g * g * (now - read),
            "The correction is not multiplied by `strength`.",
        ),
        (
            lambda g, now, read, strength: g + strength * g * (now - read),
            "The slope of the gradient is estimated as strength * g * g. One g is missing.",
        ),
        (
            lambda g, now, read, strength: strength * g * g * (now - read),
            "That is the correction alone. Add it to g.",
        ),
        (
            lambda g, now, read, strength: g + strength * (g @ g) * (now - read),
            "Every weight has a slope of its own: g * g is entry by entry, not a sum.",
        ),
        (
            lambda g, now, read, strength: g * damping(1),
            "That damps. Compensation looks at where the weights went.",
        ),
    ),
    otherwise=lambda got, g, w_now, w_read, strength: (
        f"The weights went by {(w_now - w_read).tolist()}; the slope is estimated as "
        f"{[float(f'{slope:.4g}') for slope in strength * g * g]}."
    ),
    done="It agrees on 3 cases. Where the weights have not moved, the gradient stays as it is.",
    show=arrows,
    starter="""
def compensate(g, w_now, w_read, strength):
    return g
""",
    solution="""
def compensate(g, w_now, w_read, strength):
    return g + strength * g * g * (w_now - w_read)
""",
    draw=_draw_compensate,
)


def _accepted(experiment: Experiment, worker: int | None = None) -> float:
    """The percentage of gradients that are accepted, of all workers or of one."""
    trace = decide(experiment)
    chosen = trace.accepted if worker is None else trace.accepted[trace.rounds["worker"] == worker]
    return 100 * float(chosen.mean())


class Accepted(Prediction):
    """Prediction: the share of eight workers' gradients that each staleness limit accepts."""

    name, label = "staleness.accepted", "Predict the share of accepted gradients"
    question = "Eight workers of like speed. What share of their gradients is accepted?"
    discuss = "What does one more update of patience buy at 2, at 7 and at 12?"
    x = Quantity("staleness limit", "updates", 0.0, 12.0)
    y, step = Quantity("accepted gradients", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)), 1.0
    at = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        one = Experiment(Bowl(), workers=8, gradients=2000, policy="drop")
        limits = np.arange(13)
        return np.asarray(
            np.interp(x, limits, [_accepted(one.with_(staleness=int(s))) for s in limits])
        )

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[0] > 60:
            return (
                "With limit 0 a gradient is lost whenever anybody else was "
                "faster since the read: most are."
            )
        if guess[-1] < 90:
            return (
                "While one worker computes, the seven others hand in about one each; limit 12 "
                "accepts nearly all."
            )
        if guess[3] < 60:
            return (
                "About seven updates come while one worker computes, so a limit near seven keeps "
                "five of six."
            )
        return "Drops make the others less stale, so more get through than one might fear."


class Straggler(Prediction):
    """Prediction: the share accepted of a worker that is four times slower than its seven peers."""

    name, label = "staleness.straggler", "Predict the straggler's share"
    question = "One worker of eight is four times slower; the limit is 8. Its share accepted?"
    discuss = (
        "What if this worker alone holds the data of one group of users? What could one do for it?"
    )
    y, step = (
        Quantity("its gradients that are accepted", "%", 0.0, 100.0, ticks=(0, 25, 50, 75, 100)),
        1.0,
    )

    def truth(self, x: np.ndarray) -> float:
        slow = Speeds(slow={0: 4.0})
        return _accepted(
            Experiment(Bowl(), workers=8, gradients=2000, staleness=8, speeds=slow), worker=0
        )

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        if guess[0] > 15:
            return (
                "While it computes once, the seven others hand in 28 gradients. Its own is always "
                "too old: it starves."
            )
        return (
            "It starves: all it computes is thrown away, and if its data differs from the "
            "others', nobody learns it."
        )
