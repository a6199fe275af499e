"""The mid-level interface beside TensorFlow's: signatures, bytes of configurations, shapes, nests,
first values.
"""

from __future__ import annotations

import inspect
import random
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.tpu.experimental import embedding as ours
from gradlab.tpu.experimental.embedding.config_writer import name_features, write_table
from gradlab.tpu.experimental.embedding.host_inputs import (
    check_known,
    merge_shapes,
    shapes_of_batch,
    shapes_of_inputs,
)
from gradlab.tpu.experimental.embedding.structure import leaves, leaves_like
from tests.conformance.compare import Raised
from tests.conformance.runner import attempt
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

OPTIMIZERS = ("SGD", "Adagrad", "AdagradMomentum", "FTRL", "Adam")
CLASSES = (
    *OPTIMIZERS,
    "CustomOptimizer",
    "CustomCombiner",
    "TableConfig",
    "FeatureConfig",
    "QuantizationConfig",
)
METHODS = ("build", "enqueue", "dequeue", "apply_gradients")


def theirs() -> Any:
    return tensorflow().tpu.experimental.embedding


def parameters(function: Any) -> list[tuple[str, Any]]:
    """Names and defaults by position; dtypes by name."""
    found = [
        p for p in inspect.signature(function).parameters.values() if p.kind is not p.KEYWORD_ONLY
    ]
    return [(p.name, getattr(p.default, "as_numpy_dtype", p.default)) for p in found]


@pytest.mark.parametrize("name", [*CLASSES, "RowIdInitializer"])
def test_arguments_are_tensorflows(name: str) -> None:
    assert parameters(getattr(ours, name)) == parameters(getattr(theirs(), name))


@pytest.mark.parametrize("name", METHODS)
def test_arguments_of_methods_are_tensorflows(name: str) -> None:
    assert parameters(getattr(ours.TPUEmbedding, name)) == parameters(
        getattr(theirs().TPUEmbedding, name)
    )


@pytest.mark.parametrize(
    "name",
    ["__init__", "enqueue", "embedding_lookup", "apply_gradients", "compute_sparse_core_stats"],
)
def test_arguments_for_sparse_cores_are_tensorflows(name: str) -> None:
    mine, original = (parameters(getattr(x.TPUEmbeddingV2, name)) for x in (ours, theirs()))
    assert [n for n, _ in mine] == [n for n, _ in original]


def test_settings_of_sparse_cores_are_tensorflows() -> None:
    assert parameters(ours.SparseCoreEmbeddingConfig) == parameters(
        theirs().SparseCoreEmbeddingConfig
    )


@pytest.mark.parametrize("name", ["TPUEmbedding", "TPUEmbeddingForServing"])
def test_an_optimizer_may_be_left_out_here(name: str) -> None:
    mine, original = parameters(getattr(ours, name)), parameters(getattr(theirs(), name))
    assert [n for n, _ in mine] == [n for n, _ in original]
    assert [x for n, x in mine if n != "optimizer"] == [x for n, x in original if n != "optimizer"]


