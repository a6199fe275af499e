"""Against `tf.compat.v1.train.AdagradDAOptimizer`: dense, slices, slices of one element; what dual
averaging is for.
"""

import numpy as np
import pytest

from gradlab.rules import AdagradDA
from tests.rules.recorded import check_bits, steps

SUMS = [[0.3, -0.7, 1.1], [-0.099999994, -0.59999996, 1.7], [-0.099999994, 0.3, 0.4000001]]
SQUARES = [
    [0.19, 0.59, 1.3100001],
    [0.35000002, 0.59999996, 1.6700001],
    [0.35000002, 1.4099998, 3.36],
]
SQUARES_OF_ONE = [
    [0.19000001, 0.59, 1.3100001],
    [0.35000002, 0.59999996, 1.6700001],
    [0.35000002, 1.41, 3.36],
]
TENSORFLOW = {
    "dense": [
        [-0.0548378, 0.08247532, -0.09016341],
        [0.0, 0.061380066, -0.12009445],
        [0.0, -0.012024683, -0.013206345],
    ],
    "sparse": [
        [-0.054837804, 0.08247532, -0.09016341],
        [0.0, 0.061380066, -0.12009444],
        [0.0, -0.012024683, -0.013206347],
    ],
    "scalar": [
        [-0.054837804, 0.08247532, -0.0901634],
        [0.0, 0.06138007, -0.12009444],
        [0.0, -0.012024683, -0.013206345],
    ],
}


@pytest.mark.every_case
@pytest.mark.parametrize("order", TENSORFLOW)
def test_three_steps_bit_for_bit(order: str) -> None:
    squares = SQUARES_OF_ONE if order == "scalar" else SQUARES
    check_bits(
        AdagradDA(0.1, 0.05, 0.2, order),
        0.1,
        list(zip(TENSORFLOW[order], SUMS, squares, strict=True)),
    )


def test_where_a_weight_started_is_forgotten() -> None:
    here, there = (steps(AdagradDA(), 0.1, w=np.full(3, start))[-1] for start in (0.0, 7.0))
    np.testing.assert_array_equal(here, there)


def test_l1_asks_for_more_gradient_the_longer_it_takes() -> None:
    after = steps(
        AdagradDA(l1_regularization_strength=1.0), 0.1, np.zeros(1), np.array([[1.5], [0.0], [1.0]])
    )
    assert [(w[0] != 0) for w, *_ in after] == [True, False, False]


def test_the_count_starts_where_the_rule_says() -> None:
    rule = AdagradDA(global_step=5.0)
    assert rule.advance(rule.start()) == {"global_step": 6.0}


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(
        ValueError, match="order must be one of 'dense', 'sparse', 'scalar'; got 'random'"
    ):
        AdagradDA(order="random")
