"""The timing and the decisions of the simulated engine for many configurations at once, in JAX or NumPy.

An event is one gradient handed in. All configurations take their n-th event together, without a
branch, in int32 arrays of (workers, limits, configurations), along the last of which XLA
vectorizes. Under "drop" the staleness limit does not change the times, so there the timing has
length 1 along the limits and is computed once for all of them.

Time and worker are one number, `time << bits | worker`: the least of them belongs to the worker
that acts next, and ties go to the lower worker.

Why it exists beside `fast_timing`: 256 configurations of 1,000 gradients take 2 to 5 ms here, and
114 to 270 ms one after the other. The lab of phase diagrams computes that many whenever a slider
moves.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from .._base.arrays import Array, take_existing_rows
from .._base.jax_or_numpy import HAS_JAX, compile_with_jax, jax, repeat_step, tree_map, xp

NEVER = 2**31 - 1
WIDTH = 256  # configurations of a block, so that its state stays in the first-level cache
LANES = 16  # configurations of a vector
UNROLL = 2  # events per turn of the loop: with more of them XLA computes things twice


class Setting(NamedTuple):
    """The constants of a run."""

    flat: Array  # all ticks in a row
    first: Array  # (workers, 1, configurations): where each worker's ticks begin in it
    there: Array  # whether the configuration has this worker
    k: Array  # (workers, 1, 1): the number of the worker
    bits: int
    limit: Array  # (1, limits, configurations), either may be 1
    aggregate: Array
    policy: str


class State(NamedTuple):
    """Workers and server between two events.

    First (workers, limits, configurations), then 1 worker.
    """

    due: Array  # when a worker hands in its gradient; NEVER while it waits
    clock: Array  # gradients handed in; NEVER for workers that the configuration does not have
    read: Array  # step of the weights that the gradient in hand is computed from
    accepted: Array | None  # gradients of a worker; None if all are
    # Of the gradient in hand, or the next one while it waits; None if no worker ever waits.
    length: Array | None
    step: Array
    gathered: Array  # gradients for the next step
    age: Array  # sum of the staleness of all gradients
    oldest: Array
    latest: Array  # event so far: the last one, unless a time has overflowed


class Outcome(NamedTuple):
    """(workers, limits, configurations); 1 worker for values of the server, 1 limit where limits change nothing."""

    handed_in: Array
    accepted: Array
    updates: Array
    age: Array
    oldest: Array
    time: Array
    waited: Array  # ticks of all workers together
    all_time: Array  # the ticks they had
    overflow: Array  # whether a time may not have fitted


@compile_with_jax(static=("policy",))
def run(
    ticks: Array, row: Array, workers: Array, limit: Array, aggregate: Array, policy: str
) -> Outcome:
    """Hand in as many gradients as each worker has ticks for, less one.

    Args:
        ticks: int32 (speeds, workers, gradients + 1); the number of workers is a power of two.
        row, workers, aggregate: int32 (configurations,): which speeds, how many workers, how many
            gradients a step.
        limit: int32 (limits, 1), the most staleness that "drop" accepts; or (1, configurations),
            the lead that "wait" allows. It does not matter to other policies.
        policy: "drop", "wait", "backup", or any of those that accept all.
    """
    width = max(1, WIDTH // (limit.shape[0] * LANES)) * LANES
    # NumPy needs hardly longer for many configurations than for few.
    if row.size <= width or not HAS_JAX:
        return _run(ticks, row, workers, limit, aggregate, policy=policy)
    blocks = -(-row.size // width)
    limit = xp.broadcast_to(limit, (limit.shape[0], row.size))

    def cut(x: Array) -> Array:
        padded = xp.pad(x, (*((0, 0),) * (x.ndim - 1), (0, blocks * width - row.size)), mode="edge")
        return xp.moveaxis(padded.reshape(*x.shape[:-1], blocks, width), -2, 0)

    def join(x: Array) -> Array:
        return xp.moveaxis(x, 0, -2).reshape(*x.shape[1:-1], -1)[..., : row.size]

    settings = tuple(cut(x) for x in (row, workers, limit, aggregate))
    outcomes = jax.lax.map(lambda x: _run(ticks, *x, policy=policy), settings)
    joined: Outcome = tree_map(join, outcomes)
    return joined


def _run(
    ticks: Array, row: Array, workers: Array, limit: Array, aggregate: Array, *, policy: str
) -> Outcome:
    """One block."""
    size, count = ticks.shape[1:]
    k = xp.arange(size, dtype=np.int32)[:, None, None]
    first = (row * size + k) * count
    c = Setting(
        ticks.reshape(-1),
        first,
        k < workers,
        k,
        size.bit_length() - 1,
        limit[None],
        aggregate,
        policy,
    )
    s = repeat_step(count - 1, partial(_event, c), _begin(c), unroll=UNROLL)
    longest = ticks.max(axis=(1, 2))[row] << c.bits
    time, handed_in = s.latest >> c.bits, xp.where(c.there, s.clock, 0)
    return Outcome(
        handed_in, handed_in if s.accepted is None else s.accepted, s.step, s.age, s.oldest, time,
        _waited(c, s, ticks, row, workers * time), workers * time, s.latest > NEVER - longest,
    )  # fmt: skip


def _begin(c: Setting) -> State:
    """All workers have read the first weights."""
    full = (c.first.shape[0], c.limit.shape[1], c.first.shape[2])
    zero, none, now = (
        xp.zeros(shape, xp.int32) for shape in (full, (1, *full[1:]), (1, 1, full[2]))
    )
    length = c.flat[c.first] << c.bits
    return State(
        xp.where(c.there, length + c.k, NEVER),
        xp.where(c.there, 0, NEVER),
        zero,
        zero if c.policy in ("drop", "backup") else None,
        length if c.policy in ("wait", "backup") else None,
        none,
        none,
        none,
        none,
        now,
    )


def _event(c: Setting, s: State) -> State:
    """The worker that is due hands in its gradient and begins the next one."""
    now = s.due.min(axis=0, keepdims=True)
    mine = s.due == now
    stale = s.step - _of(mine, s.read)
    taken = stale <= (c.limit if c.policy == "drop" else 0 if c.policy == "backup" else NEVER)
    accepted = None if s.accepted is None else s.accepted + (mine & taken)
    step, gathered = s.step + taken, s.gathered
    if c.policy == "backup":
        moved = gathered + taken >= c.aggregate
        step, gathered = s.step + moved, xp.where(moved, 0, gathered + taken)
    clock = s.clock + mine
    tick = take_existing_rows(c.flat, _of(mine, c.first + clock)) << c.bits
    due, read, length = _go_on(c, s, mine, now, clock, step, tick)
    oldest, latest = xp.maximum(s.oldest, stale), xp.maximum(s.latest, now)
    return State(due, clock, read, accepted, length, step, gathered, s.age + stale, oldest, latest)


def _of(mine: Array, x: Array) -> Array:
    """Return the entry of the worker whose event it is: a sum whose other terms are 0."""
    return xp.where(mine, x, 0).sum(axis=0, keepdims=True, dtype=np.int32)


def _go_on(
    c: Setting, s: State, mine: Array, now: Array, clock: Array, step: Array, tick: Array
) -> tuple[Array, Array, Array | None]:
    """Return `due`, `read` and `length` after the gradient: workers that may begin the next one do,
    others wait.
    """
    if s.length is None:
        return xp.where(mine, now + tick, s.due), xp.where(mine, step, s.read), None
    length = xp.where(mine, tick, s.length)
    idle = mine | (s.due == NEVER)
    if c.policy == "wait":
        go = idle & (clock - clock.min(axis=0, keepdims=True) <= c.limit)
        # A worker that was let go, but comes later within this tick, reads only now.
        read = xp.where(go | (s.due - s.length > now), step, s.read)
    else:
        go = idle & (s.read < step) & c.there
        read = xp.where(go, step, s.read)
    here = (now >> c.bits << c.bits) + c.k  # this tick, as each worker counts it
    return xp.where(go, here + length, xp.where(mine, NEVER, s.due)), read, length


def _waited(c: Setting, s: State, ticks: Array, row: Array, all_time: Array) -> Array:
    """Return the ticks that all workers waited: those that they did not work."""
    if s.length is None:
        return xp.zeros_like(all_time)
    done = xp.cumsum(ticks, axis=-1, dtype=np.int32)[
        row[None, None], c.k, xp.where(c.there, s.clock, 1) - 1
    ]
    in_hand = (s.latest >> c.bits) - ((s.due - s.length) >> c.bits)
    busy = xp.where(s.clock > 0, done, 0) + xp.where(s.due == NEVER, 0, in_hand)
    return all_time - xp.where(c.there, busy, 0).sum(axis=0, keepdims=True, dtype=np.int32)
