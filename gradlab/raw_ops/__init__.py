"""`tf.raw_ops` of the conditional accumulators, by TensorFlow's names and keywords: each is one call into the library.

A handle is what a constructor here returns, or the `accumulator_ref` of an accumulator object. As in TensorFlow there
are two types: `Resource...` ops take dense accumulators by "resource" handles, all others take "string_ref" handles,
and one of the wrong type is a TypeError. The ops skip what TensorFlow's Python checks, so shapes are looked at only in
gradients that are fresh. What kills TensorFlow's process raises and changes nothing: a `local_step` or `num_required`
that is no scalar, a gradient or a take of another dtype, one shared_name with two dtypes.

Differs from TensorFlow: everything happens at once, ref ops too, which need a graph there; accumulators without a
shared_name are distinct; an apply returns its `Receipt`. Source: `tf.raw_ops`, TensorFlow 2.21 (2026), run.
"""

import typing

from .._suggest import suggesting as _suggesting
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

if not typing.TYPE_CHECKING:  # type checkers find unknown names themselves
    __getattr__ = _suggesting(__name__)
