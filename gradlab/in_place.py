"""A rule on buffers that are already there: new weights and slots take the place of the old ones.

The functions here do what their namesakes in `gradlab.apply` do, but use up the arrays they are given: NumPy arrays
are written into, JAX arrays are donated and cannot be read again. So a step of a large table costs what the rows
named cost, and a dense step is no slower than memory. For variables the optimizers do this by themselves wherever
nobody else holds a value (`update.py`). What that costs: after a dense step a large NumPy variable, and each of its
slots, keeps the buffer of its last value for the next one, twice the memory, until a step by slices or the end of the
variable. A shard of a JAX value is not seen as held: `v.value.addressable_data(0)` cannot be read after the next step.

They are for concrete arrays: `rows` and `each` are two programs on purpose, one that reads the table and one that
writes it. In one `jit` XLA may copy the table to keep the two apart; inside your own `jit` use `gradlab.apply`.
"""

from typing import TYPE_CHECKING

from ._base.suggest import only_public as _only_public
from ._steps.in_place import dense, each, rows

__all__ = ["dense", "each", "rows"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
