"""The recorder in traced code: a state that goes in and out of every step, and no callback.

The state has few arrays, because each costs time at every call, and a step touches one row of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Array, namespace
from . import rows
from .layout import Layout
from .measure import careful, flat, largest_of, sum_of_squares, well_inside
from .measure import histogram as entries_by_size

State = dict[str, Array]

_PACKS = {
    "values": ("norm", "norm_low", "largest", "square", "entry", "mean"),
    "counts": ("nonfinite", "peak", "count"),
}


def init(data: Mapping[str, np.ndarray], seen: int, stride: int) -> State:
    """A state that goes on where `data` ends."""
    import jax.numpy as jnp

    packed = _packed(data)
    now = min(seen // stride, len(data["peak"]) - 1)
    state = {f"open_{name}": x[now : now + 1] for name, x in packed.items()}
    state |= {**packed, "histogram": data["histogram"], "spectrum": data["spectrum"]}
    return {"at": jnp.array([seen, stride], np.int32), **{name: jnp.array(x) for name, x in state.items()}}


def columns(layout: Layout, state: Mapping[str, Array]) -> tuple[rows.Columns, int, int]:
    """Back on the host: the columns, how many steps were seen, and the stride."""
    host = {name: np.array(x) for name, x in state.items()}
    seen, stride = host["at"].tolist()
    found = {name: np.ascontiguousarray(x) for name, x in _unpacked(layout, host).items()}
    return {**found, "histogram": host["histogram"], "spectrum": host["spectrum"]}, seen, stride


def update(layout: Layout, state: Mapping[str, Array], tensors: Sequence[Array], scalars: Mapping[str, Any]) -> State:
    """The state after one step more.

    The row that steps go into is carried by itself and only written to its place: a step that reads the buffers it
    writes, or has them pass through a `cond`, copies them.
    """
    import jax
    import jax.numpy as jnp

    tensors = [flat(jnp.asarray(g)) for g in tensors]
    seen, stride = state["at"]
    full = seen == layout.capacity * stride
    kept = _where(full, lambda x: _halved(layout, x), {name: state[name] for name in (*_PACKS, "histogram")})
    stride = jnp.where(full, 2 * stride, stride)
    at, fresh = seen // stride, seen % stride == 0
    new = _row(layout, seen, tensors, scalars)
    joined = _packed(rows.join(_unpacked(layout, state, "open_"), new))
    row = {name: jnp.where(fresh, x, joined[name]) for name, x in _packed(new).items()}
    put = {name: jax.lax.dynamic_update_slice_in_dim(kept[name], x, at, 0) for name, x in row.items()}
    histogram = _with_counts(layout, kept["histogram"], tensors, seen, stride)
    found = rows.bins(new)[0]
    spectrum = state["spectrum"].at[jnp.arange(len(found)), found].add(1)
    still_open = {f"open_{name}": x for name, x in row.items()}
    return {"at": jnp.stack([seen + 1, stride]), **still_open, **put, "histogram": histogram, "spectrum": spectrum}


def _where(flag: Array, change: Callable[[Any], Any], x: Any) -> Any:
    """`change(x)` where the flag is set, else x: a loop of one step or none, which unlike `cond` copies no buffer."""
    import jax

    _, x = jax.lax.while_loop(lambda carry: carry[0], lambda carry: (carry[0] & False, change(carry[1])), (flag, x))
    return x


def _row(layout: Layout, seen: Array, tensors: Sequence[Array], scalars: Mapping[str, Any]) -> rows.Columns:
    import jax.numpy as jnp

    norm, largest, nonfinite = _measured(layout, tensors)
    entry = _entries(layout, tensors)
    numbers = [scalars.get(name, np.nan) for name in ("seconds", *layout.scalars)]
    given = jnp.stack([jnp.asarray(x, np.float32) for x in numbers])
    return rows.from_steps(seen[None], norm[None], largest[None], nonfinite[None], entry[None], given[None])


def _measured(layout: Layout, tensors: Sequence[Array]) -> tuple[Array, Array, Array]:
    """(tensors,) norms, largest entries and counts of what is not finite: the plain way, and with care where needed."""
    import jax
    import jax.numpy as jnp

    squares, largest = _of_each(layout, tensors, lambda g: (sum_of_squares(g), largest_of(g)))

    def plainly() -> tuple[Array, Array, Array]:
        return jnp.sqrt(squares), largest, jnp.zeros(len(tensors), np.int32)

    fine = jnp.all(well_inside(squares) | (largest == 0))
    return jax.lax.cond(fine, plainly, lambda: _of_each(layout, tensors, careful))


def _of_each(layout: Layout, tensors: Sequence[Array], f: Callable[[Array], Any]) -> Any:
    """(tensors, ...) f of each flat tensor; small ones of one size together, or a thousand compile for minutes."""
    import jax
    import jax.numpy as jnp

    parts = [
        jax.vmap(f)(jnp.stack([tensors[k] for k in group]))
        if len(group) > 1
        else jax.tree.map(lambda x: x[None], f(tensors[group[0]]))
        for group in layout.groups
    ]
    order = np.argsort(np.concatenate(layout.groups))
    return jax.tree.map(lambda *x: jnp.concatenate(x)[order], *parts)


def _entries(layout: Layout, tensors: Sequence[Array]) -> Array:
    """(entries,) the sampled entries in their order."""
    import jax.numpy as jnp

    tensor, place = layout.sampled
    found, where = [], []
    for group in layout.groups:
        at = np.flatnonzero(np.isin(tensor, group))
        row = np.searchsorted(group, tensor[at])
        found.append(jnp.stack([tensors[k] for k in group])[row, place[at]])
        where.append(at)
    return jnp.concatenate(found)[np.argsort(np.concatenate(where))]


def _packed(columns: Mapping[str, Array]) -> State:
    """All columns of float32 side by side, and all of int32."""
    xp = namespace(columns["norm"])
    both = {**columns, "peak": columns["peak"][:, None]}
    return {pack: xp.concatenate([both[name] for name in names], axis=1) for pack, names in _PACKS.items()}


def _unpacked(layout: Layout, state: Mapping[str, Array], prefix: str = "") -> rows.Columns:
    found = {}
    for pack, names in _PACKS.items():
        ends = np.cumsum([0, *(layout.widths[name] for name in names)])
        for name, start, end in zip(names, ends[:-1], ends[1:], strict=True):
            found[name] = state[prefix + pack][:, start:end]
    return {**found, "peak": found["peak"][:, 0]}


def _halved(layout: Layout, state: Mapping[str, Array]) -> State:
    import jax

    joined = _packed(rows.halved(_unpacked(layout, state)))
    joined["histogram"] = rows.halved_counts(state["histogram"])
    return {name: jax.lax.dynamic_update_slice_in_dim(state[name], x, 0, 0) for name, x in joined.items()}


def _with_counts(layout: Layout, histogram: Array, tensors: Sequence[Array], seen: Array, stride: Array) -> Array:
    """The histogram with the entries of this step in it, if it is one of those that are counted."""
    import jax
    import jax.numpy as jnp

    every = layout.histogram_every
    due, at = seen % every == 0, seen // (every * stride)
    found = jax.lax.cond(
        due,
        lambda: _of_each(layout, tensors, entries_by_size),
        lambda: jnp.zeros(histogram.shape[1:], np.int32),
    )
    before = seen % (every * stride) != 0  # has this row counts already?
    return _where(due, lambda h: h.at[at].set(rows.added(jnp.where(before, h[at], 0), found)), histogram)
