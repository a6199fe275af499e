"""Operations of other versions: V2, which carry what the configuring operations found out, and one older than all."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .._base.types import Array
from .tpu_dedup import ComputeDedupDataSize, ComputeDedupDataTupleMask
from .tpu_op import Tensor, op, variant
from .tpu_shapes import first_again
from .tpu_step import (
    XlaRecvTPUEmbeddingActivations,
    XlaRecvTPUEmbeddingDeduplicationData,
    XlaSendTPUEmbeddingGradients,
)

_V2 = """`{name}` compiled elsewhere: the three attributes more are not needed here.

Source: op `{name}V2`, TensorFlow 2.21 (2026).

>>> from gradlab import raw_ops, tpu
>>> config = tpu.example_config()
>>> system = tpu.initialize_system(config)
>>> more = {{"embedding_partitions": b"", "hbm_buffers_config": b"", "tpu_topology": b""}}
>>> raw_ops.EnqueueTPUEmbeddingIntegerBatch(batch=[[3, 3]], mode_override="")
{example}
>>> tpu.shutdown_system()
"""
_RECEIVE = """>>> dedup = XlaRecvTPUEmbeddingDeduplicationDataV2(config=config, **more)
>>> XlaRecvTPUEmbeddingActivationsV2(deduplication_data=dedup, num_tables=1, config=config, **more)[0].shape
(2, 1)"""


def _v2(base: Callable[..., Any], example: str) -> Callable[..., Any]:
    *own, name = inspect.signature(base).parameters.values()
    attributes = ("embedding_partitions", "hbm_buffers_config", "tpu_topology")
    more = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, annotation="bytes") for n in attributes]
    doc = _V2.format(name=base.__name__, example=example)
    return variant(base, f"{base.__name__}V2", doc, [*own, *more, name])


XlaRecvTPUEmbeddingDeduplicationDataV2 = _v2(
    XlaRecvTPUEmbeddingDeduplicationData,
    """>>> dedup = XlaRecvTPUEmbeddingDeduplicationDataV2(config=config, **more)
>>> len(dedup[0])
4""",
)
XlaRecvTPUEmbeddingActivationsV2 = _v2(XlaRecvTPUEmbeddingActivations, _RECEIVE)
XlaSendTPUEmbeddingGradientsV2 = _v2(
    XlaSendTPUEmbeddingGradients,
    f"""{_RECEIVE}
>>> XlaSendTPUEmbeddingGradientsV2(
...     gradients=[[[1.0], [1.0]]], learning_rates=[], deduplication_data=dedup, config=config, **more
... )
>>> system.retrieve(0)[0].ravel().tolist()
[0.0, 0.0, 0.0, -1.0]""",
)
ComputeDedupDataSizeV2 = _v2(
    ComputeDedupDataSize,
    """>>> int(ComputeDedupDataSizeV2(config=config, **more))
7""",
)
ComputeDedupDataTupleMaskV2 = _v2(
    ComputeDedupDataTupleMask,
    """>>> ComputeDedupDataTupleMaskV2(config=config, **more).shape
(4, 2)""",
)


@op(first_again)
def TPUEmbeddingActivations(
    *, embedding_variable: Tensor, sliced_activations: Tensor, table_id: int, lookup_id: int, name: str | None = None
) -> Array:
    """The activations as they are; TensorFlow 1 hung the gradient of `embedding_variable` on it.

    Here `jax.grad` with respect to the activations says the same.

    Raises:
        InvalidArgumentError: a number below 0.

    Source: `tf.raw_ops.TPUEmbeddingActivations`, TensorFlow 2.21 (2026).

    >>> TPUEmbeddingActivations(embedding_variable=[0.0], sliced_activations=[1.0, 2.0], table_id=0, lookup_id=0)
    [1.0, 2.0]
    """
    same: Array = sliced_activations
    return same
