"""The run that a report is about, and the limit it asks about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._base.numbers import number
from ..record import Recorder
from ..record.analysis.loss_course import LossCourse, loss_course
from ..record.analysis.summary import norm_at, norm_error

if TYPE_CHECKING:
    from ..record.analysis.summary import Summary


@dataclass(frozen=True)
class Run:
    """A recording, the limit asked about if one was, and how many states a moving figure may have;
    0: it is still.
    """

    rec: Recorder
    asked: float | None
    states: int

    @cached_property
    def summary(self) -> Summary | None:
        """Summary of how often limits fire; None if no step has a gradient to limit."""
        try:
            return self.rec.summary()
        except ValueError:
            return None

    @cached_property
    def loss_course(self) -> LossCourse | None:
        """How the loss went; None where none was recorded."""
        return loss_course(self.rec)

    @property
    def limit(self) -> float | None:
        """The limit that the report is about: the one asked for, or the suggested one; None where
        the run is sick.
        """
        return self.summary.suggested if self.asked is None and self.summary else self.asked

    @property
    def median(self) -> float:
        """The median global norm of all steps; NaN without any that is finite and not 0."""
        return norm_at(self.rec, 50) if self.summary else math.nan

    @property
    def median_in_words(self) -> str:
        """The median, and how exact it is."""
        error = norm_error(self.rec) if self.summary else 0.0
        return number(self.median) + (f" (within {number(100 * error, 2)}%)" if error else "")

    @cached_property
    def finite_norms(self) -> np.ndarray:
        """The global norms of buckets, but for those that are 0, NaN or Inf, or of skipped steps
        alone.
        """
        norms = self.rec.global_norm[self.rec.taken > 0].astype(np.float64)
        return norms[np.isfinite(norms) & (norms > 0)]

    @cached_property
    def loss(self) -> np.ndarray:
        """(buckets,) the loss, NaN where none was recorded."""
        rec = self.rec
        return (
            np.asarray(rec["loss"], float) if "loss" in rec.scalars else np.full(len(rec), np.nan)
        )

    @property
    def merged(self) -> str:
        """The number of steps in a bucket, in words, where it is more than one."""
        stride = self.rec.stride
        return (
            f"each bucket stands for {stride:,} steps and keeps their largest and smallest norm"
            if stride > 1
            else ""
        )
