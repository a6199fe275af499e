"""The picture of a race: contours of equal loss, a path and a head for everybody who is there,
nothing off the page.
"""

import itertools

import numpy as np
import pytest

from gradlab.labs._optimizers.picture import HIGHEST, LOOKS, LOWEST, Racer, RaceView, rings
from gradlab.models.surfaces import REACH, SURFACES

RATES = [0.01, 0.1, 1.0]
START = np.array([-1.0, 1.0])


def racer(last: float = 0.25, **changed: object) -> Racer:
    path, loss = np.array([[-1.0, 1.0], [0.5, 0.5]]), np.array([1.0, last])
    return Racer("Somebody", 0.1, path, loss, np.array([1.0, last, np.nan]))._replace(**changed)  # type: ignore[arg-type]


def drawn(*racers: Racer | None, heavy: int = -1) -> RaceView:
    view = RaceView(4, RATES)
    view.draw("bowl", START, [*racers, *[None] * (4 - len(racers))], heavy)
    return view


def test_everybody_who_races_has_a_path_a_name_and_a_small_panel_and_one_is_heavy() -> None:
    view = drawn(racer(), None, racer(title="Else"), heavy=2)
    assert [path.get_visible() for path in view._paths] == [True, False, True, False]
    assert [sweep.curve.get_visible() for sweep in view._sweeps] == [True, False, True, False]
    assert view._paths[0].get_xydata().tolist() == [[-1, 1], [0.5, 0.5]]
    assert view._heads[0].get_xydata().tolist() == [[0.5, 0.5]]
    assert view._sweeps[0].here.get_xydata().tolist() == [[0.1, 0.25]]
    named = [
        (name.get_text(), name.get_weight()) for name in view._names._names if name.get_visible()
    ]
    assert named == [("Somebody", "normal"), ("Else", "bold")]
    assert [path.get_linewidth() for path in view._paths[::2]] == [1.0, 2.5]


def test_a_small_panel_marks_the_rates_that_serve() -> None:
    sweep = drawn(racer(by_rate=np.array([1.0, 1e-4, 1e-5])))._sweeps[0]
    assert sweep._width.get_text() == "≥ 10 ×"  # up to the last rate that was tried
    x = sweep.good.get_xdata()
    assert np.nanmin(x) == pytest.approx(0.1 / 10**0.5) and np.nanmax(x) == pytest.approx(10**0.5)
    assert drawn(racer())._sweeps[0]._width.get_text() == "none"


def test_a_race_to_compare_with_is_dashed_and_named_like_the_others() -> None:
    view = RaceView(4, RATES)
    view.draw(
        "saddle", START, [racer(), None, None, None], 0, ("not turned", np.array([1.0, 0.0, 0.0]))
    )
    assert view._reference.get_ydata().tolist() == [1.0, LOWEST, LOWEST]
    names = [name.get_text() for name in view._names._names if name.get_visible()]
    assert "not turned" in names
    view.draw("saddle", START, [racer(), None, None, None])
    assert not view._reference.get_visible()
    assert "not turned" not in [
        name.get_text() for name in view._names._names if name.get_visible()
    ]


def test_a_dot_at_the_highest_loss_is_whole() -> None:
    view = drawn(racer(by_rate=np.full(3, np.inf)))
    view.figure.draw_without_rendering()
    sweep = view._sweeps[0]
    radius = sweep.here.get_markersize() / 2 * view.figure.dpi / 72
    middle = sweep.axes.transData.transform((1.0, HIGHEST))[1]
    assert middle + radius <= sweep.axes.get_window_extent().y1


def test_everybody_has_a_look_of_their_own() -> None:
    for key in ("ls", "marker"):
        assert len({looks[key] for looks in LOOKS}) == len(LOOKS)


@pytest.mark.parametrize(
    ("loss", "shown"), [(0.0, LOWEST), (np.nan, HIGHEST), (np.inf, HIGHEST), (1e9, HIGHEST)]
)
def test_losses_that_have_no_place_are_at_an_edge(loss: float, shown: float) -> None:
    view = drawn(racer(last=loss))
    assert view._losses[0].get_ydata()[-1] == shown
    assert view._sweeps[0].curve.get_ydata().tolist() == [1, shown, HIGHEST]


def test_a_path_that_runs_away_stays_drawable() -> None:
    path = np.array([[-1.0, 1.0], [1e30, -1e30], [np.inf, np.nan]])
    x, y = drawn(racer(path=path))._paths[0].get_xydata().T
    assert x.max(initial=0, where=np.isfinite(x)) < 100
    assert np.isnan([x[-1], y[-1]]).all()


def test_a_path_that_jumps_about_outside_is_not_drawn_across_the_picture() -> None:
    path = np.array([[0.0, 0.0], [9.0, 9.0], [-9.0, -9.0], [9.0, 9.0], [0.5, 0.5]])
    points = drawn(racer(path=path))._paths[0].get_xydata()
    lines = [(a, b) for a, b in itertools.pairwise(points) if np.isfinite([a, b]).all()]
    assert [(a.tolist(), b.tolist()) for a, b in lines] == [([0, 0], [9, 9]), ([9, 9], [0.5, 0.5])]


@pytest.mark.parametrize("name", SURFACES)
def test_contours_are_lines_of_equal_loss_inside_the_square(name: str) -> None:
    lines = rings(name)
    points = lines.vertices[(lines.codes == lines.MOVETO) | (lines.codes == lines.LINETO)]
    assert len(points) > 100
    assert (np.abs(points) <= REACH).all()
    assert len(points) < 4000  # each picture of a reel holds them
    levels = np.log(SURFACES[name].above(points) + 1e-3)
    assert len(np.unique(levels.round(0))) <= 12


def test_the_start_and_the_minima_are_marked() -> None:
    view = drawn(racer())
    view.draw("saddle", START, [racer(), None, None, None])
    assert view._start.get_xydata().tolist() == [[-1, 1]]
    assert view._minima.get_xydata().tolist() == [[0.5, -1], [0.5, 1]]


def test_paths_and_losses_stand_on_one_line() -> None:
    view = drawn(racer())
    view.figure.draw_without_rendering()
    plane, loss = view.plane.get_window_extent(), view.loss.get_window_extent()
    assert (plane.y0, plane.y1) == pytest.approx((loss.y0, loss.y1), abs=1)
    x, y = view._where.get_position()
    assert y > START[1] and abs(x - START[0]) < 0.2


def test_the_axes_say_that_losses_beyond_stand_at_their_ends() -> None:
    view = drawn(racer())
    for axis in (view.loss.yaxis, view.rates[0].yaxis):
        write = axis.get_major_formatter()
        assert [write(tick) for tick in (LOWEST, 1e-6, HIGHEST)] == ["≤ 10⁻⁸", "10⁻⁶", "≥ 10"]
    assert view.rates[0].xaxis.get_major_formatter()(1e-8) == "10⁻⁸"
