"""A LiveFigure with one of everything a reader can use: controls of all kinds, handles, items,
presets, a film.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradlab.live import (
    Button,
    Description,
    Drag,
    Items,
    LiveFigure,
    Menu,
    Preset,
    Range,
    Slider,
    Toggle,
)
from tests.live.examples import without_ticks

STEPS = np.arange(40)
KNOTS = (0.2, 0.5, 0.8)


def everything(names: Sequence[str] = (), folded: Sequence[str] = (), **more: Any) -> LiveFigure:
    """Norms of 40 steps and their distribution; the limit is a line to drag, and three points make
    a curve.

    While they are not clipped, the limit changes nothing.
    """
    figure = Figure(figsize=(6, 3), dpi=100)
    norms = np.exp(np.sin(STEPS) + 0.02 * STEPS)
    left, right = figure.subplots(1, 2)
    left.set(xlim=(-1, 40), ylim=(0.1, 10), yscale="log", title="Norms")
    right.set(xlim=(0, 1), ylim=(0, 1), title="Curve")
    without_ticks(left, right)
    (dots,) = left.plot(STEPS, norms, "o", ms=4, animated=True)
    (line,) = left.plot([-1, 40], [1, 1], "--", color="C2", animated=True)
    (curve,) = right.plot(KNOTS, KNOTS, "-", animated=True)

    def update(values: dict[str, Any]) -> Description:
        limit = values["limit"]
        clipped = np.minimum(norms, limit) if values["on"] else norms
        dots.set_data(STEPS, clipped)
        line.set_ydata([limit, limit])
        curve.set_ydata([values[f"k{k}"] for k in range(3)])
        first, last = values["window"]
        inside = (first <= STEPS) & (last >= STEPS)
        shown = clipped[inside].mean() if inside.any() else float("nan")
        items = Items(
            "step",
            {left: (STEPS, clipped), right: (clipped / 10, STEPS / 40)},
            {"norm": clipped},
            names,
        )
        return Description(
            f"The limit is {limit:g}.",
            f"limit {limit:g}, mean {shown:.2f}",
            (("limit", f"{limit:g}"),),
            goal="" if limit < 5 else "Goal: bring the limit below 5.",
            items=items,
            met=limit < 9,
            idle=() if values["on"] else ("limit",),
        )

    controls = [
        Slider("limit", "Limit", 0.1, 10.0, 1.0, scale="log", unit="N", play=True),
        Range("window", "Window", 0, 39, (5, 20), scale="integer", unit="steps"),
        Menu("rule", "Rule", ("sgd", ("ada", "Adagrad"), (2, "two"), (None, "none")), "sgd"),
        Toggle("on", "Clip", True),
        *(Slider(f"k{k}", f"Knot {k}", 0.0, 1.0, 0.5, hidden=True) for k in range(3)),
        Button("train", "Train", lambda: None),
    ]
    controls = [replace(control, folded=control.name in folded) for control in controls]
    drags = (
        Drag(left, y="limit", label="Limit line"),
        *(Drag(right, y=f"k{k}", at=at) for k, at in enumerate(KNOTS)),
    )
    presets = (
        Preset("No limit", {"limit": 10.0, "on": False}),
        Preset("Tight", {"limit": 0.5, "window": (0, 39)}),
    )
    return LiveFigure(
        figure,
        controls,
        update,
        drags=drags,
        label="Everything",
        name="everything",
        presets=presets,
        **more,
    )
