"""What both engines share: the settings of one optimizer, and a step that does everything or nothing.

An `Optimizer` is what users see, and it holds one engine: `legacy.LegacyEngine` for TensorFlow 2.3
and legacy, `keras3.NewerEngine` for the rewrite and Keras 3. The engine holds the settings, the
`Weights`, and the lock under which it steps. It knows nothing of losses, graphs or replicas.

One `apply_gradients`, in order:

1. `fill` drops the pairs without a gradient, and notes the variables of the step.
2. `hold` takes the lock, then those of the variables.
3. `prepare_step` computes everything and returns functions that only store:
   - `check_gradient` makes an array or slices of each gradient, which fit its variable;
   - `transform` aggregates, clips and transforms the gradients;
   - `jobs` finds for each variable its rule, its learning rate, and how slices meet the rule;
   - `train.update.prepare_commits` runs the rules.
4. `Optimizer._step` calls these functions: slots are made, new values stored, and `count` comes
   last.

So a call that raises has changed nothing, unless `strict`. `NewerEngine` takes another way in 3
where weight decay, averages, or accumulated gradients act around the rule: `accumulate`, then
`prepare_update`.
"""

from __future__ import annotations

import copy
import dataclasses
import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, precision
from .._base.forks import renew_in_child
from .._base.gradient_types import Gradient
from .._base.options import is_strict
from ..errors import DTypeError, KerasWarning, warn
from ..rules import pure
from ..rules.rule import Rule, Slots
from ..train.buffers import Buffer, UnownedSlotBuffer
from ..train.copies import follow, get_copy
from ..train.gradient_checks import checked_gradient, read_pairs
from ..train.update import Commit, Job, prepare_commits, rule_for
from ..train.variable import Variable, current_collection
from .arguments import check_arguments, check_name, check_transformers
from .backend import current_replicas
from .clips import check_limit, clip_pairs
from .hyperparameters import Hyperparameter
from .versions import CLIPS, Declaration, Strict, Version
from .weights import Weights, is_trainable

Pairs = Sequence[tuple[Any, Variable]]  # gradient, variable
Process = Callable[[list[pure.Pair]], list[pure.Pair]]
# Attributes of `Engine`: tuples of the user's variables.
VARIABLES = ("step_variables", "built_variables", "undecayed")
_log = logging.getLogger("gradlab")


class SharedLock:
    """A lock that an engine and its views share, in a forked child, too."""

    lock: threading.RLock

    def __init__(self) -> None:
        renew_in_child(self, "lock")


@dataclasses.dataclass(frozen=True)
class Arguments:
    """What an optimizer is made of: its class, the version, and the arguments of its constructor.

    `own_arguments` holds those of the optimizer's class by name, `keywords` those that only some
    versions have.
    """

    optimizer: type
    declaration: Declaration
    version: Version
    name: str | None
    strict: Strict
    learning_rate: Any
    own_arguments: Mapping[str, Any]
    keywords: Mapping[str, Any]


