"""The contract of an update rule.

`step` is written once, over the array namespace, and every optimizer uses it. It must be
- pure: inputs are never written to;
- row-local: row i of every result depends on row i of the inputs only, which is what makes sparse
  updates, `vmap` and sharding right without further code. A row is w[i], the entries with one index
  of the first axis. A slot has an entry for each weight, or, if `row_slots` names it, one for each
  row: all its axes but the first have length 1. A tensor rule (`is_row_local = False`) reads norms or
  factors of the whole tensor instead, so it takes dense gradients only: steps of single rows, and
  tables, refuse it;
- free of Python `if` on array values; its numbers are fields, or `w.dtype.type(2)`, so that no
  dtype is widened;
- harmless on zeros: a zero gradient leaves a row finite. The exception is a divisor of 0, as where
  Adagrad's accumulator and epsilon are 0: that gives NaN, as in the original.
It returns new weights, never deltas: a rule may set weights as well as move them.

A number that changes from step to step but is the same for all weights (the powers in Adam's bias
correction, a step count) is a field too, a *shared* one. `start` returns the shared fields of the
first step and `advance` those of the next. Whatever runs the steps keeps them and steps by
`rule.at(shared)`.

`dense_and_sparse.py` runs a rule on arrays and on slices.

To add an optimizer, write its rule in a file of its own, as in `lion.py`, and add it to `__all__`
and `_CATALOG` in `rules/__init__.py`. `gl.train.RuleOptimizer` and `gl.optax.from_rule` take any
rule. The tests of every rule (`tests/rules/test_every_rule.py`) find it in the catalog. Then, for
each API that has the optimizer under a name of its own:

- `gl.train`: a subclass of `RuleOptimizer`, as in `train/rms_prop.py`; its name in
  `train/__init__.py`.
- `gl.keras`: a class with a `Declaration`; the comment above `_ROWS` in `keras/versions.py` says
  how.
- `gl.raw_ops`: each form of its op in `raw_ops/training.py`; their names in
  `raw_ops/__init__.py`.
- TPU tables: in the rule `table_message`, `table_slots`, and `in_tables` (`table_field.py`) for
  fields that differ there; a class in `tpu/experimental/embedding/optimizers.py`; its name in the
  `__init__.py` beside it. `tpu/engine/messages.py` derives messages from the rule.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from .._base.arrays import Array, flush_denormals, is_jax, is_traced, namespace, quiet, sharded_axes
from .._base.types import Namespace, Number
from ..errors import InvalidArgumentError, PrecisionWarning, warn

Slots: TypeAlias = tuple[Array, ...]
Shared: TypeAlias = Mapping[str, Number]  # scalars by field name


@dataclasses.dataclass(frozen=True)
class Rule:
    """One update formula; the fields are its hyperparameters.

    `slots` names the state kept per weight, with its initial value or the field that gives it;
    `row_slots` says which of them are kept per row.

    If TPU embeddings have the rule, `table_message` is the name of its message there, `table_slots`
    the names of its slots if they differ, and a field with another name or value in the message has
    the metadata of `in_tables`.
    """

    slots: ClassVar[Mapping[str, float | str]] = {}
    row_slots: ClassVar[tuple[str, ...]] = ()
    table_message: ClassVar[str] = ""
    table_slots: ClassVar[tuple[str, ...]] = ()
    # Rows without a gradient keep their weights and slots. A rule that can also move them, as by a
    # gradient of 0, has a field of this name.
    lazy = True

    is_row_local: ClassVar[bool] = True  # False for tensor rules
    depends_on_weights: ClassVar[bool] = False  # `for_weights` may return another rule
    # The step adds to w a number that depends on neither w nor a slot, so slices of one row can be
    # added at once.
    adds: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Reset `adds` where a subclass has its own `step`, which may do more than add."""
        super().__init_subclass__()
        if "step" in vars(cls) and "adds" not in vars(cls):
            cls.adds = False

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        """Return new weights and slots.

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
        """Return the slots of weights `w` before the first step."""
        xp = namespace(w)
        slots = []
        for name, start in self.slots.items():
            value = getattr(self, start) if isinstance(start, str) else start
            slots.append(xp.full(self.slot_shape(name, w.shape), value, w.dtype))
        return tuple(slots)

    def slot_shape(self, slot: str, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of a slot of weights of this shape: the same, or one entry a row.

        >>> from gradlab.rules import RowWiseAdagrad
        >>> RowWiseAdagrad().slot_shape("row_accumulator", (5, 3))
        (5, 1)
        """
        if slot not in self.row_slots:
            return tuple(shape)
        return (*shape[:1], *(1 for _ in shape[1:]))

    def start(self) -> Shared:
        """Return the shared fields at the first step; most rules have none."""
        return {}

    def advance(self, shared: Shared) -> Shared:
        """Return the shared fields at the next step."""
        return shared

    def at(self, shared: Shared) -> Self:
        """Return the rule with these values of its shared fields."""
        return dataclasses.replace(self, **shared) if shared else self

    @quiet
    def __call__(self, w: Array, slots: Slots, g: Array, lr: Any) -> tuple[Array, Slots]:
        """Run `step` with g, lr and all fields cast to the dtype of w, which the results have too.

        Shared fields are those that the rule was made with, so steps in a row need
        `rule.at(shared)`, beginning with `rule.at(rule.start())`; Adam's bias correction is off
        without that.

        Results are arrays of the library of w, or of JAX if g or lr is traced. Raises ValueError
        where slots are missing or the gradient has another shape than w.
        """
        self._check(w, slots, g)
        xp = namespace(w, *(x for x in (g, lr) if is_traced(x)))
        dtype = w.dtype
        new_w, new_slots = self._in(dtype).step(
            w, slots, flush_denormals(xp.array(g, dtype)), xp.asarray(lr, dtype)
        )
        new_w = _cast_and_flush(xp, new_w, dtype)
        return new_w, tuple(_cast_and_flush(xp, s, dtype) for s in new_slots)

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
        if not self.row_slots and self.is_row_local:
            return
        check_whole(self, w)
        for name, s in zip(self.slots, slots, strict=True):
            shape = self.slot_shape(name, np.shape(w))
            # `vmap` over rows makes a vector of a row, and one entry of its slot.
            is_one_row = name in self.row_slots and np.ndim(w) == 1 and np.shape(s) == (1,)
            if np.shape(s) != shape and not is_one_row:
                raise ValueError(
                    f"the slot {name} of weights of shape {np.shape(w)} has shape {shape}, got "
                    f"{np.shape(s)}"
                )

    def get_config(self) -> dict[str, Any]:
        """Return the hyperparameters by name, as Python's numbers, for `rules.from_config`."""
        fields = ((f.name, getattr(self, f.name)) for f in dataclasses.fields(self))
        return {
            "rule": type(self).__name__,
            **{name: x.item() if is_moving(x) else x for name, x in fields},
        }

    def _in(self, dtype: Any) -> Self:
        """Return the rule with its numbers rounded to `dtype`, as TensorFlow rounds them.

        The bits of 1 - beta2, say, depend on it: 0.999 in float32 is not Python's 0.999.
        """
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        if np.dtype(dtype).itemsize == 2:
            for name, x in fields.items():
                if isinstance(x, float):
                    _warn_if_lost(type(self).__name__, name, x, np.dtype(dtype))
        numbers = {name: rounded(x, dtype) for name, x in fields.items() if _is_number(x)}
        return dataclasses.replace(self, **numbers)


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


