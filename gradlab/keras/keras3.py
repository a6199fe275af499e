"""The engine of the newer optimizers: the rewrite of TensorFlow 2.11 and Keras 3.

What is kept for variables is made all at once, by `build` or the first step, and other variables
are refused from then on. Beside the rule there are weight decay and moving averages, and in Keras 3
a scale of the loss and accumulated gradients:

    g = g / loss_scale_factor
    sum = sum + g                    gradient_accumulation_steps - 1 times: the weights stay, `iterations` too
    g = (g + sum) / gradient_accumulation_steps;  sum = 0        then a step, with clips
    w = w - w * weight_decay * lr_t                              before the rule, for variables with a gradient
    average = ema_momentum * average + (1 - ema_momentum) * w    after it
    w = average                                                  if (iterations + 1) % ema_overwrite_frequency == 0

A constraint comes after all of this. The versions differ in averages: those of the rewrite start at
the weights, and variables without a gradient keep theirs; those of Keras 3 start at 0, the first
step takes all of the weight, and every call averages all variables. The formulas are the functions
at the end; every operation is in the dtype of the weight.

With any of these settings nothing is stored when a step raises, in `strict="tf"`, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, cast

import numpy as np

from .. import schedules
from .._base.arrays import Array, as_array, is_jax, is_traced, namespace, precision, quiet
from .._base.gradient_types import Gradient
from .._base.slices import IndexedSlices
from ..rules import pure
from ..rules.rule import Rule
from ..schedules import LearningRateSchedule
from ..train.update import Commit, rule_for
from ..train.variable import Variable
from .clips import clip_pairs, make_dense
from .engine import Arguments, Engine, Pairs, Process
from .hyperparameters import Hyperparameter
from .versions import CLIPS

AVERAGE = "average"  # slots as Keras names them, and keys of the pure state
SUM = "gradient_accumulator"
Leaves = list[Array]
Gradients = list[Gradient | None]


class NewerEngine(Engine):
    """An optimizer of the rewrite or Keras 3.

    Attributes:
        undecayed_names: regular expressions of the names of variables without weight decay.
        weight_decay, use_ema, ema_momentum, ema_overwrite_frequency, loss_scale_factor,
            gradient_accumulation_steps: the constructor's arguments; they may be set.
    """

    def __init__(self, arguments: Arguments) -> None:
        super().__init__(arguments)
        self.is_keras3 = self.version.name == "keras3"  # not the rewrite
        keywords = {**self.version.defaults, **arguments.keywords}
        self.weight_decay = keywords["weight_decay"]
        self.use_ema = keywords["use_ema"]
        self.ema_momentum = keywords["ema_momentum"]
        self.ema_overwrite_frequency = keywords["ema_overwrite_frequency"]
        self.loss_scale_factor = keywords.get("loss_scale_factor")
        self.gradient_accumulation_steps = keywords.get("gradient_accumulation_steps")
        self.undecayed_names: tuple[str, ...] = ()
        rate = Hyperparameter("learning_rate", self._first_rate(arguments.learning_rate))
        self.hyper = {"learning_rate": rate}
        self.create_hyper(self.prefix if self.is_keras3 else "")
        self.weights.make_iterations(self.prefix)
        if self.is_keras3 and isinstance(rate.value, Variable):
            self.weights.all.append(rate.value)

    def _first_rate(self, rate: Any) -> Any:
        """Return the learning rate in the form that is kept: a schedule, a function, or a float32
        number.
        """
        if isinstance(rate, LearningRateSchedule) or (self.is_keras3 and callable(rate)):
            return rate
        if self.is_keras3 and not isinstance(rate, float):
            raise ValueError(
                f"learning_rate must be a float, a schedule or a function in keras3, got {rate!r}"
            )
        value = rate() if callable(rate) else rate
        return as_array(value, "learning_rate").astype(np.float32)[()]

    # Settings

    def learning_rate(self) -> Any:
        """Return the learning rate; of a schedule the rate of the next step in Keras 3, of the last in the rewrite."""
        rate = self.hyper["learning_rate"]
        if not isinstance(rate.value, LearningRateSchedule):
            return self.read("learning_rate")
        steps = self.steps_made()
        return rate.value(steps if self.is_keras3 else np.maximum(steps - 1, 0))

    def set_learning_rate(self, value: Any) -> None:
        """Assign a number, or put a schedule or a function in its place."""
        rate = self.hyper["learning_rate"]
        if isinstance(rate.value, LearningRateSchedule) and not callable(value):
            raise TypeError(
                "This optimizer was created with a `LearningRateSchedule` as its learning rate: a "
                f"number cannot take the place of this {type(rate.value).__name__}"
            )
        if self.is_keras3 and callable(value):
            self.weights.forget(rate.value)
            rate.value = value
        else:
            super().set_learning_rate(value)

    @quiet
    def rate(self, step: Array, dtype: Any) -> Array:
        """Return the learning rate of a step for variables of one dtype."""
        return self.hyper["learning_rate"].at(step, dtype)

    def settings_around_rule(self) -> dict[str, Any]:
        """Return what acts around the rule, by name."""
        version = self.version
        return {
            name: getattr(self, name) for name in version.defaults if name not in version.ignored
        }

    def config(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name: all limits, and all that acts around the rule."""
        rate = self.hyper["learning_rate"].number()
        if isinstance(rate, LearningRateSchedule):
            rate = schedules.serialize(rate, semantics=self.version.clip_functions)
        elif self.is_keras3:
            rate = float(rate)
        return {
            "name": self.name,
            **self.version.defaults,
            **self.settings_around_rule(),
            **dict.fromkeys(CLIPS),
            **self.limits,
            "learning_rate": rate,
            **self.own_config(),
        }

    def saved_settings(self) -> dict[str, Any]:
        """Return which variables do not decay: a number of them, and names."""
        excluded = list(self.undecayed_names)
        if self.undecayed:
            excluded.append(f"{len(self.undecayed)} variables")
        return {"without weight decay": ", ".join(excluded)}

    # Weights

    def iterations(self) -> Any:
        """Return the count of updates: a variable, or with accumulation a number."""
        if self.gradient_accumulation_steps:
            return self.updates_made()
        return super().iterations()

    def updates_made(self) -> Any:
        """Return how many updates of weights have been made; with accumulation one for several calls."""
        return self._updates_of(self.steps_made())

    def _updates_of(self, steps: Any) -> Any:
        accumulated = self.gradient_accumulation_steps
        return steps // accumulated if accumulated else steps

    def extra_slots(self) -> tuple[str, ...]:
        """Return the slots of averages and of sums, where there are some."""
        slots = []
        if self.use_ema:
            slots.append(AVERAGE)
        if self.gradient_accumulation_steps:
            slots.append(SUM)
        return tuple(slots)

    def prepare_weights(self, weights: Sequence[Any]) -> Commit:
        """Check values of all weights. ValueError before `build` and the first step, too."""
        if not self.built_variables:
            raise ValueError(
                "You are calling `set_weights()` on an optimizer that has not yet been built: "
                "call build(variables)"
            )
        return super().prepare_weights(weights)

    def build(self, variables: tuple[Variable, ...], prefix: str | None = None) -> None:
        """Make all that is kept for these variables. A second call does nothing.

        `prefix` is what names of weights begin with, by default as in a step.
        """
        if self.built_variables:
            return
        if prefix is None:
            prefix = self.prefix
        self.built_variables = variables
        for slot in self.extra_slots():
            for v in variables:
                self.weights.add_slot(v, slot, self._start_of(v.value, slot), prefix)
        self.make_slots(variables, prefix)

    def create(self, variables: Sequence[Variable]) -> None:
        """Build, then make what is missing."""
        if variables:
            self.build(self.step_variables)
        super().create(variables)

    def keep_only(self, slots: Mapping[Variable, Mapping[str, Array]]) -> None:
        """Set the slots to these values, made in Keras's order whatever that of the state is."""
        known = self.built_variables
        self.built_variables = ()
        if known:
            self.build(known)
        self.weights.keep_only(slots, self.prefix)

    def _start_of(self, w: Array, slot: str) -> Array:
        """Return what one of `extra_slots` starts with."""
        copies = slot == AVERAGE and not self.is_keras3
        return w if copies else namespace(w).zeros_like(w)

    def _slot_of(self, v: Variable, slot: str) -> Array:
        slots = self.weights.slots_of(v)
        if slot in slots:
            return slots[slot]._value
        if self.built_variables:
            raise RuntimeError(
                f"{v.name} has no {slot}: use_ema and gradient_accumulation_steps cannot be set "
                "after build() or the first step; make another optimizer"
            )
        return self._start_of(v.value, slot)

    def _store_slots(self, slot: str, values: Mapping[Variable, Array]) -> None:
        self.build(self.step_variables)
        for v, x in values.items():
            self.weights.add_slot(v, slot, x, self.prefix).assign(x)

    def exclude_from_weight_decay(
        self, variables: Sequence[Variable], names: Iterable[str]
    ) -> None:
        """Leave these variables, and those with a matching name, undecayed."""
        if self.built_variables and not self.is_keras3:
            raise ValueError(
                "exclude_from_weight_decay can only be called before the "
                "first step and before build()"
            )
        self.undecayed = tuple(variables)
        self.undecayed_names = tuple(names)

    def finalize(self, variables: Sequence[Variable]) -> None:
        """Set the variables to their averages."""
        unknown = [v.name for v in variables if AVERAGE not in self.weights.slots_of(v)]
        if unknown:
            raise self.version.unknown_variable(
                f"there is no moving average of {', '.join(unknown)}; give variables that the "
                "optimizer was built with"
            )
        if self.is_keras3 and len(variables) != len(self.built_variables):
            raise ValueError(
                f"var_list must be the {len(self.built_variables)} variables of build(), got {len(variables)}"
            )
        for v in variables:
            v.load(self.weights.slots_of(v)[AVERAGE].value)  # at once, in a Graph too

    # Step

    def acts_around(self) -> bool:
        """Return whether anything is done beside the rule."""
        decay_arguments = self.declaration.decay_arguments.values()
        decays = [self.weight_decay, *(self.own_arguments[name] for name in decay_arguments)]
        is_set = self.loss_scale_factor is not None or any(x is not None for x in decays)
        return is_set or bool(self.use_ema or self.gradient_accumulation_steps)

    def weight_decay_of(self, rule: Rule) -> float | None:
        """Return the weight decay of the variables of a rule."""
        argument = self.declaration.decay_arguments.get(type(rule))
        weight_decay: float | None = self.own_arguments[argument] if argument else self.weight_decay
        return weight_decay

    def note_step_variables(self, variables: Sequence[Variable]) -> None:
        """Note the variables of a step, and refuse those that were not there at the first one."""
        if not variables:
            return
        self.step_variables = tuple(dict.fromkeys(variables))
        known = set(self.built_variables)
        for v in variables:
            if known and v not in known:
                raise self.version.unknown_variable(
                    f"{v.name} was not among the variables of the first step; make another "
                    "optimizer for it"
                )

    def averaged_variables(self) -> tuple[Variable, ...]:
        """Return the variables that averages may be written to."""
        return self.built_variables if self.use_ema else ()

    def unscale(self, pairs: Pairs) -> Pairs:
        """Return the gradients of the loss itself; None keeps its place."""
        return [(unscale(g, self.loss_scale_factor), v) for g, v in pairs]

    def prepare_step(self, pairs: Pairs, clip: bool, aggregate: bool) -> Iterable[Commit]:
        """Return functions that store the results, the count last."""
        if not self.acts_around():
            return chain(
                [lambda: self.build(self.step_variables)],
                super().prepare_step(pairs, clip, aggregate),
            )
        checked = [(self.check_gradient(g, v), v) for g, v in pairs]
        due, commits = self.accumulate(checked)
        return [*commits, *self.prepare_update(due, [v for _, v in pairs], clip)]

    def accumulate(self, pairs: Pairs) -> tuple[Pairs, list[Commit]]:
        """Return no gradients between updates; then their means, and the sums start again."""
        checked = [(None if g is None else self.check_gradient(g, v), v) for g, v in pairs]
        pairs = self.unscale(checked)
        steps = self.gradient_accumulation_steps
        if not steps:
            return pairs, []
        sums = {v: self._slot_of(v, SUM) for v in self.known_variables}
        if (self.steps_made() + 1) % steps == 0:
            means = [(None if g is None else take_mean(sums[v], g, steps), v) for g, v in pairs]
            zeros = {v: namespace(x).zeros_like(x) for v, x in sums.items()}
            return means, [lambda: self._store_slots(SUM, zeros)]
        for g, v in pairs:
            if g is not None:
                sums[v] = add_gradient(sums[v], g)
        return [], [lambda: self._store_slots(SUM, sums)]

    def prepare_update(
        self, pairs: Pairs, variables: Sequence[Variable], clip: bool
    ) -> Iterable[Commit]:
        """Do all that happens to weights, in Keras's order; between updates `pairs` is empty."""
        if not self.acts_around():
            return super().prepare_update(pairs, variables, clip)
        if clip:
            pairs = clip_pairs(pairs, self.limits, self.version)
        w = {v: v._value for v in (*variables, *self.known_variables)}
        self._decay(w, pairs)
        slots = self._step_all(w, pairs)
        averages = self._average(w, variables) if self.use_ema else {}
        every = self.ema_overwrite_frequency
        if every and (self.updates_made() + 1) % every == 0:
            w |= averages
        for v in variables:
            if v.constraint is not None:
                w[v] = v._fitting(v.constraint(w[v]))

        def store() -> None:
            self._store_slots(AVERAGE, averages)
            for v, x in w.items():
                if x is not v._value:
                    v.assign(x)
            for v, values in slots.items():
                self.store(v, self.blank_rule_for(v), values)

        return [store, self.count]

    def _decay(self, w: dict[Variable, Array], pairs: Pairs) -> None:
        rule = self.blank_rule()
        step = np.asarray(self.steps_made())
        rates: dict[Any, Array] = {}
        for _, v in pairs:
            weight_decay = self.weight_decay_of(rule_for(rule, v))
            if weight_decay is None or not self._is_decayed(v):
                continue
            if v.dtype not in rates:
                rates[v.dtype] = self.rate(step, v.dtype)
            w[v] = decay_weights(w[v], weight_decay, rates[v.dtype])

    def _is_decayed(self, v: Variable) -> bool:
        if v in self.undecayed:
            return False
        return not any(re.search(name, v.name) for name in self.undecayed_names)

    def _step_all(self, w: dict[Variable, Array], pairs: Pairs) -> dict[Variable, Any]:
        """Put the new weights into `w`, and return the new slots."""
        slots: dict[Variable, Any] = {}
        for job in self.jobs(pairs):
            v = job.v
            with precision(v.dtype):
                old = (
                    slots[v]
                    if v in slots
                    else tuple(buffer.array for buffer in self.buffers(v, job.rule))
                )
                w[v], slots[v] = pure.stepped(job.rule, w[v], old, job.g, job.lr, job.sparse)
                if job.inspect_slots is not None and not any(is_jax(x) for x in slots[v]):
                    job.inspect_slots(old, ..., slots[v])
        return slots

    def _average(
        self, w: Mapping[Variable, Array], variables: Sequence[Variable]
    ) -> dict[Variable, Array]:
        """Return the new averages; in the rewrite a variable with two gradients is averaged twice."""
        new: dict[Variable, Array] = {}
        averaged = self.known_variables if self.is_keras3 else variables
        for v in averaged:
            old = new[v] if v in new else self._slot_of(v, AVERAGE)
            new[v] = average(old, w[v], *self._shares(self.updates_made(), v.dtype))
        return new

    def _shares(self, updates: Any, dtype: Any) -> tuple[Any, Any]:
        """Return the shares of an average and of the weight in the next average."""
        if self.is_keras3:
            return shares_of_keras3(updates, self.ema_momentum, dtype)
        return shares_of_rewrite(self.ema_momentum, dtype)

    # Pure form

    def pure_init(self, values: Any) -> dict[str, Any]:
        """Return the state for a tree of weights."""
        from .._base.jax import jax

        leaves = jax.tree.leaves(values)
        extra_slots = {
            slot: [self._start_of(w, slot) for w in leaves] for slot in self.extra_slots()
        }
        return {**super().pure_init(values), **extra_slots}

    def pure_update(
        self,
        state: Any,
        values: Any,
        grads: Any,
        process: Process,
        names: Sequence[str] | None = None,
    ) -> tuple[Any, Any]:
        """Return new values and the new state."""
        if not self.acts_around():
            return super().pure_update(state, values, grads, process, names)
        names = names or pure.leaf_names(values)
        if self.undecayed or self.undecayed_names:
            raise ValueError(
                "update() knows weights, not variables: exclude_from_weight_decay cannot act; "
                "leave weight_decay out and decay the weights yourself"
            )
        tree, (w, grads) = pure.matched(state, values, grads)
        steps_made = state["step"] if is_traced(state["step"]) else np.asarray(state["step"])
        grads = [unscale(g, self.loss_scale_factor) for g in grads]
        new, after = self._pure_accumulate(state, steps_made, w, grads, process, names)
        if self.use_ema:
            new, after[AVERAGE] = self._pure_average(state[AVERAGE], steps_made, new, grads)
        return tree.unflatten(new), after

    def _pure_accumulate(
        self,
        state: Any,
        steps_made: Any,
        w: Leaves,
        grads: Gradients,
        process: Process,
        names: Sequence[str],
    ) -> tuple[Leaves, dict[str, Any]]:
        """Return weights and state after the gradients of one call, averages left out."""
        steps = self.gradient_accumulation_steps
        if not steps:
            return self._pure_step(state, steps_made, w, grads, process, names)
        pairs = list(zip(state[SUM], grads, strict=True))
        means: Gradients = [None if g is None else take_mean(s, g, steps) for s, g in pairs]
        sums = [s if g is None else add_gradient(s, g) for s, g in pairs]
        new, after = self._pure_step(state, steps_made, w, means, process, names)
        zeros = [namespace(s).zeros_like(s) for s in sums]
        waiting = {**after, "slots": state["slots"], "shared": state["shared"], SUM: sums}
        is_update = (steps_made + 1) % steps == 0
        chosen: tuple[Leaves, dict[str, Any]]
        chosen = choose(is_update, (new, {**after, SUM: zeros}), (w, waiting))
        return chosen

    def _pure_step(
        self,
        state: Any,
        steps_made: Any,
        w: Leaves,
        grads: Gradients,
        process: Process,
        names: Sequence[str],
    ) -> tuple[Leaves, dict[str, Any]]:
        """Decay the weights, then step."""
        rule = self.blank_rule()
        decayed = []
        for name, x, g in zip(names, w, grads, strict=True):
            weight_decay = self.weight_decay_of(rule.for_weights(name, x.shape))
            if g is not None and weight_decay is not None:
                x = decay_weights(x, weight_decay, self.rate(steps_made, x.dtype))
            decayed.append(x)
        return super().pure_update(state, decayed, grads, process, names)

    def _pure_average(
        self, averages: Leaves, steps_made: Any, w: Leaves, grads: Gradients
    ) -> tuple[Leaves, Leaves]:
        """Return weights and averages after the step."""
        updates = self._updates_of(steps_made)
        every = self.ema_overwrite_frequency
        moves = [self.is_keras3 or g is not None for g in grads]
        new = [
            average(old, x, *self._shares(updates, x.dtype)) if is_moving else old
            for old, x, is_moving in zip(averages, w, moves, strict=True)
        ]
        if every:
            overwrites = (updates + 1) % every == 0
            w = [
                choose(overwrites, a, x) if is_moving else x
                for a, x, is_moving in zip(new, w, moves, strict=True)
            ]
        return w, new


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """Return one of two trees; entry by entry where the condition is not known yet."""
    if not is_traced(condition):
        return yes if condition else no
    from .._base.jax import jax

    return jax.tree.map(lambda a, b: jax.numpy.where(condition, a, b), yes, no)


