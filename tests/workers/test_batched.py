"""One program for each shape; how its events are laid out changes nothing (what they are:
test_diagram.py).
"""

import jax
import numpy as np
import pytest

from gradlab.workers import Bowl, Experiment, Speeds, batched, sweep

POLICIES = ("drop", "wait", "backup", "apply", "damp", "compensate")


@pytest.mark.exhaustive
def test_one_program_for_each_shape_whatever_the_values() -> None:
    batched.run.clear_cache()
    for policy in POLICIES:
        for change in range(3):
            speeds = Speeds(
                median=50 + change, spread=0.1 * change, slow={0: 1.0 + change}, stall=0.1 * change
            )
            e = Experiment(
                Bowl(), policy=policy, workers=2, speeds=speeds, gradients=20, seed=change
            )
            sweep(e, staleness=[change, 4], workers=[2, 5 + change])
            sweep(e, staleness=[4, change], workers=[8, 3])
    assert batched.run._cache_size() == 4, "apply, damp and compensate are one"
    sweep(e.with_(gradients=21), staleness=[0, 1], workers=[2, 5])
    assert batched.run._cache_size() == 5


@pytest.mark.exhaustive
@pytest.mark.parametrize("policy", ["drop", "wait"])
def test_blocks_and_unrolling_change_nothing(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    ticks = rng.integers(1, 9, (3, 4, 31), np.int32)
    row, workers = rng.integers(0, 3, (2, 50), np.int32) + np.array([[0], [2]], np.int32)
    limit = rng.integers(0, 4, (5, 1) if policy == "drop" else (1, 50), np.int32)
    found = []
    for width, lanes, unroll in ((256, 16, 1), (16, 4, 2), (1, 1, 3)):
        for name, value in (("WIDTH", width), ("LANES", lanes), ("UNROLL", unroll)):
            monkeypatch.setattr(batched, name, value)
        batched.run.clear_cache()
        found.append(batched.run(ticks, row, workers, limit, np.minimum(workers, 2), policy))
    batched.run.clear_cache()
    for other in found[1:]:
        jax.tree.map(np.testing.assert_array_equal, found[0], other)
    assert int(found[0].handed_in.sum()) == 30 * 50


@pytest.mark.exhaustive
def test_works_beside_64_bit_arrays() -> None:
    e = Experiment(Bowl(), gradients=20)
    narrow = sweep(e)
    with jax.enable_x64(True):
        wide = sweep(e)
    np.testing.assert_array_equal(wide.accepted, narrow.accepted)
