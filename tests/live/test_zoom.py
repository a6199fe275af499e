"""Looking closer: parts of a panel, never more than the start."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from gradlab.live.zoom import Zoom

WHOLE = (0.0, 1.0)


def zooming(**looks: object) -> tuple[Zoom, object]:
    axes = Figure().add_subplot()
    axes.set(**{"xlim": (0, 10), "ylim": (0, 100)} | looks)
    return Zoom(axes.figure), axes


def test_a_part_fills_the_panel() -> None:
    zoom, axes = zooming()
    zoom.to(axes, (0.5, 0.7), (0.0, 0.5))
    assert axes.get_xlim() == pytest.approx((5, 7))
    assert axes.get_ylim() == pytest.approx((0, 50))
    zoom.to(axes, (0.0, 0.5), WHOLE)  # of what is shown by now
    assert axes.get_xlim() == pytest.approx((5, 6))
    assert zoom


def test_log_and_reversed_axes_are_divided_as_they_look() -> None:
    zoom, axes = zooming(xscale="log", xlim=(0.01, 100), ylim=(4, 0))
    zoom.to(axes, (0.25, 0.5), (0.0, 0.25))
    assert axes.get_xlim() == pytest.approx((0.1, 1))
    assert axes.get_ylim() == pytest.approx((4, 3))


@pytest.mark.parametrize(
    ("part", "shown"),
    [((-1, 2), (0, 10)), ((-9, 9), (0, 10)), ((0.8, 1.2), (6, 10)), ((-0.5, 0.25), (0, 7.5))],
)
def test_nothing_beyond_the_start_is_shown(
    part: tuple[float, float], shown: tuple[float, float]
) -> None:
    zoom, axes = zooming()
    zoom.to(axes, part, WHOLE)
    assert axes.get_xlim() == pytest.approx(shown)
    assert bool(zoom) == (shown != (0, 10))


def test_zooming_out_again_ends_exactly_at_the_start() -> None:
    zoom, axes = zooming(yscale="log", ylim=(0.1, 14))
    for part in ((0.3, 0.6), (-2.0, 5.0)):
        zoom.to(axes, part, part)
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 10), (0.1, 14))
    assert not zoom


def test_there_is_an_end_to_looking_closer() -> None:
    zoom, axes = zooming()
    for _ in range(20):
        zoom.to(axes, (0.4, 0.5), (0.4, 0.5))
    assert np.ptp(axes.get_xlim()) == pytest.approx(10 * 1e-4)


def test_a_fixed_aspect_keeps_its_box() -> None:
    zoom, axes = zooming(ylim=(0, 10), aspect="equal")
    zoom.to(axes, (0.5, 0.6), (0.0, 0.5))
    assert np.ptp(axes.get_xlim()) == pytest.approx(5)
    assert np.ptp(axes.get_ylim()) == pytest.approx(5)


def test_what_shares_an_axis_follows_and_comes_back() -> None:
    top, bottom = Figure().subplots(2, 1, sharex=True)
    top.set(xlim=(0, 10))
    zoom = Zoom(top.figure)
    zoom.to(top, (0.2, 0.4), WHOLE)
    assert bottom.get_xlim() == pytest.approx((2, 4))
    zoom.to(bottom, (0.5, 1.0), WHOLE)
    assert top.get_xlim() == pytest.approx((3, 4))
    zoom.back()
    assert top.get_xlim() == bottom.get_xlim() == (0, 10)
    assert not zoom


def test_limits_that_somebody_else_sets_are_a_new_start() -> None:
    zoom, axes = zooming()
    zoom.to(axes, (0.2, 0.4), (0.2, 0.4))
    axes.set_xlim(0, 1000)
    assert zoom  # upwards
    zoom.back()
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 1000), (0, 100))


@pytest.mark.parametrize("part", [(0.5, 0.5), (0.7, 0.2), (np.nan, 1.0), (0.0, np.inf)])
def test_a_zoom_to_nothing_is_refused_and_nothing_moves(part: tuple[float, float]) -> None:
    zoom, axes = zooming()
    with pytest.raises(ValueError, match="from one fraction to a larger one"):
        zoom.to(axes, WHOLE, part)
    assert axes.get_ylim() == (0, 100)
