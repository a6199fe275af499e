"""Colors that everybody tells apart and can read, in light and in dark."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from gradlab.live.drawing import style as _style
from tests.labs.contrast import THEMES, linear
from tests.labs.views import Shown

SERIES = ("BLUE", "ORANGE", "GREEN", "BLACK", "OTHER", "VIOLET")
# Linear RGB to what a reader without red, green or blue cones sees (Machado, Oliveira and
# Fernandes, 2009, severity 1).
EYES = {
    "full": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def lab(light: np.ndarray) -> np.ndarray:
    """CIELAB, D65."""
    xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    ) @ light.clip(0, 1)
    t = xyz / [0.9505, 1.0, 1.089]
    f = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """CIEDE2000 of two colors in CIELAB (Sharma, Wu and Dalal, 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    chroma7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1.5 - 0.5 * np.sqrt(chroma7 / (chroma7 + 25**7))
    c1, c2 = np.hypot(stretch * a1, b1), np.hypot(stretch * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, stretch * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180
    hue, chroma, lightness = h1 + turn / 2, (c1 + c2) / 2, (l1 + l2) / 2
    if c1 * c2 == 0:
        turn, hue = 0.0, h1 + h2
    t = sum(
        k * np.cos(np.radians(n * hue - shift))
        for k, n, shift in ((-0.17, 1, 30), (0.24, 2, 0), (0.32, 3, -6), (-0.2, 4, 63))
    )
    dl = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * chroma * (1 + t))
    bend = np.exp(-(((hue % 360 - 275) / 25) ** 2))
    rotation = -2 * np.sqrt(chroma**7 / (chroma**7 + 25**7)) * np.sin(np.radians(60 * bend))
    return float(np.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (61.0, -5.0, 29.0), 22.8977),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
        ((50.0, 0.0, 0.0), (50.0, -1.0, 2.0), 2.3669),
    ],
)
def test_differences_are_those_of_the_published_table(
    one: tuple, other: tuple, expected: float
) -> None:  # type: ignore[type-arg]
    assert difference(np.array(one), np.array(other)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("pair", list(itertools.combinations(SERIES, 2)), ids="-".join)
def test_everybody_tells_the_colors_of_series_apart(theme: str, pair: tuple[str, str]) -> None:
    lights = [linear(THEMES[theme](to_rgb(getattr(_style, name)))) for name in pair]
    for eyes, matrix in EYES.items():
        one, other = (lab(np.array(matrix) @ light) for light in lights)
        assert difference(one, other) >= 20, eyes


@pytest.mark.parametrize("state", ["clipping", "arrows"])
def test_lines_of_a_panel_differ_by_more_than_color(state: str) -> None:
    for axes in Shown(state).view.figure.axes:
        # At their ends.
        named = [
            line for line in axes.lines if line.get_color() not in (_style.OTHER, _style.QUIET)
        ]
        looks = {
            ((line.get_linestyle(), line.get_linewidth()), line.get_marker(), line.get_color())
            for line in named
        }
        edged = [patch for patch in axes.patches if patch.get_edgecolor()[3]]
        looks |= {((patch.get_linestyle(), 0.0), "edge", patch.get_edgecolor()) for patch in edged}
        assert len({(dash, marker) for dash, marker, _ in looks}) == len(looks), axes.get_title(
            "left"
        )


def test_numbers_of_linear_axes_are_written_as_everywhere_else() -> None:
    axes = _style.tidy(_style.new_figure(4, 3).add_subplot(), "Title", "step", "loss")
    axes.set(xlim=(-1500, 2000), xticks=[-1500, 0, 500, 2000], ylim=(0, 1), yticks=[0, 0.5, 1])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["−1,500", "0", "500", "2,000"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["0.0", "0.5", "1.0"]


def test_a_log_axis_has_ticks_at_the_ends_at_which_values_beyond_stand() -> None:
    axes = _style.new_figure(4, 3).add_subplot()
    axes.set(yscale="log", ylim=(0.5e-4, 2e6))
    _style.log_ticks(axes.yaxis, 1e-4, 1e6)
    assert list(axes.get_yticks()) == [1e-4, 1e-2, 1, 100, 1e4, 1e6]
    axes.set_ylim(0.5e-9, 8e4)
    # So many decades that a tick for each would be unreadable.
    _style.log_ticks(axes.yaxis, 1e-9, 1e4)
    assert np.round(np.log10(axes.get_yticks())).tolist() == [-9, -7, -5, -3, -1, 1, 4]
    axes.set_ylim(1, 50)  # somebody looks closer
    assert set(axes.get_yticks()) >= {1, 2, 5, 10, 20, 50}
