"""Figures with moving artists of every kind, for comparing the browser's pixels with Agg's."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle

GALLERY: dict[str, Callable[[Axes], object]] = {}
X = np.linspace(0, 10, 200)


def picture(make: Callable[[Axes], object]) -> Callable[[Axes], object]:
    GALLERY[make.__name__] = make
    return make


def build(name: str) -> Figure:
    figure = Figure(figsize=(4, 2.5), dpi=100)
    axes = figure.add_subplot()
    axes.set(xlim=(0, 10), ylim=(-1.5, 1.5))
    GALLERY[name](axes)
    for artist in (*axes.lines, *axes.patches, *axes.collections, *axes.images, *axes.texts):
        artist.set_animated(True)
    return figure


@picture
def lines(axes: Axes) -> None:
    for k in range(4):
        axes.plot(X, np.sin(X + k), lw=1 + k, alpha=1 - 0.2 * k)
    axes.plot([1, 1, 8, 8], [-1, 1.2, 1.2, -1], color="k", lw=1)
    axes.axhline(0.3, color="C3", lw=1.5)
    axes.plot([2, 4, np.nan, 6, 8], [0, 1, 0, -1, 1], color="C4")


@picture
def dashes(axes: Axes) -> None:
    for k, style in enumerate(["--", ":", "-.", (2, (8, 2, 1, 2))]):
        axes.plot(X, np.sin(X + k), ls=style, lw=1.5 + 0.5 * k)
    axes.plot([1, 5, 9], [-1, 1, -1], ls="--", lw=6, dash_capstyle="round", dash_joinstyle="bevel")


@picture
def joins(axes: Axes) -> None:
    for k, join in enumerate(["miter", "round", "bevel"]):
        cap = ["butt", "round", "projecting"][k]
        axes.plot(
            [1, 2, 3],
            np.array([-1, 1, -1]) + 0.1 * k,
            lw=8,
            solid_joinstyle=join,
            solid_capstyle=cap,
        )
        axes.lines[-1].set_xdata(np.array([1, 2, 3]) + 3 * k)


@picture
def markers(axes: Axes) -> None:
    for k, marker in enumerate("osD^v*+x.,"):
        axes.plot(
            X[::25] + 0.07 * k,
            np.sin(X[::25]) * 0.5 + 0.2 * k - 0.9,
            marker,
            ms=4 + k % 3 * 2,
            mec="k",
            mew=0.7,
        )


@picture
def fills(axes: Axes) -> None:
    axes.fill_between(X, np.sin(X), -0.5, alpha=0.4)
    axes.add_patch(Rectangle((1, -1), 2, 1, fc="C1", ec="k", lw=1))
    axes.add_patch(Circle((6, 0), 1, fc=(0, 0.5, 0, 0.5), ec="C2", lw=2))
    axes.add_patch(FancyBboxPatch((7.5, 0.4), 1.5, 0.5, boxstyle="round,pad=0.2", fc="w", ec="C3"))
    axes.axvspan(4, 4.6, color="C4", alpha=0.3)
    axes.bar([8, 9], [-0.5, -1], width=0.6, fc="C5")


@picture
def scatter(axes: Axes) -> None:
    numbers = np.random.default_rng(0)
    axes.scatter(
        numbers.uniform(0, 10, 60),
        numbers.uniform(-1, 1, 60),
        s=numbers.uniform(5, 120, 60),
        c=np.arange(60),
    )
    axes.scatter([1, 5, 9], [1.2, 1.2, 1.2], s=40, marker="s", c=["r", "g", "b"], edgecolors="k")
    axes.vlines([2, 4, 6], -1.2, 0.3, colors=["C0", "C1", "C2"], linestyles="--")


@picture
def images(axes: Axes) -> None:
    data = np.random.default_rng(0).uniform(size=(8, 12))
    axes.imshow(data, extent=(1, 5, -1, 1), interpolation="none", aspect="auto")
    axes.imshow(
        data,
        extent=(5.5, 9.5, -1, 1),
        interpolation="bilinear",
        aspect="auto",
        origin="lower",
        alpha=0.7,
    )
    axes.set(xlim=(0, 10), ylim=(-1.5, 1.5))


@picture
def low_image(axes: Axes) -> None:
    data = np.arange(64.0).reshape(8, 8)
    axes.imshow(data, extent=(-1, 11, -1, 1.2), interpolation="none", aspect="auto", origin="lower")
    axes.set(xlim=(0, 10), ylim=(-1.5, 1.5))


@picture
def text(axes: Axes) -> None:
    axes.text(1, 1, "norm 0.125 → 1.000")
    axes.text(9, 0, "right", ha="right", fontsize=14, weight="bold", color="C1")
    axes.text(3, -0.5, r"$\sqrt{\sum g_i^2} \leq c$", fontsize=13)
    axes.text(7, -1, "turned", rotation=35, bbox={"fc": "w", "ec": "k", "lw": 0.8})
    axes.text(1, -1.2, "two\nlines", va="bottom")


@picture
def clipping(axes: Axes) -> None:
    circle = Circle((5, 0), 1.2, transform=axes.transData)
    axes.plot(X, 3 * np.sin(3 * X), lw=3)[0].set_clip_path(circle)
    axes.plot(X, 1e6 * np.sin(2 * X), lw=1)
    axes.plot(X, 1.4 * np.cos(X), lw=5, clip_on=False)


@picture
def log_axes(axes: Axes) -> None:
    axes.set(xscale="log", yscale="log", xlim=(0.01, 100), ylim=(1e-3, 1e3))
    x = np.logspace(-2, 2, 100)
    axes.plot(x, x**1.5, "o-", ms=3)
    axes.fill_between(x, x, x**2, alpha=0.3)


@picture
def arrows(axes: Axes) -> None:
    axes.add_patch(
        FancyArrowPatch((1, -1), (5, 1), arrowstyle="-|>", mutation_scale=18, lw=2, color="C0")
    )
    axes.add_patch(
        FancyArrowPatch(
            (9, -1),
            (5, 1),
            arrowstyle="->",
            mutation_scale=15,
            connectionstyle="arc3,rad=0.3",
            color="C1",
        )
    )
    axes.annotate("here", (7, 0.5), (8, 1.1), arrowprops={"arrowstyle": "->"})
    axes.quiver([2, 3], [0.5, 0.5], [1, 1], [0.2, -0.2], color="C2")


@picture
def pale_on_dark(axes: Axes) -> None:
    axes.add_patch(Rectangle((0, -1.5), 5, 3, fc="#1A1A1A"))
    axes.add_patch(Rectangle((1, -1), 8, 1.2, fc="#FFF3C4", ec="white", lw=2))
    axes.plot(X, np.sin(X), "s--", color="w", mec="#D55E00", mew=2, ms=8, markevery=20, lw=3)
    axes.text(2, -0.6, "pale", color="0.95", bbox={"fc": (0, 0, 0, 0.6), "ec": "none"})
