"""The recorder in traced code: a state that goes in and out of every step, and no callback.

    init     a state that goes on where a store ends
    update   the state after one step more, in traced code
    drain    the steps of a state, on the host

The state has few arrays, because each costs time at every call, and a step touches one place of
them. Its size is limited, because every checkpoint of an optimizer holds it: `Room` and `within`.
On several devices each keeps the same state, of gradients that are the same on all of them: the
last section.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.arrays import namespace
from .._base.numbers import listed
from .._base.types import EachA as A
from ..errors import InvalidArgumentError
from . import merge, reductions, sketch, step_totals, updates
from .columns import Layout
from .measure import BINS
from .store import Store

if TYPE_CHECKING:
    from jax import Array

State = dict[str, "Array"]

_PACKS: dict[str, tuple[str, ...]] = {
    "values": ("norm", "norm_low", "largest", "square", "entry", "mean"),
    "counts": ("nonfinite", "peak", "count", "taken"),
}
_ONE = ("peak", "taken")  # columns of one number

STATE_BYTES = 1_000_000
FEWEST = 16  # buckets
# Bins of a sketch: numbers are known to 1 % where the largest is up to 150 times the smallest.
_NARROWEST = 256
_WORD = 4  # bytes of a number

_SAME = 1e-5  # norms of one gradient differ by less where devices add its entries in another order
_LOCAL = (
    "Average them before the update, jax.lax.pmean(grads, axis); where they are parts of one "
    "gradient, call the update outside of shard_map"
)


@dataclass(frozen=True)
class Room:
    """Capacity of a state: `buckets` of each column, bins of norms, `width`, and a `ring` of steps."""

    layout: Layout
    buckets: int
    width: int
    ring: int

    @property
    def bins(self) -> dict[str, int]:
        """Of norms, and of largest entries: half as many, as limits on single entries are asked for less."""
        return {"sketch": self.width, "sketch_largest": self.width // 2}

    @property
    def nbytes(self) -> int:
        """Bytes that the state takes; the sum that the docstring of `Recorder` says."""
        tensors, scalars, entries = (
            len(self.layout.names),
            len(self.layout.scalars),
            len(self.layout.sampled[0]),
        )
        counts = BINS * tensors * -(-self.buckets // self.layout.histogram_every)
        columns = (self.buckets + 1) * (4 * tensors + 2 * entries + 2 * scalars + 8)
        steps = self.ring * (len(step_totals.NAMES) + scalars)
        norms, largest = map(sketch.columns, self.bins.values())
        return _WORD * (
            columns + counts + norms * (tensors + 2) + largest * (tensors + 1) + steps + 4
        )


def within(layout: Layout, ring: int, nbytes: int) -> Room:
    """Return as many buckets as fit into a number of bytes, at least `FEWEST`; half of them is for bins of norms."""
    wide = _WORD * sketch.columns(sketch.WIDTH) * len(layout.names) <= nbytes // 2
    width = sketch.WIDTH if wide else _NARROWEST
    low, high = min(FEWEST, layout.capacity), layout.capacity
    while low < high:
        middle = (low + high + 1) // 2
        if Room(layout, middle, width, ring).nbytes <= nbytes:
            low = middle
        else:
            high = middle - 1
    return Room(layout, low, width, ring)


def init(store: Store, before: tuple[int, int], room: Room) -> State:
    """A state that goes on where a store ends; `before`: how many steps were missing by then, and not finite."""
    from .._base.jax import jnp

    data = store.columns
    seen = store.seen
    few, stride = merge.condensed(
        data, seen, store.stride, room.buckets, room.layout.histogram_every
    )
    packed = _packed(few)
    now = min(seen // stride, room.buckets - 1)
    start = {f"open_{name}": x[now : now + 1] for name, x in packed.items()}
    start |= {**packed, "histogram": few["histogram"]}
    for name, rows in _sketches(room.layout).items():
        start[name] = sketch.fitted(data["sketch"][rows], room.bins[name])
    start["each"] = step_totals.ring(data["each"], seen, room.ring)
    start |= updates.to_traced(data) if "moved" in data else {}
    return {
        "at": jnp.array([seen, stride, *before], np.int32),
        **{name: jnp.array(x) for name, x in start.items()},
    }


def drain(layout: Layout, state: Mapping[str, Array]) -> tuple[Store, tuple[int, int]]:
    """Return the steps of a state, on the host, and what `init` was given as `before`."""
    host = one_of(state)
    seen, stride, missing, nonfinite = host["at"].tolist()
    columns = {**_unpacked(layout, host), "histogram": host["histogram"]}
    columns, _ = merge.condensed(columns, seen, stride, layout.capacity, layout.histogram_every)
    columns["sketch"] = np.concatenate([sketch.fitted(host[name]) for name in _sketches(layout)])
    if "moved" in host:
        columns |= updates.from_traced(host)
    columns["each"] = step_totals.unrolled(host["each"], seen)
    return Store(layout.capacity, layout, columns, seen, stride), (missing, nonfinite)


def is_full(state: Mapping[str, Array]) -> bool:
    """Tell whether a state has counted as many steps as it can."""
    return bool(np.max(np.asarray(state["at"])[..., 0]) >= step_totals.MOST)


def update(
    layout: Layout,
    state: Mapping[str, Array],
    gradients: Sequence[Any],
    scalars: Mapping[str, Any],
    marks: tuple[Any, Any],
    moves: Sequence[Sequence[Any]] = (),
) -> State:
    """The state after one step more; `marks` are its loss scale and whether it was skipped.

    `moves`, weights and updates where they are sampled.
    """
    from .._base.jax import jnp

    tensors = [jnp.asarray(g) for g in gradients]
    numbers = {name: jnp.asarray(x, np.float32) for name, x in scalars.items()}
    scale, skipped = jnp.asarray(marks[0], np.float32), jnp.asarray(marks[1], bool)
    given = {
        **dict(zip(layout.names, tensors, strict=True)),
        **numbers,
        "scale": scale,
        "skipped": skipped,
    }
    moving = [[jnp.asarray(x) for x in some] for some in moves]
    for what, some in zip(("weights", "updates"), moving, strict=False):
        given |= {f"{what} of {name}": x for name, x in zip(layout.names, some, strict=True)}
    check_same(state, given)
    step = on_any_mesh(functools.partial(_update, layout), tensors)
    found: State = step(dict(state), tensors, numbers, (scale, skipped), moving)
    return found


def _update(
    layout: Layout,
    state: State,
    gradients: Sequence[Array],
    scalars: Mapping[str, Array],
    marks: tuple[Array, Array],
    moves: Sequence[Sequence[Array]],
) -> State:
    """Return the same on one device.

    The bucket that steps go into is carried by itself and only written to its place: a step that
    reads the buffers it writes, or has them pass through a `cond`, copies them.
    """
    from .._base.jax import jax, jnp

    tensors = reductions.ready(gradients)
    seen, stride, *before = state["at"]
    due = seen % layout.histogram_every == 0
    *measured, counts, entry = reductions.measured(layout, tensors, seen, due)
    numbers = [scalars.get(name, np.nan) for name in ("seconds", *layout.scalars)]
    new = _bucket(seen, measured, entry, numbers, marks)
    sizes, skipped = merge.sizes(new), new["taken"] == 0
    found = {name: _Found(sizes[:, rows], skipped) for name, rows in _sketches(layout).items()}
    kept, stride = _now_and_then(layout, state, due, counts, found)
    at, is_new = seen // stride, seen % stride == 0
    joined = _packed(merge.join(_unpacked(layout, state, "open_"), new))
    bucket = {name: jnp.where(is_new, x, joined[name]) for name, x in _packed(new).items()}
    put = {
        name: jax.lax.dynamic_update_slice_in_dim(kept[name], x, at, 0)
        for name, x in bucket.items()
    }
    ring = jax.lax.dynamic_update_slice_in_dim(
        state["each"], step_totals.of_steps(new), seen % state["each"].shape[1], 1
    )
    still_open = {f"open_{name}": x for name, x in bucket.items()}
    # It stays there rather than go on below 0.
    counted = jnp.where(seen < step_totals.MOST, seen + 1, seen)
    return {
        "at": jnp.stack([counted, stride, *before]), **still_open, **kept, **put, "each": ring,
        **{name: some.counted(kept[name]) for name, some in found.items()},
        **_moved(state, marks[1], measured[0], moves),
    }  # fmt: skip


def _sketches(layout: Layout) -> dict[str, slice]:
    """Which rows of the sketch each of the two in a state has: norms, and largest entries, which
    have fewer bins.
    """
    norms = len(layout.names) + 2
    return {"sketch": slice(norms), "sketch_largest": slice(norms, None)}


class _Found:
    """The numbers of one step that a sketch counts."""

    def __init__(self, sizes: Array, skipped: Array) -> None:
        self._bins, self._skipped = sketch.bins(sizes), skipped
        self._inside = sketch.is_inside(self._bins, skipped)

    def outside(self, counts: Array) -> Array:
        """Tell whether some have no place yet."""
        return sketch.outside(counts, self._bins, self._inside)

    def moved(self, counts: Array) -> Array:
        """The sketch with a place for each."""
        return sketch.moved(counts, *sketch.span(counts, self._bins, self._inside))

    def counted(self, counts: Array) -> Array:
        """The sketch with them."""
        slot, weight = sketch.slots(counts, self._bins, self._skipped)
        return counts.at[np.arange(len(counts)), slot[0]].add(weight[0])


def _now_and_then(
    layout: Layout,
    state: Mapping[str, Array],
    due: Array,
    counts: Array,
    found: Mapping[str, _Found],
) -> tuple[State, Array]:
    """The buffers and the stride, after what few steps have a part in.

    All buckets are full, counts of entries are due, or a norm is outside the bins that its sketch
    has.
    """
    from .._base.jax import jnp

    seen, stride = state["at"][:2]
    full = seen == len(state["values"]) * stride
    stride = jnp.where(full, 2 * stride, stride)
    outside = {name: some.outside(state[name]) for name, some in found.items()}
    any_outside = functools.reduce(jnp.logical_or, outside.values())

    def changed(x: State) -> State:
        bins = {name: _where(outside[name], some.moved, x[name]) for name, some in found.items()}
        x = _where(
            full, lambda x: _halved(layout, x), {name: x[name] for name in (*_PACKS, "histogram")}
        )
        histogram = _where(
            due, lambda h: _with_counts(layout, h, counts, seen, stride), x["histogram"]
        )
        return {**x, "histogram": histogram, **bins}

    kept = {name: state[name] for name in (*_PACKS, "histogram", *found)}
    return _where(full | due | any_outside, changed, kept), stride


def _where(flag: Array, change: Callable[[Any], Any], x: Any) -> Any:
    """`change(x)` where the flag is set, else x: a loop of one step or none, which unlike `cond`
    copies no buffer.
    """
    from .._base.jax import jax

    _, x = jax.lax.while_loop(
        lambda carry: carry[0], lambda carry: (carry[0] & False, change(carry[1])), (flag, x)
    )
    return x


def _bucket(
    seen: Array,
    measured: Sequence[Array],
    entry: Array,
    scalars: Sequence[Any],
    marks: tuple[Array, Array],
) -> State:
    from .._base.jax import jnp

    given = jnp.stack([jnp.asarray(x, np.float32) for x in scalars])
    return merge.from_steps(seen[None], *(x[None] for x in (*measured, entry, given, *marks)))


def _moved(state: State, skipped: Array, norm: Array, moves: Sequence[Sequence[Array]]) -> State:
    """Return what is known of weights and updates after this step; none where they are not
    recorded.
    """
    from .._base.jax import jnp

    def norms() -> Array:
        return jnp.stack([norm, *map(reductions.norms, moves)])

    if not moves:
        return {name: state[name] for name in updates.COLUMNS if name in state}
    return updates.update_traced(state, state["at"][0], skipped, norms, _where)


def _packed(columns: Mapping[str, A]) -> dict[str, A]:
    """All columns of float32 side by side, and all of int32."""
    xp: Any = namespace(columns["norm"])
    both = {**columns, **{name: columns[name][:, None] for name in _ONE}}
    return {
        pack: xp.concatenate([both[name] for name in names], axis=1)
        for pack, names in _PACKS.items()
    }


def _unpacked(layout: Layout, state: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found = {}
    for pack, names in _PACKS.items():
        ends = np.cumsum([0, *(layout.widths[name] for name in names)])
        for name, start, end in zip(names, ends[:-1], ends[1:], strict=True):
            found[name] = state[prefix + pack][:, start:end]
    return {**found, **{name: found[name][:, 0] for name in _ONE}}


def _halved(layout: Layout, state: Mapping[str, Array]) -> State:
    from .._base.jax import jax

    joined = _packed(merge.halved(_unpacked(layout, state)))
    joined["histogram"] = merge.halved_counts(state["histogram"])
    return {
        name: jax.lax.dynamic_update_slice_in_dim(state[name], x, 0, 0)
        for name, x in joined.items()
    }


def _with_counts(
    layout: Layout, histogram: Array, counts: Array, seen: Array, stride: Array
) -> Array:
    """The histogram with the counts of this step in it."""
    from .._base.jax import jnp

    share = layout.histogram_every * stride  # steps of an entry
    at, before = seen // share, seen % share != 0  # has it counts already?
    return histogram.at[at].set(merge.added(jnp.where(before, histogram[at], 0), counts))


# Several devices


def on_any_mesh(step: Callable[..., Any], gradients: Sequence[Array]) -> Callable[..., Any]:
    """The step itself, or for gradients whose types say how they are sharded one that leaves it to the compiler.

    Its result is the same on all devices.
    """
    from .._base.jax import jax

    everywhere: Any = jax.sharding.PartitionSpec
    explicit = jax.sharding.AxisType.Explicit
    for g in gradients:
        if explicit in (mesh := jax.typeof(g).sharding.mesh).axis_types:
            out = jax.sharding.NamedSharding(mesh, everywhere())
            found: Callable[..., Any] = jax.sharding.auto_axes(step, out_sharding=out)
            return found
    return step


def check_same(state: Mapping[str, Array], given: Mapping[str, Any]) -> None:
    """Refuse what differs between devices of `shard_map` while the state does not; ValueError."""
    kept = frozenset.intersection(*map(_varying, state.values()))
    differing = {name: axes for name, x in given.items() if (axes := _varying(x) - kept)}
    if differing:
        along = sorted(frozenset.union(*differing.values()))
        raise InvalidArgumentError(
            f"{listed(tuple(differing))} differ between the devices along {listed(along)}; the "
            f"recorder keeps one state for all of them. {_LOCAL}"
        )


def _varying(x: Any) -> frozenset[str]:
    """Axes of `shard_map` along which a value may differ; none outside of it, or where JAX was told
    not to check.
    """
    from .._base.jax import jax

    type_: Any = jax.typeof(x)
    older: frozenset[str] = getattr(type_, "vma", frozenset())  # its name in earlier JAX
    return frozenset(getattr(getattr(type_, "manual_axis_type", None), "varying", older))


def one_of(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The state on the host; of one that `pmap` has replicated the first replica.

    ValueError where they differ.
    """
    copies = [np.array(copy) for copy in _copies(state["each"])]
    extra = copies[0].ndim - 2
    replicas = [x for copy in copies for x in copy.reshape(-1, *copy.shape[extra:])]
    if not all(
        np.allclose(x, replicas[0], rtol=_SAME, atol=0, equal_nan=True) for x in replicas[1:]
    ):
        raise InvalidArgumentError(
            f"the state holds {len(replicas)} recordings that differ: each device of pmap or "
            f"shard_map recorded its own gradients. {_LOCAL}. To read one of them, or of the runs "
            "of a vmap, the k-th: jax.tree.map(lambda x: x[k], state)"
        )
    return {name: np.array(x)[(0,) * extra] for name, x in state.items()}


def _copies(x: Any) -> list[Any]:
    """Return what each device that is here holds of an array that is said to be the same on all,
    else the array.
    """
    shards = getattr(x, "addressable_shards", ())
    return [shard.data for shard in shards] if len(shards) > 1 and x.is_fully_replicated else [x]
