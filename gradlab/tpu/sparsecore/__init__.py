"""The SparseCore engine of TPU v5p and later: stacked tables, partitions with limits, buffers, minibatches."""

from ..coo import Combiner as Combiner
from ..coo import CooRows as CooRows
from ..coo import combiner_gains as combiner_gains
from ..coo import coo_rows as coo_rows
