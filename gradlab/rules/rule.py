"""The contract of an update rule.

`step` is written once, over the array namespace, and every optimizer uses it. It must be
- pure: inputs are never written to;
- row-local: row i of every result depends on row i of the inputs only, which is what makes sparse
  updates, `vmap` and sharding right without further code. A row is what has one index of the first
  axis. Slots have an entry for each weight, or, where `row_slots` names them, one for each row:
  axes but the first have length 1 then. A tensor rule (`is_row_local = False`) reads norms or
  factors of the whole tensor instead, so it takes dense gradients only: steps of single rows, and
  tables, refuse it;
- free of Python `if` on array values; its numbers are fields, or `w.dtype.type(2)`, so that no
  dtype is widened;
- harmless on zeros: a zero gradient leaves a row finite.
It returns new weights, never deltas: a rule may set weights as well as move them.

What changes from step to step but is the same for all weights (the powers in Adam's bias
correction, a step count) is a field too. `start` says what those fields are at the first step,
`advance` what they are at the next; what runs the steps keeps them and puts them in by
`rule.at(shared)`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from .._base.arrays import Array, flush_denormals, is_jax, is_traced, namespace, quiet
from .._base.types import Namespace, Number
from ..errors import InvalidArgumentError, PrecisionWarning, warn

Slots: TypeAlias = tuple[Array, ...]
Shared: TypeAlias = Mapping[str, Number]  # float32 scalars by field name


@dataclasses.dataclass(frozen=True)
class Rule:
    """One update formula; the fields are its hyperparameters.

    `slots` names the state kept per weight, with its initial value or the field that gives it;
    `row_slots` says which of them are kept per row.

    A rule that tables of TPU embeddings have names its message there in `table_message`, its slots
    in `table_slots` where they have other names, and has metadata, `in_tables`, on the fields that
    differ.
    """

    slots: ClassVar[Mapping[str, float | str]] = {}
    row_slots: ClassVar[tuple[str, ...]] = ()
    table_message: ClassVar[str] = ""
    table_slots: ClassVar[tuple[str, ...]] = ()
    # Rows without a gradient stand still; a field of rules that can also move them, by a gradient
    # of 0.
    lazy = True

    is_row_local: ClassVar[bool] = True  # False for tensor rules
    depends_on_weights: ClassVar[bool] = False  # `for_weights` may return another rule
    adds: ClassVar[bool] = False  # a step adds something to w that knows neither w nor a slot

    def __init_subclass__(cls) -> None:
        """Another `step` has to say again whether it only adds."""
        super().__init_subclass__()
        if "step" in vars(cls) and "adds" not in vars(cls):
            cls.adds = False

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        """New weights and slots.

        All arguments, and all fields that are numbers, have the dtype of w.
        """
        raise NotImplementedError(f"{type(self).__name__} must define step(w, slots, g, lr)")

    def for_weights(self, name: str, shape: Sequence[int]) -> Rule:
        """Return the rule for weights of this name and shape: itself, unless it depends on them.

        `Muon` steps matrices, for example, and leaves other weights to Adam. A rule that defines
        this sets `depends_on_weights`.
        """
        return self

    def init(self, w: Array) -> Slots:
        """The slots of weights `w` before the first step."""
        xp = namespace(w)
        starts = (
            (name, getattr(self, s) if isinstance(s, str) else s) for name, s in self.slots.items()
        )
        return tuple(
            xp.full(self.slot_shape(name, w.shape), start, w.dtype) for name, start in starts
        )

    def slot_shape(self, slot: str, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a slot of weights of this shape: theirs, or one entry a row.

        >>> from gradlab.rules import RowWiseAdagrad
        >>> RowWiseAdagrad().slot_shape("row_accumulator", (5, 3))
        (5, 1)
        """
        return (*shape[:1], *(1 for _ in shape[1:])) if slot in self.row_slots else tuple(shape)

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

        The library of w is that of the results too, unless something else is traced. Raises
        ValueError where slots are missing or the gradient has another shape than w.
        """
        self._check(w, slots, g)
        xp, dtype = namespace(w, *(x for x in (g, lr) if is_traced(x))), w.dtype
        new_w, new_slots = self._in(dtype).step(
            w, slots, flush_denormals(xp.array(g, dtype)), xp.asarray(lr, dtype)
        )
        return _settle(xp, new_w, dtype), tuple(_settle(xp, s, dtype) for s in new_slots)

    def _check(self, w: Array, slots: Slots, g: Any) -> None:
        if len(slots) != len(self.slots):
            names = ", ".join(self.slots) or "none"
            raise ValueError(
                f"{type(self).__name__} has the slots {names}; got "
                f"{len(slots)}. rule.init(w) makes them"
            )
        if np.shape(g) != np.shape(w):
            raise InvalidArgumentError(
                f"the weights have shape {np.shape(w)} but their gradient {np.shape(g)}"
            )
        has_other_shapes = bool(self.row_slots) or not self.is_row_local
        for name, s in zip(self.slots, slots, strict=True) if has_other_shapes else ():
            wanted = self.slot_shape(name, np.shape(w))
            if np.shape(s) != wanted and not (
                name in self.row_slots and np.ndim(w) == 1 and np.shape(s) == (1,)
            ):
                raise ValueError(
                    f"the slot {name} of weights of shape {np.shape(w)} has shape {wanted}, got "
                    f"{np.shape(s)}"
                )

    def get_config(self) -> dict[str, Any]:
        """The hyperparameters by name, NumPy numbers as Python's; `rules.from_config` makes the rule again."""
        fields = ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self))
        return {
            "rule": type(self).__name__,
            **{name: x.item() if is_moving(x) else x for name, x in fields},
        }

    def _in(self, dtype: Any) -> Self:
        """The rule with its numbers rounded to `dtype`, as the originals round theirs: 1 - 0.999
        depends on it.
        """
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        if np.dtype(dtype).itemsize == 2:
            for name, x in fields.items():
                if isinstance(x, float):
                    _warn_if_lost(type(self).__name__, name, x, np.dtype(dtype))
        return dataclasses.replace(
            self, **{n: rounded(x, dtype) for n, x in fields.items() if _is_number(x)}
        )


