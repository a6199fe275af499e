"""Drop-stale in ten lines, and schedules to run it on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import gradlab as gl

Event = tuple[str, Any]  # ("compute", worker), ("apply", worker) or ("set", step)
RATE = np.float32(0.5)
START = np.float32([8.0, -4.0])


def model(events: Iterable[Event], limit: int) -> tuple[list[float], int, float]:
    """Weights, global step and counter after gradient descent on w²/2."""
    w, step, counter, computed = START, 0, 0, {}
    for what, which in events:
        if what == "compute":
            computed[which] = step, w
        elif what == "set":
            step = which
        elif step - computed[which][0] <= limit:
            w, step = w - RATE * computed[which][1], step + 1
        else:
            counter += 1
    return w.tolist(), step, counter


@st.composite
def schedules(draw: st.DrawFn, moves: bool = True) -> list[Event]:
    """Workers that compute and apply in any order; the step may be moved by hand."""
    verbs = ["compute", "apply", *(["set"] * moves)]
    drawn = draw(st.lists(st.tuples(st.sampled_from(verbs), st.integers(0, 3)), max_size=30))
    ready = set()
    events = []
    for what, which in drawn:
        if what == "apply" and which not in ready:
            continue
        ready |= {which} if what == "compute" else set()
        events.append((what, which))
    return events


class Run:
    """gradlab's optimizer on the same problem, event by event."""

    def __init__(self, limit: int, inner: Any = None, **switches: Any) -> None:
        self.w, self.step = gl.Variable(START, name="w"), gl.get_or_create_global_step()
        inner = gl.train.GradientDescentOptimizer(float(RATE)) if inner is None else inner
        self.opt = gl.train.DropStaleGradientOptimizer(inner, limit, **switches)
        self.pairs: dict[Any, Any] = {}

    def loss(self) -> Any:
        return (self.w.value**2).sum() / 2

    def compute(self, worker: Any = None) -> None:
        self.pairs[worker] = self.opt.compute_gradients(self.loss, worker=worker)

    def apply(self, worker: Any = None) -> Any:
        done = self.opt.apply_gradients(self.pairs[worker], self.step, worker=worker)
        return done.run() if isinstance(done, gl.Operation) else done

    def do(self, event: Event) -> Any:
        what, which = event
        return self.step.load(which) if what == "set" else getattr(self, what)(which)

    def state(self) -> tuple[list[float], int, float]:
        return self.w.numpy().tolist(), int(self.step), float(self.opt.stale_counter)
