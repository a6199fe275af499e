"""Where output shapes come from, and which of them fit each other."""

from typing import Any

import pytest

from gradlab.tpu import FeatureConfig, TableConfig
from gradlab.tpu.mid_level.host_inputs import checked, fits, merged, output_shape, shapes_of_batch, shapes_of_inputs

PLAIN, SEQUENCE = FeatureConfig(TableConfig(8, 1)), FeatureConfig(TableConfig(8, 1), max_sequence_length=3)


@pytest.mark.parametrize(
    ("feature", "given", "expected"),
    [
        (PLAIN, (4,), (4,)),
        (PLAIN, (4, 1), (4,)),
        (PLAIN, (4, 2, None), (4, 2)),
        (SEQUENCE, (4, None), (4, 3)),
        (SEQUENCE, (4, 1), (4,)),  # the shape of dense ids
        (SEQUENCE, (4, 2, 5), (4, 2)),
    ],
)
def test_the_last_axis_is_combined(feature: FeatureConfig, given: Any, expected: Any) -> None:
    assert output_shape(feature, given, "f") == expected


def test_shapes_may_be_nested_like_the_features_or_not() -> None:
    named = [("a", PLAIN), ("b/0", SEQUENCE)]
    for given in ({"a": (4, 1), "b": [(4, None)]}, [(4, 1), (4, None)], [[4, 1], [4, None]]):
        assert shapes_of_inputs(named, given) == [(4,), (4, 3)]
    assert shapes_of_batch(named, 4) == [(4,), (4, 3)]
    with pytest.raises(ValueError, match="one shape for each of 2 features"):
        shapes_of_inputs(named, (4, 1))
    with pytest.raises(ValueError, match="must have an axis"):
        shapes_of_inputs(named[:1], ())


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ((4,), (4,), True),
        ((4,), (5,), False),
        ((4,), (None,), True),
        ((2, 2), (4,), True),  # ragged samples fill both axes
        ((2, 2, 2), (4, 2), True),
        ((2,), (2, 2), False),
        ((2, 3), (3, 2), False),
    ],
)
def test_inputs_fit_what_is_known(old: Any, new: Any, expected: bool) -> None:
    assert fits(old, new) is expected


def test_what_is_known_stays() -> None:
    named = [("a", PLAIN), ("b", PLAIN)]
    assert merged(named, [None, (2, 2)], [(3,), (4,)]) == [(3,), (2, 2)]
    with pytest.raises(ValueError, match="feature 'b' has the output shape"):
        merged(named, [None, (2,)], [(3,), (4,)])
    for shape in (None, (None, 3)):
        with pytest.raises(ValueError, match="feature 'a' has the output shape"):
            checked(named, [shape, (2,)])
    assert checked(named, [(1,), (2, 2)]) == [(1,), (2, 2)]
