"""Against `tf.compat.v1.train.AdadeltaOptimizer`, and the size of the first step."""

import numpy as np
import pytest

from gradlab.rules import Adadelta
from tests.rules.recorded import check_bits

TENSORFLOW = [
    (
        [0.95256585, -1.9505025, 0.20020534],
        [0.009000002, 0.04900001, 0.12100003],
        [0.0009000001, 0.00098, 0.0009918032],
    ),
    (
        [1.0075921, -1.9608647, 0.16515303],
        [0.024100006, 0.04510001, 0.14490004],
        [0.0020211553, 0.00092495006, 0.0013840891],
    ),
    (
        [1.0075921, -2.0172536, 0.2230582],
        [0.021690004, 0.121590026, 0.29941005],
        [0.0018190397, 0.0021043445, 0.0025868842],
    ),
]


def test_three_steps_bit_for_bit() -> None:
    check_bits(Adadelta(0.9, 1e-3), 0.5, TENSORFLOW)


@pytest.mark.parametrize("g", [1e-3, 1.0, 1e3])
def test_the_first_step_is_the_root_of_epsilon_whatever_the_gradient(g: float) -> None:
    rule, w = Adadelta(0.75, 1e-10), np.zeros(1)
    assert rule(w, rule.init(w), np.array([g]), 1.0)[0][0] == pytest.approx(-2e-5, rel=1e-3)
