"""Optimizers of the versions that know their variables from the first step on: the rewrite and Keras 3."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, cast

import numpy as np

from .._base.arrays import Array, is_jax, namespace, precision
from ..rules import pure
from ..train.autodiff import check_variables
from ..train.update import Commit
from ..train.variable import Variable
from .around import averaged, decayed, mean, summed, unscaled
from .classes import adds_to, plain, unpickled
from .clips import clipped
from .functional import AVERAGE, SUM, Functional
from .steps import Pairs, Steps, Variables


class Listed(list[Variable]):
    """A list that may be called, so that `opt.variables()` of older versions works on, as in tf_keras."""

    def __call__(self) -> list[Variable]:
        return self


class Built(Functional):
    """Weight decay, moving averages, and variables that are made all at once.

        w = w - w * weight_decay * lr_t                          before the rule, for variables with a gradient
        average = ema_momentum * average + (1 - ema_momentum) * w    after it
        w = average                                              if (iterations + 1) % ema_overwrite_frequency == 0

    A constraint comes after all of this. `weight_decay`, `ema_momentum` and `ema_overwrite_frequency` are attributes
    that may be set; with any of them nothing is stored when a step raises, in `strict="tf"`, too.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """`SGDKeras3` is an SGD where a name is asked for: in configs, messages and saved states."""
        super().__init_subclass__(**kwargs)
        cls.__name__ = plain(cls).__name__

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, (plain(type(self)), self._version.name), self.__getstate__()

    @property
    def name(self) -> str:
        """The name, the first part of those of its variables in Keras 3."""
        return self._name

    @property
    def built(self) -> bool:
        """True if the variables are known: after `build` or the first step."""
        return bool(self._known)

    @property
    def variables(self) -> Listed:  # pyright: ignore[reportIncompatibleMethodOverride]  # what the method gives
        """Iterations, the learning rate in Keras 3, averages, accumulated gradients and slots, in Keras's order.

        Differs from Keras 3: the list may be called, as tf_keras's.
        """
        return Listed(self.weights)

    def build(self, variables: Iterable[Variable]) -> None:
        """Make all that is kept for these variables; others are refused from then on. A second call does nothing.

        Raises TypeError: not variables.

        >>> import gradlab as gl
        >>> v, opt = gl.Variable([1.0, 2.0], name="v"), gl.keras.SGD(0.5, momentum=0.9, semantics="keras3", name="sgd")
        >>> opt.build([v])
        >>> [w.name for w in opt.variables]
        ['sgd/iteration:0', 'sgd/learning_rate:0', 'sgd/v_momentum:0']
        """
        self._build(tuple(check_variables(list(variables), "variables")))

    def exclude_from_weight_decay(
        self, var_list: Iterable[Variable] | None = None, var_names: Iterable[str] | None = None
    ) -> None:
        """Leave these variables, and those whose names hold one of these regular expressions, undecayed.

        Takes the place of an earlier call. Raises ValueError in the rewrite once it is built; TypeError: not variables.

        >>> import gradlab as gl
        >>> w, bias = gl.Variable(1.0, name="w"), gl.Variable(1.0, name="bias")
        >>> opt = gl.keras.SGD(1.0, weight_decay=0.25, semantics="keras3")
        >>> opt.exclude_from_weight_decay(var_names=["bias"])
        >>> opt.apply_gradients([(0.0, w), (0.0, bias)]).numpy().item(), w.numpy().item(), bias.numpy().item()
        (1, 0.75, 1.0)
        """
        if self.built and self._version.name == "rewrite":
            raise ValueError("exclude_from_weight_decay can only be called before the first step and before build()")
        self._undecayed = tuple(check_variables(list(var_list or ()), "var_list"))
        self._undecayed_names = tuple(var_names or ())

    def finalize_variable_values(self, var_list: Iterable[Variable]) -> None:
        """Set the variables to their moving averages; without `use_ema` they stay. Keras's `fit` ends with this.

        Raises, with nothing changed: ValueError (KeyError in the rewrite) for a variable without an average; ValueError
        in "keras3" where not all variables are given.

        Differs from Keras 3: a variable gets its own average, wherever it is in the list.

        >>> import gradlab as gl
        >>> v, opt = gl.Variable([4.0], name="v"), gl.keras.SGD(1.0, semantics="keras3", use_ema=True, ema_momentum=0.5)
        >>> for _ in range(2):
        ...     n = opt.apply_gradients([([1.0], v)])
        >>> opt.finalize_variable_values([v])
        >>> v.numpy().tolist()
        [2.5]
        """
        if not self.use_ema:
            return
        variables = check_variables(list(var_list), "var_list")
        keras3 = self._version.name == "keras3"
        if unknown := [v.name for v in variables if AVERAGE not in self._kept.of(v)]:
            raise (ValueError if keras3 else KeyError)(
                f"there is no moving average of {', '.join(unknown)}; give variables that the optimizer was built with"
            )
        if keras3 and len(variables) != len(self._known):
            raise ValueError(f"var_list must be the {len(self._known)} variables of build(), got {len(variables)}")
        for v in variables:
            v.assign(self._kept.of(v)[AVERAGE]._value)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set all `variables`. Raises ValueError before `build` and the first step, and as `Optimizer.set_weights`."""
        if not self.built:
            raise ValueError(
                "You are calling `set_weights()` on an optimizer that has not yet been built: call build(variables)"
            )
        super().set_weights(weights)

    def _build(self, variables: Variables) -> None:
        if self._known:
            return
        self._known = variables
        for slot in self._own_slots():
            for v in variables:
                self._add_slot(v, slot, self._start_of(v._value, slot), f"{self._name}/")
        rule = self._blank()
        for v in variables:
            for slot, cell in zip(rule.slots, self._cells(v, rule), strict=True):
                self._add_slot(v, slot, cell._value, f"{self._name}/")

    def _create(self, variables: Sequence[Variable]) -> None:
        if variables:
            self._build(self._asked)
        super()._create(variables)

    def _keep_only(self, slots: Mapping[Variable, Mapping[str, Array]]) -> None:
        known, self._known = self._known, ()
        if known:
            self._build(known)  # in Keras's order, whatever that of the state is
        super()._keep_only(slots)  # type: ignore[misc]  # Saved's

    def _settings(self) -> dict[str, Any]:
        without = [*self._undecayed_names, *([f"{len(self._undecayed)} variables"] if self._undecayed else ())]
        settings: dict[str, Any] = super()._settings()  # type: ignore[misc]  # Saved's
        return {**settings, "without weight decay": ", ".join(without)}

    @contextmanager
    def _locked(self, pairs: Pairs) -> Iterator[None]:
        """An average is written to all variables that are known."""
        with super()._locked([*pairs, *((None, v) for v in self._known if self.use_ema)]):
            yield

    def _commits(self, pairs: Pairs, clip: bool, aggregate: bool) -> Iterable[Commit]:
        if not self._acts_around():
            return chain([lambda: self._build(self._asked)], super()._commits(pairs, clip, aggregate))
        now, kept = self._ready([(self._checked(g, v), v) for g, v in pairs])
        return [*kept, *self._moved(now, [v for _, v in pairs], clip)]

    def _moved(self, pairs: Pairs, variables: Sequence[Variable], clip: bool) -> Iterable[Commit]:
        """All that happens to weights, in Keras's order; between updates `pairs` is empty."""
        if not self._acts_around():
            return super()._moved(pairs, variables, clip)
        pairs = clipped(pairs, self._limits, self._version) if clip else pairs
        w = {v: v._value for v in (*variables, *(self._known or self._asked))}
        self._decay(w, pairs)
        slots = self._step_all(w, pairs)
        averages = self._average(w, variables) if self.use_ema else {}
        every = self.ema_overwrite_frequency
        if every and (self._updates() + 1) % every == 0:
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
                self._store(v, self._blank(), values)

        return [store, self._count]

    def _store_slots(self, slot: str, values: Mapping[Variable, Array]) -> None:
        self._build(self._asked)
        for v, x in values.items():
            self._add_slot(v, slot, x, f"{self._name}/").assign(x)

    def _decay(self, w: dict[Variable, Array], pairs: Pairs) -> None:
        if self.weight_decay is None:
            return
        for _, v in pairs:
            if self._is_decayed(v):
                w[v] = decayed(w[v], self.weight_decay, self._rate(np.asarray(self._steps_made()), v.dtype))

    def _is_decayed(self, v: Variable) -> bool:
        return v not in set(self._undecayed) and not any(re.search(name, v.name) for name in self._undecayed_names)

    def _step_all(self, w: dict[Variable, Array], pairs: Pairs) -> dict[Variable, Any]:
        slots: dict[Variable, Any] = {}
        for job in self._jobs(pairs):
            v = job.v
            with precision(v.dtype):
                old = slots[v] if v in slots else tuple(c._value for c in self._cells(v, job.rule))
                w[v], slots[v] = pure.stepped(job.rule, w[v], old, job.g, job.lr, job.sparse)
                if not any(is_jax(x) for x in slots[v]):
                    job.look(old, ..., slots[v])
        return slots

    def _average(self, w: Mapping[Variable, Array], variables: Sequence[Variable]) -> dict[Variable, Array]:
        """The new averages; in the rewrite a variable with two gradients is averaged twice."""
        new: dict[Variable, Array] = {}
        for v in (self._known or self._asked) if self._averages_all() else variables:
            old = new[v] if v in new else self._slot_of(v, AVERAGE)
            new[v] = averaged(old, w[v], *self._shares(self._updates(), v.dtype))
        return new

    def _slot_of(self, v: Variable, slot: str) -> Array:
        kept = self._kept.of(v)
        if slot in kept:
            return kept[slot]._value
        if self._known:
            raise RuntimeError(
                f"{v.name} has no {slot}: use_ema and gradient_accumulation_steps cannot be set after build() or the "
                "first step; make another optimizer"
            )
        return self._start_of(v._value, slot)

    def _steps_made(self) -> Any:
        return np.int64(0) if self._kept.iterations is None else self._kept.iterations.numpy()[()]

    def _rate_step(self) -> Any:
        made = self._steps_made()
        return made if self._version.name == "keras3" else np.maximum(made - 1, 0)

    def _updates(self) -> Any:
        return self._updates_of(self._steps_made())


