"""Tables and features by TensorFlow's names: `tf.tpu.experimental.embedding`.

From lists of words to a loss that falls:

>>> import jax, jax.numpy as jnp
>>> import gradlab as gl
>>> tpu = gl.tpu.experimental.embedding
>>> words = tpu.TableConfig(vocabulary_size=20, dim=4, combiner="mean")
>>> embedding = tpu.TPUEmbedding({"text": tpu.FeatureConfig(words)}, tpu.Adagrad(0.5))
>>> texts, labels = [[1, 2, 3], [4, 5], [1, 3], [5, 6, 4]], jnp.array([1.0, 0.0, 1.0, 0.0])
>>> def loss(activations):
...     return jnp.mean((jax.nn.sigmoid(activations["text"].sum(axis=1)) - labels) ** 2)
>>> losses = []
>>> for step in range(10):
...     embedding.enqueue({"text": texts})
...     value, gradients = jax.value_and_grad(loss)(embedding.dequeue())
...     embedding.apply_gradients(gradients)
...     losses.append(float(value))
>>> losses[-1] < losses[0] / 3
True
"""

from typing import TYPE_CHECKING

from ...._base.suggest import only_public as _only_public
from .config_writer import configuration
from .custom import CustomCombiner, CustomOptimizer, UserDefinedProgram
from .embedding import TPUEmbedding
from .embedding_v0 import TPUEmbeddingV0
from .embedding_v2 import SparseCoreEmbeddingConfig, TPUEmbeddingV2
from .initializers import Constant, RowIdInitializer, TruncatedNormal
from .optimizer import Optimizer
from .optimizers import (
    FTRL,
    SGD,
    Adadelta,
    Adagrad,
    AdagradMomentum,
    Adam,
    Assign,
    BoundedAdagrad,
    CenteredRMSProp,
    FrequencyAwareAdagrad,
    FrequencyEstimator,
    Lion,
    MDLAdagradLight,
    Momentum,
    OnlineYogi,
    ProximalAdagrad,
    ProximalYogi,
    RMSProp,
)
from .serving import TPUEmbeddingForServing, serving_embedding_lookup
from .table_config import FeatureConfig, QuantizationConfig, TableConfig

__all__ = [
    "FTRL",
    "SGD",
    "Adadelta",
    "Adagrad",
    "AdagradMomentum",
    "Adam",
    "Assign",
    "BoundedAdagrad",
    "CenteredRMSProp",
    "Constant",
    "CustomCombiner",
    "CustomOptimizer",
    "FeatureConfig",
    "FrequencyAwareAdagrad",
    "FrequencyEstimator",
    "Lion",
    "MDLAdagradLight",
    "Momentum",
    "OnlineYogi",
    "Optimizer",
    "ProximalAdagrad",
    "ProximalYogi",
    "QuantizationConfig",
    "RMSProp",
    "RowIdInitializer",
    "SparseCoreEmbeddingConfig",
    "TPUEmbedding",
    "TPUEmbeddingForServing",
    "TPUEmbeddingV0",
    "TPUEmbeddingV2",
    "TableConfig",
    "TruncatedNormal",
    "UserDefinedProgram",
    "configuration",
    "serving_embedding_lookup",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
