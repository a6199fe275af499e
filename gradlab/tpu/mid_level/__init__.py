"""Tables and features by TensorFlow's names: `tf.tpu.experimental.embedding`.

From lists of words to a loss that falls:

>>> import jax, jax.numpy as jnp
>>> import gradlab as gl
>>> words = gl.tpu.TableConfig(vocabulary_size=20, dim=4, combiner="mean")
>>> embedding = gl.tpu.TPUEmbedding({"text": gl.tpu.FeatureConfig(words)}, gl.tpu.Adagrad(0.5))
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

from .config_writer import configuration as configuration
from .custom import CustomCombiner as CustomCombiner
from .custom import CustomOptimizer as CustomOptimizer
from .custom import UserDefinedProgram as UserDefinedProgram
from .embedding import TPUEmbedding as TPUEmbedding
from .embedding_v2 import SparseCoreEmbeddingConfig as SparseCoreEmbeddingConfig
from .embedding_v2 import TPUEmbeddingV2 as TPUEmbeddingV2
from .initializers import Constant as Constant
from .initializers import RowIdInitializer as RowIdInitializer
from .initializers import TruncatedNormal as TruncatedNormal
from .optimizer import Optimizer as Optimizer
from .optimizers import FTRL as FTRL
from .optimizers import SGD as SGD
from .optimizers import Adadelta as Adadelta
from .optimizers import Adagrad as Adagrad
from .optimizers import AdagradMomentum as AdagradMomentum
from .optimizers import Adam as Adam
from .optimizers import Assign as Assign
from .optimizers import BoundedAdagrad as BoundedAdagrad
from .optimizers import CenteredRMSProp as CenteredRMSProp
from .optimizers import FrequencyAwareAdagrad as FrequencyAwareAdagrad
from .optimizers import FrequencyEstimator as FrequencyEstimator
from .optimizers import Lion as Lion
from .optimizers import MDLAdagradLight as MDLAdagradLight
from .optimizers import Momentum as Momentum
from .optimizers import OnlineYogi as OnlineYogi
from .optimizers import ProximalAdagrad as ProximalAdagrad
from .optimizers import ProximalYogi as ProximalYogi
from .optimizers import RMSProp as RMSProp
from .serving import TPUEmbeddingForServing as TPUEmbeddingForServing
from .serving import serving_embedding_lookup as serving_embedding_lookup
from .table_config import FeatureConfig as FeatureConfig
from .table_config import QuantizationConfig as QuantizationConfig
from .table_config import TableConfig as TableConfig
