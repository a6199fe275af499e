"""The three steps compute, process, apply: the shell around every rule."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from .. import rules
from .._base.arrays import Array, is_inexact, is_jax
from .._base.errors import DTypeError
from .._base.gradients import Gradient
from .._steps import apply, pure
from ..rules.rule import Shared
from .autodiff import GradsAndVars, Loss, check_aggregation, check_variables, differentiate, listed, touched_variables
from .by_arrays import differentiate_by_all
from .copies import follow, in_copy
from .gate import GATE_GRAPH, GATE_NONE, GATE_OP, check_gate
from .gradient_checks import check_step, checked_pairs
from .hyperparameters import Rate, check_functions, described, is_plain, scalar
from .slots import SlotStore, shared_of
from .states import (
    Commit,
    Named,
    Stateful,
    array_of,
    check_class,
    part,
    plain_numbers,
    setting,
    together,
    warn_of_changes,
)
from .update import Job, commits
from .variable import GraphKey, Variable, current_collection, trainable_variables


class Optimizer(Stateful):
    """The three steps of `tf.compat.v1.train.Optimizer`; subclasses bring a rule and its hyperparameters by field.

    Outside a `gl.Graph` updates happen at once and return None, as in TensorFlow's eager mode. Numbers given as
    hyperparameters become float32 first, TensorFlow's way, so a float64 variable sees 0.1 as 0.10000000149.

    Differs from TensorFlow: a call that raises changes nothing, not even the variables ahead of the bad one. Complex
    variables have gradients but no step, which TensorFlow refuses in a Graph and takes outside. There is no
    `strict="tf"` as in `gl.keras`, as TensorFlow promises no order for the updates of one `Session.run`.
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = GATE_NONE, GATE_OP, GATE_GRAPH
    _sparse: ClassVar[Callable[..., Any]] = staticmethod(apply.sparse)  # how IndexedSlices meet the rule

    def __init__(self, rule: rules.Rule, learning_rate: Rate, use_locking: bool, name: str, **fields: Any) -> None:
        if not name:
            raise ValueError(f"name must be a non-empty string, got {name!r}")
        check_functions(learning_rate=learning_rate, **fields)
        fixed = {field: x for field, x in fields.items() if is_plain(x)}
        self._fixed = replace(rule, **{field: scalar(x, field) for field, x in fixed.items()})
        self._fields = {field: x for field, x in fields.items() if field not in fixed}  # asked anew at every step
        self._learning_rate, self._name, self._store = learning_rate, name, SlotStore()

    def __repr__(self) -> str:
        rule = {k: x for k, x in self._fixed.get_config().items() if k not in ("rule", *self._fixed.start())}
        return described(self, self._name, **{"learning_rate": self._learning_rate, **rule, **self._fields})

    @property
    def _rule(self) -> rules.Rule:
        """The rule with its hyperparameters as they are now."""
        return replace(self._fixed, **{field: _number(x, field) for field, x in self._fields.items()})

    def get_name(self) -> str:
        return self._name

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """The slot variable, or None where there is none (Keras raises KeyError)."""
        return self._store.slot(var, name)

    def get_slot_names(self) -> list[str]:
        """Sorted names of the slots that exist: none before the first step."""
        return self._store.names()

    def variables(self) -> list[Variable]:
        """Return the current graph's slot variables and what all weights share (Adam's powers of beta), by name."""
        return self._store.variables()

    def compute_gradients(
        self,
        loss: Loss,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> GradsAndVars:
        """First step: (gradient or None, variable) for each variable, in order.

        Args:
            loss: function without arguments that computes with jax.numpy on variables; a vector is summed.
            var_list: variables, or one; None means the trainable ones the loss reads (in a Graph: all trainable ones).
                JAX arrays that the loss computes with may be among them, as tensors in TensorFlow; `apply_gradients`
                refuses them. Not NumPy's, which are constants to a loss.
            gate_gradients: has an effect in a Graph only; see `GateRace`. The values are the same for all gates.
            aggregation_method, colocate_gradients_with_ops: no effect on values.
            grad_loss: upstream gradient, of the loss's shape.

        Raises:
            RuntimeError or TypeError: the loss is not callable. ValueError: no variables, integer ones only; in a
            Graph an unknown gate or aggregation method. Integer variables beside others have no gradient: None.
        """
        if not callable(loss):
            raise RuntimeError(
                f"loss must be a function without arguments, got {type(loss).__name__}: write lambda: ..."
            )
        graph = current_collection().graph
        check_gate(gate_gradients, strict=graph)
        check_aggregation(aggregation_method, strict=graph)
        if var_list is None and not graph:
            pairs = touched_variables(loss, grad_loss)
            if not pairs:
                raise ValueError(
                    "No variables: the loss reads no trainable variable; pass var_list or read variables in it"
                )
            return pairs
        items = trainable_variables() if var_list is None else listed(var_list)
        if any(map(is_jax, items)):
            return differentiate_by_all(loss, items, grad_loss)
        variables = check_variables(items, "var_list")
        if not variables:
            raise ValueError("No variables to optimize: var_list is empty")
        if not any(is_inexact(v.dtype) for v in variables):
            v = variables[0]
            raise DTypeError(f"{v.name} is {v.dtype}; only floating-point variables have gradients")
        return list(zip(differentiate([loss], variables, [grad_loss])[0], variables, strict=True))

    def apply_gradients(self, grads_and_vars: Any, global_step: Variable | None = None, name: str | None = None) -> Any:
        """Third step: update every variable, then add 1 to global_step.

        Args:
            grads_and_vars: iterable of (array, IndexedSlices, list or None, variable); None is skipped.
            global_step: integer variable, or None. name: of the Operation in a Graph; by default the optimizer's.

        Returns: None; in a Graph an Operation to run.

        Raises:
            ValueError: nothing to apply, a shape or dtype differs from the variable's, an index outside it.
            TypeError: not pairs, not variables, strings. RuntimeError: slices for a variable with a constraint.
        """
        pairs = checked_pairs(grads_and_vars)
        if global_step is not None:
            check_step(global_step)
        self._declare_slots([v for _, v in pairs])
        return current_collection().finish(lambda: self._update(pairs, global_step), name or self._name)

    def minimize(
        self,
        loss: Loss,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """`compute_gradients` and `apply_gradients` in one; in a Graph an Operation that does both at every run.

        >>> v = Variable([1.0, -2.0], name="v")
        >>> from gradlab.train import GradientDescentOptimizer
        >>> GradientDescentOptimizer(0.25).minimize(lambda: (v * v).sum())
        >>> v.numpy().tolist()
        [0.5, -1.0]
        """

        def pairs() -> GradsAndVars:
            return self.compute_gradients(
                loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
            )

        collection = current_collection()
        if not collection.graph:
            return self.apply_gradients(pairs(), global_step, name)
        if global_step is not None:
            check_step(global_step)
        variables = [v for _, v in checked_pairs(pairs())]
        self._declare_slots(variables)

        def run() -> None:
            grads = differentiate([loss], variables, [grad_loss])[0]
            self._update(checked_pairs(zip(grads, variables, strict=True)), global_step)

        return collection.finish(run, name or self._name)

    def init(self, values: Any) -> Any:
        """State of the pure form for a tree of weights: a step count and the slots of every leaf.

        >>> import jax, jax.numpy as jnp
        >>> from gradlab.train import MomentumOptimizer
        >>> opt, w = MomentumOptimizer(0.1, 0.9), {"a": jnp.ones(2)}
        >>> w, state = jax.jit(opt.update)(opt.init(w), w, {"a": jnp.ones(2)})
        >>> round(float(w["a"][0]), 2), int(state["step"])
        (0.9, 1)
        """
        return pure.init(self._rule, values)

    def update(self, state: Any, values: Any, grads: Any) -> tuple[Any, Any]:
        """(new values, new state): the same update as a pure function, for `jit`, `scan`, `vmap` and shards.

        `grads` is a tree like `values` whose leaves are arrays, IndexedSlices or None.
        """
        rate = self._rate()
        return pure.update(self._rule_at(rate), rate, state, values, grads, type(self)._sparse)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Slots of its own, of the variables copied with it, else of the same; variables it reads likewise."""
        new = memo[id(self)] = object.__new__(type(self))
        for name, x in vars(self).items():
            vars(new)[name] = _copied(x, memo)
        follow(new, memo)
        return new

    def _follow(self, old: Variable, new: Variable) -> None:
        self._store.follow(old, new)
        for kept in (vars(self), self._fields):
            kept.update({name: new for name, x in kept.items() if x is old})

    def _stepped(self) -> list[Variable]:
        return self._store.stepped()

    def _to_save(self, names: Named) -> dict[str, Any]:
        read = {name: array_of(x) for name, x in self._reads().items() if isinstance(x, Variable)}
        return {
            "optimizer": type(self).__name__,
            "settings": self._settings(),
            "variables": read,
            **self._store.state(names),
        }

    def _loading(self, state: Any, names: Named) -> Commit:
        check_class(state, self)
        settings, read, slots = part(state, "settings"), part(state, "variables"), part(state, "slots")
        if settings.get("rule") != type(self._fixed).__name__:
            raise ValueError(f"the state is of the rule {settings.get('rule')}, it does not fit {self!r}")
        shared = shared_of(state, names, self._fixed)
        store = self._store.loading(slots, shared, names, self._fixed, self._labels())
        own = {name: x for name, x in self._reads().items() if isinstance(x, Variable)}
        values = [setting(own[name], x, f"{name} of {self._name}") for name, x in read.items() if name in own]
        was, now = settings | dict.fromkeys(read, "a Variable"), self._settings() | dict.fromkeys(own, "a Variable")
        warn_of_changes(was, now, self._name)
        powers = [partial(self._keep_shared, key, x) for key, x in shared.items()]
        return together([store, *powers, *values])

    def _reads(self) -> dict[str, Any]:
        """Hyperparameters that are read at every step, and may be Variables."""
        return {"learning_rate": self._learning_rate, **self._fields}

    def _settings(self) -> dict[str, Any]:
        """The constructor's arguments, as far as they are numbers."""
        fixed = {k: x for k, x in self._fixed.get_config().items() if k not in (*self._fixed.start(), *self._fields)}
        return plain_numbers({**fixed, **self._reads()})

    def _rate(self) -> Any:
        """The learning rate of one step, a scalar array; a function is called once for all variables."""
        return _number(self._learning_rate, "learning_rate")

    def _rule_at(self, rate: Array) -> rules.Rule:
        """The rule of a step at this learning rate."""
        return self._rule

    def _labels(self) -> Mapping[str, str]:
        """Slot name -> last part of the name of its variable, in the order in which they are made."""
        return dict.fromkeys(self._fixed.slots, self._name)

    def _shared(self, key: GraphKey, rule: rules.Rule) -> Shared:
        """The current values that change from step to step and are common to the variables of a graph."""
        return self._store.shared(key, rule)

    def _keep_shared(self, key: GraphKey, values: Shared) -> None:
        self._store.store_shared(key, values)

    def _declare_slots(self, variables: Sequence[Variable]) -> None:
        """In a Graph slots exist as soon as the update is described; outside, once the first one has worked."""
        if current_collection().graph:
            rule = self._rule
            for key in {v._graph_key for v in variables}:
                self._keep_shared(key, self._shared(key, rule))
            for v in variables:
                if v not in self._store:
                    self._store.store(v, rule, self._store.values(v, rule), self._labels())

    def _update(self, pairs: Sequence[tuple[Gradient, Variable]], global_step: Variable | None) -> None:
        """All updates, in order, or none: values are stored when the last one has been computed."""
        with ExitStack() as stack:
            for v in sorted({v for _, v in pairs}, key=id):  # one order for all threads
                stack.enter_context(v._lock)
            rate = self._rate()
            rule = self._rule_at(rate)
            if rule.start():
                stack.enter_context(self._store.lock)
            shared = {key: self._shared(key, rule) for key in {v._graph_key for _, v in pairs}}
            now, store = {key: rule.at(x) for key, x in shared.items()}, self._store
            for commit in commits(
                [Job(now[v._graph_key], v, g, rate, type(self)._sparse) for g, v in pairs],
                lambda v: store.cells(v, rule),
                lambda v, slots: store.store(v, rule, slots, self._labels()),
            ):
                commit()
            for key, x in shared.items():
                self._keep_shared(key, rule.advance(x))
            if global_step is not None:
                global_step.assign_add(1)


def _copied(x: Any, memo: dict[int, Any]) -> Any:
    if isinstance(x, Variable):
        return in_copy(x, memo)
    if isinstance(x, dict):
        return {name: _copied(value, memo) for name, value in x.items()}
    return copy.deepcopy(x, memo)


def _number(x: Rate, name: str) -> Any:
    """A hyperparameter as a scalar array, so that a compiled step takes its next value too."""
    number = scalar(x, name)
    return np.float32(number) if type(number) is float else number
