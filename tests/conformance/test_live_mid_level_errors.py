"""Tables, features and optimizers refuse what TensorFlow's refuse, with the same classes of errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab.tpu.experimental import embedding as ours
from tests.conformance.compare import Raised
from tests.conformance.runner import attempt
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

OPTIMIZERS = ("SGD", "Adagrad", "AdagradMomentum", "FTRL", "Adam")
TABLE, FEATURE = (
    ("TableConfig", {"vocabulary_size": 8, "dim": 4, "name": "t"}),
    ("FeatureConfig", {}),
)
REFUSED: list[tuple[tuple[str, dict[str, Any]], dict[str, Any]]] = [
    *((TABLE, {"vocabulary_size": n}) for n in (0, -1, 4.0, "4", None, np.int64(4), True)),
    *((TABLE, {"dim": n}) for n in (0, -1, 4.0, "4", None, np.int32(4), True)),
    *((TABLE, {"combiner": c}) for c in ("max", "", None, 3, "mean", "sqrtn")),
    *((TABLE, {"initializer": i}) for i in (3, "ones", np.ones, None)),
    *(
        (TABLE, {"dtype": d})
        for d in (np.float16, np.float32, np.int32, np.int64, "float32", "float64", None)
    ),
    *((FEATURE, {"table": t}) for t in (3, None, "t")),
    *((FEATURE, {"max_sequence_length": n}) for n in (-1, 1.0, "1", None, np.int64(1), 2, True)),
    *((FEATURE, {"validate_weights_and_indices": v}) for v in (1, None, "yes", False)),
    *(
        (FEATURE, {"output_shape": s})
        for s in ([-1], [2.5], "3", 3.5, [[1]], ["a"], [None, 2], [], 5, (1, 2), None)
    ),
    *(
        (("QuantizationConfig", {"lower": 0.0, "upper": 1.0}), {"num_buckets": n})
        for n in (1, 0, -3, "2", None, 2, 2.5)
    ),
    *((("Adagrad", {}), {"initial_accumulator_value": x}) for x in (0, -0.1, None, "a", 1e-9)),
    *((("FTRL", {}), {"initial_accumulator_value": x}) for x in (0, -0.1, None, 1e-9)),
    (("FTRL", {}), {"initial_accumulator_value": 0, "allow_zero_accumulator": True}),
    *(
        (("AdagradMomentum", {}), {name: x})
        for name in ("epsilon", "exponent")
        for x in (0, -1, None, 1e-9)
    ),
    *(
        (("Adam", {}), {name: x})
        for name in ("beta_1", "beta_2")
        for x in (-0.1, 1.0, 2, None, "a", 0, 0.5)
    ),
    *((("Adam", {}), {"epsilon": x}) for x in (0, -1e-9, None, 1e-30)),
    *(
        (("Adam", {}), {"lazy_adam": lazy, "use_gradient_accumulation": a})
        for lazy in (True, False)
        for a in (True, False)
    ),
    *(((name, {}), {"clipvalue": 1.0, "use_gradient_accumulation": False}) for name in OPTIMIZERS),
    *(
        ((name, {}), {"clipvalue": c})
        for name in OPTIMIZERS
        for c in ((1.0,), (1, 2, 3), [1, 2], "a", (2.0, 1.0), -1.0)
    ),
    *(
        ((name, {}), {"slot_variable_creation_fn": f})
        for name in OPTIMIZERS
        for f in (3, "f", print, None)
    ),
    *(((name, {}), {"learning_rate": x}) for name in OPTIMIZERS for x in ("a", None, -1.0)),
    *(
        ((name, {}), {"nonsense": 1})
        for name in (*OPTIMIZERS, "TableConfig", "FeatureConfig", "QuantizationConfig")
    ),
    *(
        (("CustomOptimizer", {"custom_computation": print}), more)
        for more in (
            {},
            {"slot_names": ["a"]},
            {"slot_initializers": [print]},
            {"slot_names": ["a"], "slot_initializers": [print], "slot_dims": [1, 2]},
            {"slot_names": ["a"], "slot_initializers": [print], "slot_dims": [3]},
            {"slot_names": ["a"], "slot_initializers": [print], "slot_dims": [2]},
        )
    ),
    *(
        (("CustomCombiner", {"combiner_computation": print, "max_valency": 2}), more)
        for more in (
            {},
            {"num_weights": 2},
            {"num_weights": 2, "initializer": print},
            {"num_weights": None},
        )
    ),
]


def theirs() -> Any:
    return tensorflow().tpu.experimental.embedding


@pytest.mark.parametrize(("kind", "change"), REFUSED)
def test_constructors_refuse_what_tensorflows_refuse(
    kind: tuple[str, dict[str, Any]], change: dict[str, Any]
) -> None:
    name, arguments = kind

    def made(lib: Any) -> Any:
        table = {"table": lib.TableConfig(**TABLE[1])} if name == "FeatureConfig" else {}
        return getattr(lib, name)(**(table | arguments | change))

    mine, original = attempt(lambda: made(ours)), attempt(lambda: made(theirs()))
    if isinstance(original, Raised):
        assert isinstance(mine, Raised) and isinstance(mine.error, type(original.error))
    else:
        assert not isinstance(mine, Raised), f"{mine}"


EMBEDDINGS = {
    "two tables of one name": lambda lib: [
        lib.FeatureConfig(lib.TableConfig(8, 4, name="t")) for _ in range(2)
    ],
    "a name that is given": lambda lib: [
        lib.FeatureConfig(lib.TableConfig(8, 4)),
        lib.FeatureConfig(lib.TableConfig(8, 4, name="table_0")),
    ],
    "an optimizer by name": lambda lib: lib.FeatureConfig(lib.TableConfig(8, 4, optimizer="sgd")),
    "all is well": lambda lib: {"a": lib.FeatureConfig(lib.TableConfig(8, 4))},
}


@pytest.mark.parametrize("case", EMBEDDINGS)
@pytest.mark.parametrize("name", ["TPUEmbedding", "TPUEmbeddingForServing"])
def test_embeddings_refuse_what_tensorflows_refuse(case: str, name: str) -> None:
    # Which is what a machine without a TPU has.
    more = {"engine": None} if name == "TPUEmbedding" else {}
    mine = attempt(lambda: getattr(ours, name)(EMBEDDINGS[case](ours), ours.SGD(), **more))
    original = attempt(lambda: getattr(theirs(), name)(EMBEDDINGS[case](theirs()), theirs().SGD()))
    kinds = [type(x.error) if isinstance(x, Raised) else None for x in (mine, original)]
    assert kinds[0] is kinds[1]


@pytest.mark.parametrize("call", ["enqueue", "dequeue", "apply_gradients"])
def test_without_an_engine_calls_fail_as_without_a_tpu(call: str) -> None:
    arguments = [] if call == "dequeue" else [{"a": [1]}]
    case = EMBEDDINGS["all is well"]
    mine = ours.TPUEmbedding(case(ours), ours.SGD(), engine=None)
    for embedding in (mine, theirs().TPUEmbedding(case(theirs()), theirs().SGD())):
        with pytest.raises(RuntimeError):
            getattr(embedding, call)(*arguments)
