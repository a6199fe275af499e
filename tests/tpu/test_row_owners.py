"""Which shard holds which row, and where."""

import numpy as np
import pytest

from gradlab.tpu.row_owners import ONE_DEVICE, Shards


@pytest.mark.parametrize("strategy", ["div", "mod"])
@pytest.mark.parametrize(("rows", "count"), [(13, 5), (8, 8), (3, 8), (1, 1), (17, 4), (100, 7)])
def test_every_row_has_one_place(rows: int, count: int, strategy: str) -> None:
    shards = Shards(rows, count, strategy)
    held = [shards.held(k) for k in range(count)]
    assert sorted(np.concatenate(held).tolist()) == list(range(rows))
    longest, shortest = shards.size, rows // count
    assert [len(h) for h in held] == [longest] * (rows % count) + [shortest] * (
        count - rows % count
    )
    for k, ids in enumerate(held):
        assert shards.owner(ids.astype(np.uint32)).tolist() == [k] * len(ids)
        assert shards.place(ids.astype(np.uint32)).tolist() == list(range(len(ids)))


def test_div_keeps_neighbors_together_and_mod_deals_them_out() -> None:
    assert [Shards(5, 2).held(k).tolist() for k in range(2)] == [[0, 1, 2], [3, 4]]
    assert [Shards(5, 2, "mod").held(k).tolist() for k in range(2)] == [[0, 2, 4], [1, 3]]


def test_shards_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0 and 2"):
        Shards(0, 2)
    with pytest.raises(ValueError, match="strategy must be one of 'div', 'mod'; got 'rows'"):
        Shards(4, 2, "rows")


def test_on_one_device_every_id_is_a_place() -> None:
    ids = np.uint32([3, 1])
    assert ONE_DEVICE.places(ids, 10) is ids
    assert ONE_DEVICE.run(lambda a, b: a - b, 3, 1) == 2
