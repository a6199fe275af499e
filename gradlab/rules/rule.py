"""The contract of an update rule.

`step` is written once, over the array namespace, and every optimizer uses it. It must be
- pure: inputs are never written to;
- row-local: row i of every result depends on row i of the inputs only, which is what makes sparse updates, `vmap` and
  sharding right without further code;
- free of Python `if` on array values; its numbers are fields, or `w.dtype.type(2)`, so that no dtype is widened;
- harmless on zeros: a zero gradient leaves a row finite.
It returns new weights, never deltas: a rule may set weights as well as move them.

What changes from step to step but is the same for all weights (the powers in Adam's bias correction, a step count) is
a field too. `start` says what those fields are at the first step, `advance` what they are at the next; what runs the
steps keeps them and puts them in by `rule.at(shared)`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from .._base.arrays import Array, flush, is_jax, is_traced, namespace, quiet
from .._base.errors import InvalidArgumentError
from .._base.types import Namespace, Number

Slots: TypeAlias = tuple[Array, ...]
Shared: TypeAlias = Mapping[str, Number]  # float32 scalars by field name


@dataclasses.dataclass(frozen=True)
class Rule:
    """One update formula; the fields are its hyperparameters.

    `slots` names the state kept per weight, with its initial value or the field that gives it.
    """

    slots: ClassVar[Mapping[str, float | str]] = {}
    lazy = True  # rows without a gradient stand still; a field of rules that can also move them, by a gradient of 0

    adds: ClassVar[bool] = False  # a step adds something to w that knows neither w nor a slot

    def __init_subclass__(cls) -> None:
        """Another `step` has to say again whether it only adds."""
        super().__init_subclass__()
        if "step" in vars(cls) and "adds" not in vars(cls):
            cls.adds = False

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        """New weights and slots. All arguments, and all fields that are numbers, have the dtype of w."""
        raise NotImplementedError(f"{type(self).__name__} must define step(w, slots, g, lr)")

    def init(self, w: Array) -> Slots:
        """The slots of weights `w` before the first step."""
        xp = namespace(w)
        starts = (getattr(self, s) if isinstance(s, str) else s for s in self.slots.values())
        return tuple(xp.full(w.shape, start, w.dtype) for start in starts)

    def start(self) -> Shared:
        """Fields that change from step to step, at the first one; most rules have none."""
        return {}

    def advance(self, shared: Shared) -> Shared:
        """Return the same fields at the next step."""
        return shared

    def at(self, shared: Shared) -> Self:
        """The rule with these fields in place."""
        return dataclasses.replace(self, **shared) if shared else self

    @quiet
    def __call__(self, w: Array, slots: Slots, g: Array, lr: Any) -> tuple[Array, Slots]:
        """`step` with every dtype settled: what goes in as the dtype of w comes out so, whatever g and lr are.

        The library of w is that of the results too, unless something else is traced. Raises ValueError where slots are
        missing or the gradient has another shape than w.
        """
        self._check(w, slots, g)
        xp, dtype = namespace(w, *(x for x in (g, lr) if is_traced(x))), w.dtype
        new_w, new_slots = self._in(dtype).step(w, slots, flush(xp.array(g, dtype)), xp.asarray(lr, dtype))
        return _settle(xp, new_w, dtype), tuple(_settle(xp, s, dtype) for s in new_slots)

    def _check(self, w: Array, slots: Slots, g: Any) -> None:
        if len(slots) != len(self.slots):
            names = ", ".join(self.slots) or "none"
            raise ValueError(f"{type(self).__name__} has the slots {names}; got {len(slots)}. rule.init(w) makes them")
        if np.shape(g) != np.shape(w):
            raise InvalidArgumentError(f"the weights have shape {np.shape(w)} but their gradient {np.shape(g)}")

    def get_config(self) -> dict[str, Any]:
        """The hyperparameters by name, NumPy numbers as Python's; `rules.from_config` makes the rule again."""
        fields = ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self))
        return {"rule": type(self).__name__, **{name: x.item() if is_moving(x) else x for name, x in fields}}

    def _in(self, dtype: Any) -> Self:
        """The rule with its numbers rounded to `dtype`, as the originals round theirs: 1 - 0.999 depends on it."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return dataclasses.replace(self, **{n: rounded(x, dtype) for n, x in fields.items() if _is_number(x)})


def zero_is_no_limit(limit: Any) -> Array:
    """`limit` where it is above 0, infinity else: what TPU embeddings mean by a limit of 0."""
    return namespace(limit).where(limit > 0, limit, limit.dtype.type(np.inf))


def is_moving(x: Any) -> bool:
    """True for a field that is a NumPy number or an array, traced or not: one that may be another at each step."""
    return hasattr(x, "dtype") and x.dtype.kind in "iufV"  # V is bfloat16


def _is_number(x: Any) -> bool:
    if isinstance(x, bool):
        return False
    return isinstance(x, int | float | np.number) or is_moving(x)


def rounded(x: Any, dtype: Any) -> Any:
    """A number of a rule as a scalar of `dtype`."""
    return x.astype(dtype) if is_jax(x) else np.asarray(x, dtype)[()]


def float32(x: Any) -> Any:
    """A number that all weights share, whatever their dtype; it may be traced."""
    return rounded(x, np.float32)


def _settle(xp: Namespace, x: Array, dtype: Any) -> Array:
    return flush(xp.asarray(x, dtype))
