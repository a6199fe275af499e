"""The messages that configure TPU embeddings, by TensorFlow's names.

`tpu_embedding.proto` has their fields. The module generated from it, `tpu_embedding_pb2`, is made anew by

    python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. gradlab/tpu/proto/tpu_embedding.proto
"""

from . import tpu_embedding_pb2
from .tpu_embedding_pb2 import AdadeltaParameters as AdadeltaParameters
from .tpu_embedding_pb2 import AdagradMomentumParameters as AdagradMomentumParameters
from .tpu_embedding_pb2 import AdagradParameters as AdagradParameters
from .tpu_embedding_pb2 import AdamParameters as AdamParameters
from .tpu_embedding_pb2 import AssignParameters as AssignParameters
from .tpu_embedding_pb2 import BoundedAdagradParameters as BoundedAdagradParameters
from .tpu_embedding_pb2 import CenteredRmsPropParameters as CenteredRmsPropParameters
from .tpu_embedding_pb2 import ClippingLimits as ClippingLimits
from .tpu_embedding_pb2 import FrequencyAwareAdagradParameters as FrequencyAwareAdagradParameters
from .tpu_embedding_pb2 import FrequencyEstimatorParameters as FrequencyEstimatorParameters
from .tpu_embedding_pb2 import FtrlParameters as FtrlParameters
from .tpu_embedding_pb2 import GradientAccumulationStatus as GradientAccumulationStatus
from .tpu_embedding_pb2 import HloModuleProto as HloModuleProto
from .tpu_embedding_pb2 import HotIdReplicationConfiguration as HotIdReplicationConfiguration
from .tpu_embedding_pb2 import LearningRate as LearningRate
from .tpu_embedding_pb2 import LionParameters as LionParameters
from .tpu_embedding_pb2 import LowDimensionalPackingStatus as LowDimensionalPackingStatus
from .tpu_embedding_pb2 import MdlAdagradLightParameters as MdlAdagradLightParameters
from .tpu_embedding_pb2 import MomentumParameters as MomentumParameters
from .tpu_embedding_pb2 import OnlineYogiParameters as OnlineYogiParameters
from .tpu_embedding_pb2 import OptimizationParameters as OptimizationParameters
from .tpu_embedding_pb2 import OptimizerDynamicInput as OptimizerDynamicInput
from .tpu_embedding_pb2 import ProximalAdagradParameters as ProximalAdagradParameters
from .tpu_embedding_pb2 import ProximalYogiParameters as ProximalYogiParameters
from .tpu_embedding_pb2 import RmsPropParameters as RmsPropParameters
from .tpu_embedding_pb2 import SimulatedQuantization as SimulatedQuantization
from .tpu_embedding_pb2 import StateVariableSpecification as StateVariableSpecification
from .tpu_embedding_pb2 import StochasticGradientDescentParameters as StochasticGradientDescentParameters
from .tpu_embedding_pb2 import TensorProto as TensorProto
from .tpu_embedding_pb2 import TPUEmbeddingConfiguration as TPUEmbeddingConfiguration
from .tpu_embedding_pb2 import TPUEmbeddingError as TPUEmbeddingError
from .tpu_embedding_pb2 import UserDefinedProgramParameters as UserDefinedProgramParameters

# TensorFlow has two modules for them: `from gradlab.tpu.proto import optimization_parameters_pb2` reads as there.
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
