"""TPU embedding tables as pure functions on arrays: what happens to ids, rows and gradients, without a TPU."""

from .dedup import data_size as data_size
from .dedup import merge as merge
from .dedup import split as split
from .dedup import tuple_mask as tuple_mask
from .quantize import quantize as quantize
from .sparsecore import CooRows as CooRows
from .sparsecore import combiner_gains as combiner_gains
from .sparsecore import coo_rows as coo_rows
from .update import update as update
