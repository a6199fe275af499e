"""Updates: norms of weights and of updates by tensor, in sampled steps spread over a run.

Samples are dense at first and then rarer: every step up to 15, every second step up to 31, every
fourth up to 63, and so on, until they are `every` steps apart. So a short run has a few dozen
samples, while in a long one they cost what `layout.sample_every_for` allows. Quartiles weigh a
sample by the steps that it stands for, those up to the next sample, because otherwise the first
steps would count most. The first steps also differ from all later ones: Adam's first step is the
learning rate in every entry.

The columns are two arrays:

- "moved" (3, samples, tensors), float32: norms of the gradient, of the weights before the step, and
  of the update.
- "moved_at" (1 + samples,), int32: the largest number of steps between two samples, then the steps
  of the samples.

A sample beyond `ROOM` of them drops every second one and doubles that number. In traced code
"moved" has `ROOM` samples, and "moved_at" begins with three numbers: the largest number of steps
between two samples, the step at which the next one is due, and how many there are. A recording
without weights has neither column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._base.arrays import quiet
from .._base.numbers import counted, listed, number
from .measure import flat, measure

if TYPE_CHECKING:
    from jax import Array

    from .buckets import Buckets

COLUMNS = ("moved", "moved_at")
ROOM = 256  # samples
USUAL = 1e-3  # a ratio of update to weight that is usual where training goes well; a rule of thumb
LOW = 1e-4  # tensors whose median ratio is below this are named
HIGH = 1e-2  # and those above this
FEWEST = 5  # samples after the first steps that quartiles need
FIRST = 8  # steps left out of the quartiles, or an eighth of a shorter run
_DENSE = 8  # samples are at most 1/8 of the steps so far apart
_SHOWN = 8  # tensors in a text
_NO_WEIGHTS = (
    "this recording holds no weights. Give them to the recorder: record(grads, weights=...), or "
    "weights=True to gl.record.torch, gl.record.keras, or gl.record.optax with around="
)


@dataclass(frozen=True, eq=False)
class Updates:
    """Norms of weights and updates of a recording, in `len(step)` of its `seen` steps.

    Not in TensorFlow.

        ratio[n, k] = update[n, k] / weight[n, k] = |w_k after - w_k before| / |w_k before|

    A ratio of about 1e-3 is usual where training goes well. Far below it a tensor hardly moves; far
    above it the learning rate may be too high for it.

    The first steps are left out, because Adam's first updates are unlike all others: quartiles are
    of the steps from number `first` on, each sample weighted by the steps that it stands for. They
    are NaN for a tensor with fewer than five such samples.

    Attributes:
        names: of the tensors, or groups.
        step: (n,) the sampled steps.
        seen: the number of steps of the run.
        gradient, weight, update: (n, names) norms; of weights before the step.
        ratio: NaN where a weight's norm is 0.
        first: the number of first steps left out, 8, or an eighth of the run.
        later: (n,) whether a sample is of a step after these.
        stands_for: (n,) the number of steps up to the next sample.
        quartiles: (3, names) ratios that 25, 50 and 75% of the later steps do not exceed.
        median: (names,) the middle.
        at_start: (names,) median ratio of the samples of the first steps, NaN where none is known.
        enough: whether any tensor has quartiles.
        below, above: names of tensors whose median is below 1e-4, or above 1e-2, the farthest from
            1e-3 first; `outside` has both.
        still: names of those that no sampled step moved.
    """

    names: tuple[str, ...]
    step: np.ndarray
    seen: int
    gradient: np.ndarray
    weight: np.ndarray
    update: np.ndarray

    @property
    @quiet
    def ratio(self) -> np.ndarray:
        """(n, names) norm of the update over that of the weights."""
        return np.where(self.weight > 0, self.update / self.weight, np.nan)

    @property
    def first(self) -> int:
        """The number of first steps left out of the quartiles."""
        return min(FIRST, max(1, self.seen // FIRST))

    @property
    def later(self) -> np.ndarray:
        """(n,) whether each sample is of a step after the first ones."""
        return self.step >= self.first

    @property
    def stands_for(self) -> np.ndarray:
        """(n,) how many steps there are from each sample up to the next, or to the end of the run."""
        return np.diff(np.append(self.step, self.seen))

    @property
    def quartiles(self) -> np.ndarray:
        """(3, names) of the finite ratios of later steps; NaN with fewer than five samples."""
        ratio, steps = self.ratio[self.later], self.stands_for[self.later]
        found = np.full((3, len(self.names)), np.nan)
        for k in range(len(self.names)):
            known = np.isfinite(ratio[:, k])
            if known.sum() >= FEWEST:
                found[:, k] = _weighted_quartiles(ratio[known, k], steps[known])
        return found

    @property
    def median(self) -> np.ndarray:
        """(names,) median ratio of the later steps; NaN with fewer than five samples."""
        found: np.ndarray = self.quartiles[1]
        return found

    @property
    def at_start(self) -> np.ndarray:
        """(names,) median ratio of the samples of the first steps; NaN where none is known."""
        ratio, found = self.ratio[~self.later], np.full(len(self.names), np.nan)
        for k in range(len(self.names)):
            known = ratio[np.isfinite(ratio[:, k]), k]
            if known.size:
                found[k] = np.median(known)
        return found

    @property
    def enough(self) -> bool:
        """Whether the median of any tensor is known."""
        return bool(np.isfinite(self.median).any())

    @property
    def still(self) -> tuple[str, ...]:
        """Names of tensors that no sampled step moved, such as frozen ones."""
        moves = (self.update != 0).any(axis=0)
        return tuple(self.names[k] for k in np.flatnonzero(~moves))

    @property
    def outside(self) -> tuple[str, ...]:
        """Names of the other tensors whose median ratio is below 1e-4 or above 1e-2, the farthest from 1e-3 first."""
        median = self.median
        still = self.still
        far = np.abs(np.log10(np.where(median > 0, median, 1e-30) / USUAL))
        order = [k for k in np.argsort(-far, kind="stable") if not np.isnan(median[k])]
        return tuple(
            self.names[k]
            for k in order
            if not LOW <= median[k] <= HIGH and self.names[k] not in still
        )

    @property
    def below(self) -> tuple[str, ...]:
        """Names of those in `outside` whose median ratio is below 1e-4."""
        low = {name for name, median in zip(self.names, self.median, strict=True) if median < LOW}
        return tuple(name for name in self.outside if name in low)

    @property
    def above(self) -> tuple[str, ...]:
        """Names of those in `outside` whose median ratio is above 1e-2."""
        high = {name for name, median in zip(self.names, self.median, strict=True) if median > HIGH}
        return tuple(name for name in self.outside if name in high)

    @property
    def sampled(self) -> str:
        """The number of sampled steps and of all, in words."""
        return f"{len(self.step):,} of {counted(self.seen, 'step')}"

    def by_group(self, groups: Mapping[str, Sequence[str]]) -> Updates:
        """Return norms of groups of tensors, given as group name -> tensor names: roots of the sums of squares.

        Raises:
            ValueError: an unknown tensor, or an empty group.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> tensors = {"a": np.array([3.0]), "b": np.array([4.0])}
        >>> rec.record(tensors, weights=tensors, updates=tensors)
        >>> rec.updates().by_group({"both": ["a", "b"]}).weight.tolist()
        [[5.0]]
        """
        places = {name: k for k, name in enumerate(self.names)}
        for group, names in groups.items():
            if unknown := [name for name in names if name not in places]:
                raise ValueError(
                    f"group {group!r} has {listed(unknown)}, which the "
                    "recording does not; see its names"
                )
            if not names:
                raise ValueError(f"group {group!r} has no tensors; leave it out")
        which = [[places[name] for name in names] for names in groups.values()]

        def group_norms(x: np.ndarray) -> np.ndarray:
            return np.stack(
                [np.sqrt((x[:, k].astype(np.float64) ** 2).sum(axis=1)) for k in which], axis=1
            )

        gradient, weight, update = map(group_norms, (self.gradient, self.weight, self.update))
        return replace(self, names=tuple(groups), gradient=gradient, weight=weight, update=update)

    def __str__(self) -> str:
        if not self.enough:
            return (
                f"norms of updates were measured in {self.sampled}: fewer than {FEWEST} after the "
                f"first {counted(self.first, 'step')}, so no ratio of update to weight is stated"
            )
        title = (
            "median norm of the update over that of the weights (and quartiles), in "
            f"{self.sampled}, without the first {counted(self.first, 'step')}; about 1e-3 is usual"
        )
        quartiles = self.quartiles
        order = np.argsort(-np.nan_to_num(quartiles[1]), kind="stable")[:_SHOWN]
        rows = [f"{self.names[k][-40:]:>40} {_shown(quartiles[:, k])}" for k in order]
        lines = [title, *rows]
        if len(self.names) > _SHOWN:
            lines.append(f"and {len(self.names) - _SHOWN} more with smaller ones")
        if self.outside:
            lines.append(self.in_words)
        return "\n".join(lines)

    @property
    def in_words(self) -> str:
        """The tensors outside the usual range, in words."""
        sides = [
            f"{side}: {listed(names, _SHOWN)}"
            for side, names in ((f"below {LOW:g}", self.below), (f"above {HIGH:g}", self.above))
            if names
        ]
        return "; ".join(sides) or "none is outside"


def _shown(quartiles: np.ndarray) -> str:
    if np.isnan(quartiles[1]):
        return "not known"
    low, middle, high = (number(float(x)) for x in quartiles)
    return f"{middle} ({low} to {high})"


def _weighted_quartiles(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the values at 25, 50 and 75% of the weight, interpolated; each value is in the middle
    of its weight.
    """
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order], dtype=np.float64)
    middles = total - weights[order] / 2
    quartiles: np.ndarray = np.interp(
        np.array([0.25, 0.5, 0.75]) * total[-1], middles, values[order].astype(float)
    )
    return quartiles


