"""The SparseCore engine of TPU v5p and later: stacked tables, partitions with limits, buffers, minibatches."""

from typing import TYPE_CHECKING

from ..._base.suggest import only_public as _only_public
from .buffers import Buffers, static_size
from .feedback import limits_of, set_limits, statistics_of
from .partitions import Limits
from .preprocess import Preprocessed, make_batch, partition_statistics, preprocess
from .stacking import Layout, Place, Stack, Unplaced, from_stacks, stack, stacked, to_stacks
from .statistics import PartitionStatistics
from .topology import set_sparsecores_per_device, sparsecores_per_device
from .v2 import as_v2, unread_by_v2

__all__ = [
    "Buffers",
    "Layout",
    "Limits",
    "PartitionStatistics",
    "Place",
    "Preprocessed",
    "Stack",
    "Unplaced",
    "as_v2",
    "from_stacks",
    "limits_of",
    "make_batch",
    "partition_statistics",
    "preprocess",
    "set_limits",
    "set_sparsecores_per_device",
    "sparsecores_per_device",
    "stack",
    "stacked",
    "static_size",
    "statistics_of",
    "to_stacks",
    "unread_by_v2",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
