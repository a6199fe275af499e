"""A small LiveFigure that the tests share."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradlab.live import Button, Description, Drag, LiveFigure, Menu, Slider

X = np.linspace(0.0, 10.0, 100)


def without_ticks(*panels: Axes) -> None:
    """Take the ticks of panels away: laying them out and drawing them takes longer than all the
    rest of a picture.
    """
    for axes in panels:
        axes.minorticks_off()
        axes.set(xticks=[], yticks=[])


def clipped(**more: Any) -> LiveFigure:
    """A sine clipped to a limit; the limit is a log slider and can be dragged, the phase drags
    along x.
    """
    figure = Figure(figsize=(4, 2.5), dpi=100)
    axes = figure.add_subplot()
    axes.set(xlim=(0, 10), ylim=(0.01, 100), yscale="log")
    without_ticks(axes)
    (line,) = axes.plot(X, X, animated=True)

    def update(values: dict[str, Any]) -> Description:
        if values["rule"] == "broken":
            line.set_ydata(X * 0)
            raise RuntimeError("no such rule")
        limit = values["limit"]
        line.set_ydata(np.minimum(1.5 + np.sin(X + values["phase"]), limit))
        return Description(
            f"The limit is {limit:g}.",
            f"limit {limit:g}",
            (("limit", f"{limit:g}"), ("rule", "<sgd>")),
        )

    controls = [
        Slider("limit", "Limit", 0.01, 100.0, 1.0, scale="log", unit="N"),
        Slider("phase", "Phase", 0.0, 10.0, 0.0, step=0.5),
        Slider("steps", "Steps", 1, 9, 3, scale="integer"),
        Menu("rule", "Rule", ("sgd", ("ada", "Adagrad"), "broken"), "sgd"),
        Button("train", "Train", more.pop("press", lambda: None)),
    ]
    drags = (Drag(axes, x="phase", y="limit", label="Drag to set the limit"),)
    live = LiveFigure(figure, controls, update, drags=drags, label="Clipping & more", **more)
    live.line = line
    return live
