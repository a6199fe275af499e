"""Conditional accumulators: sums of gradients that drop what is stale and hand out the mean when enough are there."""

from .conditional import ConditionalAccumulator as ConditionalAccumulator
from .conditional import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from .conditional import SparseConditionalAccumulator as SparseConditionalAccumulator
from .machine import Peek as Peek
from .machine import Receipt as Receipt
from .machine import Waiting as Waiting
from .sparse_sum import SparseGradient as SparseGradient
