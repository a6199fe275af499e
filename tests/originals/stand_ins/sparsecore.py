"""jax-tpu-embedding's preprocessing of ids and steps of its optimizers: gradlab's, of one table on
one device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradlab as gl
from gradlab.tpu.sparsecore.buffers import fill
from gradlab.tpu.sparsecore.entries import entries
from gradlab.tpu.sparsecore.partitions import grouped
from tests.originals.namespaces import Namespace, StandIn
from tests.originals.stand_ins.sparsecore_specs import SPECS, preprocess_by_name
from tests.originals.stand_ins.sparsecore_steps import PER_CORE, PRIMITIVES


def preprocess_sparse_dense_matmul_input(
    features: Any,
    weights: Any,
    mesh: Any,
    max_ids_per_partition: int = 64,
    max_unique_ids_per_partition: int = 64,
    num_sc_per_device: int = 4,
    enable_minibatching: bool = False,
) -> tuple[np.ndarray, ...]:
    """Row pointers, ids, samples and gains, as flat buffers; with minibatching of minibatches as
    they are given.
    """
    batches = (
        list(zip(features, weights, strict=True)) if enable_minibatching else [(features, weights)]
    )
    rows, gains = zip(*(_lists(*batch) for batch in batches), strict=True)
    cores, size = (
        mesh.devices.size,
        1 + int(max(x for batch in rows for row in batch for x in np.ravel(row))),
    )
    table = gl.tpu.Table("t", -(-size // num_sc_per_device) * num_sc_per_device, 1, combiner="sum")
    feature = gl.tpu.Feature("f", 0, (len(rows[0]),))
    plan = gl.tpu.Plan((table,), (feature,), cores=cores)
    ids = [gl.tpu.ids_of(feature, *batch) for batch in zip(rows, gains, strict=True)]
    limits = gl.tpu.sparsecore.Limits(max_ids_per_partition, max_unique_ids_per_partition)
    made = [
        gl.tpu.sparsecore.preprocess(
            plan, [{"f": x}, *[{}] * (cores - 1)], per_core=num_sc_per_device, limits=limits
        )
        for x in ids
    ]
    buffers = (
        _joined(plan, made[0].layout, ids, limits) if enable_minibatching else made[0].buffers["t"]
    )
    return tuple(
        x[0]
        for x in (buffers.row_pointers, buffers.embedding_ids, buffers.sample_ids, buffers.gains)
    )


def _lists(features: Any, weights: Any) -> tuple[Any, Any]:
    """Ragged lists of numbers where samples are lists; what else there is as it is."""
    rows = [list(map(int, row)) for row in features] if np.ndim(features[0]) == 1 else features
    return rows, [list(map(float, row)) for row in weights] if np.ndim(weights[0]) == 1 else weights


def _joined(plan: Any, layout: Any, ids: Any, limits: Any) -> Any:
    """Buffers of minibatches that are given one by one; gradlab splits a batch into them itself."""
    found = [entries(plan, layout, layout.stacks[0], [{"f": x}]) for x in ids]
    number = np.repeat(np.arange(len(found)), [x.columns.size for x in found])
    whole = grouped(
        type(found[0])(*map(np.concatenate, zip(*found, strict=True))), layout.shards, number
    )
    room = gl.tpu.sparsecore.static_size(limits, layout) * len(found)
    return fill(whole, layout, room, len(found), shared=True)[0]


def shard_emb_table(table: Any, *, num_devices: int, num_sc_per_device: int) -> Any:
    """Rows dealt out over the SparseCores: (devices, rows of a device, ...)."""
    assert num_devices == 1
    return (
        np.asarray(table)
        .reshape(-1, num_sc_per_device, *table.shape[1:])
        .swapaxes(0, 1)
        .reshape(1, *table.shape)
    )


def unshard_emb_table(table: Any, num_sc_per_device: int) -> Any:
    """The inverse."""
    (own,) = np.asarray(table)
    return own.reshape(num_sc_per_device, -1, *own.shape[1:]).swapaxes(0, 1).reshape(own.shape)


NAMES = {
    **PRIMITIVES,
    "PADDING_VALUE": 2**31 - 1,
    "num_sparsecores_per_device": lambda *_: PER_CORE,
    "preprocess_sparse_dense_matmul_input": preprocess_sparse_dense_matmul_input,
    "shard_emb_table": shard_emb_table,
    "unshard_emb_table": unshard_emb_table,
}
_LIB = "jax_tpu_embedding.sparsecore.lib"
STAND_IN = StandIn(
    ("jax_tpu_embedding", "portpicker"),
    Namespace("jax-tpu-embedding", NAMES),
    exactly={
        f"{_LIB}.{module}": Namespace(f"jax-tpu-embedding's {module}", NAMES | SPECS)
        for module in ("core.pybind_input_preprocessing", "nn.embedding_spec")
    }
    | {
        f"{_LIB}.nn.embedding": Namespace(
            "jax-tpu-embedding's nn.embedding",
            NAMES | SPECS | {"preprocess_sparse_dense_matmul_input": preprocess_by_name},
        )
    },
    beside="test_utils",
)
