"""The recorder in traced code: a state that goes in and out of every step, and no callback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._arrays import Array
from . import rows
from .layout import Layout
from .measure import careful, flat, histogram

State = dict[str, Array]


def init(data: Mapping[str, np.ndarray], seen: int, stride: int) -> State:
    """A state that goes on where `data` ends."""
    import jax.numpy as jnp

    return {"seen": jnp.int32(seen), "stride": jnp.int32(stride), **{name: jnp.asarray(x) for name, x in data.items()}}


def update(layout: Layout, state: Mapping[str, Array], tensors: Sequence[Array], scalars: Mapping[str, Any]) -> State:
    """The state after one step more."""
    import jax
    import jax.numpy as jnp

    tensors = [jnp.asarray(g) for g in tensors]
    state = jax.lax.cond(state["seen"] == layout.capacity * state["stride"], _halved, dict, dict(state))
    seen, stride = state["seen"], state["stride"]
    new = _row(layout, seen, tensors, scalars)
    at, fresh = seen // stride, seen % stride == 0
    old = {name: jax.lax.dynamic_slice_in_dim(state[name], at, 1) for name in rows.BY_ROW}
    row = {name: jnp.where(fresh, new[name], x) for name, x in rows.join(old, new).items()}
    put = {name: jax.lax.dynamic_update_slice_in_dim(state[name], x, at, 0) for name, x in row.items()}
    every = layout.histogram_every
    counted = jax.lax.cond(
        seen % every == 0,
        lambda h: _counted(h, tensors, at // every, seen % (every * stride) == 0),
        lambda h: h,
        state["histogram"],
    )
    found = rows.bins(new)[0]
    spectrum = state["spectrum"].at[jnp.arange(len(found)), found].add(1)
    return {**put, "histogram": counted, "spectrum": spectrum, "seen": seen + 1, "stride": stride}


def _row(layout: Layout, seen: Array, tensors: Sequence[Array], scalars: Mapping[str, Any]) -> rows.Columns:
    import jax.numpy as jnp

    norm, largest, nonfinite = (jnp.stack(column)[None] for column in zip(*map(careful, tensors), strict=True))
    entry = jnp.concatenate([flat(g)[p] for g, p in zip(tensors, layout.places, strict=True)])
    numbers = [scalars.get(name, np.nan) for name in ("seconds", *layout.scalars)]
    given = jnp.stack([jnp.asarray(x, np.float32) for x in numbers])
    return rows.from_steps(seen[None], norm, largest, nonfinite, entry[None], given[None])


def _halved(state: Mapping[str, Array]) -> State:
    import jax

    joined = rows.halved({name: state[name] for name in rows.BY_ROW})
    joined["histogram"] = rows.halved_counts(state["histogram"])
    put = {name: jax.lax.dynamic_update_slice_in_dim(state[name], x, 0, 0) for name, x in joined.items()}
    return {**state, **put, "stride": 2 * state["stride"]}


def _counted(counts: Array, tensors: Sequence[Array], at: Array, fresh: Array) -> Array:
    import jax.numpy as jnp

    found = jnp.stack([histogram(g) for g in tensors])
    return counts.at[at].set(found + jnp.where(fresh, 0, counts[at]))
