"""A rule on buffers that are already there: new weights and slots take the place of the old ones.

The functions here do what their namesakes in `gradlab.apply` do, but use up the arrays they are given: NumPy arrays
are written into, JAX arrays are donated and cannot be read again. So a step of a large table costs what the rows
named cost, and a dense step isn't slower than memory. For variables the optimizers do this by themselves wherever
nothing else holds a value (`update.py`). What that costs: after a dense step a large NumPy variable, and each of its
slots, keeps the buffer of its last value for the next one, twice the memory, until a step by slices or the end of the
variable.

JAX does not say who shares a buffer. A JAX Variable of more than 32,768 entries is stepped in its own buffer unless
its value itself is held, by a name, a list, or a NumPy view of it. These aliases of its value do not hold it, and raise
"Array has been deleted" when they are read after the next step: `jax.device_put(v.value, device)` with its own device
or a SingleDeviceSharding of it, `jax.make_array_from_single_device_arrays` of it, and its data on a device,
`v.value.addressable_data(0)`. Keep `value = v.value` as long as you use an alias, take a copy by `jnp.copy(v.value)`,
or switch this off for all variables by `gl.in_place.allow(False)`. Smaller JAX values are never donated, and no alias
of a NumPy value ever changes.

They are for concrete arrays: `rows` and `each` are two programs on purpose, one that reads the table and one that
writes it. In one `jit` XLA may copy the table to keep the two apart; inside your own `jit` use `gradlab.apply`.
"""

from typing import TYPE_CHECKING

from ._base.suggest import only_public as _only_public
from ._steps.in_place import allow, dense, each, rows

__all__ = ["allow", "dense", "each", "rows"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