def check_row_local(rule: Rule, what: str) -> None:
    """Refuse a tensor rule where rows are stepped by themselves.

    >>> from gradlab.rules import Lamb
    >>> check_row_local(Lamb(), "a table")
    Traceback (most recent call last):
    ValueError: Lamb reads whole tensors, which a table cannot serve; give a rule of rows, as in gl.rules.catalog()
    """
    if not rule.is_row_local:
        raise ValueError(
            f"{type(rule).__name__} reads whole tensors, which {what} cannot serve; give a rule of "
            "rows, as in gl.rules.catalog()"
        )


class SizedRule(Rule):
    """A rule whose step reads the gradient and its size: the square, unless `size` says otherwise.

    Slices of one row are summed before a step, and the size is that of the sum. Keras 3 sums the
    sizes of the slices instead, which is what `step_sized` is for.
    """

    def size(self, g: Array) -> Array:
        """Return what the rule makes of each entry of a gradient alone."""
        return g * g

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        return self.step_sized(w, slots, g, self.size(g), lr)

    def step_sized(
        self, w: Array, slots: Slots, g: Array, size: Array, lr: Array
    ) -> tuple[Array, Slots]:
        """Return new weights and slots. `size` has the shape and dtype of g."""
        raise NotImplementedError(f"{type(self).__name__} must define step_sized(...)")


@cache
def _warn_if_lost(rule: str, name: str, x: float, dtype: np.dtype[Any]) -> None:
    """Warn, once, of a number that is another kind of number in a dtype of 16 bits."""
    short = float(rounded(x, dtype))
    if 0 < x < 1 and short == 1:
        effect = "what decays by it never changes, and a step may divide by epsilon alone"
    elif x != 0 and short == 0:
        effect = "a step may divide 0 by 0" if "epsilon" in name else "it has no effect"
    else:
        return
    warn(
        f"{rule} has {name}={x:g}, which is {short:g} in {dtype.name}, as in TensorFlow's kernels "
        f"of 16 bits: {effect}. Keep the weights in float32, pass a {name} that is not lost "
        "there, or use gl.optax.from_rule with the rule, which steps in float32",
        PrecisionWarning,
    )


_means: ContextVar[Callable[[Array], Array] | None] = ContextVar("means of columns", default=None)


def row_mean(x: Array, shape: Sequence[int]) -> Array:
    """The mean of x over the axes in which `shape`, that of a slot kept by row, has length 1.

    Of one row alone, a vector, the slot is (1,). NumPy adds the entries of a row in their order in
    memory, so rows are laid out one after another first: the bits do not depend on which rows there
    are, nor on a transposed gradient. Numbers of 16 bits are added as float32.

    >>> row_mean(np.array([[1.0, 3.0], [5.0, 7.0]]), (2, 1)).tolist()
    [[2.0], [6.0]]
    """
    if tuple(x.shape) == tuple(shape) and _means.get() is None:
        return x
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    rows = (wide if is_jax(wide) else np.ascontiguousarray(wide)).reshape(shape[0], -1)
    mean: Array = rows.sum(axis=1) / rows.dtype.type(rows.shape[1])
    joined = _means.get()
    return (joined(mean) if joined else mean).astype(x.dtype).reshape(tuple(shape))


@contextmanager
def columns_elsewhere(joined: Callable[[Array], Array]) -> Iterator[None]:
    """While steps see some of the columns of rows: `joined` makes the mean of all of them of that of those here."""
    token = _means.set(joined)
    try:
        yield
    finally:
        _means.reset(token)


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
    return flush_denormals(xp.asarray(x, dtype))
