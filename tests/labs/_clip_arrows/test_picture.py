"""Arrow heads point along the arrow and vanish with it."""

import numpy as np
import pytest

from gradlab.labs import clip_arrows
from gradlab.labs._clip_arrows.picture import _head


@pytest.mark.parametrize("tip", [(3.0, 4.0), (-2.0, 0.5), (0.1, 0.0)])
def test_a_head_sits_on_the_tip_and_points_away_from_the_origin(tip: tuple[float, float]) -> None:
    head = _head(np.array(tip)).vertices
    assert head[0].tolist() == list(tip)
    base = head[1:3].mean(axis=0)
    assert np.cross([*tip, 0], [*(np.array(tip) - base), 0]) == pytest.approx(0, abs=1e-9)
    assert np.dot(np.array(tip) - base, tip) > 0


@pytest.mark.parametrize("tip", [(0.0, 0.0), (np.nan, 1.0), (np.inf, 0.0)])
def test_no_arrow_no_head(tip: tuple[float, float]) -> None:
    assert np.isnan(_head(np.array(tip)).vertices).all()


@pytest.mark.parametrize(("g1", "g2"), [(4.5, 2.5), (-5.0, -2.5), (1.0, -6.0)])
def test_the_arc_goes_from_one_arrow_to_the_other_the_short_way(g1: float, g2: float) -> None:
    lab = clip_arrows(g1=g1, g2=g2)
    view, trace = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, trace)
    x, y = view._arc.get_data()
    for end, arrow in ((0, trace.before), (-1, trace.after)):
        assert np.arctan2(y[end], x[end]) == pytest.approx(np.arctan2(arrow[1], arrow[0]), abs=1e-6)
    turned = np.degrees(np.abs(np.diff(np.unwrap(np.arctan2(y, x)))).sum())
    assert turned == pytest.approx(trace.report.angle, abs=0.01)
    assert view._turn.get_text() == f"{trace.report.angle:.1f}°"
    lab.draw(view, lab.compute({**lab.params, "method": "norm"}))
    assert not (view._arc.get_visible() or view._turn.get_visible())


def test_names_stand_apart_and_the_norm_says_what_it_becomes() -> None:
    lab = clip_arrows()
    lab.draw(view := lab.make_view(), lab.compute(lab.params))
    (x, _), (u, v) = (name.get_position() for name in view._names)
    assert x > u + 1 and v > 2  # the name of the arrow after the clip is on the other side of it
    assert view._becomes.get_text() == "5.15 → 2.83" and view._becomes.get_visible()
    lab.draw(view, lab.compute({**lab.params, "limit": 6.0}))
    assert view._names[0].get_text() == "before and after" and not view._becomes.get_visible()
    lab.draw(view, lab.compute({**lab.params, "method": "global", "others": 6.0}))
    assert view._alone.get_text() == "every gradient is clipped"


def test_the_norms_can_be_read_where_the_curve_passes_below_them() -> None:
    lab = clip_arrows(**clip_arrows().presets["No room beside the others"])
    lab.draw(view := lab.make_view(), lab.compute(lab.params))
    assert view._becomes.get_text() == "1.12 → 0.366"
    assert view._becomes.on == "white", "it stands on paper"
    assert view._becomes.get_zorder() > view._curve.get_zorder()
