"""Dark pictures: what becomes of every kind of color, and that nothing but colors changes."""

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends import backend_agg
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from gradlab.live.theme import CONES, OKLAB, DarkAgg, Palette, _linear

COLORS = [
    *(f"C{k}" for k in range(10)),
    "red",
    "lime",
    "blue",
    "yellow",
    "cyan",
    "magenta",
    "0.3",
    "0.6",
    "0.9",
]


def oklab(rgb: tuple[float, ...]) -> np.ndarray:
    return OKLAB @ np.cbrt(CONES @ _linear(np.array(rgb)))


def contrast(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    low, high = sorted(float(_linear(np.array(c[:3])) @ [0.2126, 0.7152, 0.0722]) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


def test_white_becomes_the_page_and_black_nearly_white() -> None:
    assert to_hex(Palette().dark((1, 1, 1))) == "#111111"
    assert min(Palette().dark((0, 0, 0))) > 0.9


@pytest.mark.parametrize("name", COLORS)
def test_hue_and_contrast_stay(name: str) -> None:
    light = to_rgb(name)
    dark = Palette().dark(light)
    kept = contrast(dark, to_rgb("#111111")) / contrast(light, (1, 1, 1))
    assert 0.7 < kept < 1.2
    (_, *before), (_, *after) = oklab(light), oklab(dark)
    assert np.hypot(*after) < np.hypot(*before) + 0.01
    if np.hypot(*before) > 0.01:
        turn = np.degrees(np.arctan2(*before) - np.arctan2(*after))
        assert abs((turn + 180) % 360 - 180) < 3  # as exact as 8 bits


def test_greys_keep_their_contrast_and_their_order() -> None:
    grays = [(level, level, level) for level in np.linspace(0.2, 1, 30)]
    darks = [Palette().dark(gray) for gray in grays]
    for gray, dark in zip(grays, darks, strict=True):
        assert contrast(dark, to_rgb("#111111")) == pytest.approx(
            contrast(gray, (1, 1, 1)), rel=0.05
        )
    assert darks == sorted(darks, reverse=True)


def test_overrides_are_exact_and_alpha_stays() -> None:
    palette = Palette({"#0072B2": "#56b4e9", "w": "k"})
    assert palette.dark(to_rgb("#0072B2")) == to_rgb("#56b4e9")
    assert palette.dark((1.0, 1.0, 1.0, 0.25)) == (0, 0, 0, 0.25)
    assert palette.word(0x01B27200) == 0x01E9B456
    np.testing.assert_array_equal(
        palette.all_dark(np.ones((2, 3, 4))), np.tile([0.0, 0, 0, 1], (2, 3, 1))
    )
    assert palette.all_dark(np.ones((0, 4))).shape == (0, 4)


def painted(figure: Figure, dark: bool, palette: Palette) -> np.ndarray:
    figure.set_canvas(FigureCanvasAgg(figure))
    renderer = DarkAgg(200, 100, 100, palette) if dark else RendererAgg(200, 100, 100)
    figure.draw(renderer)
    return np.asarray(renderer.buffer_rgba())[..., :3]


def lines(axes: Axes) -> None:
    axes.plot([0, 1], [0.2, 0.8], color="red", lw=9)


def markers(axes: Axes) -> None:
    axes.plot([0.2, 0.8], [0.5, 0.5], "s", ms=20, color="red", mec="red")


def patch(axes: Axes) -> None:
    axes.axvspan(0.2, 0.7, color="red")


def scatter(axes: Axes) -> None:
    axes.scatter([0.2, 0.8], [0.5, 0.5], s=400, c="red", edgecolors="red", marker="s")


def many_colors(axes: Axes) -> None:
    axes.scatter([0.2, 0.8], [0.5, 0.5], s=[400, 300], c=["red", "red"], marker="s")


def mesh(axes: Axes) -> None:
    axes.pcolormesh([0.1, 0.5, 0.9], [0.1, 0.9], [[0, 0]], cmap="autumn")


def segments(axes: Axes) -> None:
    axes.vlines([0.2, 0.5], 0, 1, colors="red", linewidths=9)


def text(axes: Axes) -> None:
    axes.text(0, 0, "█", color="red", fontsize=60, clip_on=True)


def formula(axes: Axes) -> None:
    axes.text(0.3, 0.3, r"$\frac{█}{█}$", color="red", fontsize=40)


def hatch(axes: Axes) -> None:
    axes.axvspan(0.2, 0.7, facecolor="white", edgecolor="red", hatch="////", lw=0)


VECTORS = [lines, markers, patch, scatter, many_colors, mesh, segments, text, formula, hatch]


@pytest.mark.parametrize("draw", VECTORS, ids=lambda draw: draw.__name__)
def test_every_kind_of_artist_is_painted_dark_where_it_was_light(
    draw: Callable[[Axes], None],
) -> None:
    figure = Figure(figsize=(2, 1), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 1), ylim=(0, 1))
    axes.set_axis_off()
    draw(axes)
    palette = Palette({"red": "lime", "white": "black"})
    light, dark = painted(figure, False, palette), painted(figure, True, palette)
    assert (light == (255, 0, 0)).all(axis=2).sum() > 50
    # White fades as green comes in, at edges as well.
    assert np.ptp(light[..., 1].astype(int) + dark[..., 1]) <= 2
    assert (dark[..., [0, 2]] == 0).all()
    assert (painted(figure, False, palette) == light).all()  # no artist was touched


def test_images_and_gouraud_shading_stay_as_they_are() -> None:
    figure = Figure(figsize=(2, 1), dpi=100)
    left, right = figure.add_axes((0, 0, 0.5, 1)), figure.add_axes((0.5, 0, 0.5, 1))
    left.imshow(np.eye(4), aspect="auto")
    right.pcolormesh(np.eye(4), shading="gouraud")
    for axes in (left, right):
        axes.set_axis_off()
    palette = Palette({"white": "white"})
    light, dark = painted(figure, False, palette), painted(figure, True, palette)
    assert (light == dark).all()


def test_filters_are_painted_dark_as_well() -> None:
    figure = Figure(figsize=(2, 1), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    line = axes.plot([0, 1], color="red", lw=9)[0]
    line.set_agg_filter(lambda image, dpi: (image, 0, 0))
    assert (painted(figure, True, Palette({"red": "lime"})) == (0, 255, 0)).all(axis=2).sum() > 500


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matplotlib in which the private parts of Agg and of graphics contexts have other names."""
    source = inspect.getsource(RendererAgg).replace("super()", "super(RendererAgg, self)")
    for name in ("_update_methods", "_renderer", "_filter_renderers"):
        source = source.replace(f"self.{name}", f"self.{name}_now").replace(
            f"def {name}", f"def {name}_now"
        )
    made: dict[str, Any] = {}
    # The class itself keeps its place: who has imported it sees the change.
    exec(source, vars(backend_agg), made)
    monkeypatch.delattr(RendererAgg, "_update_methods")
    for name, part in vars(made["RendererAgg"]).items():
        if inspect.isfunction(part):
            monkeypatch.setattr(RendererAgg, name, part, raising=False)

    def set_private(self: Any, name: str, value: Any) -> None:
        if name.startswith("_") and sys._getframe(1).f_globals["__name__"].startswith("gradlab"):
            raise AttributeError(name)
        object.__setattr__(self, name, value)

    monkeypatch.setattr(GraphicsContextBase, "__setattr__", set_private)


def test_no_private_part_of_matplotlib_is_needed(request: pytest.FixtureRequest) -> None:
    figure = Figure(figsize=(2, 1), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 1), ylim=(0, 1))
    for draw in VECTORS:
        draw(axes)
    axes.lines[0].set(alpha=0.5, agg_filter=lambda image, dpi: (image, 0, 0))
    palette = Palette({"red": "lime"})
    before = painted(figure, True, palette)
    request.getfixturevalue("renamed")
    assert not {"_renderer", "_update_methods"} & {*dir(RendererAgg(2, 1, 100))}
    assert (painted(figure, True, palette) == before).all()
