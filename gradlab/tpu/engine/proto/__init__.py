"""The messages that configure TPU embeddings, by TensorFlow's names.

`tpu_embedding.proto` has their fields. The module generated from it, `tpu_embedding_pb2`, is made
again by

    python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. gradlab/tpu/engine/proto/tpu_embedding.proto
"""

from typing import TYPE_CHECKING

from ...._base.suggest import only_public as _only_public
from . import tpu_embedding_pb2
from .tpu_embedding_pb2 import (
    AdadeltaParameters,
    AdagradMomentumParameters,
    AdagradParameters,
    AdamParameters,
    AssignParameters,
    BoundedAdagradParameters,
    CenteredRmsPropParameters,
    ClippingLimits,
    FrequencyAwareAdagradParameters,
    FrequencyEstimatorParameters,
    FtrlParameters,
    GradientAccumulationStatus,
    HloModuleProto,
    HotIdReplicationConfiguration,
    LearningRate,
    LionParameters,
    LowDimensionalPackingStatus,
    MdlAdagradLightParameters,
    MomentumParameters,
    OnlineYogiParameters,
    OptimizationParameters,
    OptimizerDynamicInput,
    ProximalAdagradParameters,
    ProximalYogiParameters,
    RmsPropParameters,
    SimulatedQuantization,
    SparseFeatures,
    StateVariableSpecification,
    StochasticGradientDescentParameters,
    TensorProto,
    TPUEmbeddingConfiguration,
    TPUEmbeddingError,
    UserDefinedProgramParameters,
)

__all__ = [
    "AdadeltaParameters",
    "AdagradMomentumParameters",
    "AdagradParameters",
    "AdamParameters",
    "AssignParameters",
    "BoundedAdagradParameters",
    "CenteredRmsPropParameters",
    "ClippingLimits",
    "FrequencyAwareAdagradParameters",
    "FrequencyEstimatorParameters",
    "FtrlParameters",
    "GradientAccumulationStatus",
    "HloModuleProto",
    "HotIdReplicationConfiguration",
    "LearningRate",
    "LionParameters",
    "LowDimensionalPackingStatus",
    "MdlAdagradLightParameters",
    "MomentumParameters",
    "OnlineYogiParameters",
    "OptimizationParameters",
    "OptimizerDynamicInput",
    "ProximalAdagradParameters",
    "ProximalYogiParameters",
    "RmsPropParameters",
    "SimulatedQuantization",
    "SparseFeatures",
    "StateVariableSpecification",
    "StochasticGradientDescentParameters",
    "TPUEmbeddingConfiguration",
    "TPUEmbeddingError",
    "TensorProto",
    "UserDefinedProgramParameters",
    "optimization_parameters_pb2",
    "tpu_embedding_configuration_pb2",
    "tpu_embedding_pb2",
]

# TensorFlow has two modules for them, so `from gradlab.tpu.engine.proto import
# optimization_parameters_pb2` reads as it does there.
optimization_parameters_pb2 = tpu_embedding_configuration_pb2 = tpu_embedding_pb2

TPUEmbeddingConfiguration.__doc__ = """Tables, features, hosts and cores of an embedding engine.

A protobuf message with the fields of TensorFlow's of the same name, under a package of our own: both read the same
bytes, and one process may import both. Fields that are not known stay, and are written again.

Source: `tpu_embedding_configuration.proto`, TensorFlow 2.21 (2026).

>>> config = TPUEmbeddingConfiguration(mode="TRAINING", num_hosts=1)
>>> table = config.table_descriptor.add(name="t", vocabulary_size=8, dimension=4)
>>> TPUEmbeddingConfiguration.FromString(config.SerializeToString()).table_descriptor[0].dimension
4
"""
OptimizationParameters.__doc__ = """The optimizer of a table, its learning rate, and what happens around it.

A protobuf message with the fields of TensorFlow's of the same name. `gl.tpu.rule_of` and `gl.tpu.parameters_of` lead to
rules and back.

Source: `optimization_parameters.proto`, TensorFlow 2.21 (2026).

>>> parameters = OptimizationParameters(adagrad=AdagradParameters(), learning_rate=LearningRate(constant=0.5))
>>> parameters.WhichOneof("parameters")
'adagrad'
"""

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
