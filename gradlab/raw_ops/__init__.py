"""`tf.raw_ops` of conditional accumulators and TPU embeddings, by TensorFlow's names and keywords.

Each is one call into the library. A handle is what a constructor here returns, or the `accumulator_ref` of an
accumulator object. As in TensorFlow there are two types: `Resource...` ops take dense accumulators by "resource"
handles, all others take "string_ref" handles, and one of the wrong type is a TypeError. The ops skip what TensorFlow's
Python checks, so shapes are looked at only in gradients that are fresh. What kills TensorFlow's process raises and
changes nothing: a `local_step` or `num_required` that is no scalar, a gradient or a take of another dtype, one
shared_name with two dtypes.

Differs from TensorFlow: everything happens at once, ref ops too, which need a graph there; accumulators without a
shared_name are distinct; an apply returns its `Receipt`.

The operations of TPU embeddings are about the running system of `gl.tpu.initialize_system`, on any machine. They run at
once, and not inside `jax.jit`; `gl.raw_ops.<name>.shapes(...)` is TensorFlow's shape function of each. Source:
`tf.raw_ops`, TensorFlow 2.21 (2026), run.
"""

import typing

from .._base.suggest import suggesting as _suggesting
from .accumulators import AccumulatorApplyGradient as AccumulatorApplyGradient
from .accumulators import AccumulatorNumAccumulated as AccumulatorNumAccumulated
from .accumulators import AccumulatorSetGlobalStep as AccumulatorSetGlobalStep
from .accumulators import AccumulatorTakeGradient as AccumulatorTakeGradient
from .accumulators import ConditionalAccumulator as ConditionalAccumulator
from .resource_accumulators import ResourceAccumulatorApplyGradient as ResourceAccumulatorApplyGradient
from .resource_accumulators import ResourceAccumulatorNumAccumulated as ResourceAccumulatorNumAccumulated
from .resource_accumulators import ResourceAccumulatorSetGlobalStep as ResourceAccumulatorSetGlobalStep
from .resource_accumulators import ResourceAccumulatorTakeGradient as ResourceAccumulatorTakeGradient
from .resource_accumulators import ResourceConditionalAccumulator as ResourceConditionalAccumulator
from .sparse_accumulators import SparseAccumulatorApplyGradient as SparseAccumulatorApplyGradient
from .sparse_accumulators import SparseAccumulatorTakeGradient as SparseAccumulatorTakeGradient
from .sparse_accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
from .tpu_all_parameters import LoadAllTPUEmbeddingParameters as LoadAllTPUEmbeddingParameters
from .tpu_all_parameters import RetrieveAllTPUEmbeddingParameters as RetrieveAllTPUEmbeddingParameters
from .tpu_configure import CollateTPUEmbeddingMemory as CollateTPUEmbeddingMemory
from .tpu_configure import ConfigureTPUEmbedding as ConfigureTPUEmbedding
from .tpu_configure import ConfigureTPUEmbeddingHost as ConfigureTPUEmbeddingHost
from .tpu_configure import ConfigureTPUEmbeddingMemory as ConfigureTPUEmbeddingMemory
from .tpu_configure import ConnectTPUEmbeddingHosts as ConnectTPUEmbeddingHosts
from .tpu_configure import ExecuteTPUEmbeddingPartitioner as ExecuteTPUEmbeddingPartitioner
from .tpu_configure import FinalizeTPUEmbedding as FinalizeTPUEmbedding
from .tpu_configure import FinalizeTPUEmbeddingV2 as FinalizeTPUEmbeddingV2
from .tpu_configure import IsTPUEmbeddingInitialized as IsTPUEmbeddingInitialized
from .tpu_dedup import ComputeDedupDataSize as ComputeDedupDataSize
from .tpu_dedup import ComputeDedupDataTupleMask as ComputeDedupDataTupleMask
from .tpu_dedup import MergeDedupData as MergeDedupData
from .tpu_dedup import SplitDedupData as SplitDedupData
from .tpu_enqueue import EnqueueTPUEmbeddingArbitraryTensorBatch as EnqueueTPUEmbeddingArbitraryTensorBatch
from .tpu_enqueue import EnqueueTPUEmbeddingIntegerBatch as EnqueueTPUEmbeddingIntegerBatch
from .tpu_enqueue import EnqueueTPUEmbeddingRaggedTensorBatch as EnqueueTPUEmbeddingRaggedTensorBatch
from .tpu_enqueue import EnqueueTPUEmbeddingSparseBatch as EnqueueTPUEmbeddingSparseBatch
from .tpu_enqueue import EnqueueTPUEmbeddingSparseTensorBatch as EnqueueTPUEmbeddingSparseTensorBatch
from .tpu_enqueue_dynamic import (
    DynamicEnqueueTPUEmbeddingArbitraryTensorBatch as DynamicEnqueueTPUEmbeddingArbitraryTensorBatch,
)
from .tpu_enqueue_dynamic import (
    DynamicEnqueueTPUEmbeddingRaggedTensorBatch as DynamicEnqueueTPUEmbeddingRaggedTensorBatch,
)
from .tpu_parameters import LoadTPUEmbeddingAdadeltaParameters as LoadTPUEmbeddingAdadeltaParameters
from .tpu_parameters import LoadTPUEmbeddingAdagradMomentumParameters as LoadTPUEmbeddingAdagradMomentumParameters
from .tpu_parameters import LoadTPUEmbeddingAdagradParameters as LoadTPUEmbeddingAdagradParameters
from .tpu_parameters import LoadTPUEmbeddingADAMParameters as LoadTPUEmbeddingADAMParameters
from .tpu_parameters import LoadTPUEmbeddingCenteredRMSPropParameters as LoadTPUEmbeddingCenteredRMSPropParameters
from .tpu_parameters import LoadTPUEmbeddingFrequencyEstimatorParameters as LoadTPUEmbeddingFrequencyEstimatorParameters
from .tpu_parameters import LoadTPUEmbeddingFTRLParameters as LoadTPUEmbeddingFTRLParameters
from .tpu_parameters import LoadTPUEmbeddingMDLAdagradLightParameters as LoadTPUEmbeddingMDLAdagradLightParameters
from .tpu_parameters import LoadTPUEmbeddingMomentumParameters as LoadTPUEmbeddingMomentumParameters
from .tpu_parameters import LoadTPUEmbeddingProximalAdagradParameters as LoadTPUEmbeddingProximalAdagradParameters
from .tpu_parameters import LoadTPUEmbeddingProximalYogiParameters as LoadTPUEmbeddingProximalYogiParameters
from .tpu_parameters import LoadTPUEmbeddingRMSPropParameters as LoadTPUEmbeddingRMSPropParameters
from .tpu_parameters import (
    LoadTPUEmbeddingStochasticGradientDescentParameters as LoadTPUEmbeddingStochasticGradientDescentParameters,
)
from .tpu_parameters import RetrieveTPUEmbeddingAdadeltaParameters as RetrieveTPUEmbeddingAdadeltaParameters
from .tpu_parameters import (
    RetrieveTPUEmbeddingAdagradMomentumParameters as RetrieveTPUEmbeddingAdagradMomentumParameters,
)
from .tpu_parameters import RetrieveTPUEmbeddingAdagradParameters as RetrieveTPUEmbeddingAdagradParameters
from .tpu_parameters import RetrieveTPUEmbeddingADAMParameters as RetrieveTPUEmbeddingADAMParameters
from .tpu_parameters import (
    RetrieveTPUEmbeddingCenteredRMSPropParameters as RetrieveTPUEmbeddingCenteredRMSPropParameters,
)
from .tpu_parameters import (
    RetrieveTPUEmbeddingFrequencyEstimatorParameters as RetrieveTPUEmbeddingFrequencyEstimatorParameters,
)
from .tpu_parameters import RetrieveTPUEmbeddingFTRLParameters as RetrieveTPUEmbeddingFTRLParameters
from .tpu_parameters import (
    RetrieveTPUEmbeddingMDLAdagradLightParameters as RetrieveTPUEmbeddingMDLAdagradLightParameters,
)
from .tpu_parameters import RetrieveTPUEmbeddingMomentumParameters as RetrieveTPUEmbeddingMomentumParameters
from .tpu_parameters import (
    RetrieveTPUEmbeddingProximalAdagradParameters as RetrieveTPUEmbeddingProximalAdagradParameters,
)
from .tpu_parameters import RetrieveTPUEmbeddingProximalYogiParameters as RetrieveTPUEmbeddingProximalYogiParameters
from .tpu_parameters import RetrieveTPUEmbeddingRMSPropParameters as RetrieveTPUEmbeddingRMSPropParameters
from .tpu_parameters import (
    RetrieveTPUEmbeddingStochasticGradientDescentParameters as RetrieveTPUEmbeddingStochasticGradientDescentParameters,
)
from .tpu_step import RecvTPUEmbeddingActivations as RecvTPUEmbeddingActivations
from .tpu_step import SendTPUEmbeddingGradients as SendTPUEmbeddingGradients
from .tpu_step import XlaRecvTPUEmbeddingActivations as XlaRecvTPUEmbeddingActivations
from .tpu_step import XlaRecvTPUEmbeddingDeduplicationData as XlaRecvTPUEmbeddingDeduplicationData
from .tpu_step import XlaSendTPUEmbeddingGradients as XlaSendTPUEmbeddingGradients
from .tpu_versions import ComputeDedupDataSizeV2 as ComputeDedupDataSizeV2
from .tpu_versions import ComputeDedupDataTupleMaskV2 as ComputeDedupDataTupleMaskV2
from .tpu_versions import TPUEmbeddingActivations as TPUEmbeddingActivations
from .tpu_versions import XlaRecvTPUEmbeddingActivationsV2 as XlaRecvTPUEmbeddingActivationsV2
from .tpu_versions import XlaRecvTPUEmbeddingDeduplicationDataV2 as XlaRecvTPUEmbeddingDeduplicationDataV2
from .tpu_versions import XlaSendTPUEmbeddingGradientsV2 as XlaSendTPUEmbeddingGradientsV2

if not typing.TYPE_CHECKING:  # type checkers find unknown names themselves
    __getattr__ = _suggesting(__name__)
