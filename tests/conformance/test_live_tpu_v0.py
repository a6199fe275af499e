"""Lookups of TPUEmbeddingV0 beside TensorFlow's, which a stand-in for its strategy lets run on a CPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gradlab.tpu.experimental import embedding as ours
from tests.conformance.compare import Raised
from tests.conformance.runner import attempt
from tests.conformance.test_live_serving import theirs, written
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

ROWS = [[0, 1, 1], [3], [], [4, 0]]
SCALES = [[0.5, -2.0, 1.0], [3.0], [], [0.25, 1.0]]


@pytest.fixture(autouse=True)
def any_strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow's class refuses strategies that aren't TPUStrategy, but has nothing else of it."""
    tf = tensorflow()
    from tensorflow.python.tpu import tpu_embedding_v1 as module

    strategy = type(tf.distribute.get_strategy())
    stand_in = SimpleNamespace(TPUStrategy=strategy, TPUStrategyV2=strategy)
    monkeypatch.setattr(module, "tpu_strategy", stand_in)


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize(
    "more",
    [{}, {"max_sequence_length": 2}, {"output_shape": [2, 4]}, {"output_shape": [4]}],
    ids=str,
)
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("kind", ["ragged", "sparse", "dense"])
def test_lookups_are_tensorflows(
    combiner: str, more: dict[str, Any], is_weighted: bool, kind: str
) -> None:
    values = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)

    def look_up(lib: Any, ids: Any, weights: Any) -> Any:
        made = np.asarray if lib is ours else tensorflow().constant
        table = lib.TableConfig(
            5, 3, lambda shape, dtype=None: made(values), combiner=combiner, name="t"
        )
        embedding = lib.TPUEmbeddingV0({"f": lib.FeatureConfig(table, **more)}, None)
        return embedding({"f": ids}, None if weights is None else {"f": weights})["f"]

    ids = written(ROWS, kind)
    weights = written(SCALES, kind) if is_weighted else (None, None)
    mine = attempt(lambda: look_up(ours, ids[0], weights[0]))
    original = attempt(lambda: look_up(theirs(), ids[1], weights[1]))

    if isinstance(original, Raised):
        assert isinstance(mine, Raised), f"gave {mine}, TensorFlow raised {original.error!r}"
        assert isinstance(mine.error, type(original.error))
    else:
        assert not isinstance(mine, Raised), mine.error
        np.testing.assert_allclose(mine, original.numpy(), rtol=1e-6, atol=1e-6)