# Formulas


@quiet
def decay_weights(w: Array, weight_decay: float, lr: Any) -> Array:
    """Return w - w * weight_decay * lr; a Python number passes through float32.

    >>> decay_weights(np.float32([2.0]), 0.5, np.float32(0.25)).tolist()
    [1.75]
    """
    with precision(w.dtype):
        smaller: Array = w - w * np.dtype(w.dtype).type(np.float32(weight_decay)) * lr
    return smaller


@quiet
def average(old: Array, w: Array, keep: Any, take: Any) -> Array:
    """Return keep * old + take * w.

    >>> average(np.float32([2.0]), np.float32([4.0]), *shares_of_rewrite(0.75, np.float32)).tolist()
    [2.5]
    """
    with precision(w.dtype):
        new: Array = keep * old + take * w
    return new


def shares_of_rewrite(momentum: float, dtype: Any) -> tuple[Any, Any]:
    """Return the shares of the old average and of the weight, each rounded to the dtype."""
    as_type = np.dtype(dtype).type
    return as_type(momentum), as_type(1 - momentum)


def shares_of_keras3(updates: Any, momentum: float, dtype: Any) -> tuple[Any, Any]:
    """Return the shares in Keras 3: update 0 takes all of the weight, later ones what the rounded momentum leaves.

    >>> shares_of_keras3(np.int64(0), 0.75, np.float32), shares_of_keras3(np.int64(1), 0.75, np.float32)
    ((np.float32(0.0), np.float32(1.0)), (np.float32(0.75), np.float32(0.25)))
    """
    xp = namespace(updates)
    as_type = np.dtype(dtype).type
    with precision(dtype):
        # Not a product with 0: early NumPy 2 widens bfloat16 times a Python number.
        keep = xp.where(updates != 0, as_type(momentum), as_type(0))[()]
        return keep, as_type(1) - keep


