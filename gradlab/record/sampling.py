"""A recording that is given weights: what is measured of them in some of its steps, and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._base.arrays import Array
from .._base.tree import named_leaves
from ..errors import InvalidArgumentError
from . import updates
from .buckets import Buckets


class Sampling(Buckets):
    """Norms of weights and updates, in most of the first steps, and then in steps `sample_every` or more apart."""

    # The weights before a step, which step it is, and the norms of its gradient and weights, until the next one comes.
    _moving: tuple[list[np.ndarray], int, list[np.ndarray]] | None = None

    def _sample(self) -> None:
        """Make room for norms of weights and updates."""
        if "moved" not in vars(self)["_data"]:
            vars(self)["_data"] |= updates.empty_columns(len(self.names), self.layout.histogram_every)

    def _next_sample(self) -> int:
        """The first step whose weights and updates may be measured next."""
        return updates.next_due(vars(self)["_data"])

    def _samples_every(self) -> int:
        """Return how many steps are between two of them now."""
        return int(vars(self)["_data"]["moved_at"][0])

    def _sampled(self, step: int, norms: np.ndarray) -> None:
        """Norms (3, tensors) of the gradient, the weights and the update of a step; one that moved nothing is none."""
        if (norms[2] != 0).any():
            updates.append_sample(vars(self)["_data"], step, norms)

    def _move(
        self, number: Callable[[], int], grads: Sequence[np.ndarray], weights: Any, given: Any
    ) -> Callable[[], None]:
        """Measure how far the step before this one has moved the weights, if that is due.

        `number` says which step this one is. What is returned notes what it will need, once the step is there.
        """
        moving, self._moving = self._moving, None
        if weights is None:
            if given is not None:
                raise InvalidArgumentError("updates are compared with weights; give weights=, too")
            return lambda: None
        self._sample()
        if moving is not None:
            before, step, norms = moving
            now = self._aligned(weights, "weights")
            change = [np.asarray(x, np.float32) - y for x, y in zip(now, before, strict=True)]
            self._sampled(step, np.stack([*norms, updates.norms_of(change)]))
        step = number()
        if step < self._next_sample():
            return lambda: None
        own = [np.asarray(x) for x in self._aligned(weights, "weights")]
        norms = [updates.norms_of(grads), updates.norms_of(own)]
        if given is not None:
            change = [np.asarray(x) for x in self._aligned(given, "updates")]
            return lambda: self._sampled(step, np.stack([*norms, updates.norms_of(change)]))
        copies = [x.astype(np.float32) for x in own]
        return lambda: vars(self).update(_moving=(copies, step, norms))

    def _aligned(self, tree: Any, what: str) -> list[Array]:
        """The leaves of a tree in the order of the recorded tensors: by name, else by sizes."""
        found = dict(named_leaves(tree, what.removesuffix("s")))
        if set(self.names) <= set(found):
            return [found[name] for name in self.names]
        if tuple(x.size for x in found.values()) == self.sizes:
            return list(found.values())
        raise InvalidArgumentError(
            f"{what} must be a tree like grads, with tensors {self.names} of sizes {self.sizes}; it has "
            f"{tuple(found)} of sizes {tuple(x.size for x in found.values())}"
        )
