"""Configurations beside TensorFlow's own messages: the same fields, the same bytes, in one process,
in either order.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from hypothesis import given, settings
from hypothesis import strategies as st

from gradlab.tpu import (
    TPUEmbeddingConfiguration,
    activation_shapes,
    all_parameter_shapes,
    describe,
    parse,
)
from gradlab.tpu.engine.proto import tpu_embedding_pb2 as ours
from tests.conformance.adapters.tpu_config import words
from tests.golden.tensorflow_values import tensorflow
from tests.tpu.engine.messages import arguments, configurations

pytestmark = pytest.mark.tensorflow

repeatable = settings(max_examples=100, deadline=None, derandomize=True)
OUR_OWN = {"HloModuleProto", "TensorProto", "SparseFeatures"}  # not in TensorFlow's two files
SCRIPT = """
import tensorflow
import gradlab.tpu
from tensorflow.core.protobuf.tpu import tpu_embedding_configuration_pb2 as theirs
import gradlab as gl
data = bytes.fromhex("{data}")
mine, its = gl.tpu.parse(data), theirs.TPUEmbeddingConfiguration.FromString(data)
assert type(mine) is not type(its) and type(mine) is gl.tpu.TPUEmbeddingConfiguration
assert gl.tpu.parse(its) == mine
print(mine.SerializeToString().hex(), its.SerializeToString().hex())
"""


@pytest.fixture(scope="module")
def theirs() -> Any:
    tensorflow()
    from tensorflow.core.protobuf.tpu import tpu_embedding_configuration_pb2

    return tpu_embedding_configuration_pb2.TPUEmbeddingConfiguration


@repeatable
@given(arguments(TPUEmbeddingConfiguration.DESCRIPTOR))
def test_any_configuration_is_the_same_bytes_and_fields(
    theirs: Any, given_fields: dict[str, Any]
) -> None:
    its, mine = theirs(**given_fields), TPUEmbeddingConfiguration(**given_fields)
    assert type(mine) is not type(its) and type(parse(its)) is TPUEmbeddingConfiguration
    assert parse(its) == mine
    assert mine.SerializeToString() == its.SerializeToString()
    assert words(parse(its)) == words(its) == words(mine)
    assert theirs.FromString(parse(its).SerializeToString()) == its
    assert describe(its)._repr_html_()


def test_every_field_is_described_as_theirs_is() -> None:
    from tensorflow.core.protobuf.tpu import (
        optimization_parameters_pb2,
        tpu_embedding_configuration_pb2,
    )

    described: dict[str, Any] = {}
    for file in (optimization_parameters_pb2, tpu_embedding_configuration_pb2):
        described |= {n: _plain(m) for n, m in file.DESCRIPTOR.message_types_by_name.items()}
    mine = {
        n: _plain(m) for n, m in ours.DESCRIPTOR.message_types_by_name.items() if n not in OUR_OWN
    }
    assert mine == described


def _plain(message: Any) -> Any:
    """A description without order and packages."""
    made = descriptor_pb2.DescriptorProto()
    message.CopyToProto(made)
    return _unordered(made)


def _unordered(m: descriptor_pb2.DescriptorProto) -> Any:
    oneofs = [o.name for o in m.oneof_decl]
    fields = {
        f.number: (
            f.name,
            f.type,
            f.label,
            f.type_name.removeprefix(".gradlab.tpu.")
            .removeprefix(".tensorflow.tpu.")
            .removeprefix(".xla."),
            oneofs[f.oneof_index] if f.HasField("oneof_index") else None,
            f.options.deprecated,
        )
        for f in m.field
    }
    enums = {e.name: {v.number: v.name for v in e.value} for e in m.enum_type}
    reserved = {n for r in m.reserved_range for n in range(r.start, r.end)}
    return (
        fields,
        enums,
        reserved,
        set(m.reserved_name),
        {n.name: _unordered(n) for n in m.nested_type},
    )


def test_tensorflow_can_be_imported_first() -> None:
    """In the process of these tests gradlab's own messages were there before."""
    config = TPUEmbeddingConfiguration(mode="TRAINING", num_hosts=2)
    t = config.table_descriptor.add(name="t", vocabulary_size=8, dimension=4)
    t.optimization_parameters.ftrl.l1 = 0.5
    data = config.SerializeToString() + b"\x40\x01"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(data=data.hex())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [data.hex()] * 2


# --- shape functions ------------------------------------------------------------------------------


def shapes_of(operation: str, **attributes: Any) -> list[tuple[int | None, ...]]:
    """What TensorFlow's shape function of an operation without inputs says; nothing is run."""
    import tensorflow as tf
    from tensorflow.core.framework import node_def_pb2
    from tensorflow.python.framework import ops

    node = node_def_pb2.NodeDef(name="x", op=operation)
    for name, value in attributes.items():
        setattr(node.attr[name], "s" if isinstance(value, bytes) else "i", value)
    with tf.Graph().as_default() as graph:
        made = ops._create_c_op(graph, node, [], [])
        return [tuple(x.shape.as_list()) for x in graph._create_op_from_tf_operation(made).outputs]


@repeatable
@given(configurations())
def test_activations_have_the_shapes_of_tensorflows_shape_function(
    config: TPUEmbeddingConfiguration,
) -> None:
    mine = activation_shapes(config)
    data = config.SerializeToString()
    assert shapes_of("RecvTPUEmbeddingActivations", config=data, num_outputs=len(mine)) == mine


@repeatable
@given(configurations(), st.integers(1, 4), st.data())
def test_parameters_have_the_shapes_of_tensorflows_shape_function(
    config: TPUEmbeddingConfiguration, shards: int, data: Any
) -> None:
    shard = data.draw(st.integers(0, shards - 1))
    sent = {"config": config.SerializeToString(), "NumTables": len(config.table_descriptor)}
    try:
        mine = all_parameter_shapes(config, shards, shard)
    except ValueError:
        with pytest.raises(ValueError, match="non-empty"):
            shapes_of(
                "RetrieveAllTPUEmbeddingParameters", **sent, num_shards=shards, shard_id=shard
            )
        return
    its = shapes_of("RetrieveAllTPUEmbeddingParameters", **sent, num_shards=shards, shard_id=shard)
    assert its == [shape for part in mine for shape in part]
