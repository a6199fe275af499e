"""The pure form of what acts around the rule: decay, averages, a scale of the loss, accumulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.arrays import Array, is_traced, namespace
from .._base.gradients import Gradient
from ..rules import pure
from .around import averaged, decayed, mean, shares, shares_from, summed, unscaled
from .steps import Process, Steps

AVERAGE, SUM = "average", "gradient_accumulator"  # names of slots as in Keras, and keys of the state
Leaves = list[Array]
Given = list[Gradient | None]


class Functional(Steps):
    """`init` and `update` with settings of the rewrite and of Keras 3; `Built` says what these do."""

    weight_decay: float | None
    use_ema: bool
    ema_momentum: float
    ema_overwrite_frequency: int | None
    loss_scale_factor: float | None = None
    gradient_accumulation_steps: int | None = None
    _undecayed_names: tuple[str, ...] = ()

    def _acts_around(self) -> bool:
        set_ones = (self.weight_decay, self.loss_scale_factor)
        return any(x is not None for x in set_ones) or bool(self.use_ema or self.gradient_accumulation_steps)

    def _own_slots(self) -> tuple[str, ...]:
        """The slots that are not the rule's, in the order in which Keras makes them."""
        return (*((AVERAGE,) if self.use_ema else ()), *((SUM,) if self.gradient_accumulation_steps else ()))

    def _start_of(self, w: Array, slot: str) -> Array:
        """Return what a slot of `_own_slots` starts with."""
        copies = slot == AVERAGE and self._version.name == "rewrite"
        return w if copies else namespace(w).zeros_like(w)

    def _shares(self, updates: Any, dtype: Any) -> tuple[Any, Any]:
        """The shares of an average and of the weight in the next average."""
        if self._version.name == "rewrite":
            return shares(self.ema_momentum, dtype)
        return shares_from(updates, self.ema_momentum, dtype)

    def _updates_of(self, made: Any) -> Any:
        """Iterations as Keras counts them for averages, from the number of calls."""
        return made // self.gradient_accumulation_steps if self.gradient_accumulation_steps else made

    def _averages_all(self) -> bool:
        """Tell whether variables without a gradient are averaged, too."""
        return self._version.name == "keras3"

    def _pure_init(self, values: Any) -> dict[str, Any]:
        from .._base.jax import jax

        leaves = jax.tree.leaves(values)
        own = {slot: [self._start_of(w, slot) for w in leaves] for slot in self._own_slots()}
        return {**super()._pure_init(values), **own}

    def _pure_update(self, state: Any, values: Any, grads: Any, process: Process) -> tuple[Any, Any]:
        if not self._acts_around():
            return super()._pure_update(state, values, grads, process)
        if self._undecayed or self._undecayed_names:
            raise ValueError(
                "update() knows weights, not variables: exclude_from_weight_decay cannot act; leave weight_decay out "
                "and decay the weights yourself"
            )
        tree, (w, given) = pure.matched(state, values, grads)
        made = state["step"] if is_traced(state["step"]) else np.asarray(state["step"])
        given = [unscaled(g, self.loss_scale_factor) for g in given]
        new, after = self._pure_accumulated(state, made, w, given, process)
        if self.use_ema:
            new, after[AVERAGE] = self._pure_averaged(state[AVERAGE], made, new, given)
        return tree.unflatten(new), after

    def _pure_accumulated(
        self, state: Any, made: Any, w: Leaves, given: Given, process: Process
    ) -> tuple[Leaves, dict[str, Any]]:
        """Weights and state after the gradients of one call, averages left out."""
        steps = self.gradient_accumulation_steps
        if not steps:
            return self._pure_decayed(state, made, w, given, process)
        both = list(zip(state[SUM], given, strict=True))
        means: Given = [None if g is None else mean(s, g, steps) for s, g in both]
        sums = [s if g is None else summed(s, g) for s, g in both]
        new, after = self._pure_decayed(state, made, w, means, process)
        now, zeros = (made + 1) % steps == 0, [namespace(s).zeros_like(s) for s in sums]
        waiting = {**after, "slots": state["slots"], "shared": state["shared"], SUM: sums}
        chosen: tuple[Leaves, dict[str, Any]] = _chosen(now, (new, {**after, SUM: zeros}), (w, waiting))
        return chosen

    def _pure_decayed(
        self, state: Any, made: Any, w: Leaves, given: Given, process: Process
    ) -> tuple[Leaves, dict[str, Any]]:
        if self.weight_decay is not None:
            both = zip(w, given, strict=True)
            w = [x if g is None else decayed(x, self.weight_decay, self._rate(made, x.dtype)) for x, g in both]
        return super()._pure_update(state, w, given, process)

    def _pure_averaged(self, averages: Leaves, made: Any, w: Leaves, given: Given) -> tuple[Leaves, Leaves]:
        updates, every, everywhere = self._updates_of(made), self.ema_overwrite_frequency, self._averages_all()
        moved = [everywhere or g is not None for g in given]
        found = [
            averaged(old, x, *self._shares(updates, x.dtype)) if moves else old
            for old, x, moves in zip(averages, w, moved, strict=True)
        ]
        if every:
            over = (updates + 1) % every == 0
            w = [_chosen(over, a, x) if moves else x for a, x, moves in zip(found, w, moved, strict=True)]
        return w, found


def _chosen(condition: Any, yes: Any, no: Any) -> Any:
    """One of two trees; entry by entry where the condition is not known yet."""
    if not is_traced(condition):
        return yes if condition else no
    from .._base.jax import jax

    return jax.tree.map(lambda a, b: jax.numpy.where(condition, a, b), yes, no)
