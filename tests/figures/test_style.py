"""Colours that colour-blind readers tell apart, readable on white."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from gradlab.figures import _style

LINES = {name: to_rgb(getattr(_style, name)) for name in ("BLUE", "ORANGE", "GREEN", "BLACK", "OTHER")}
# Linear RGB to what a reader without red, green or blue cones sees (Machado, Oliveira and Fernandes, 2009, severity 1).
DEFICIENT = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(rgb: tuple[float, ...]) -> np.ndarray:
    c = np.array(rgb)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(c: np.ndarray) -> np.ndarray:
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ c.clip(0, 1)
    f = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("name", LINES)
def test_lines_stand_out_from_white(name: str) -> None:
    luminance = linear(LINES[name]) @ [0.2126, 0.7152, 0.0722]
    assert 1.05 / (luminance + 0.05) >= 3, name


@pytest.mark.parametrize("kind", DEFICIENT)
@pytest.mark.parametrize("pair", list(itertools.combinations(["BLUE", "ORANGE", "BLACK"], 2)), ids="-".join)
def test_marks_of_one_panel_differ_without_full_colour_vision(kind: str, pair: tuple[str, str]) -> None:
    a, b = (lab(np.array(DEFICIENT[kind]) @ linear(LINES[name])) for name in pair)
    assert np.linalg.norm(a - b) >= 20
