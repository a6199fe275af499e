"""Norms of weights and updates, measured in some steps.

Measuring them costs more than the norm of a gradient, so it is done in most of the first steps, and
then in steps that are `sample_every` apart, or a multiple of that once room runs out. In such a
step the weights are copied. The next step, whose weights are those after the update, compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from . import updates
from .columns import Layout
from .store import Store


@dataclass
class PendingSample:
    """A step whose gradient and weights are measured, and whose update may still be missing."""

    step: int
    gradient_norms: np.ndarray
    weight_norms: np.ndarray
    update_norms: np.ndarray | None = None
    # Copies, to compare with the weights of the next step where the update isn't given.
    weights_before: Sequence[np.ndarray] = ()


class WeightSampler:
    """Measures weights and updates of a recording when that is due."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._current: PendingSample | None = None  # of the step that is being recorded
        # Of the step before, whose update is not known yet.
        self._previous: PendingSample | None = None

    @property
    def _layout(self) -> Layout:
        assert self._store.layout is not None, "set_layout comes first"
        return self._store.layout

    def ensure_columns(self) -> None:
        """Add the columns of the norms, unless they are there."""
        if "moved" not in self._store.columns:
            self._store.columns |= updates.empty_columns(
                len(self._layout.names), self._layout.histogram_every
            )

    @property
    def next_due(self) -> int:
        """The first step that may be measured next."""
        return updates.next_due(self._store.columns)

    @property
    def max_gap(self) -> int:
        """The largest number of steps between two samples now."""
        return int(self._store.columns["moved_at"][0])

    def append_if_moved(self, step: int, norms: np.ndarray) -> None:
        """Add the norms (3, tensors) of the gradient, the weights and the update of a step."""
        update_norms = norms[2]
        if update_norms.any():  # a step that moved nothing isn't a sample
            updates.append_sample(self._store.columns, step, norms)

    def begin_step(
        self, step: int, grads: Sequence[np.ndarray], weights: Any, given_updates: Any
    ) -> None:
        """Compare the weights with those of the step before, and measure them if this step is due.

        Args:
            step: its number.
            grads: its gradients, flat or not.
            weights: as they are before the step, or None.
            given_updates: what is added to them, or None to compare with the next step's weights.

        Raises:
            ValueError: updates without weights; tensors that are not those recorded.
        """
        previous = self._previous
        self._previous = None
        self._current = None
        if weights is None:
            if given_updates is not None:
                raise InvalidArgumentError("updates are compared with weights; give weights=, too")
            return

        self.ensure_columns()
        if previous is not None:
            now = self._layout.align(weights, "weights")
            pairs = zip(now, previous.weights_before, strict=True)
            change = [np.asarray(x, np.float32) - y for x, y in pairs]
            self._put_sample(previous, updates.norms_of(change))
        if step < self.next_due:
            return

        before = [np.asarray(x) for x in self._layout.align(weights, "weights")]
        sample = PendingSample(step, updates.norms_of(grads), updates.norms_of(before))
        if given_updates is None:
            sample.weights_before = [x.astype(np.float32) for x in before]
        else:
            change = [np.asarray(x) for x in self._layout.align(given_updates, "updates")]
            sample.update_norms = updates.norms_of(change)
        self._current = sample

    def end_step(self) -> None:
        """Keep what `begin_step` measured. Don't call it for a step that was skipped."""
        sample = self._current
        self._current = None
        if sample is None:
            return
        if sample.update_norms is None:
            self._previous = sample
        else:
            self._put_sample(sample, sample.update_norms)

    def _put_sample(self, sample: PendingSample, update_norms: np.ndarray) -> None:
        norms = np.stack([sample.gradient_norms, sample.weight_norms, update_norms])
        self.append_if_moved(sample.step, norms)
