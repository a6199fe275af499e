"""Arrow heads point along the arrow and vanish with it."""

import numpy as np
import pytest

from gradlab.figures.arrows import _head


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
