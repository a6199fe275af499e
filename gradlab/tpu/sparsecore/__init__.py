"""The SparseCore engine of TPU v5p and later: stacked tables, partitions with limits, buffers, minibatches."""

from .buffers import Buffers as Buffers
from .buffers import static_size as static_size
from .partitions import Limits as Limits
from .preprocess import Preprocessed as Preprocessed
from .preprocess import make_batch as make_batch
from .preprocess import partition_statistics as partition_statistics
from .preprocess import preprocess as preprocess
from .stacking import Layout as Layout
from .stacking import Place as Place
from .stacking import Stack as Stack
from .stacking import Unplaced as Unplaced
from .stacking import from_stacks as from_stacks
from .stacking import stack as stack
from .stacking import stacked as stacked
from .stacking import to_stacks as to_stacks
from .statistics import PartitionStatistics as PartitionStatistics
from .v2 import as_v2 as as_v2
from .v2 import unread_by_v2 as unread_by_v2
