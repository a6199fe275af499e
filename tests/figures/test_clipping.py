"""The view of a recorded run: bars count every norm once, and axes follow a new recording."""

import numpy as np

from gradlab.figures.clipping import ClippingView, _bars


def area(path: object) -> float:
    corners = path.vertices.reshape(-1, 5, 2)  # type: ignore[attr-defined]
    return float((corners[:, 1, 0] - corners[:, 0, 0]).sum())


def test_bars_are_as_long_as_there_are_norms() -> None:
    norms = np.array([0.5, 0.5, 3.0, 4000.0])
    assert area(_bars(norms, np.logspace(-1, 5, 61))) == 4
    assert _bars(np.array([np.nan]), np.logspace(-1, 5, 61)).vertices.tolist() == [[0.0, 0.0]]


def test_a_new_recording_replaces_curves_and_limits() -> None:
    view = ClippingView(10, (0.5, 20.0), {"none": np.ones(10) * 5, "1": np.ones(10) * 3}, "loss")
    before = len([line for line in view.loss.lines if not line.get_animated()])
    view.still(50, (0.1, 1e4), {"none": np.ones(50) * 5}, "loss")
    still = [line for line in view.loss.lines if not line.get_animated()]
    assert (before, len(still)) == (2, 1)
    assert view.norm.get_xlim()[1] == 52
    assert view.norm.get_ylim() == (0.1, 1.4e4)
    assert view.norm.get_yscale() == "log"
