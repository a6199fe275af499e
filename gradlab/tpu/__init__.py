"""TPU embedding tables: what happens to ids, rows and gradients, without a TPU."""

from .batch import Batch as Batch
from .batch import Ids as Ids
from .batch import make_batch as make_batch
from .coo import CooRows as CooRows
from .coo import combiner_gains as combiner_gains
from .coo import coo_rows as coo_rows
from .dedup import data_size as data_size
from .dedup import merge as merge
from .dedup import split as split
from .dedup import tuple_mask as tuple_mask
from .lookup import lookup as lookup
from .lookups import Lookups as Lookups
from .plan import Feature as Feature
from .plan import Levels as Levels
from .plan import Plan as Plan
from .plan import Table as Table
from .plan import Tag as Tag
from .policy import Policy as Policy
from .quantize import quantize as quantize
from .row_update import update_table as update_table
from .state import State as State
from .state import create as create
from .update import flush_pending as flush_pending
from .update import update as update
