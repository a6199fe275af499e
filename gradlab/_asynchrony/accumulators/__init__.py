"""Conditional accumulators: sums of gradients that drop what is stale and hand out the mean when enough are there."""

from .base import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from .conditional import ConditionalAccumulator as ConditionalAccumulator
from .machine import Peek as Peek
from .machine import Receipt as Receipt
from .machine import Waiting as Waiting
from .sparse import SparseGradient as SparseGradient
from .sparse_conditional import SparseConditionalAccumulator as SparseConditionalAccumulator
