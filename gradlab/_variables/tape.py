"""The tape: which variables a loss reads, and how, while it is differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._base.arrays import Array, is_traced
from .variable import Variable, _tape


class Tape:
    """Stands traced values in for variables while a loss runs, and notes which ones it read and how.

    It lives in a context variable, so each thread differentiates by itself.
    """

    def __init__(self, variables: Sequence[Variable], values: Sequence[Array]) -> None:
        self.values = {id(v): x for v, x in zip(variables, values, strict=True)}
        self.read_whole: set[int] = set()
        self.read_rows: set[int] = set()
        self.sites = 0
        self.dense_rows: set[int] = set()  # gathers whose derivative had to be dense
        self.slices: dict[int, list[tuple[int, Array, Array]]] = {}

    def __enter__(self) -> Tape:
        self._token = _tape.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        _tape.reset(self._token)

    def read(self, variable: Variable, value: Array) -> Array:
        self.read_whole.add(id(variable))
        return self.values.get(id(variable), value)

    def gather(self, variable: Variable, indices: Array) -> Array:
        """Rows of a variable whose derivative is kept as slices; inside `jit` or `scan` it becomes dense."""
        self.read_rows.add(id(variable))
        site, self.sites = self.sites, self.sites + 1
        return _gather_site(self, id(variable), site)(self.values[id(variable)], indices)


def _gather_site(tape: Tape, variable: int, site: int) -> Callable[[Array, Array], Array]:
    from .._steps.jax import jax

    @jax.custom_vjp
    def rows(table: Array, indices: Array) -> Array:
        return table[indices]

    def forward(table: Array, indices: Array) -> tuple[Array, Any]:
        return table[indices], (indices, table.shape)

    def backward(saved: Any, g: Array) -> tuple[Array | None, None]:
        indices, shape = saved
        if is_traced(g) or is_traced(indices):
            tape.dense_rows.add(variable)
            return jax.numpy.zeros(shape, g.dtype).at[indices].add(g), None
        tape.slices.setdefault(variable, []).append((site, indices.reshape(-1), g.reshape(-1, *shape[1:])))
        return None, None

    rows.defvjp(forward, backward)
    return rows
