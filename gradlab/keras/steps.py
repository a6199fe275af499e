"""One step: selection of gradients, clips, and an update of all variables or of none."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Any

import numpy as np

from .. import rules
from .._base.arrays import as_array, precision
from .._base.forks import lock
from .._base.gradients import Gradient
from ..errors import DTypeError, KerasWarning, warn
from ..rules import apply, pure
from ..rules.rule import Slots
from ..train.buffers import Cell, Fresh
from ..train.gradient_checks import checked_gradient, read_pairs
from ..train.update import Commit, Job, Look, commits, unseen
from ..train.variable import Variable, current_collection
from .clips import clipped
from .semantics import Name
from .settings import Settings, Strict
from .weights import Weights, is_trainable

Pairs = Sequence[tuple[Any, Variable]]
Variables = tuple[Variable, ...]
REFERRING = ("_asked", "_known", "_undecayed")  # attributes of `Steps`: the user's variables
Process = Callable[[list[pure.Pair]], list[pure.Pair]]
_log = logging.getLogger("gradlab")


class Steps(Settings, Weights):
    """Steps from pairs of gradient and variable to new values."""

    _lock: Any  # of `forks.lock`

    def __init__(
        self, name: str | None, semantics: Name, strict: Strict, hyperparameters: dict[str, Any], kwargs: dict[str, Any]
    ) -> None:
        Weights.__init__(self)
        Settings.__init__(self, name, semantics, strict, hyperparameters, kwargs)
        lock(self, "_lock", f"the optimizer {self._name}")
        self._asked: Variables = ()  # those of this step, in its order
        self._known: Variables = ()  # those of the first, or of `build`: no others may come in the eager versions
        self._undecayed: Variables = ()
        if not self._version.lazy:
            self._iterations(f"{self._name}/")
            if self._version.name == "keras3" and isinstance(rate := self._hyper["learning_rate"].value, Variable):
                self._kept.weights.append(rate)

    def _rule(self) -> rules.Rule:
        """The rule with the hyperparameters as they are now."""
        raise NotImplementedError(f"{type(self).__name__} must define _rule()")

    def _blank(self) -> rules.Rule:
        """The rule as far as its slots go; where hyperparameters are functions they are not called for it."""
        return self._rule()

    def _sparse(self) -> pure.Sparse:
        """Return how IndexedSlices meet the rule."""
        return apply.rows

    def _look(self, v: Variable, g: Gradient) -> Look:
        """Warn of what is wrong with a gradient; what is returned warns of what the gradient does to slots."""
        return unseen

    def _apply(self, grads_and_vars: Iterable[Any], name: str | None, clip: bool, aggregate: bool = True) -> Any:
        pairs = self._filled(grads_and_vars)
        if not pairs:
            self._create([])
            return None if self._version.lazy else self.iterations
        collection = current_collection()
        scope = name or self._name
        collection.check_scope(scope)
        if collection.graph:
            self._create([v for _, v in pairs])
        operation = collection.finish(lambda: self._step(pairs, clip, aggregate), scope)
        return self.iterations if operation is None else operation

    def _filled(self, grads_and_vars: Iterable[Any]) -> Pairs:
        """The pairs that have a gradient; a variable that comes too late for the version is refused."""
        pairs = read_pairs(grads_and_vars)
        filled, missing = [(g, v) for g, v in pairs if g is not None], [v.name for g, v in pairs if g is None]
        if not filled and (pairs or self._version.name == "keras3"):
            raise ValueError(f"No gradients provided for any variable: {missing}")
        self._check_known([v for _, v in pairs])
        if missing and self._version.name == "keras3":
            warn(f"Gradients do not exist for variables {missing}: they stay as they are", KerasWarning)
        elif missing:
            _log.warning("Gradients do not exist for variables %s: they stay as they are", missing)
        return filled

    def _check_known(self, variables: Sequence[Variable]) -> None:
        """The eager versions know the variables of their first step only."""
        if self._version.lazy or not variables:
            return
        self._asked, known = tuple(dict.fromkeys(variables)), set(self._known)
        for v in variables:
            if known and v not in known:
                error = ValueError if self._version.name == "keras3" else KeyError
                raise error(f"{v.name} was not among the variables of the first step; make another optimizer for it")

    def _own_slots(self) -> tuple[str, ...]:
        """The slots of every variable beside those of the rule."""
        return ()

    def _ready(self, pairs: Pairs) -> tuple[Pairs, list[Commit]]:
        """Return what one replica applies now of its gradients, before clips, and what keeps the rest for later."""
        return pairs, []

    def _moved(self, pairs: Pairs, variables: Sequence[Variable], clip: bool) -> Iterable[Commit]:
        """`_commits` after `_ready` and the sum over replicas; `variables` are those that had gradients."""
        return self._commits(pairs, clip, aggregate=False)

    def _scaled(self, loss: Any) -> Any:
        """The loss that gradients are taken of."""
        return loss

    def _unscaled(self, pairs: Pairs) -> Pairs:
        """The gradients of the loss itself; None keeps its place."""
        return pairs

    def _transformed(self, pairs: Pairs, clip: bool, aggregate: bool) -> Pairs:
        if aggregate and self.gradient_aggregator is not None:
            pairs = self.gradient_aggregator(pairs)
        pairs = clipped(pairs, self._limits, self._version) if clip else pairs
        for transform in self.gradient_transformers:
            pairs = transform(pairs)
        return pairs

    def _checked(self, g: Any, v: Variable) -> Gradient:
        if isinstance(g, list | tuple | int | float):  # has no dtype of its own
            g = as_array(g, f"the gradient of {v.name}").astype(v.dtype)
        return checked_gradient(g, v, is_trainable, whole_constraint=not self._version.lazy)

    def _step(self, pairs: Pairs, clip: bool, aggregate: bool = True) -> None:
        """All updates, then one more iteration; nothing is stored before all is computed, unless strict."""
        with self._locked(pairs):
            for commit in self._commits(pairs, clip, aggregate):
                commit()

    @contextmanager
    def _locked(self, pairs: Pairs) -> Iterator[None]:
        """No other thread steps with this optimizer, or changes these variables."""
        with ExitStack() as stack:
            stack.enter_context(self._lock)
            for v in sorted({v for _, v in pairs}, key=id):  # one order for all threads
                stack.enter_context(v._lock)
            yield

    def _commits(self, pairs: Pairs, clip: bool, aggregate: bool) -> Iterable[Commit]:
        """Return stores of the results, iteration last: all that may fail is done now, or in between if strict."""
        if self._strict:
            self._create([v for _, v in pairs])
        else:
            self._create_hyperparameters(f"{self._name}/")
            pairs = [(self._checked(g, v), v) for g, v in pairs]
        rule, jobs = self._blank(), self._jobs(self._transformed(pairs, clip, aggregate))
        batches: Iterable[list[Job]] = ([job] for job in jobs) if self._strict else [list(jobs)]
        updates = (
            commits(batch, lambda v: self._cells(v, rule), lambda v, new: self._store(v, rule, new))
            for batch in batches
        )
        stored = chain.from_iterable(updates if self._strict else list(updates))
        return chain([lambda: self._iterations(f"{self._name}/")], stored, [self._count])

    def _count(self) -> None:
        self._iterations("").assign_add(1)
        self._known = self._known or self._asked

    def _jobs(self, pairs: Pairs) -> Iterator[Job]:
        """Return what is to be done for each pair."""
        step = np.int64(0) if self._kept.iterations is None else self._kept.iterations.value
        rates = {dtype: self._rate(np.asarray(step), dtype) for dtype in dict.fromkeys(v.dtype for _, v in pairs)}
        rule, sparse = self._rule(), self._sparse()
        for gradient, v in pairs:
            g = self._checked(gradient, v)
            yield Job(rule, v, g, rates[v.dtype], sparse, self._look(v, g))

    def _cells(self, v: Variable, rule: rules.Rule) -> tuple[Cell, ...]:
        """The slot variables of v in the order of the rule, and what stands in for those that do not exist yet."""
        kept = self._kept.of(v)
        if rule.slots.keys() <= kept.keys():
            return tuple(kept[name] for name in rule.slots)
        with precision(v.dtype):
            starts = dict(zip(rule.slots, map(Fresh, rule.init(v._value)), strict=True))
        return tuple(kept.get(name, start) for name, start in starts.items())

    def _store(self, v: Variable, rule: rules.Rule, values: Slots) -> None:
        for name, value in zip(rule.slots, values, strict=True):
            self._add_slot(v, name, value, f"{self._name}/").assign(value)

    def _pure_init(self, values: Any) -> dict[str, Any]:
        return pure.init(self._blank(), values)

    def _pure_update(self, state: Any, values: Any, grads: Any, process: Process) -> tuple[Any, Any]:
        def rate(dtype: Any) -> Any:
            return self._rate(state["step"], dtype)

        return pure.update(self._rule(), rate, state, values, grads, self._sparse(), process)

    def _create(self, variables: Sequence[Variable]) -> None:
        """Make what is missing, as Keras does before anything else: iterations, hyperparameters, slots."""
        self._iterations(f"{self._name}/")
        self._create_hyperparameters(f"{self._name}/")
        rule = self._blank()
        for v in variables:
            if rule.slots and not is_trainable(v.dtype):
                raise DTypeError(f"{v.name} is {v.dtype}; only floating-point variables can have slots")
            for name, cell in zip(rule.slots, self._cells(v, rule), strict=True):
                self._add_slot(v, name, cell._value, f"{self._name}/")