def updates(rec: Buckets) -> Updates:
    """See `Recorder.updates`."""
    data = rec.flush().columns
    if "moved" not in data:
        raise ValueError(_NO_WEIGHTS)
    gradient, weight, update = data["moved"]
    return Updates(rec.names, data["moved_at"][1:], rec.seen, gradient, weight, update)


def sampled_updates(rec: Buckets) -> Updates | None:
    """Return what `updates` returns; None where there is no sample."""
    if "moved" not in rec.flush().columns:
        return None
    sampled = updates(rec)
    return sampled if len(sampled.step) else None


def empty_columns(tensors: int, every: int) -> dict[str, np.ndarray]:
    """Return columns without samples, which are to be at most `every` steps apart."""
    return {"moved": np.zeros((3, 0, tensors), np.float32), "moved_at": np.array([every], np.int32)}


def append_sample(data: dict[str, np.ndarray], step: int, norms: np.ndarray) -> None:
    """Append a sample (3, tensors) of a step that is later than those of all others."""
    moved = np.concatenate([data["moved"], norms.astype(np.float32)[:, None]], axis=1)
    at = np.append(data["moved_at"], np.int32(step))
    if moved.shape[1] > ROOM:
        moved = moved[:, ::2]
        at = np.append(2 * at[:1], at[1::2])
    data["moved"] = moved
    data["moved_at"] = at