def drawn(name: str, r: random.Random) -> dict[str, Any]:
    """Arguments for an optimizer, all of them allowed; TensorFlow's writer takes a number for the
    last one only.
    """
    number = lambda: r.choice([0.0, 0.125, 0.3, 0.999, 1e-7])  # noqa: E731
    arguments: dict[str, Any] = {"low_dimensional_packing_status": r.choice([0, 1])}
    for parameter, default in parameters(getattr(ours, name)):
        if r.random() < 0.5 or parameter in ("slot_variable_creation_fn", *arguments):
            continue
        if isinstance(default, bool):
            arguments[parameter] = r.choice([True, False])
        elif parameter == "clipvalue":
            arguments[parameter] = r.choice(
                [None, number(), (None, number()), (-number(), number()), (-1.0, None)]
            )
        elif parameter == "multiply_weight_decay_factor_by_learning_rate":
            arguments[parameter] = r.choice([None, True, False])
        elif default is None:
            arguments[parameter] = r.choice([None, number()])
        else:
            arguments[parameter] = number()
    return arguments


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_tables_are_written_in_tensorflows_bytes(name: str) -> None:
    compared = 0
    for seed in range(60):
        arguments = drawn(name, random.Random(seed))
        mine, original = (
            attempt(partial(getattr(lib, name), **arguments)) for lib in (ours, theirs())
        )
        assert isinstance(mine, Raised) == isinstance(original, Raised), (
            f"{name} {arguments}: {mine} {original}"
        )
        if isinstance(mine, Raised):
            assert type(mine.error) is type(original.error)
            continue
        table = {"vocabulary_size": 1 + seed, "dim": 1 + seed % 9, "name": "t"}
        levels = {"num_buckets": 2 + seed, "lower": -0.5, "upper": 0.25 * seed}
        written = []
        for lib, optimizer in ((ours, mine), (theirs(), original)):
            config = lib.QuantizationConfig(**levels) if seed % 3 else None
            made = lib.TableConfig(**table, optimizer=optimizer, quantization_config=config)
            message = (
                gl.tpu.TPUEmbeddingConfiguration if lib is ours else _proto()
            )().table_descriptor.add()
            write_table(message, made, seed % 4, {}) if lib is ours else made._set_table_descriptor(
                message, seed % 4, {}
            )
            written.append(message.SerializeToString(deterministic=True))
        assert written[0] == written[1], f"{name} {arguments}"
        compared += 1
    assert compared > 20


def _proto() -> Any:
    from tensorflow.core.protobuf.tpu import tpu_embedding_configuration_pb2 as proto

    return proto.TPUEmbeddingConfiguration


def rate_a() -> float:
    return 0.1


def rate_b() -> float:
    return 0.2


def features(lib: Any, low: Any = 0) -> dict[str, Any]:
    """The same nest in both libraries, with tables used in another order than they are made."""
    adagrad, adam = (
        lib.Adagrad(rate_a, low_dimensional_packing_status=low),
        lib.Adam(rate_b, low_dimensional_packing_status=low),
    )
    video, user = (
        lib.TableConfig(8, 4, optimizer=adagrad, name="video"),
        lib.TableConfig(1, 2, optimizer=adam),
    )
    other = lib.TableConfig(3, 1, optimizer=lib.SGD(rate_a, low_dimensional_packing_status=low))
    return {
        "z": lib.FeatureConfig(video, name="watched"),
        "a": [lib.FeatureConfig(other), lib.FeatureConfig(user, max_sequence_length=3)],
        "m": (
            lib.FeatureConfig(video, output_shape=[2, 2]),
            {"k": lib.FeatureConfig(user, 2, output_shape=[4])},
        ),
    }


@pytest.mark.parametrize(
    ("hosts", "replicas", "per_replica"), [(1, 1, None), (2, 4, None), (4, 2, 2)]
)
@pytest.mark.parametrize("pipelined", [False, True])
def test_whole_configurations_are_tensorflows_bytes(
    hosts: int, replicas: int, per_replica: int | None, pipelined: bool
) -> None:
    shapes = [[4], [4, 3], [2, 2], [4], [4]]
    original = theirs().TPUEmbedding(features(theirs()), None, pipelined)
    original._dynamic_learning_rates = [rate_a, rate_b]
    original._output_shapes = [tensorflow().TensorShape(s) for s in shapes]
    original._num_cores_per_replica = per_replica
    original._strategy = SimpleNamespace(
        num_replicas_in_sync=replicas, extended=SimpleNamespace(num_hosts=hosts)
    )
    mine = ours.TPUEmbedding(features(ours), None, pipelined)
    found = ours.configuration(
        [f for _, f in leaves(features_of(mine))],
        shapes,
        num_hosts=hosts,
        num_cores=replicas * (per_replica or 1),
        pipelined=pipelined,
        cores_per_replica=per_replica,
    )
    wanted = original._create_config_proto().SerializeToString(deterministic=True)
    assert found.SerializeToString(deterministic=True) == wanted
    if (hosts, per_replica) == (1, None):
        mine.build(4)
        assert mine.config.SerializeToString(deterministic=True) == wanted
        labels = [label for label, _ in mine._features]
        assert [f.name for f in name_features(found, labels).feature_descriptor] == labels
        assert labels[-1] == "watched"


