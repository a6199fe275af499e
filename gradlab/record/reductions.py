"""Measurements of gradients in traced code: reductions that read a tensor and take no memory of its size.

Memory is what costs: XLA on the CPU takes all that a step may need at once, and of more than 32 MiB
the system clears every page that is touched, in every step. For that reason

- entries are selected and counted in reductions of several arrays at once, for which XLA makes no
  room, and which it goes through faster;
- a large gradient is done with before the next one is there, so that one can be where the other
  was. What is computed of all gradients at once keeps all of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .columns import Layout, groups
from .measure import BINS, bin_of, flat, norm_by, well_inside

if TYPE_CHECKING:
    from jax import Array

# Bins that are counted together, and as many such groups: compiled and counted in least time.
_AT_ONCE = 8
_LARGE = 2**18  # entries of a tensor that costs more to keep than to measure alone


def ready(gradients: Sequence[Array]) -> list[Array]:
    """The tensors that all others here take: float32, small ones flat.

    Large ones keep their shape: on a mesh, one that is sharded by columns is gathered on every
    device to be flat.
    """
    # Or XLA shares their squares with an Adam, and writes them out: measured on the CPU, a tenth of
    # such a step.
    return _as_float32([_apart(g) for g in gradients])


def _as_float32(tensors: Sequence[Array]) -> list[Array]:
    return [flat(x) if Layout.is_small(x.size) else x.astype(np.float32) for x in tensors]


def _apart(x: Any) -> Any:
    """Keep what is made of a value from being fused with how it is made."""
    from .._base.jax import jax

    barrier: Any = jax.lax.optimization_barrier
    return barrier(x)


class Measured(NamedTuple):
    """Measurements of some tensors in one step.

    Attributes:
        norm, largest, nonfinite: (tensors,) norms, largest finite |entries|, how many entries are
            not finite.
        counts: (tensors, 64) entries by size, 0 unless they are due.
        entry: (entries,) those that are sampled.
    """

    norm: Array
    largest: Array
    nonfinite: Array
    counts: Array
    entry: Array


def measured(layout: Layout, tensors: Sequence[Array], step: Array, due: Array) -> Measured:
    """Measure all tensors; entries are counted by size if that is due.

    On the CPU large ones one by one. Elsewhere memory is kept from step to step, and a `cond` costs
    more.
    """
    from .._base.jax import jax

    tensor, place = layout.sampled
    places = [place[tensor == k] for k in range(len(tensors))]

    def together(tensors: Sequence[Array], step: Array, due: Array) -> Measured:
        return _measured(tensors, places, due)

    def one_by_one(tensors: Sequence[Array], step: Array, due: Array) -> Measured:
        large = [[k] for k, g in enumerate(tensors) if g.size >= _LARGE]
        others = [k for k, g in enumerate(tensors) if g.size < _LARGE]
        portions = [*large, *([others] if others else [])]
        parts = []
        for some in portions:
            of = functools.partial(
                _measured, [tensors[k] for k in some], [places[k] for k in some], due
            )
            parts.append(_at_once(step >= 0, of) if some in large else of())
        norm, largest, nonfinite, counts = _in_order(portions, [part[:-1] for part in parts])
        where = [np.flatnonzero(np.isin(tensor, some)) for some in portions]
        return Measured(
            norm, largest, nonfinite, counts, _in_order(where, [part.entry for part in parts])
        )

    found: Measured = jax.lax.platform_dependent(
        list(tensors), step, due, cpu=one_by_one, default=together
    )
    return found


def _at_once(always: Array, f: Callable[[], Measured]) -> Measured:
    """Behind a `cond`, though it is always so: XLA then has to do it as a whole, as soon as what it
    reads is there.
    """
    from .._base.jax import jax, jnp

    nothing = jax.eval_shape(f)
    found: Measured = jax.lax.cond(
        always, f, lambda: jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), nothing)
    )
    return found


def _measured(tensors: Sequence[Array], places: Sequence[np.ndarray], due: Array) -> Measured:
    """The plain way, and with care where that is needed or all is read again in any case.

    One `cond` costs less than two.
    """
    from .._base.jax import jax, jnp

    squares = _of_each(tensors, lambda g: (g * g).sum())
    largest, nonfinite = _of_each(tensors, _extremes)
    fine = jnp.all((well_inside(squares) | (largest == 0)) & (nonfinite == 0))
    uncounted = jnp.zeros((len(tensors), BINS), np.int32)

    def plainly() -> tuple[Array, Array]:
        return jnp.sqrt(squares), uncounted

    def thoroughly() -> tuple[Array, Array]:
        counts = jax.lax.cond(due, lambda: _of_each(tensors, _histogram), lambda: uncounted)
        return _of_each(tensors, _norm), counts

    norms, counts = jax.lax.cond(fine & ~due, plainly, thoroughly)
    return Measured(norms, largest, nonfinite, counts, _entries(tensors, places))


def norms(tensors: Sequence[Array]) -> Array:
    """(tensors,) of whatever shapes."""
    found: Array = _of_each(_as_float32(tensors), _norm)
    return found


def _entries(tensors: Sequence[Array], places: Sequence[np.ndarray]) -> Array:
    """(entries,) those at some flat indices of each tensor."""
    from .._base.jax import jnp

    ends = np.cumsum([0, *map(len, places)])
    portions = groups([g.size for g in tensors])
    found = []
    for group in portions:
        at = np.concatenate([places[k] for k in group])
        if len(group) == 1:
            g = tensors[group[0]]
            found.append(g[np.unravel_index(at, g.shape)])
        else:
            which = np.repeat(np.arange(len(group)), [len(places[k]) for k in group])
            found.append(jnp.stack([tensors[k] for k in group])[which, at])
    where = [np.concatenate([np.arange(ends[k], ends[k + 1]) for k in group]) for group in portions]
    entry: Array = _in_order(where, found)
    return entry


def _of_each(tensors: Sequence[Array], f: Callable[[Array], Any]) -> Any:
    """(tensors, ...) f of each tensor; small ones of one size together, or a thousand compile for
    minutes.
    """
    from .._base.jax import jax, jnp

    portions = groups([x.size for x in tensors])
    parts = [
        jax.tree.map(lambda x: x[None], f(tensors[group[0]]))
        if len(group) == 1
        else jax.vmap(f)(jnp.stack([tensors[k] for k in group]))
        for group in portions
    ]
    return _in_order(portions, parts)


def _in_order(portions: Sequence[Sequence[int] | np.ndarray], parts: Sequence[Any]) -> Any:
    """Rows that were found for some tensors after others, in the order of the tensors."""
    from .._base.jax import jax, jnp

    order = np.argsort(np.concatenate(portions))
    return jax.tree.map(lambda *x: jnp.concatenate(x)[order], *parts)


def _extremes(g: Array) -> tuple[Array, Array]:
    """Largest finite |entry|, and how many are not finite."""
    from .._base.jax import jnp

    finite = jnp.isfinite(g)
    both = [jnp.where(finite, abs(g), 0), (~finite).astype(np.int32)]
    largest, nonfinite = _reduced(both, lambda a, b: [jnp.maximum(a[0], b[0]), a[1] + b[1]])
    return largest, nonfinite


def _norm(g: Array) -> Array:
    from .._base.jax import jnp

    found: Array = norm_by(g, abs(g).max(initial=0), jnp)
    return found


def _histogram(g: Array) -> Array:
    """(64,) int32 what `measure.histogram` counts."""
    from .._base.jax import jnp

    exponent = (g.view(np.int32) >> 23) & 255
    k = jnp.where(exponent == 255, BINS, bin_of(exponent, jnp))[..., None]
    there = [
        (k == some).astype(np.int32)
        for some in np.arange(BINS, dtype=np.int32).reshape(-1, _AT_ONCE)
    ]
    return jnp.concatenate(
        _reduced(there, lambda a, b: [x + y for x, y in zip(a, b, strict=True)], axes=g.ndim)
    )


def _reduced(
    arrays: Sequence[Array],
    join: Callable[[Sequence[Array], Sequence[Array]], Any],
    axes: int | None = None,
) -> Any:
    """One reduction of several arrays over their first axes, or all; each begins with 0."""
    from .._base.jax import jax

    over = tuple(range(arrays[0].ndim if axes is None else axes))
    return jax.lax.reduce(list(arrays), [x.dtype.type(0) for x in arrays], join, over)