class Engine:
    """One optimizer of one version.

    Attributes:
        own_arguments: those of the optimizer's class by name; those that are hyperparameters as a
            `Hyperparameter`.
        hyper: the hyperparameters that become variables, the learning rate among them.
        limits: the clip arguments that are set.
        step_variables: the variables of this step, in its order.
        built_variables: those of the first step or of `build`.
        undecayed: variables that are excluded from weight decay.
        scope: what stands ahead of the optimizer's name in names of weights, "outer/" for example.
    """

    declaration: Declaration

    def __init__(self, arguments: Arguments) -> None:
        keywords = arguments.keywords
        self.declaration = arguments.declaration
        self.version = arguments.version
        self.strict = is_strict(arguments.strict)
        self.replicas = current_replicas()
        check_arguments(keywords, self.version, self.replicas is not None, arguments.optimizer)
        check_name(arguments.name, self.version)
        self.name = arguments.name or current_collection().unique_name(
            snake_case(arguments.optimizer.__name__)
        )
        self.limits = {limit: keywords[limit] for limit in CLIPS if keywords.get(limit) is not None}
        for limit, value in self.limits.items():
            check_limit(limit, value, self.version)
        self.gradient_aggregator = keywords.get("gradient_aggregator")
        self.gradient_transformers = list(keywords.get("gradient_transformers") or [])
        self.rule_class = self.declaration.choose_rule(self.version, arguments.own_arguments)
        self.own_arguments = dict(arguments.own_arguments)
        for argument in self.declaration.hyperparameters:
            self.own_arguments[argument] = Hyperparameter(
                argument, arguments.own_arguments[argument]
            )
        self.hyper: dict[str, Hyperparameter] = {}
        self.has_created_hyper = False
        self.step_variables: tuple[Variable, ...] = ()
        self.built_variables: tuple[Variable, ...] = ()
        self.undecayed: tuple[Variable, ...] = ()
        self.scope = ""
        unnamed_slots = self.declaration.unnamed_slots.get(self.version.name, ())
        self.weights = Weights(self.version, unnamed_slots)
        self.shared_lock = SharedLock()

    @property
    def lock(self) -> threading.RLock:
        """The lock under which it steps."""
        return self.shared_lock.lock

    # Settings

    def create_hyper(self, prefix: str) -> None:
        """Make variables of the numbers, once; what is set later in the place of one stays as it is."""
        if not self.has_created_hyper:
            for name in sorted(self.hyper):
                self.hyper[name].create(prefix)
            self.has_created_hyper = True

    def read(self, name: str) -> Any:
        """Return a hyperparameter as the variable that it has become."""
        self.create_hyper("")
        return self.hyper[name].read()

    def read_argument(self, name: str) -> Any:
        """Return one of the optimizer's own arguments as it is now."""
        if name in self.hyper:
            return self.read(name)
        value = self.own_arguments[name]
        return value.value if isinstance(value, Hyperparameter) else value

    def write_argument(self, name: str, value: Any) -> None:
        """Set one of the optimizer's own arguments."""
        old = self.own_arguments[name]
        if isinstance(old, Hyperparameter):
            old.write(value)
        else:
            self.own_arguments = {**self.own_arguments, name: value}  # `view` shares the old one

    def set_limit(self, name: str, value: Any) -> None:
        """Set a clip argument, or take it away by None."""
        limits = {**self.limits, name: value}
        limits = {limit: x for limit, x in limits.items() if x is not None}
        check_transformers(self.gradient_transformers, limits)
        check_limit(name, value, self.version)
        self.limits = limits

    def set_transformers(self, transformers: Sequence[Callable[[Pairs], Pairs]] | None) -> None:
        """Set the functions that act after clips."""
        check_transformers(transformers, self.limits)
        self.gradient_transformers = list(transformers or [])

    def learning_rate(self) -> Any:
        """Return the learning rate as its reader sees it."""
        return self.read("learning_rate")

    def set_learning_rate(self, value: Any) -> None:
        """Assign a number, or put a schedule in its place."""
        rate = self.hyper["learning_rate"]
        old = rate.value
        rate.write(value)
        if rate.value is not old:
            self.weights.forget(old)

    def rate(self, step: Array, dtype: Any) -> Array:
        """Return the learning rate of step number `step`, which is not counted yet, for variables of one dtype."""
        raise NotImplementedError(f"{type(self).__name__} must define rate(step, dtype)")

    def settings_around_rule(self) -> dict[str, Any]:
        """Return what acts around the rule, by name: plain attributes, which may be set."""
        return {}

    def own_config(self) -> dict[str, Any]:
        """Return the optimizer's own arguments as a config has them."""
        return {
            name: x.number() if isinstance(x, Hyperparameter) else x
            for name, x in self.own_arguments.items()
        }

    def config(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name."""
        raise NotImplementedError(f"{type(self).__name__} must define config()")

    def saved_settings(self) -> dict[str, Any]:
        """Return settings that a state notes beside those of the config."""
        return {}

    # Rule

    def rule(self) -> Rule:
        """Return the rule of the next step, with the arguments as they are now."""
        return self.rule_at(self.read_rule(), np.dtype(np.float32))

    def rule_at(self, rule: Rule, dtype: Any) -> Rule:
        """Return a rule as it is at the next step, for variables of one dtype."""
        return rule.at(self.declaration.step_fields(rule, self.updates_made(), dtype))

    def read_rule(self) -> Rule:
        """Return the rule without what changes from step to step; functions are called for it."""
        values = dict(self.own_arguments)
        for name in self.declaration.hyperparameters:
            values[name] = self.own_arguments[name].read()
        return self._make_rule(values)

    def blank_rule(self) -> Rule:
        """Return the rule as far as its slots go: hyperparameters that are functions are not called for it."""
        hyperparameters = self.declaration.hyperparameters
        return self._make_rule(
            {k: x for k, x in self.own_arguments.items() if k not in hyperparameters}
        )

    def blank_rule_for(self, v: Variable) -> Rule:
        """Return the rule of one variable as far as its slots go."""
        return rule_for(self.blank_rule(), v)

    def _make_rule(self, values: Mapping[str, Any]) -> Rule:
        if values.get("epsilon", 0.0) is None:
            raise ValueError(
                f"epsilon is None, for which semantics={self.version.name!r} "
                "has no default; give a number"
            )
        defaults = {field.name: field.default for field in dataclasses.fields(self.rule_class)}
        fields = dict(self.declaration.version_fields(self.version))
        for field, argument in self.declaration.fields.items():
            if argument in values and field in defaults:
                value = values[argument]
                if argument in self.declaration.hyperparameters:
                    value = _as_number(value)
                fields[field] = bool(value) if isinstance(defaults[field], bool) else value
        fields.update(self.declaration.argument_fields(values))
        for field, argument in self.declaration.shares.items():
            if self.version.shares_in_double and argument in values and field in defaults:
                fields[field] = 1 - values[argument]
        for start in self.rule_class.slots.values():
            if self.version.float32_starts and start in fields:
                fields[start] = float(np.float32(fields[start]))
        return self.rule_class(**fields)

    def slot_name(self, slot: str) -> str:
        """Return the version's name for a slot of the rule."""
        return self.declaration.slots.get(self.version.name, {}).get(slot, slot)

    def slot_names(self, rule: Rule) -> list[str]:
        """Return the version's names for the slots of the rule, in their order."""
        return [self.slot_name(slot) for slot in rule.slots]

    def extra_slots(self) -> tuple[str, ...]:
        """Return the slots of every variable beside those of the rule, in the order in which Keras makes them."""
        return ()

    # Weights

    @property
    def prefix(self) -> str:
        """What names of weights begin with where a step makes them."""
        return f"{self.scope}{self.name}/"

    def iterations(self) -> Any:
        """Return the count of updates that users see, made now if there is none."""
        return self.weights.make_iterations("")

    def steps_made(self) -> Any:
        """Return the count that `iterations` holds, as a number."""
        iterations = self.weights.iterations
        return np.int64(0) if iterations is None else iterations.numpy()[()]

    def updates_made(self) -> Any:
        """Return how many updates of weights have been made."""
        return self.steps_made()

    def prepare_weights(self, weights: Sequence[Any]) -> Commit:
        """Check values of all weights, and return the function that sets them."""
        return self.weights.prepare_values(weights, self.name)

    def keep_only(self, slots: Mapping[Variable, Mapping[str, Array]]) -> None:
        """Set the slots to these values, made in Keras's order, and drop all others."""
        complete = [
            v
            for v, values in slots.items()
            if set(self.slot_names(self.blank_rule_for(v))) <= values.keys()
        ]
        self.make_slots(complete)
        self.weights.keep_only(slots, self.prefix)

    def create(self, variables: Sequence[Variable]) -> None:
        """Make what is missing, as Keras does before anything else: iterations, hyperparameters, slots."""
        self.weights.make_iterations(self.prefix)
        self.create_hyper(self.prefix)
        self.make_slots(variables)

    def make_slots(self, variables: Sequence[Variable], prefix: str | None = None) -> None:
        """Make missing slots of the rule, in Keras's order; `prefix` is as of `build`."""
        if prefix is None:
            prefix = self.prefix
        rule = self.blank_rule()
        usual_names = self.slot_names(rule)
        starts = {}
        for v in variables:
            own_rule = rule_for(rule, v)
            names = usual_names if own_rule is rule else self.slot_names(own_rule)
            if names and not is_trainable(v.dtype):
                raise DTypeError(
                    f"{v.name} is {v.dtype}; only floating-point variables can have slots"
                )
            if not set(names) <= self.weights.slots_of(v).keys():
                starts[v] = self.slot_starts(v)
        is_legacy = self.version.engine == "legacy"
        if is_legacy:
            self.make_counted(variables, prefix)
        slots = chain.from_iterable(starts.values())
        for group in self.declaration.group_slots(self.version, slots):
            for v, values in starts.items():
                for slot in group:
                    if slot in values:
                        name = self.slot_name(slot)
                        self.weights.add_slot(v, name, values[slot], prefix)
        if not is_legacy:
            self.make_counted(variables, prefix)

    def slot_starts(self, v: Variable) -> dict[str, Array]:
        """Return the slots of a variable by the rule's names: what they hold, or will start with."""
        rule = self.blank_rule_for(v)
        unused = self.declaration.unused_slots(self.version, rule)
        arrays = [buffer.array for buffer in self.buffers(v, rule)]
        return {**unused, **dict(zip(rule.slots, arrays, strict=True))}

    def make_counted(self, variables: Sequence[Variable], prefix: str) -> None:
        """Make the weight that depends on the count only, in the dtype of the first variable."""
        name = self.declaration.counted.get(self.version.name)
        if name and variables:
            self.weights.make_counted(name, variables[0].dtype, prefix)
            self.update_counted()

    def update_counted(self) -> None:
        """Compute the weight that depends on the count only, if there is one."""
        weight = self.weights.counted
        steps = self.updates_made()
        if weight is not None and steps > 0:
            fields = self.declaration.step_fields(self.read_rule(), steps - 1, weight.dtype)
            weight.load(np.asarray(fields[self.declaration.counted_field], weight.dtype))

    def buffers(self, v: Variable, rule: Rule) -> tuple[Buffer, ...]:
        """Return the buffers of a variable's slots in the order of the rule, new ones for missing slots."""
        slots = self.weights.slots_of(v)
        names = self.slot_names(rule)
        if all(name in slots for name in names):
            return tuple(slots[name]._buffer for name in names)
        with precision(v.dtype):
            starts = rule.init(v._value)
        pairs = zip(names, starts, strict=True)
        return tuple(
            slots[name]._buffer if name in slots else UnownedSlotBuffer(start)
            for name, start in pairs
        )

    def store(self, v: Variable, rule: Rule, values: Slots) -> None:
        """Put new values into the slots of a variable."""
        for name, value in zip(self.slot_names(rule), values, strict=True):
            self.weights.add_slot(v, name, value, self.prefix).assign(value)

    # Step

    def fill(self, grads_and_vars: Iterable[Any]) -> Pairs:
        """Return the pairs that have a gradient. ValueError where there is none."""
        pairs = read_pairs(grads_and_vars)
        filled = [(g, v) for g, v in pairs if g is not None]
        missing = [v.name for g, v in pairs if g is None]
        is_keras3 = self.version.name == "keras3"
        if not filled and (pairs or is_keras3):
            raise ValueError(f"No gradients provided for any variable: {missing}")
        self.note_step_variables([v for _, v in pairs])
        if missing and is_keras3:
            warn(
                f"Gradients do not exist for variables {missing}: they stay as they are",
                KerasWarning,
            )
        elif missing:
            _log.warning("Gradients do not exist for variables %s: they stay as they are", missing)
        return filled

    def note_step_variables(self, variables: Sequence[Variable]) -> None:
        """Note the variables of a step, and refuse one that comes too late for the version."""

    def check_gradient(self, g: Any, v: Variable) -> Gradient:
        """Return the gradient as an array or slices that fit the variable."""
        if isinstance(g, list | tuple | int | float):  # has no dtype of its own
            g = as_array(g, f"the gradient of {v.name}").astype(v.dtype)
        whole_constraint = self.version.engine == "newer"
        return checked_gradient(g, v, is_trainable, whole_constraint=whole_constraint)

    def unscale(self, pairs: Pairs) -> Pairs:
        """Return the gradients of the loss itself; None keeps its place."""
        return pairs

    def aggregate(self, pairs: Pairs) -> Pairs:
        """Return what the optimizer's `gradient_aggregator` makes of the gradients."""
        return pairs if self.gradient_aggregator is None else self.gradient_aggregator(pairs)

    def transform(self, pairs: Pairs, clip: bool, aggregate: bool) -> Pairs:
        """Return the gradients as the rule gets them: aggregated, clipped, transformed."""
        if aggregate:
            pairs = self.aggregate(pairs)
        if clip:
            pairs = clip_pairs(pairs, self.limits, self.version)
        for transform in self.gradient_transformers:
            pairs = transform(pairs)
        return pairs

    @property
    def known_variables(self) -> tuple[Variable, ...]:
        """The variables of `build` or the first step, or of this step if it is the first."""
        return self.built_variables or self.step_variables

    def averaged_variables(self) -> tuple[Variable, ...]:
        """Return the variables that a step may write to beside those that it has gradients for."""
        return ()

    def prepare_step(self, pairs: Pairs, clip: bool, aggregate: bool) -> Iterable[Commit]:
        """Return functions that store the results, the count last.

        All that may fail is done now; if strict, in between: what is ahead of a bad gradient is
        stored, as in Keras.
        """
        if self.strict:
            self.create([v for _, v in pairs])
        else:
            self.create_hyper(self.prefix)
            pairs = [(self.check_gradient(g, v), v) for g, v in pairs]
        rule = self.blank_rule()
        jobs = self.jobs(self.transform(pairs, clip, aggregate))

        def prepare(batch: Sequence[Job]) -> list[Commit]:
            return prepare_commits(
                batch,
                lambda v: self.buffers(v, rule_for(rule, v)),
                lambda v, x: self.store(v, rule_for(rule, v), x),
            )

        def make_weights() -> None:
            self.weights.make_iterations(self.prefix)
            self.make_slots([v for _, v in pairs])

        if self.strict:
            stores = chain.from_iterable(prepare([job]) for job in jobs)
            return chain([make_weights], stores, [self.count])
        return [make_weights, *prepare(list(jobs)), self.count]

    def accumulate(self, pairs: Pairs) -> tuple[Pairs, list[Commit]]:
        """Return the gradients that are due at this call, before clips, and functions that store sums."""
        return pairs, []

    def prepare_update(
        self, pairs: Pairs, variables: Sequence[Variable], clip: bool
    ) -> Iterable[Commit]:
        """Return functions that store the results of a step with the gradients that are due.

        `variables` are those that the call had gradients for, which `pairs` may leave out.
        """
        return self.prepare_step(pairs, clip, aggregate=False)

    def count(self) -> None:
        """Count one step. Its variables are those of the optimizer from now on."""
        self.weights.make_iterations("").assign_add(1)
        self.update_counted()
        self.built_variables = self.known_variables

    def jobs(self, pairs: Pairs) -> Iterator[Job]:
        """Yield what is to be done for each pair."""
        iterations = self.weights.iterations
        step = np.asarray(np.int64(0) if iterations is None else iterations.value)
        dtypes = dict.fromkeys(v.dtype for _, v in pairs)
        rates = {dtype: self.rate(step, dtype) for dtype in dtypes}
        rule = self.read_rule()
        rules = {dtype: self.rule_at(rule, dtype) for dtype in dtypes}
        sparse = self.sparse()
        for gradient, v in pairs:
            g = self.check_gradient(gradient, v)
            rule_of_v = rule_for(rules[v.dtype], v)
            inspect_slots = self.declaration.inspect_gradient(self, rule_of_v, v, g)
            yield Job(rule_of_v, v, g, rates[v.dtype], sparse, inspect_slots)

    def sparse(self) -> pure.Sparse:
        """Return how IndexedSlices meet the rule."""
        return self.declaration.choose_sparse(self.version, self.rule_class)

    # Pure form

    def pure_init(self, values: Any) -> dict[str, Any]:
        """Return the state for a tree of weights."""
        return pure.init(self.rule(), values)

    def pure_update(
        self,
        state: Any,
        values: Any,
        grads: Any,
        process: Process,
        names: Sequence[str] | None = None,
    ) -> tuple[Any, Any]:
        """Return new values and the new state.

        Args:
            process: gets the gradients there are and returns them clipped.
            names: of the leaves, their paths in the tree by default.
        """

        def rate(dtype: Any) -> Any:
            return self.rate(state["step"], dtype)

        rule = self.rule()
        return pure.update(rule, rate, state, values, grads, self.sparse(), process, names)

    # Copies

    def view(self) -> Any:
        """Return the same engine as a new object with attributes of its own, as `Replicas` needs it."""
        new = object.__new__(type(self))
        vars(new).update(vars(self))
        return new

    def __deepcopy__(self, memo: dict[int, Any]) -> Engine:
        """Copy weights and hyperparameters; slots are of the variables copied with it, else of the same."""
        new = memo[id(self)] = object.__new__(type(self))
        new.declaration = self.declaration
        new.replicas = self.replicas
        new.shared_lock = SharedLock()
        for name in VARIABLES:
            setattr(new, name, tuple(get_copy(v, memo) for v in getattr(self, name)))
        for name, x in vars(self).items():
            if name not in vars(new):
                setattr(new, name, copy.deepcopy(x, memo))
        follow(new, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the lock, and the declaration, whose functions have no names: the optimizer puts it back."""
        self.refuse_replicas()
        left_out = ("shared_lock", "declaration")
        return {name: x for name, x in vars(self).items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.shared_lock = SharedLock()

    def _follow(self, old: Variable, new: Variable) -> None:
        if old in self.weights.slots:
            self.weights.slots[new] = self.weights.slots.pop(old)
        for name in VARIABLES:
            setattr(self, name, tuple(new if v is old else v for v in getattr(self, name)))

    def refuse_replicas(self) -> None:
        """TypeError for an optimizer of replicas, which cannot be saved."""
        if self.replicas is not None:
            raise TypeError(
                "this optimizer belongs to gl.keras.Replicas, whose copies are simulated and "
                "cannot be saved; save an optimizer made outside their scope"
            )


@contextmanager
def hold(engines: Sequence[Engine], pairs: Pairs) -> Iterator[None]:
    """Keep other threads from stepping with these optimizers, or changing their variables.

    All threads take the locks in one order, or two of them could wait for each other: first those
    of the optimizers, then those of the variables, each by their ids.
    """
    variables = {v for _, v in pairs}
    for engine in engines:
        variables.update(engine.averaged_variables())
    with ExitStack() as stack:
        for engine in sorted(engines, key=lambda engine: id(engine.shared_lock)):
            stack.enter_context(engine.lock)
        for v in sorted(variables, key=id):
            stack.enter_context(v._lock)
        yield


def snake_case(name: str) -> str:
    """Return the name that Keras makes of a class's.

    >>> snake_case("RMSprop"), snake_case("AdamW"), snake_case("SGD")
    ('rm_sprop', 'adam_w', 'sgd')
    """
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()


def _as_number(x: Any) -> Any:
    """Return a hyperparameter as the field of a rule; Python's own numbers pass through float32."""
    return np.float32(x) if type(x) in (int, float) else np.asarray(x)[()]