@quiet
def add_gradient(total: Array, g: Gradient) -> Array:
    """Return the sum with one more gradient in it; slices become dense."""
    with precision(total.dtype):
        new: Array = total + cast(Array, make_dense(g, tuple(total.shape)))
    return new


@quiet
def take_mean(total: Array, g: Gradient, steps: int) -> Array:
    """Return the mean over `steps` gradients, of which g is the last.

    >>> take_mean(np.float32([3.0]), np.float32([1.0]), 2).tolist()
    [2.0]
    """
    with precision(total.dtype):
        quotient: Array = add_gradient(total, g) / np.dtype(total.dtype).type(steps)
    return quotient


@quiet
def unscale(g: Gradient | None, factor: float | None) -> Gradient | None:
    """Return g / factor. TypeError for IndexedSlices, as in Keras 3 on TensorFlow.

    >>> unscale(np.float32([4.0]), 2.0).tolist()
    [2.0]
    """
    if factor is None or g is None:
        return g
    if isinstance(g, IndexedSlices):
        raise TypeError(
            "loss_scale_factor cannot divide IndexedSlices, in Keras 3 on TensorFlow neither; give "
            "g.to_dense(), or divide g.values and leave loss_scale_factor out"
        )
    with precision(g.dtype):
        quotient: Array = g / np.dtype(g.dtype).type(factor)
    return quotient
