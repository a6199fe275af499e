"""The operations of TPU embeddings beside TensorFlow's: signatures, and shape functions over drawn
configurations.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradlab import raw_ops, tpu
from gradlab.tpu import TPUEmbeddingConfiguration
from tests.conformance import tensorflow_ops
from tests.conformance.compare import Raised, differences
from tests.conformance.runner import attempt
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

# `test_live_sparsecore_ops.py` has the operations of SparseCores. TensorFlow 2.21 no longer has those
# of GradAccumDebug.
OPS = {
    name: getattr(raw_ops, name)
    for name in raw_ops.__all__
    if ("TPUEmbedding" in name or "DedupData" in name) and not name.endswith("GradAccumDebug")
}
OPTIMIZERS = [
    f.name for f in tpu.OptimizationParameters.DESCRIPTOR.oneofs_by_name["parameters"].fields
]
TPU_PART = {"embedding_partitions": b"", "hbm_buffers_config": b"", "tpu_topology": b""}
MORE = {"num_shards": 1, "shard_id": 0, "table_id": -1, "table_name": "", "config": ""}

repeatable = settings(max_examples=25, deadline=None, derandomize=True)
sizes = st.integers(1, 9)
unknown_sizes = st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=0, max_size=3)
shapes = st.one_of(st.none(), unknown_sizes.map(tuple))


@st.composite
def configurations(draw: Any) -> bytes:
    """With features or without, with SPMD sharding or without, some that an operation refuses."""
    config = TPUEmbeddingConfiguration(
        mode=draw(st.integers(0, 3)), batch_size_per_tensor_core=draw(sizes)
    )
    for k in range(draw(st.integers(1, 3))):
        t = config.table_descriptor.add(
            name=f"t{k}", vocabulary_size=draw(sizes), dimension=draw(sizes)
        )
        t.num_features = draw(st.integers(0, 3))
        getattr(t.optimization_parameters, draw(st.sampled_from(OPTIMIZERS))).SetInParent()
        t.optimization_parameters.gradient_accumulation_status = draw(st.integers(0, 2))
    for k in range(draw(st.integers(0, 3))):
        table = draw(st.integers(0, len(config.table_descriptor) - 1))
        config.feature_descriptor.add(
            name=f"f{k}", table_id=table, input_shape=draw(st.lists(sizes, min_size=1, max_size=3))
        )
    if draw(st.booleans()):
        config.spmd_sharding.enabled = draw(st.booleans())
        config.spmd_sharding.num_cores_per_replica = draw(sizes)
        config.spmd_sharding.use_manual_partitioning = draw(st.booleans())
    return config.SerializeToString()


def outputs(config: bytes) -> int:
    message = tpu.parse(config)
    return len(message.feature_descriptor or message.table_descriptor)


def check(name: str, **arguments: Any) -> None:
    """The same shapes from both, or errors of the same class."""
    inputs = {i.name for i in tensorflow_ops.registered(name).input_arg}
    own = {k: x for k, x in arguments.items() if k in inspect.signature(OPS[name]).parameters}
    mine = attempt(lambda: OPS[name].shapes(**own))
    theirs = attempt(
        lambda: tensorflow_ops.shapes(name, **{**dict.fromkeys(inputs, ()), **arguments})
    )
    if isinstance(theirs, Raised):
        expected: Any = {"error": type(theirs.error).__name__}
        assert isinstance(mine, Raised), (
            f"{name} {own}: gave {mine}, TensorFlow raised {theirs.error}"
        )
        names = [c.__name__ for c in type(mine.error).__mro__]
        assert expected["error"] in names, (
            f"{name} {own}: {mine.error!r}, TensorFlow {theirs.error!r}"
        )
    else:
        assert differences(theirs, mine, {"exact": True}, name) == [], f"{name} {own}"


def test_every_operation_of_the_family_is_there() -> None:
    assert tensorflow_ops.family() == set(OPS)


@pytest.mark.parametrize("name", OPS)
def test_signatures(name: str) -> None:
    """Names and defaults; the order too where TensorFlow has the operation in Python."""
    parameters = dict(inspect.signature(OPS[name]).parameters)
    parameters.pop("name")
    public = getattr(tensorflow().raw_ops, name, None)
    if public is not None:
        theirs = dict(inspect.signature(public).parameters)
        theirs.pop("name")
        assert list(parameters) == list(theirs)
        for n, p in theirs.items():
            default = parameters[n].default
            assert (list(default) if default == () else default) == p.default, n
        return
    definition = tensorflow_ops.registered(name)
    inputs = [i.name for i in definition.input_arg]
    inferred = {i.number_attr for i in definition.input_arg} | {
        i.type_attr for i in definition.input_arg
    }
    attributes = {a.name for a in definition.attr} - (inferred - {"integer_type", "float_type"})
    numbers = {i.number_attr for i in definition.output_arg} - {""}
    assert [n for n in parameters if n in inputs] == inputs
    assert set(parameters) == {*inputs, *attributes} | (numbers & set(attributes))


@repeatable
@given(configurations(), st.integers(-1, 1))
def test_receiving(config: bytes, more: int) -> None:
    count = max(outputs(config) + (more if more != -1 else 0), 1)
    check("RecvTPUEmbeddingActivations", num_outputs=count, config=config)
    for version in ("", "V2"):
        extra = {"deduplication_data": None, "num_tables": count, "config": config, **TPU_PART}
        check(f"XlaRecvTPUEmbeddingActivations{version}", **extra)
        for name in (
            "XlaRecvTPUEmbeddingDeduplicationData",
            "ComputeDedupDataSize",
            "ComputeDedupDataTupleMask",
        ):
            check(name + version, config=config, **TPU_PART)


@repeatable
@given(
    configurations(),
    st.lists(shapes, max_size=3),
    st.lists(st.one_of(shapes, st.just(())), max_size=2),
)
def test_sending(config: bytes, gradients: list[Any], rates: list[Any]) -> None:
    check("SendTPUEmbeddingGradients", inputs=gradients, learning_rates=rates, config=config)
    for version in ("", "V2"):
        arguments = {
            "gradients": gradients,
            "learning_rates": rates,
            "deduplication_data": None,
            "config": config,
        }
        check(f"XlaSendTPUEmbeddingGradients{version}", **arguments, **TPU_PART)


@repeatable
@given(configurations(), st.integers(-1, 6), st.integers(-1, 6), st.integers(0, 1))
def test_retrieving_all(config: bytes, num_shards: int, shard_id: int, more: int) -> None:
    count = len(tpu.parse(config).table_descriptor) + more
    arguments = {
        "NumTables": count,
        "config": config,
        "num_shards": num_shards,
        "shard_id": shard_id,
    }
    check("RetrieveAllTPUEmbeddingParameters", **arguments)


@repeatable
@given(configurations(), st.data())
def test_loading_all(config: bytes, data: Any) -> None:
    message = tpu.parse(config)
    lists = attempt(lambda: tpu.all_parameter_shapes(message))
    if isinstance(lists, Raised):
        lists = [[(1, 1)] * len(message.table_descriptor)] * 8
    lists = [list(x) for x in lists]
    k, t = (
        data.draw(st.integers(0, 7)),
        data.draw(st.integers(0, len(message.table_descriptor) - 1)),
    )
    lists[k][t] = data.draw(st.one_of(st.just(lists[k][t]), shapes, st.just((0,)), st.just((0, 3))))
    names = ["parameters", *(f"auxiliary{n}" for n in range(1, 8))]
    check(
        "LoadAllTPUEmbeddingParameters",
        **dict(zip(names, lists, strict=True)),
        **{**MORE, "config": config},
    )


@pytest.mark.parametrize("name", [n for n in OPS if n.startswith(("LoadTPU", "RetrieveTPU"))])
def test_one_table(name: str) -> None:
    inputs = [i.name for i in tensorflow_ops.registered(name).input_arg]
    for which in (
        {},
        {"table_id": 0},
        {"table_name": "t"},
        {"table_id": 3, "table_name": "t"},
        {"table_id": -2},
    ):
        check(name, **dict.fromkeys(inputs, (8, 4)), **{**MORE, **which})
    for wrong in ((8, 5), (8,), None, (None, 4), (8, 4, 1)):
        if inputs:
            check(
                name,
                **{**dict.fromkeys(inputs, (8, 4)), inputs[-1]: wrong},
                **{**MORE, "table_id": 0},
            )


MASKS = {
    "example": "0803120812020803120208023a06000201010001",
    "empty": "08031206120012020802",
    "no rows": "080312021200",
    "another kind": "0803120812020801120208023a020204",
    "below 0": "0803120812020801120208023a0b00fcffffffffffffffff01",
    "rank 1": "08031204120208023a020002",
    "rank 3": "0803120c1202080112020801120208023a020002",
    "three columns": "0803120812020801120208033a03000203",
    "too few": "0803120812020803120208023a020002",
    "in bytes": "08031208120208011202080222080000000002000000",
    "of int64": "08091208120208011202080252020002",
    "no message": "ffffff",
}


@pytest.mark.parametrize("mask", MASKS)
def test_masks(mask: str) -> None:
    arguments = {"tuple_mask": bytes.fromhex(MASKS[mask]), "config": "", "integer_type": "uint32"}
    tf = tensorflow()
    check(
        "SplitDedupData",
        input=None,
        **{**arguments, "float_type": "float32", "integer_type": tf.uint32},
    )
    check("MergeDedupData", integer_tensor=(3,), float_tensor=(1,), **arguments)


@repeatable
@given(st.integers(0, 3), st.integers(0, 3), st.sampled_from([n for n in OPS if "Enqueue" in n]))
def test_enqueueing(inputs: int, combiners: int, name: str) -> None:
    given = {
        "combiners": ["sum"] * combiners,
        "device_ordinal": -1,
        "table_ids": [0] * inputs,
        "mode_override": "",
    }
    definition = tensorflow_ops.registered(name)
    lists = {i.name: [(3,)] * inputs for i in definition.input_arg if i.number_attr}
    if name.startswith("Dynamic"):
        given["device_ordinal"] = ()
    check(name, **{**given, **lists})


@pytest.mark.parametrize("shape", [(), (1,), None], ids=str)
@pytest.mark.parametrize(
    "name", [n for n in OPS if "Memory" in n or "Host" in n or "Finalize" in n]
)
def test_parts_of_configuring(name: str, shape: Any) -> None:
    for argument in tensorflow_ops.registered(name).input_arg:
        given = [shape] if argument.number_attr else shape
        others = {
            i.name: [()] if i.number_attr else () for i in tensorflow_ops.registered(name).input_arg
        }
        check(name, **{**others, argument.name: given}, config=tpu.example_config())


@repeatable
@given(configurations())
def test_partitioning(config: bytes) -> None:
    check("ExecuteTPUEmbeddingPartitioner", config=config)
    check("ConfigureTPUEmbedding", config=config)
    check("IsTPUEmbeddingInitialized", config=config)


def test_bytes_that_are_no_configuration() -> None:
    for name in (
        "ExecuteTPUEmbeddingPartitioner",
        "RecvTPUEmbeddingActivations",
        "RetrieveAllTPUEmbeddingParameters",
    ):
        check(name, config=b"\xff", num_outputs=1, NumTables=1, num_shards=1, shard_id=0)
