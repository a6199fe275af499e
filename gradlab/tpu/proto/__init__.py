"""The messages that configure TPU embeddings, by TensorFlow's names.

`tpu_embedding.proto` has their fields. The module generated from it, `tpu_embedding_pb2`, is made anew by

    python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. gradlab/tpu/proto/tpu_embedding.proto
"""

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
