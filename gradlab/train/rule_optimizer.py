"""`RuleOptimizer`: a rule of `gl.rules` as an optimizer, its slots as variables, its update as the third step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np

from .. import rules
from .._base.arrays import Array, as_array
from .._base.gradient_types import Gradient
from .._base.tensors import compute_now, take_first
from ..errors import MissingStepError
from ..rules import dense_and_sparse, pure
from ..rules.rule import Shared
from ..schedules import LearningRateSchedule
from .copies import copy_part, follow
from .gradient_checks import check_step, checked_pairs
from .hyperparameters import (
    LearningRate,
    Rate,
    check_functions,
    describe,
    is_plain,
    read_scalar,
)
from .optimizer import Optimizer
from .slots import SlotStore, read_shared
from .state_dict import (
    Commit,
    VariablesByName,
    check_class,
    combine_commits,
    get_part,
    plain_numbers,
    prepare_assign,
    read_array,
    warn_of_changes,
)
from .update import Job, prepare_commits, rule_for
from .variable import GraphKey, Variable, current_collection

RuleChoice: TypeAlias = Callable[[rules.Rule, Variable], rules.Rule]


def keep_rule(rule: rules.Rule, v: Variable) -> rules.Rule:
    """The choice of optimizers which step all variables by one rule."""
    return rule


class RuleOptimizer(Optimizer):
    """An optimizer that steps by a rule; subclasses bring the rule, and its hyperparameters by field.

    Outside a `gl.Graph` updates happen at once and return None, as in TensorFlow's eager mode.
    Numbers given as hyperparameters become float32 first, TensorFlow's way, so a float64 variable
    sees 0.1 as 0.10000000149.

    Args:
        rule: a rule of `gl.rules`, with the hyperparameters that don't change.
        learning_rate: a number, a Variable, a function without arguments, or a schedule of
            `gl.schedules`, which is asked at the value of the global step: of `global_step` where
            `apply_gradients` and `minimize` are given it, else of the collection's.
        use_locking: no effect.
        name: a string, not empty; in a `Graph` a valid scope name.
        **fields: hyperparameters of the rule that may be functions or Variables, by field.

    Differs from TensorFlow: a call that raises changes nothing, not even the variables ahead of the
    bad one; only after Ctrl-C in the middle of an update may some entries have moved and others
    not. Complex variables have gradients but no step, which TensorFlow refuses in a Graph and takes
    outside. There is no `strict="tf"` as in `gl.keras`, as TensorFlow promises no order for the
    updates of one `Session.run`. Not in TensorFlow, whose optimizers have no rule of their own.

    >>> import gradlab as gl
    >>> v, opt = gl.Variable([1.0]), RuleOptimizer(gl.rules.Lion(), 0.5, False, "Lion")
    >>> opt.apply_gradients([([3.0], v)])
    >>> v.numpy().tolist()
    [0.5]
    """

    # How IndexedSlices meet the rule.
    _sparse: ClassVar[Callable[..., Any]] = staticmethod(dense_and_sparse.sparse)

    def __init__(
        self,
        rule: rules.Rule,
        learning_rate: LearningRate,
        use_locking: bool,
        name: str,
        **fields: Any,
    ) -> None:
        super().__init__(name)
        if not isinstance(learning_rate, LearningRateSchedule):
            check_functions(learning_rate=learning_rate)
        check_functions(**fields)
        plain = {field: read_scalar(x, field) for field, x in fields.items() if is_plain(x)}
        self._fixed = replace(rule, **plain)
        # Variables and functions are read again at every step.
        self._fields = {field: x for field, x in fields.items() if field not in plain}
        self._learning_rate = learning_rate
        self._store = SlotStore()

    def __repr__(self) -> str:
        # Left out are what changes from step to step, and fields that only Keras's optimizers give.
        rule = {
            k: x
            for k, x in self._fixed.get_config().items()
            if k not in ("rule", *self._fixed.start()) and x is not None
        }
        return describe(
            self, self._name, **{"learning_rate": self._learning_rate, **rule, **self._fields}
        )

    @property
    def _rule(self) -> rules.Rule:
        """The rule with its hyperparameters as they are now."""
        now = {field: _read_number(x, field) for field, x in self._fields.items()}
        return replace(self._fixed, **now)

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """Return the slot variable, or None where there is none (Keras raises KeyError)."""
        return self._store.slot(var, name)

    def get_slot_names(self) -> list[str]:
        """Return the sorted names of the slots that exist: none before the first step."""
        return self._store.names()

    def variables(self) -> list[Variable]:
        """Return the current graph's slot variables and what all weights share (Adam's powers of beta), by name."""
        return self._store.variables()

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Variable | None = None, name: str | None = None
    ) -> Any:
        """Third step: update every variable, then add 1 to global_step.

        Args:
            grads_and_vars: iterable of (array, IndexedSlices, list or None, variable); None is
                skipped.
            global_step: integer variable, or None.
            name: of the Operation in a Graph; by default the optimizer's.

        Returns:
            None; in a Graph an Operation to run.

        Raises:
            ValueError: nothing to apply, a shape or dtype differs from the variable's, an index
                outside it. In a Graph: `name` isn't a scope name.
            TypeError: not pairs, not variables, strings.
            RuntimeError: slices for a variable with a constraint; a schedule and no global step.
        """
        return self._apply(grads_and_vars, global_step, name, self._choose_rule(global_step))

    def apply_or_idle(
        self,
        grads_and_vars: Any,
        is_idle: Callable[[Gradient], bool],
        global_step: Variable | None,
        name: str | None = None,
    ) -> Any:
        """`apply_gradients`, where variables whose gradient `is_idle` keep all that they have.

        What variables share, such as Adam's powers, moves on even if all of them are idle. Not in
        TensorFlow.
        """
        choose = self._choose_rule(global_step)
        return self._apply(grads_and_vars, global_step, name, choose, is_idle)

    def init(self, values: Any) -> Any:
        """Return the state of the pure form for a tree of weights: a step count and the slots of every leaf.

        >>> import jax, jax.numpy as jnp
        >>> from gradlab.train import MomentumOptimizer
        >>> opt, w = MomentumOptimizer(0.1, 0.9), {"a": jnp.ones(2)}
        >>> w, state = jax.jit(opt.step)(w, opt.init(w), {"a": jnp.ones(2)})
        >>> round(float(w["a"][0]), 2), int(state["step"])
        (0.9, 1)
        """
        return pure.init(self._rule, values)

    def step(self, values: Any, state: Any, grads: Any) -> tuple[Any, Any]:
        """Return (new values, new state): the same update as a pure function, for `jit`, `scan`, `vmap` and shards.

        `grads` is a tree like `values` whose leaves are arrays, IndexedSlices or None.
        """
        # `pure.update` refuses what isn't a state.
        step = state.get("step", 0) if isinstance(state, Mapping) else 0
        rate = self._rate(step)
        rule = self._pure_rule(self._rule_at(rate), step)
        return pure.update(rule, rate, state, values, grads, type(self)._sparse)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Return an optimizer with slots of its own.

        They are of the variables that are copied with it, else of the same variables. It's the same
        with variables that are hyperparameters.
        """
        new = memo[id(self)] = object.__new__(type(self))
        for name, x in vars(self).items():
            vars(new)[name] = copy_part(x, memo)
        follow(new, memo)
        return new

    def _follow(self, old: Variable, new: Variable) -> None:
        self._store.follow(old, new)
        for kept in (vars(self), self._fields):
            kept.update({name: new for name, x in kept.items() if x is old})

    def _stepped_variables(self) -> list[Variable]:
        return self._store.stepped()

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        read = {name: read_array(x) for name, x in self._reads().items() if isinstance(x, Variable)}
        return {
            "optimizer": type(self).__name__,
            "settings": self._settings(),
            "variables": read,
            **self._store.state(names),
        }

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        check_class(state, self)
        settings = get_part(state, "settings")
        read = get_part(state, "variables")
        slots = get_part(state, "slots")
        if settings.get("rule") != type(self._fixed).__name__:
            raise ValueError(
                f"the state is of the rule {settings.get('rule')}, it does not fit {self!r}"
            )
        shared = read_shared(state, names, self._fixed)
        store = self._store.loading(slots, shared, names, self._slot_rule, self._labels)
        own = {name: x for name, x in self._reads().items() if isinstance(x, Variable)}
        values = [
            prepare_assign(own[name], x, f"{name} of {self._name}")
            for name, x in read.items()
            if name in own
        ]
        saved_settings = settings | dict.fromkeys(read, "a Variable")
        own_settings = self._settings() | dict.fromkeys(own, "a Variable")
        warn_of_changes(saved_settings, own_settings, self._name)
        powers = [partial(self._keep_shared, key, x) for key, x in shared.items()]
        return combine_commits([store, *powers, *values])

    def _reads(self) -> dict[str, Any]:
        """Return the hyperparameters that are read at every step, and may be Variables."""
        return {"learning_rate": self._learning_rate, **self._fields}

    def _settings(self) -> dict[str, Any]:
        """Return the constructor's arguments, as far as they are numbers."""
        fixed = {
            k: x
            for k, x in self._fixed.get_config().items()
            if k not in (*self._fixed.start(), *self._fields)
        }
        return plain_numbers({**fixed, **self._reads()})

    def _rate(self, step: Any) -> Any:
        """Return the learning rate of one step for all variables, a scalar array.

        A function is called once. `step`, which schedules need, is an array, a Variable, or None.
        """
        rate = self._learning_rate
        if isinstance(rate, LearningRateSchedule):
            return _read_number(rate(as_array(step, "the step")), "learning_rate")
        return _read_number(rate, "learning_rate")

    def _rule_at(self, rate: Array) -> rules.Rule:
        """Return the rule of a step at this learning rate, on which FTRL's depends."""
        return self._rule

    def _apply(
        self,
        grads_and_vars: Any,
        global_step: Variable | None,
        name: str | None,
        choose: RuleChoice,
        is_idle: Callable[[Gradient], bool] | None = None,
    ) -> Any:
        """Check the arguments of `apply_gradients`, then update by rules so chosen; in a Graph later."""
        given = list(grads_and_vars)
        collection = current_collection()
        pairs = checked_pairs(take_first(given) if collection.graph else given)
        if global_step is not None:
            check_step(global_step)
        scope = name or self._name
        collection.check_scope(scope)
        step = collection.global_step if global_step is None else global_step
        if step is None and isinstance(self._learning_rate, LearningRateSchedule):
            raise MissingStepError(
                f"the learning rate is {self._learning_rate!r}, which needs a global step: pass "
                "global_step=gl.train.get_or_create_global_step()"
            )
        self._declare_slots([v for _, v in pairs])
        if not collection.graph:
            return self._update(pairs, global_step, step, choose, is_idle)
        # Tensors among the gradients have other values at every run.
        return collection.finish(
            lambda: self._update(
                checked_pairs(compute_now(given)), global_step, step, choose, is_idle
            ),
            scope,
        )

    def _choose_rule(self, global_step: Variable | None) -> RuleChoice:
        """Return the function that makes of the rule of a step that of a variable.

        It's called when an update is described: what it returns holds for every run of that update.
        """
        return keep_rule

    def _pure_rule(self, rule: rules.Rule, step: Any) -> rules.Rule:
        """Return the rule of a step of the pure form, for all weights."""
        return rule

    def _slot_rule(self, v: Variable) -> rules.Rule:
        """Return a rule that has the slots of a variable, and their first values."""
        return rule_for(self._fixed, v)

    def _labels(self, rule: rules.Rule) -> Mapping[str, str]:
        """Return for each slot the last part of its variable's name, in the order in which they are made."""
        return dict.fromkeys(rule.slots, self._name)

    def _shared(self, key: GraphKey, rule: rules.Rule) -> Shared:
        """Return the values that all variables of a graph share and that change with each step."""
        return self._store.shared(key, rule)

    def _keep_shared(self, key: GraphKey, values: Shared) -> None:
        self._store.store_shared(key, values)

    def _declare_slots(self, variables: Sequence[Variable]) -> None:
        """Make the slots of an update that is described.

        Outside of a Graph slots are made once the first update has worked.
        """
        if not current_collection().graph:
            return
        rule = self._rule
        for key in {v._graph_key for v in variables}:
            self._keep_shared(key, self._shared(key, rule))
        for v in variables:
            if v not in self._store:
                own = rule_for(rule, v)
                self._store.store(v, own, self._store.values(v, own), self._labels(own))

    def _update(
        self,
        pairs: Sequence[tuple[Gradient, Variable]],
        global_step: Variable | None,
        step: Variable | None,
        choose: RuleChoice,
        is_idle: Callable[[Gradient], bool] | None = None,
    ) -> None:
        """All updates, in order, or none: values are stored when the last one has been computed.

        `global_step` is counted up, `step` is read by schedules.
        """
        with ExitStack() as stack:
            # One order for all threads, or two could deadlock.
            for v in sorted({v for _, v in pairs}, key=id):
                stack.enter_context(v._lock)
            rate = self._rate(step)
            rule = self._rule_at(rate)
            if rule.start():
                stack.enter_context(self._store.lock)
            shared = {key: self._shared(key, rule) for key in {v._graph_key for _, v in pairs}}
            rule_of_graph = {key: rule.at(x) for key, x in shared.items()}
            if is_idle is not None:
                pairs = [(g, v) for g, v in pairs if not is_idle(g)]
            rule_of = {v: choose(rule_for(rule_of_graph[v._graph_key], v), v) for _, v in pairs}
            sparse = type(self)._sparse
            jobs = [Job(rule_of[v], v, g, rate, sparse) for g, v in pairs]
            commits = prepare_commits(
                jobs,
                lambda v: self._store.buffers(v, rule_of[v]),
                lambda v, slots: self._store.store(v, rule_of[v], slots, self._labels(rule_of[v])),
            )
            # Nothing has changed so far, and what may fail has been done.
            for commit in commits:
                commit()
            for key, x in shared.items():
                self._keep_shared(key, rule.advance(x))
            if global_step is not None:
                global_step.assign_add(1)


def _read_number(x: Rate, name: str) -> Any:
    """A hyperparameter as a scalar array, so that a compiled step takes its next value too."""
    number = read_scalar(x, name)
    return np.float32(number) if type(number) is float else number