def features_of(embedding: ours.TPUEmbedding) -> Any:
    return embedding._structure


@pytest.mark.parametrize(
    "given",
    [
        4,
        [(4, 5), (4, 7), (2, 2, 5), (4, None), (4, 1)],
        [(4,), (4, 1), (4, 7), (4,), (4,)],
        [(4,), (4, 3, 1), (3, 2, 7), (4,), (4,)],
        [(None, 1), (4, 1), (4, 1), (4, 1), (4, 1)],
        [(4,), (), (2, 2), (4,), (4,)],
        [(4,), (4,)],
        [(4, 2, 2), (4, 2, 2), (4, 2), (4, 1), (4, 1)],
    ],
)
def test_output_shapes_come_about_as_in_tensorflow(given: Any) -> None:
    def mine() -> Any:
        named_features = leaves(features(ours))
        shapes = (shapes_of_batch if isinstance(given, int) else shapes_of_inputs)(
            named_features, given
        )
        known = [f.output_shape for _, f in named_features]
        return check_known(named_features, merge_shapes(named_features, known, shapes))

    def original() -> Any:
        embedding = theirs().TPUEmbedding(features(theirs()), None)
        shapes = given if isinstance(given, int) else [tensorflow().TensorShape(s) for s in given]
        embedding._get_and_update_output_shapes_from_input(shapes)
        return [tuple(s.as_list()) for s in embedding._output_shapes]

    a, b = attempt(mine), attempt(original)
    assert type(a.error) is type(b.error) if isinstance(b, Raised) else a == b


def test_nests_are_walked_as_tensorflow_walks_them() -> None:
    nest = tensorflow().nest
    for made in ({"b": [1, (2, 3)], "a": {"d": 4, "c": 5}}, [1, {"x": 2}], (1, [2]), 7):
        assert [leaf for _, leaf in leaves(made)] == nest.flatten(made)
    for structure, given in (
        ([1, 2], (1, 2)),
        ([1, 2], [1]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, [1]),
        ((1,), {"a": 1}),
    ):
        a = attempt(lambda s=structure, g=given: leaves_like(s, g, "x"))
        b = attempt(lambda s=structure, g=given: nest.assert_same_structure(s, g))
        assert isinstance(a, Raised) and type(a.error) is type(b.error), f"{structure} {given}"


@pytest.mark.parametrize("shape", [(4, 2), (1, 3), (0, 2)])
@pytest.mark.parametrize("offset", [0, 3, -2])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_row_ids_are_tensorflows(shape: tuple[int, int], offset: int, dtype: str) -> None:
    wanted = theirs().RowIdInitializer(offset)(shape, tensorflow().dtypes.as_dtype(dtype)).numpy()
    found = np.asarray(ours.RowIdInitializer(offset)(shape, dtype))
    assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_slots_begin_as_tensorflows_do(name: str) -> None:
    def variables(lib: Any, ones: Any) -> dict[str, np.ndarray]:
        table = lib.TableConfig(3, 2, ones, name="t")
        served = lib.TPUEmbeddingForServing(lib.FeatureConfig(table), getattr(lib, name)())
        return {k: np.asarray(v) for k, v in served.variables["t"].items()}

    mine, original = variables(ours, np.ones), variables(theirs(), tensorflow().initializers.ones())
    assert mine.keys() == original.keys() and all((mine[k] == original[k]).all() for k in mine)
