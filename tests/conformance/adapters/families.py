"""One module per family of scenarios; the first that accepts a scenario runs it."""

from tests.conformance.adapters import (
    accumulator,
    anchors,
    clip,
    derived,
    drop_stale,
    embedding_lookup,
    gate,
    keras,
    model,
    op_shape,
    ops,
    peers,
    replicas,
    schedule,
    sparsecore,
    sync_replicas,
    tpu_config,
    tpu_mid_level,
    tpu_step,
    train,
)

ADAPTERS = (
    *(accumulator, clip, gate, keras, model, replicas, train, schedule, ops, derived, peers, anchors, drop_stale),
    sync_replicas,
    tpu_config,
    tpu_mid_level,
    tpu_step,
    embedding_lookup,
    op_shape,
    sparsecore,
)