def check_whole(rule: Rule, w: Array) -> None:
    """Refuse a tensor rule where only a shard of the weights is seen, as inside `shard_map`.

    `jit` with sharded arrays is no such place: norms and products there are of whole arrays.
    """
    axes = [] if rule.is_row_local else sharded_axes(w)
    if axes:
        raise ValueError(
            f"{type(rule).__name__} reads whole tensors, but the weights are divided over the mesh "
            f"axis {', '.join(axes)} here. Step them outside shard_map, under jit, where a sharded "
            "array is whole; vmap steps several tensors stacked along an axis"
        )


class SizedRule(Rule):
    """A rule whose step reads the gradient and its size: the square, unless `size` says otherwise.

    Slices of one row are summed before a step, and the size is that of the sum. Keras 3 sums the
    sizes of the slices instead, which is what `step_sized` is for.
    """

    def size(self, g: Array) -> Array:
        """Return the size of each entry of a gradient."""
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
    """Warn, once, of a number that a dtype of 16 bits rounds to 0 or 1."""
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


# While set: averages the row means of each device over all devices.
_means: ContextVar[Callable[[Array], Array] | None] = ContextVar("means of columns", default=None)


def row_mean(x: Array, shape: Sequence[int]) -> Array:
    """Return the mean of x over the axes in which `shape`, that of a row slot, has length 1.

    For a single row, a vector, `shape` is (1,). NumPy adds the entries of a row in their order in
    memory, so rows are laid out one after another first: the bits depend neither on the other rows
    nor on the memory layout of the gradient. Numbers of 16 bits are added as float32.

    >>> row_mean(np.array([[1.0, 3.0], [5.0, 7.0]]), (2, 1)).tolist()
    [[2.0], [6.0]]
    """
    mean_over_devices = _means.get()
    if tuple(x.shape) == tuple(shape) and mean_over_devices is None:
        return x
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    if not is_jax(wide):
        wide = np.ascontiguousarray(wide)
    rows = wide.reshape(shape[0], -1)
    mean: Array = rows.sum(axis=1) / rows.dtype.type(rows.shape[1])
    if mean_over_devices:
        mean = mean_over_devices(mean)
    return mean.astype(x.dtype).reshape(tuple(shape))


@contextmanager
def columns_elsewhere(mean_over_devices: Callable[[Array], Array]) -> Iterator[None]:
    """Correct `row_mean` while each device holds only some of the columns of every row.

    Args:
        mean_over_devices: averages row means over all devices; it gets those of the columns
            here.
    """
    token = _means.set(mean_over_devices)
    try:
        yield
    finally:
        _means.reset(token)


def limit_or_infinity(limit: Any) -> Array:
    """Return `limit`, or infinity where it is 0, which TPU embeddings use for "no limit"."""
    return namespace(limit).where(limit > 0, limit, limit.dtype.type(np.inf))


def is_moving(x: Any) -> bool:
    """Tell whether a field is a NumPy number or an array, which may change from step to step."""
    return hasattr(x, "dtype") and x.dtype.kind in "iufV"  # V is bfloat16


def _is_number(x: Any) -> bool:
    if isinstance(x, bool):
        return False
    return isinstance(x, int | float | np.number) or is_moving(x)


def rounded(x: Any, dtype: Any) -> Any:
    """Return a number of a rule as a scalar of `dtype`."""
    return x.astype(dtype) if is_jax(x) else np.asarray(x, dtype)[()]


def float32(x: Any) -> Any:
    """Return a shared field in float32, as TensorFlow keeps it whatever the dtype of weights."""
    return rounded(x, np.float32)


def _cast_and_flush(xp: Namespace, x: Array, dtype: Any) -> Array:
    return flush_denormals(xp.asarray(x, dtype))
