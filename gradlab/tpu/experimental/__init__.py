"""TensorFlow's `tf.tpu.experimental` and `tf.compat.v1.tpu.experimental`: embedding tables.

A set-up of TensorFlow 1 has columns and parameters:

>>> import gradlab as gl
>>> tpu = gl.tpu.experimental
>>> columns = [tpu.embedding_column(tpu.IdColumn("words", 20), 4, combiner="sum")]
>>> features = tpu.feature_configs(columns, tpu.AdagradParameters(0.5))
>>> embedding = tpu.embedding.TPUEmbedding(features)
>>> ids, weights = tpu.ids_and_weights(columns, {"words": [[3, 1], [3]]})
>>> embedding.enqueue(ids, weights)
>>> embedding.dequeue()["words"].shape
(2, 4)
"""

from typing import TYPE_CHECKING

from ..._base.suggest import only_public as _only_public
from . import embedding as embedding
from .columns import (
    EmbeddingColumn,
    IdColumn,
    embedding_column,
    feature_configs,
    ids_and_weights,
    shared_embedding_columns,
)
from .parameters import (
    AdagradParameters,
    AdamParameters,
    FtrlParameters,
    StochasticGradientDescentParameters,
)

__all__ = [
    "AdagradParameters",
    "AdamParameters",
    "EmbeddingColumn",
    "FtrlParameters",
    "IdColumn",
    "StochasticGradientDescentParameters",
    "embedding",
    "embedding_column",
    "feature_configs",
    "ids_and_weights",
    "shared_embedding_columns",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
