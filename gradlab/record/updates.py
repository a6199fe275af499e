"""Updates: norms of weights and of updates by tensor, in sampled steps spread over a run.

Samples are dense at first and then rarer: of steps 0 to 15 each is one, of 16 to 31 every second, of 32 to 63 every
fourth, and so on until they are `every` steps apart. So a short run has a few dozen, while in a long one they cost what
`budget` says. What is said of a run weighs a sample by the steps that it stands for, those up to the next one, or the
first steps would count most. They differ from all later ones besides: Adam's first step is the rate in every entry.

They are two arrays. "moved" (3, samples, tensors), float32, has the norms of the gradient, of the weights before the
step, and of the update; "moved_at", int32, the steps they are of, and before these how many steps are between two at
most. When `ROOM` samples are there, every second one is dropped, and that number doubles. In traced code "moved" has
room for all, and "moved_at" begins with the steps between two, the next one that is due, and how many there are. A
recording without weights has neither.
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
ROOM = 256
USUAL = 1e-3  # a ratio of update to weight that many runs that train well have
LOW, HIGH = 1e-4, 1e-2  # tensors outside of these are named
FEWEST = 5  # samples after the first steps that a quartile needs
FIRST = 8  # steps that are apart from the others, or an eighth of a shorter run
_DENSE = 8  # samples are no farther apart than an eighth of the steps so far
_SHOWN = 8
_NO_WEIGHTS = (
    "this recording holds no weights. Give them to the recorder: record(grads, weights=...), or weights=True to "
    "gl.torch.record, gl.keras.record, or gl.optax.record with around="
)


@dataclass(frozen=True, eq=False)
class Updates:
    """Norms of weights and updates of a recording, in `len(step)` of its `seen` steps. Not in TensorFlow.

        ratio[n, k] = update[n, k] / weight[n, k] = |w_k after - w_k before| / |w_k before|

    A ratio of about 1e-3 is usual where training goes well; far below it a tensor hardly moves, far above it the
    learning rate is too high for it.

    The first steps are apart, as Adam's first updates are unlike all others: quartiles are of the steps from number
    `first` on, each sample weighted by the steps that it stands for. With fewer than five such samples of a tensor they
    are NaN, and nothing is to be said.

    Attributes:
        names: of the tensors, or groups. step: (n,) which steps these are. seen: how many the run has.
        gradient, weight, update: (n, names) norms; of weights before the step. ratio: NaN where a weight's norm is 0.
        first: the number of first steps that are apart, 8, or an eighth of the run. later: (n,) whether a sample
            is of a step after these. stands_for: (n,) of how many steps each is the sample.
        quartiles: (3, names) ratios that 25, 50 and 75% of the later steps do not exceed. median: (names,) the middle.
        at_start: (names,) median ratio of the samples of the first steps, NaN where none is known.
        enough: whether any tensor has quartiles. below, above: names of tensors whose median is below 1e-4, or above
            1e-2, the farthest first; `outside` are both. still: names of those that no step has moved.
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
        found: np.ndarray = np.where(self.weight > 0, self.update / self.weight, np.nan)
        return found

    @property
    def first(self) -> int:
        """The number of first steps that are apart."""
        return min(FIRST, max(1, self.seen // FIRST))

    @property
    def later(self) -> np.ndarray:
        """(n,) whether each sample is of a step after the first ones."""
        found: np.ndarray = self.step >= self.first
        return found

    @property
    def stands_for(self) -> np.ndarray:
        """(n,) how many steps there are from each sample up to the next, or to the end of the run."""
        found: np.ndarray = np.diff(np.append(self.step, self.seen))
        return found

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
        """Names of those that no step has moved, as frozen layers."""
        return tuple(name for name, moves in zip(self.names, (self.update != 0).any(axis=0), strict=True) if not moves)

    @property
    def outside(self) -> tuple[str, ...]:
        """Names of others whose median ratio is below 1e-4 or above 1e-2, the farthest from 1e-3 first."""
        median, still = self.median, self.still
        far = np.abs(np.log10(np.where(median > 0, median, 1e-30) / USUAL))
        order = [k for k in np.argsort(-far, kind="stable") if not np.isnan(median[k])]
        return tuple(self.names[k] for k in order if not LOW <= median[k] <= HIGH and self.names[k] not in still)

    @property
    def below(self) -> tuple[str, ...]:
        """Those outside whose median ratio is below 1e-4."""
        low = {name for name, median in zip(self.names, self.median, strict=True) if median < LOW}
        return tuple(name for name in self.outside if name in low)

    @property
    def above(self) -> tuple[str, ...]:
        """Those outside whose median ratio is above 1e-2."""
        high = {name for name, median in zip(self.names, self.median, strict=True) if median > HIGH}
        return tuple(name for name in self.outside if name in high)

    @property
    def sampled(self) -> str:
        """In how many steps this was measured, in words."""
        return f"{len(self.step):,} of {counted(self.seen, 'step')}"

    def by_group(self, groups: Mapping[str, Sequence[str]]) -> Updates:
        """Return norms of groups of tensors, given as group name -> tensor names: roots of the sums of squares.

        Raises ValueError: a tensor that is not there, a group without any.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> one = {"a": np.array([3.0]), "b": np.array([4.0])}
        >>> rec.record(one, weights=one, updates=one)
        >>> rec.updates().by_group({"both": ["a", "b"]}).weight.tolist()
        [[5.0]]
        """
        places = {name: k for k, name in enumerate(self.names)}
        for group, names in groups.items():
            if unknown := [name for name in names if name not in places]:
                raise ValueError(f"group {group!r} has {listed(unknown)}, which the recording does not; see its names")
            if not names:
                raise ValueError(f"group {group!r} has no tensors; leave it out")
        which = [[places[name] for name in names] for names in groups.values()]

        def summed(x: np.ndarray) -> np.ndarray:
            return np.stack([np.sqrt((x[:, k].astype(np.float64) ** 2).sum(axis=1)) for k in which], axis=1)

        gradient, weight, update = map(summed, (self.gradient, self.weight, self.update))
        return replace(self, names=tuple(groups), gradient=gradient, weight=weight, update=update)

    def __str__(self) -> str:
        if not self.enough:
            return (
                f"norms of updates were measured in {self.sampled}: fewer than {FEWEST} after the first "
                f"{counted(self.first, 'step')}, so no ratio of update to weight is stated"
            )
        title = (
            f"median norm of the update over that of the weights (and quartiles), in {self.sampled}, without the first "
            f"{counted(self.first, 'step')}; about 1e-3 is usual"
        )
        quartiles = self.quartiles
        order = np.argsort(-np.nan_to_num(quartiles[1]), kind="stable")[:_SHOWN]
        rows = [f"{self.names[k][-40:]:>40} {_shown(quartiles[:, k])}" for k in order]
        more = [f"and {len(self.names) - _SHOWN} more with smaller ones"] if len(self.names) > _SHOWN else []
        return "\n".join([title, *rows, *more, *([self.in_words] if self.outside else [])])

    @property
    def in_words(self) -> str:
        """Which tensors are outside of what is usual, in a sentence."""
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
    """The values at 25, 50 and 75% of the weight, each value in the middle of its own."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order], dtype=np.float64)
    found: np.ndarray = np.interp(
        np.array([0.25, 0.5, 0.75]) * total[-1], total - weights[order] / 2, values[order].astype(np.float64)
    )
    return found


def updates(rec: Buckets) -> Updates:
    """See `Recorder.updates`."""
    data = rec._data
    if "moved" not in data:
        raise ValueError(_NO_WEIGHTS)
    gradient, weight, update = data["moved"]
    return Updates(rec.names, data["moved_at"][1:], rec.seen, gradient, weight, update)


def sampled_updates(rec: Buckets) -> Updates | None:
    """None where there is no sample."""
    found = updates(rec) if "moved" in rec._data else None
    return found if found and len(found.step) else None


def empty(tensors: int, every: int) -> dict[str, np.ndarray]:
    """Return samples that are empty, for steps that far apart."""
    return {"moved": np.zeros((3, 0, tensors), np.float32), "moved_at": np.array([every], np.int32)}


def put(data: dict[str, np.ndarray], step: int, norms: np.ndarray) -> None:
    """One sample more, (3, tensors), of a step that is later than those that are there."""
    moved = np.concatenate([data["moved"], norms.astype(np.float32)[:, None]], axis=1)
    at = np.append(data["moved_at"], np.int32(step))
    if moved.shape[1] > ROOM:
        moved, at = moved[:, ::2], np.append(2 * at[:1], at[1::2])
    data["moved"], data["moved_at"] = moved, at


def next_due(data: Mapping[str, np.ndarray]) -> int:
    """The first step that the next sample may be of."""
    at = data["moved_at"]
    return next_after(int(at[-1]), int(at[0])) if len(at) > 1 else 0


def gaps(every: int) -> tuple[int, ...]:
    """The numbers of steps that may be between two samples: powers of 2, and at most `every`.

    >>> gaps(12)
    (1, 2, 4, 8, 12)
    """
    powers = (2**k for k in range(every.bit_length()))
    return (*(gap for gap in powers if gap < every), every)


def next_after(step: int, every: int) -> int:
    """The first step after a sample that may be the next; steps of any library, traced or not, go by the same rule.

    >>> [next_after(step, 64) for step in (0, 15, 16, 500, 512)]
    [1, 16, 18, 512, 576]
    """
    gap = max(gap for gap in gaps(every) if gap == 1 or step >= _DENSE * gap)
    return (step // gap + 1) * gap


def gap_at(step: Any, every: int, where: Callable[[Any, Any, Any], Any]) -> Any:
    """The steps between two samples at a traced step; `where` is that of its library."""
    found: Any = 1
    for gap in gaps(every):
        found = where(step >= _DENSE * gap, gap, found)
    return found


def init(data: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what traced code carries, to go on where `data` ends."""
    moved, at = data["moved"], data["moved_at"]
    room = ROOM - moved.shape[1]
    head = np.array([at[0], next_due(data), moved.shape[1]])
    steps = np.concatenate([head, at[1:], np.zeros(room, int)]).astype(np.int32)
    return {"moved": np.pad(moved, ((0, 0), (0, room), (0, 0))), "moved_at": steps}


def found(state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Back on the host."""
    every, _, count, *at = state["moved_at"].tolist()
    return {"moved": state["moved"][:, :count].copy(), "moved_at": np.array([every, *at[:count]], np.int32)}


def traced(
    state: Mapping[str, Array], step: Array, skipped: Array, norms: Callable[[], Array],
    where: Callable[[Array, Callable[[Any], Any], Any], Any],
) -> dict[str, Array]:  # fmt: skip
    """The state after one step more.

    Args:
        norms: makes (3, tensors), where they are due. where: `where(flag, change, x)` is change(x) where the flag is
            set, else x, at no cost.
    """
    from .._steps.jax import jnp

    def sampled(x: tuple[Array, Array]) -> tuple[Array, Array]:
        new = norms()
        moved, at = where(x[1][2] == ROOM, _thinned, x)
        every, count = at[0], at[2]
        moves = (new[2] != 0).any()  # a step that moved nothing, of MultiSteps say, is none
        gap = jnp.where(step >= _DENSE * every, every, _power_of_2(jnp.maximum(step // _DENSE, 1)))
        due = jnp.where(moves, (step // gap + 1) * gap, at[1])
        moved = moved.at[:, count].set(new)
        return moved, at.at[3 + count].set(step).at[1].set(due).at[2].add(moves.astype(np.int32))

    due = (step >= state["moved_at"][1]) & ~skipped
    moved, at = where(due, sampled, (state["moved"], state["moved_at"]))
    return {"moved": moved, "moved_at": at}


def _power_of_2(x: Array) -> Array:
    """The largest power of 2 that is at most x."""
    from .._steps.jax import jax, jnp

    found: Array = jnp.left_shift(jnp.ones_like(x), 31 - jax.lax.clz(x))
    return found


def _thinned(x: tuple[Array, Array]) -> tuple[Array, Array]:
    """Every second sample."""
    from .._steps.jax import jnp

    (moved, at), none = x, ROOM // 2
    steps = jnp.pad(at[3::2], (0, none))
    return jnp.pad(moved[:, ::2], ((0, 0), (0, none), (0, 0))), jnp.concatenate(
        [jnp.stack([2 * at[0], at[1], at[2] // 2]), steps]
    )


@quiet
def norms_of(tensors: Sequence[np.ndarray]) -> np.ndarray:
    """(tensors,) float32 norms of NumPy tensors."""
    return np.array([measure(flat(x))[0] for x in tensors], np.float32)


def check(saved: Mapping[str, np.ndarray], tensors: int, seen: int) -> None:
    """Refuse samples that are of no run of so many steps; ValueError."""
    if not any(name in saved for name in COLUMNS):
        return
    if not all(name in saved for name in COLUMNS):
        raise ValueError("it has a part of the norms of updates")
    moved, at = saved["moved"], saved["moved_at"]
    if at.dtype != np.int32 or at.ndim != 1 or not len(at) or at[0] < 1 or len(at) - 1 > ROOM:
        raise ValueError("it does not say which steps its norms of updates are of")
    if moved.dtype != np.float32 or moved.shape != (3, len(at) - 1, tensors) or (moved < 0).any():
        raise ValueError(f"its norms of updates must have shape {(3, len(at) - 1, tensors)}, they have {moved.shape}")
    if (np.diff(at[1:]) <= 0).any() or (len(at) > 1 and not 0 <= at[1] <= at[-1] < seen):
        raise ValueError(f"its norms of updates are of steps that are not among {seen}")