def next_due(data: Mapping[str, np.ndarray]) -> int:
    """Return the first step that the next sample may be of."""
    at = data["moved_at"]
    return next_after(int(at[-1]), int(at[0])) if len(at) > 1 else 0


def gaps(every: int) -> tuple[int, ...]:
    """Return the numbers of steps that may be between two samples: powers of 2 below `every`, and `every`.

    >>> gaps(12)
    (1, 2, 4, 8, 12)
    """
    powers = (2**k for k in range(every.bit_length()))
    return (*(gap for gap in powers if gap < every), every)


def next_after(step: int, every: int) -> int:
    """Return the first step after a sample that may be the next sample.

    All libraries follow this rule, traced or not.

    >>> [next_after(step, 64) for step in (0, 15, 16, 500, 512)]
    [1, 16, 18, 512, 576]
    """
    gap = max(gap for gap in gaps(every) if gap == 1 or step >= _DENSE * gap)
    return (step // gap + 1) * gap


def gap_at(step: Any, every: int, where: Callable[[Any, Any, Any], Any]) -> Any:
    """Return the steps between two samples at a traced step; `where` is the `where` of its library."""
    at_step: Any = 1
    for gap in gaps(every):
        at_step = where(step >= _DENSE * gap, gap, at_step)
    return at_step


def to_traced(data: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the columns as traced code carries them, to continue where `data` ends."""
    moved = data["moved"]
    at = data["moved_at"]
    room = ROOM - moved.shape[1]
    head = np.array([at[0], next_due(data), moved.shape[1]])
    steps = np.concatenate([head, at[1:], np.zeros(room, int)]).astype(np.int32)
    return {"moved": np.pad(moved, ((0, 0), (0, room), (0, 0))), "moved_at": steps}


def from_traced(state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the columns from what traced code carried; the inverse of `to_traced`."""
    every, _, count, *at = state["moved_at"].tolist()
    return {
        "moved": state["moved"][:, :count].copy(),
        "moved_at": np.array([every, *at[:count]], np.int32),
    }


def update_traced(
    state: Mapping[str, Array],
    step: Array,
    skipped: Array,
    norms: Callable[[], Array],
    where: Callable[[Array, Callable[[Any], Any], Any], Any],
) -> dict[str, Array]:
    """Return the state after one more step, with a sample of it where one is due.

    Args:
        norms: computes the sample, (3, tensors).
        where: `where(flag, change, x)` is change(x) where the flag is set, else x, and computes
            change(x) only then.
    """
    from .._base.jax import jnp

    def add_sample(x: tuple[Array, Array]) -> tuple[Array, Array]:
        new = norms()
        moved, at = where(x[1][2] == ROOM, _drop_every_second, x)
        every = at[0]
        count = at[2]
        # A step that moved nothing, such as one of optax.MultiSteps that only accumulates,
        # doesn't count: the next sample overwrites its norms.
        moves = (new[2] != 0).any()
        gap = jnp.where(step >= _DENSE * every, every, _power_of_2(jnp.maximum(step // _DENSE, 1)))
        due = jnp.where(moves, (step // gap + 1) * gap, at[1])
        moved = moved.at[:, count].set(new)
        return moved, at.at[3 + count].set(step).at[1].set(due).at[2].add(moves.astype(np.int32))

    due = (step >= state["moved_at"][1]) & ~skipped
    moved, at = where(due, add_sample, (state["moved"], state["moved_at"]))
    return {"moved": moved, "moved_at": at}


def _power_of_2(x: Array) -> Array:
    """Return the largest power of 2 that is at most x, an int32 of 1 or more."""
    from .._base.jax import jax, jnp

    return jnp.left_shift(jnp.ones_like(x), 31 - jax.lax.clz(x))


def _drop_every_second(x: tuple[Array, Array]) -> tuple[Array, Array]:
    """Drop every second of `ROOM` samples, and double the steps between two; the arrays keep their
    shapes.
    """
    from .._base.jax import jnp

    moved, at = x
    dropped = ROOM // 2
    head = jnp.stack([2 * at[0], at[1], at[2] // 2])
    steps = jnp.pad(at[3::2], (0, dropped))
    return jnp.pad(moved[:, ::2], ((0, 0), (0, dropped), (0, 0))), jnp.concatenate([head, steps])


@quiet
def norms_of(tensors: Sequence[np.ndarray]) -> np.ndarray:
    """Return (tensors,) float32 norms of NumPy tensors."""
    return np.array([measure(flat(x))[0] for x in tensors], np.float32)


def check(saved: Mapping[str, np.ndarray], tensors: int, seen: int) -> None:
    """Raise ValueError for columns that can't be of a run of `seen` steps."""
    if not any(name in saved for name in COLUMNS):
        return
    if not all(name in saved for name in COLUMNS):
        raise ValueError("it has only one of the two columns of norms of updates")
    moved = saved["moved"]
    at = saved["moved_at"]
    if at.dtype != np.int32 or at.ndim != 1 or not len(at) or at[0] < 1 or len(at) - 1 > ROOM:
        raise ValueError("it does not say which steps its norms of updates are of")
    if moved.dtype != np.float32 or moved.shape != (3, len(at) - 1, tensors) or (moved < 0).any():
        raise ValueError(
            f"its norms of updates must have shape {(3, len(at) - 1, tensors)}, they have "
            f"{moved.shape}"
        )
    if (np.diff(at[1:]) <= 0).any() or (len(at) > 1 and not 0 <= at[1] <= at[-1] < seen):
        raise ValueError(f"its norms of updates are of steps that are not among {seen}")
