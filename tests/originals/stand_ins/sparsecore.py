"""jax-tpu-embedding's preprocessing of ids: gradlab's, of one table and one feature on one device."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.namespaces import Namespace, StandIn


def preprocess_sparse_dense_matmul_input(
    features: Any,
    weights: Any,
    mesh: Any,
    max_ids_per_partition: int = 64,
    max_unique_ids_per_partition: int = 64,
    num_sc_per_device: int = 4,
    enable_minibatching: bool = False,
) -> tuple[np.ndarray, ...]:
    """Row pointers, ids, samples and gains, as flat buffers."""
    if enable_minibatching:
        (features,), (weights,) = features, weights
    rows = [list(map(int, row)) for row in features] if np.ndim(features[0]) == 1 else features
    scales = [list(map(float, row)) for row in weights] if np.ndim(weights[0]) == 1 else weights
    cores, size = mesh.devices.size, 1 + int(np.max([x for row in features for x in np.ravel(row)]))
    table = gl.tpu.Table("t", -(-size // num_sc_per_device) * num_sc_per_device, 1, combiner="sum")
    feature = gl.tpu.Feature("f", 0, (len(features),))
    made = gl.tpu.sparsecore.preprocess(
        gl.tpu.Plan((table,), (feature,), cores=cores),
        {"f": gl.tpu.ids_of(feature, rows, scales)},
        per_core=num_sc_per_device,
        limits=gl.tpu.sparsecore.Limits(max_ids_per_partition, max_unique_ids_per_partition),
    )
    buffers = made.buffers["t"]
    return tuple(np.ravel(x) for x in (buffers.row_pointers, buffers.embedding_ids, buffers.sample_ids, buffers.gains))


NAMES = {
    "PADDING_VALUE": 2**31 - 1,
    "preprocess_sparse_dense_matmul_input": preprocess_sparse_dense_matmul_input,
}
STAND_IN = StandIn(("jax_tpu_embedding",), Namespace("jax-tpu-embedding", NAMES))
