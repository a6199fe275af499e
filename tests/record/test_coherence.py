"""Cosines between gradients some steps apart: those of the full gradients where all entries are sampled."""

import numpy as np
import pytest

from gradlab import Recorder

RNG = np.random.default_rng(0)


def recorded(grads: np.ndarray, **room: int) -> Recorder:
    rec = Recorder(**room)
    for g in grads:
        rec.record({"a": g[:4], "b": g[4:]})
    return rec


def test_all_entries_sampled_give_the_cosines_themselves() -> None:
    grads = RNG.normal(size=(30, 12)) + 1
    unit = grads / np.linalg.norm(grads, axis=1, keepdims=True)
    found = recorded(grads).coherence([0, 1, 7])
    for k, lag in enumerate((0, 1, 7)):
        cosines = (unit[lag:] * unit[: 30 - lag]).sum(axis=1)
        expected = np.percentile(cosines, [25, 50, 75])
        np.testing.assert_allclose([found.low[k], found.cosine[k], found.high[k]], expected, atol=1e-6)
    assert found.pairs.tolist() == [30, 29, 23]


def test_a_sampled_entry_counts_for_all_it_stands_for() -> None:
    """A large tensor that turns round at every step outweighs a small one that does not."""
    rec = Recorder(entries=8)
    for k in range(10):
        rec.record({"large": np.full(10_000, (-1.0) ** k), "small": np.full(4, 10.0)})
    large, small = 10_000.0, 4 * 100.0
    assert rec.coherence([1]).cosine[0] == pytest.approx((small - large) / (small + large), abs=1e-6)


def test_merged_buckets_answer_for_multiples_of_their_stride_only() -> None:
    angle = np.arange(64) * np.pi / 16  # turns by 1/16 of a half circle at every step
    grads = np.zeros((64, 12))
    grads[:, 0], grads[:, 4] = np.cos(angle), np.sin(angle)
    rec = recorded(grads, steps=16)
    assert rec.stride == 4
    found = rec.coherence()
    assert found.lags[:3].tolist() == [0, 4, 8] and found.lags[-1] == 64
    np.testing.assert_allclose(found.cosine[:4], np.cos(np.arange(0, 16, 4) * np.pi / 16), atol=1e-6)
    assert np.isnan(found.cosine[-1]) and found.pairs[-1] == 0
    assert "buckets of 4 steps, of each its first" in str(found)
    with pytest.raises(ValueError, match=r"buckets of this recording are 4 steps apart.*multiples of 4, got \[6\]"):
        rec.coherence([6])


def test_gradients_that_are_0_or_not_finite_have_no_direction() -> None:
    grads = np.ones((6, 12))
    grads[1], grads[3, 2] = 0, np.nan
    found = recorded(grads).coherence([0, 1])
    assert found.pairs.tolist() == [4, 1]
    assert found.cosine.tolist() == pytest.approx([1, 1])
    assert np.isnan(recorded(np.zeros((4, 12))).coherence([1]).cosine[0])


@pytest.mark.parametrize("lags", [[-1], [0.5], [[1]], 3])
def test_lags_are_whole_numbers_in_a_row(lags: object) -> None:
    with pytest.raises(ValueError, match="lags must be whole numbers of steps from 0 up"):
        recorded(np.ones((3, 12))).coherence(lags)  # type: ignore[arg-type]
