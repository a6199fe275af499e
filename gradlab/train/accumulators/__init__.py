"""Conditional accumulators: sums that drop stale gradients, and queues of takes of their mean.

`conditional.py` has the classes that users call. They check arguments (`arguments.py`) and call a
`Kernel` (`kernel.py`), which is a lock around a state machine (`machine.py`) around the arithmetic
(`dense_sum.py`, `sparse_sum.py`). `deadlock.py` notices waits that can never end.
"""

from .conditional import ConditionalAccumulator as ConditionalAccumulator
from .conditional import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from .conditional import SparseConditionalAccumulator as SparseConditionalAccumulator
from .machine import Peek as Peek
from .machine import Receipt as Receipt
from .machine import Waiting as Waiting
from .sparse_sum import SparseGradient as SparseGradient
