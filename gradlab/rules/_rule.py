"""The contract of an update rule.

`step` is written once, over the array namespace, and every optimizer uses it. It must be
- pure: inputs are never written to;
- row-local: row i of every result depends on row i of the inputs only, which is what makes sparse updates, `vmap` and
  sharding right without further code;
- free of Python `if` on array values, with constants as Python floats;
- harmless on zeros: a zero gradient leaves a row finite.
It returns new weights, never deltas: a rule may set weights as well as move them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from .._arrays import Array, flush, is_jax, namespace, quiet

Slots = tuple[Array, ...]


@dataclasses.dataclass(frozen=True)
class Rule:
    """One update formula; the fields are its hyperparameters.

    `slots` names the state kept per weight, with its initial value or the field that gives it.
    """

    slots: ClassVar[Mapping[str, float | str]] = {}

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        """New weights and slots. All arguments have the dtype of w."""
        raise NotImplementedError(f"{type(self).__name__} must define step(w, slots, g, lr)")

    def init(self, w: Array) -> Slots:
        """The slots of weights `w` before the first step."""
        xp = namespace(w)
        starts = (getattr(self, s) if isinstance(s, str) else s for s in self.slots.values())
        return tuple(xp.full(w.shape, start, w.dtype) for start in starts)

    @quiet
    def __call__(self, w: Array, slots: Slots, g: Array, lr: Any) -> tuple[Array, Slots]:
        """`step` with every dtype settled: what goes in as the dtype of w comes out so, whatever g and lr are."""
        xp, dtype = namespace(w, g, lr), w.dtype
        rule = self if dtype in (np.float32, np.float64) or is_jax(w) else self._in(dtype)
        new_w, new_slots = rule.step(w, slots, flush(xp.array(g, dtype)), xp.asarray(lr, dtype))
        return _settle(xp, new_w, dtype), tuple(_settle(xp, s, dtype) for s in new_slots)

    def _in(self, dtype: Any) -> Rule:
        """The rule with its numbers rounded to a dtype that NumPy would otherwise widen (bfloat16 times a float)."""
        numbers = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return dataclasses.replace(self, **{n: dtype.type(x) for n, x in numbers.items() if isinstance(x, float)})


def _settle(xp: Any, x: Array, dtype: Any) -> Array:
    return flush(xp.asarray(x, dtype))