@adds_to("rewrite")
class Rewrite(Built):
    """The optimizers of TensorFlow 2.11 to 2.15: averages of variables with gradients, which start at the weights."""


@adds_to("keras3")
class Keras3(Built):
    """Additions of Keras 3: a scale of the loss, and accumulated gradients.

        g = g / loss_scale_factor
        sum = sum + g                    gradient_accumulation_steps - 1 times: the weights stay, `iterations` too
        g = (g + sum) / gradient_accumulation_steps;  sum = 0        then a step, with clips and decay

    Averages are taken at every call, of all variables. Schedules see the number of calls. IndexedSlices are summed into
    a dense gradient; a scale refuses them (TypeError), as Keras 3 on TensorFlow does.
    """

    @property
    def iterations(self) -> Any:
        """The number of updates made: a variable, or with accumulation a number, calls // steps."""
        steps = self.gradient_accumulation_steps
        return self._updates() if steps else self._iterations("")

    @iterations.setter
    def iterations(self, variable: Variable) -> None:
        cast(Any, Steps.iterations).fset(self, variable)

    def apply(self, grads: Iterable[Any], trainable_variables: Iterable[Variable] | None = None) -> None:
        """`apply_gradients` with gradients and variables apart; without variables those of `build`, in its order.

        Raises ValueError: no variables yet, or not one gradient for each. Without any gradient there is no step.

        >>> import gradlab as gl
        >>> v, opt = gl.Variable([1.0], name="v"), gl.keras.SGD(0.5, semantics="keras3")
        >>> opt.build([v])
        >>> opt.apply([[1.0]])
        >>> v.numpy().tolist()
        [0.5]
        """
        grads = list(grads)
        variables = list(self._known if trainable_variables is None else trainable_variables)
        if not grads:
            return
        if trainable_variables is None and not self.built:
            raise ValueError("apply(grads) without variables needs an optimizer that is built: call build(variables)")
        if len(grads) != len(variables):
            raise ValueError(f"apply() needs one gradient for each of {len(variables)} variables, got {len(grads)}")
        cast(Any, self).apply_gradients(zip(grads, variables, strict=True))

    def scale_loss(self, loss: Any) -> Any:
        """Return loss * loss_scale_factor, whose gradients `apply_gradients` takes; `minimize` does it itself.

        >>> import gradlab as gl
        >>> gl.keras.SGD(semantics="keras3", loss_scale_factor=8.0).scale_loss(0.5)
        4.0
        """
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def _scaled(self, loss: Any) -> Any:
        if self.loss_scale_factor is None:
            return loss
        if not callable(loss):
            raise ValueError(
                "loss_scale_factor must scale the loss on the tape: tape scale_loss(loss), apply_gradients"
            )
        return lambda: self.scale_loss(loss())

    def _unscaled(self, pairs: Pairs) -> Pairs:
        return [(unscaled(g, self.loss_scale_factor), v) for g, v in pairs]

    def _ready(self, pairs: Pairs) -> tuple[Pairs, list[Commit]]:
        """Between updates no gradients; then their means, and the sums start again."""
        checked = [(None if g is None else self._checked(g, v), v) for g, v in pairs]
        pairs, steps = self._unscaled(checked), self.gradient_accumulation_steps
        if not steps:
            return pairs, []
        variables = self._known or self._asked
        sums = {v: self._slot_of(v, SUM) for v in variables}
        if (self._steps_made() + 1) % steps == 0:
            means = [(None if g is None else mean(sums[v], g, steps), v) for g, v in pairs]
            return means, [lambda: self._store_slots(SUM, {v: namespace(x).zeros_like(x) for v, x in sums.items()})]
        for g, v in pairs:
            if g is not None:
                sums[v] = summed(sums[v], g)
        return [], [lambda: self._store_slots(SUM, sums)]
