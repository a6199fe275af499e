"""What tables begin with."""

import numpy as np
import pytest

from gradlab.tpu.experimental.embedding import RowIdInitializer, TruncatedNormal
from gradlab.tpu.experimental.embedding.initializers import initial_values


def test_normal_numbers_have_their_spread_and_end_at_two_of_them() -> None:
    values = np.asarray(TruncatedNormal(0.5, seed=1)((400, 50)))
    assert abs(values.mean()) < 0.01 and np.abs(values).max() <= 1.0
    # A normal cut off at 2 has 0.88 of its deviation.
    assert values.std() == pytest.approx(0.5 * 0.88, rel=0.02)


def test_a_seed_gives_the_same_numbers_and_another_one_others() -> None:
    one, same, other = (np.asarray(TruncatedNormal(1.0, seed)((3, 2))) for seed in (1, 1, 2))
    assert (one == same).all() and not (one == other).any()


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_rows_carry_their_number(dtype: type) -> None:
    made = np.asarray(RowIdInitializer(3)([4, 2], dtype))
    assert made.dtype == dtype and made.tolist() == [[3, 3], [4, 4], [5, 5], [6, 6]]


def test_each_shard_of_row_ids_begins_anew() -> None:
    shards = [np.asarray(RowIdInitializer(1)((2, 1))) for _ in range(2)]
    assert np.concatenate(shards).ravel().tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize(
    "initializer",
    [np.ones, lambda shape: np.ones(shape), lambda shape, dtype: np.ones(shape, dtype)],
)
def test_initializers_may_ask_for_a_dtype_or_not(initializer: object) -> None:
    made = initial_values(initializer, (2, 3), "table 't'")  # type: ignore[arg-type]
    assert made.dtype == np.float32 and made.tolist() == [[1] * 3] * 2


def test_another_shape_is_refused_with_the_table() -> None:
    with pytest.raises(
        ValueError, match=r"the initializer of table 't' must make shape \(2, 3\), it made \(2,\)"
    ):
        initial_values(lambda shape: np.ones(2), (2, 3), "table 't'")
