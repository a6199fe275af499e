"""All that can be asked of a recording, as its methods."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from . import file, merge
from .buckets import EMPTY, LOCK, Buckets
from .coherence import Coherence, coherence
from .frozen import Frozen, frozen
from .listeners import Listeners
from .noise import NoiseScale, noise_scale
from .summary import Summary, summarize
from .updates import Updates, updates
from .what_if import WhatIf, what_if

if TYPE_CHECKING:
    from ..rules import Adagrad


class Recording(Buckets):
    """A recorded run and its queries; `Recorder` fills it."""

    def what_if(
        self,
        *,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        clip_global_norm: float | None = None,
    ) -> WhatIf:
        """Return what one limit would have done to these gradients: steps it fires on, factor, norm after, turn angle.

        Exact for `clip_norm` (each tensor by itself) and `clip_global_norm`; an estimate from the histograms, and
        marked so, for `clip_value`. A bucket of several steps answers for the largest of them; shares count all steps.

        >>> from gradlab import Recorder
        >>> rec = Recorder(2)
        >>> for g in ([3.0, 4.0], [30.0, 40.0]):
        ...     rec.record([np.array(g)])
        >>> rec.what_if(clip_global_norm=10.0).norm_after.tolist()
        [5.0, 10.0]
        """
        limits = {"clip_norm": clip_norm, "clip_value": clip_value, "clip_global_norm": clip_global_norm}
        return what_if(self, {kind: limit for kind, limit in limits.items() if limit is not None})

    def summary(self, percentile: float = 90.0) -> Summary:
        """Summarize how often limits would have fired, by tensor; suggest one for (100 - percentile)% of steps.

        Shares are of finite steps. Of a run that is sick no limit is suggested, and `reason` says why: see `Summary`.
        """
        return summarize(self, percentile)

    def frozen(self, rule: Adagrad | None = None, *, below: float = 0.1, step: int | None = None) -> Frozen:
        """Which sampled entries Adagrad would have frozen by a step, which never moved, and which overflowed.

            accumulator = initial + sum of g * g so far,  frozen: lr / root(accumulator) < below * lr / root(start)

        Args:
            rule: the Adagrad, with its initial accumulator and epsilon; by default Keras's. The rate has no say.
            below: an effective rate below this share of the one at the start is frozen. start is the accumulator before
                the first step; if that is 0, the one after the first gradient that is not 0.
            step: how many steps are done; all by default.

        Raises: ValueError: no single entries were recorded; a share or a step that cannot be. TypeError: another rule.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> for _ in range(20):
        ...     rec.record({"w": np.array([10.0, 0.1, 0.0])})
        >>> found = rec.frozen(below=0.1)
        >>> found.named(found.frozen), found.named(found.still)
        (('w[0]',), ('w[2]',))
        """
        return frozen(self, rule, below, step)

    def coherence(self, lags: Sequence[int] | None = None) -> Coherence:
        """Estimate the cosine between gradients that many steps apart, on the sampled entries.

        Batches differ from step to step, so neighbors agree in part only; what is lost beyond lag 1 is what staleness
        costs. Of merged steps the first one's entries are kept: lags are multiples of `stride` then.

        Args:
            lags: steps apart; by default 0 to 16 times `stride`.

        Raises: ValueError: no single entries were recorded; a lag that is none.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> for k in range(4):
        ...     rec.record({"w": np.array([1.0, 0.0]) if k % 2 else np.array([0.0, 1.0])})
        >>> rec.coherence([0, 1, 2]).cosine.tolist()
        [1.0, 0.0, 1.0]
        """
        return coherence(self, lags)

    def updates(self) -> Updates:
        """Norms of weights and updates and their ratio, of each tensor, in the steps in which they were measured.

        Raises ValueError: no weights were recorded.

        >>> from gradlab import Recorder
        >>> rec, w = Recorder(sample_every=1), np.array([3.0, 4.0])
        >>> for _ in range(3):
        ...     rec.record({"w": w}, weights={"w": w})
        ...     w = w - 0.1 * w
        >>> found = rec.updates()  # of the last step what it did is not known yet
        >>> found.step.tolist(), [f"{x:.2f}" for x in found.ratio[:, 0]]
        ([0, 1], ['0.10', '0.10'])
        """
        return updates(self)

    def noise_scale(self, micro_batch: int = 1, *, last: int | None = None) -> NoiseScale:
        """The gradient noise scale, tr(S) / |G|^2, estimated from steps that are the mean of several micro-batches.

            |G|^2 = (n |g|^2 - s) / (n - 1),   tr(S) = (s - |g|^2) n / (n - 1)

        where g is the mean of n gradients, and s the mean of their squared norms; both are averaged over steps. A batch
        much smaller than tr(S) / |G|^2 spends most of its gradient on noise, one much larger gains little.

        Args:
            micro_batch: how many examples each of them has, so that the answer is in examples. last: of so many steps
                at the end of the run only; the noise scale grows as training goes on.

        Source: McCandlish, Kaplan, Amodei et al., An Empirical Model of Large-Batch Training, 2018, appendix A.

        Raises ValueError: no norms of micro-batches were recorded, or none that are finite.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> rec.record([np.array([1.0, 0.0])], micro_norms=[5.0**0.5, 5.0**0.5])  # of (1, 2) and (1, -2)
        >>> found = rec.noise_scale()
        >>> round(found.noise, 4), round(found.signal, 4), found.bounds
        (8.0, -3.0, (0.0, inf))
        """
        return noise_scale(self, micro_batch, last)

    def durations(self) -> np.ndarray:
        """Seconds of the steps of which that is known, float64; of a bucket of several its mean.

        Without the first one, which has nothing before it to be measured from, or holds a compilation. Meant for
        `gl.workers.Speeds(measured=rec.durations())`.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> for _ in range(3):
        ...     rec.record([np.ones(2)])
        >>> len(rec.durations())
        2
        """
        seconds = self["seconds"][1:].astype(np.float64)
        return seconds[np.isfinite(seconds) & (seconds > 0)]

    def save(self, path: str | PathLike[str]) -> None:
        """Write a compressed .npz, without pickle; a name that does not end in .npz gets it.

        An older file of this name stays what it is until all of the new one is on the disk.

        Raises:
            ValueError: no step was recorded. OSError: it cannot be written; no part of it is left behind.
        """
        if not self.seen:
            raise ValueError(EMPTY)
        file.save(path, self.layout, self._data, self.seen, self.stride, self.missing_steps)

    def snapshot(self) -> Self:
        """A copy that stays as it is, whatever is recorded; of steps that wait on a device none.

        To look at a run that goes on in another thread: numbers asked for one after the other are of the same steps.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> rec.record([np.ones(2)])
        >>> before = rec.snapshot()
        >>> rec.record([np.ones(2)])
        >>> before.seen, rec.seen
        (1, 2)
        """
        found = object.__new__(type(self))
        with LOCK:
            self._settle()
            vars(found).update(vars(self), _waiting=None, _elsewhere=None, _told=Listeners())
            vars(found)["_data"] = {name: x.copy() for name, x in vars(self)["_data"].items()}
        return found


AnyRecording = TypeVar("AnyRecording", bound=Recording)


def condensed(rec: AnyRecording, buckets: int) -> AnyRecording:
    """The recording itself if it has no more buckets than that, else one with every two neighbors joined, and so on."""
    if len(rec) <= buckets:
        return rec
    fewer = copy.copy(rec)
    fewer._data = {name: x.copy() for name, x in rec._data.items()}
    while len(fewer) > buckets:
        there = len(fewer)
        fewer._data |= {name: fewer._data[name][:there] for name in merge.BY_BUCKET}
        merge.halve(fewer._data)
        fewer.stride *= 2
    return fewer
