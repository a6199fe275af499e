"""Against `tf.compat.v1.train.AdagradDAOptimizer`: dense, slices, slices of one element; what dual averaging is for."""

import numpy as np
import pytest

from gradlab.rules import AdagradDA
from tests.rules.recorded import steps


def test_where_a_weight_started_is_forgotten() -> None:
    here, there = (steps(AdagradDA(), 0.1, w=np.full(3, start))[-1] for start in (0.0, 7.0))
    np.testing.assert_array_equal(here, there)


def test_l1_asks_for_more_gradient_the_longer_it_takes() -> None:
    after = steps(AdagradDA(l1_regularization_strength=1.0), 0.1, np.zeros(1), np.array([[1.5], [0.0], [1.0]]))
    assert [(w[0] != 0) for w, *_ in after] == [True, False, False]


def test_the_count_starts_where_the_rule_says() -> None:
    rule = AdagradDA(global_step=5.0)
    assert rule.advance(rule.start()) == {"global_step": 6.0}


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ValueError, match="order must be one of 'dense', 'sparse', 'scalar'; got 'random'"):
        AdagradDA(order="random")
