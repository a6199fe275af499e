"""All that can be asked of a recording, as its methods."""

from __future__ import annotations

from os import PathLike
from typing import Self

import numpy as np

from . import file
from .analysis.agreement import Agreement, agreement
from .analysis.held_back import BELOW, HeldBack, held_back
from .analysis.noise import NoiseScale, noise_scale
from .analysis.summary import Summary, summarize
from .analysis.what_if import WhatIf, what_if
from .buckets import EMPTY, Buckets
from .probes import products
from .updates import Updates, updates


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

        Exact for `clip_norm` (each tensor by itself) and `clip_global_norm`; an estimate from the
        histograms, and marked so, for `clip_value`. A bucket of several steps answers for the
        largest of them; shares count all steps.

        >>> from gradlab import Recorder
        >>> rec = Recorder(2)
        >>> for g in ([3.0, 4.0], [30.0, 40.0]):
        ...     rec.record([np.array(g)])
        >>> rec.what_if(clip_global_norm=10.0).norm_after.tolist()
        [5.0, 10.0]
        """
        limits = {
            "clip_norm": clip_norm,
            "clip_value": clip_value,
            "clip_global_norm": clip_global_norm,
        }
        return what_if(self, {kind: limit for kind, limit in limits.items() if limit is not None})

    def summary(self, percentile: float = 90.0) -> Summary:
        """Summarize how often limits would have fired, by tensor; suggest one for (100 - percentile)% of steps.

        Shares are of finite steps. Of a run that is sick no limit is suggested, and `reason`
        says why: see `Summary`.
        """
        return summarize(self, percentile)

    def held_back(self, *, below: float = BELOW, step: int | None = None) -> HeldBack:
        """Which sampled entries Adagrad would hold back by a step, for what their gradients were long ago.

            R = root(8 (a_T - a_{7T/8}) / a_T),  a_t = sum of g * g over the first t steps, without the initial value

        The rate of an entry is R times what steady gradients of the present size would leave it. R
        is 1 for those; no factor on the loss, a feature or an entry changes it. Entries without a
        gradient in the last eighth of the steps, and those with too few, are classes of their own.
        `in_trouble` judges whole tensors, by thresholds that were set on a few runs.

        Exact while each bucket holds one step. Of merged buckets it is an estimate, and says so:
        the last eighth is made of whole buckets, and gradients are counted by buckets, so more
        entries have too few.

        Args:
            below: an entry is held back where R is below this share.
            step: how many steps are done; all by default.

        Raises:
            ValueError: no single entries were recorded; a share or a step that cannot be.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> for step in range(64):
        ...     rec.record({"w": np.array([1e4 if step == 5 else 1.0, 1.0, 0.0])})
        >>> found = rec.held_back()
        >>> found.named(found.held), found.named(found.no_gradient), found.ratio[1]
        (('w[0]',), ('w[2]',), np.float64(1.0))
        """
        return held_back(self, below, step)

    def agreement(self, first: int = 0, last: int | None = None) -> Agreement:
        """Estimate how much the true gradients of steps some updates apart agree, from probes.

            agreement(k) = sum of h_t g_{t+k} / root(sum of |G_t|^2 * sum of |G_{t+k}|^2),  |G_t|^2 = h_t g_t

        where h_t is a probe (`Recorder.probe`), g_{t+k} the gradient k updates later, and G the
        true gradient; sums are over the probes. 1: a gradient that is k updates stale points where
        a fresh one does; 0: it has nothing of it. The 95% interval is a jackknife over ten
        stretches of the run, with Student's t.

        A recording without probes can't tell: products of gradients that were trained on measure
        the noise of batches, and two micro-batches of a step give |G|^2 and the noise scale only,
        because the noise of a batch that was trained on has moved the weights.

        Args:
            first, last: ask about the probes of steps first to last - 1 only; by default all.

        Raises:
            ValueError: no probes were recorded; steps that aren't in the recording.

        Source: Dai, Zhou, Dong, Zhang and Xing, Toward Understanding the Impact of Staleness in
        Distributed Machine Learning, 2018.

        >>> from gradlab.models import reader_run
        >>> found = reader_run.shipped().agreement()
        >>> found.value[1] > found.value[2] > found.value[3]
        np.True_
        """
        return agreement(self, first, last)

    def probe_products(self) -> tuple[np.ndarray, np.ndarray]:
        """(probes,) the steps with probes, and (probes, 17) their products with the gradients 0 to 16 updates later.

        A product is NaN where it isn't known, as those of the last probes of a run. Both are empty
        without probes.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> rec.probe([np.array([1.0, 2.0])])
        >>> for g in ([3.0, 4.0], [5.0, 0.0]):
        ...     rec.record([np.array(g)])
        >>> step, products = rec.probe_products()
        >>> step.tolist(), products[0, :3].tolist()
        ([0], [11.0, 5.0, nan])
        """
        return products(self.flush().columns)

    def updates(self) -> Updates:
        """Norms of weights and updates and their ratio, of each tensor, in the steps in which they were measured.

        Raises:
            ValueError: no weights were recorded.

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

        where g is the mean of n gradients, and s the mean of their squared norms; both are averaged
        over steps. A batch much smaller than tr(S) / |G|^2 spends most of its gradient on noise,
        one much larger gains little.

        Args:
            micro_batch: how many examples each of them has, so that the answer is in examples.
            last: of so many steps at the end of the run only; the noise scale grows as training
                goes on.

        Source: McCandlish, Kaplan, Amodei et al., An Empirical Model of Large-Batch Training, 2018,
        appendix A.

        Raises:
            ValueError: no norms of micro-batches were recorded, or none that are finite.

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

        Without the first one, which has nothing before it to be measured from, or holds a
        compilation. Meant for `gl.workers.Speeds(measured=rec.durations())`.

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
            ValueError: no step was recorded.
            OSError: it cannot be written; no part of it is left behind.
        """
        if not self.seen:
            raise ValueError(EMPTY)
        file.save(path, self.flush(), self.missing_steps)

    def snapshot(self) -> Self:
        """A copy that stays as it is, whatever is recorded; of steps that wait on a device none.

        To look at a run that goes on in another thread: numbers asked for one after the other are
        of the same steps.

        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> rec.record([np.ones(2)])
        >>> before = rec.snapshot()
        >>> rec.record([np.ones(2)])
        >>> before.seen, rec.seen
        (1, 2)
        """
        return self.with_store(self.store.snapshot())
