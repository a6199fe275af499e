"""Replicas: several copies of the weights, each with gradients of its own, simulated in one process."""

from __future__ import annotations

import functools
import itertools
import operator
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from .._base.arrays import Array, namespace
from .._base.gradient_types import Gradient
from .._base.slices import IndexedSlices
from .._base.tensors import new_run
from ..train.autodiff import Loss, check_variables, differentiate, listed
from ..train.gradient_checks import checked_gradient, read_pairs
from ..train.update import Commit
from ..train.variable import Variable
from .backend import in_scope_of
from .clips import Limits, clip_pairs, warn_of_no_clipping
from .engine import VARIABLES, Engine, Pairs, hold
from .optimizer import Optimizer
from .versions import Version
from .weights import Weights, is_trainable


class Replicas:
    """`n` copies of every variable that step together, as under `tf.distribute.MirroredStrategy`.

        w_k = step(w_k, sum_j g_j)      for every replica k

    Args:
        n: how many, >= 1 (ValueError).

    Every replica brings a list of (gradient, variable) pairs, and `apply_gradients` sums them: the
    sum, not the mean. Where the clips of the optimizer stand is the version's: before the sum for
    each replica in "keras3", after it in "legacy" and "rewrite"; "tf2.3" refuses to make an
    optimizer with limits in `scope()` (ValueError), and made outside it does not clip (a warning
    says so). Without aggregation each replica steps by its own gradients, and the copies drift
    apart.

    Differs from TensorFlow: replicas take turns in one thread, and pairs are handed over together
    instead of one call inside each replica. For the devices of a JAX mesh see `Optimizer.step` and
    its `axis_name`.

    Source: `tf.distribute.Strategy`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> from gradlab.keras import SGD
    >>> two = replicas(2)
    >>> with two.scope():
    ...     v, opt = Variable([0.0, 0.0], name="v"), SGD(1.0, clipnorm=1.0)
    >>> grads = [np.float32([3.0, 0.0])], [np.float32([0.0, 4.0])]
    >>> n = two.apply_gradients(opt, [[(g, v)] for (g,) in grads])
    >>> [x.round(2).tolist() for x in two.values(v)]
    [[-0.6000000238418579, -0.800000011920929], [-0.6000000238418579, -0.800000011920929]]
    """

    def __init__(self, n: int) -> None:
        if n < 1:
            raise ValueError(f"there must be at least one replica, got {n}")
        self.n = n
        self._copies: weakref.WeakKeyDictionary[Variable, list[Variable]] = (
            weakref.WeakKeyDictionary()
        )
        self._weights: weakref.WeakKeyDictionary[Optimizer, list[Weights]] = (
            weakref.WeakKeyDictionary()
        )

    def __repr__(self) -> str:
        return f"<gradlab.keras.Replicas n={self.n}>"

    @contextmanager
    def scope(self) -> Iterator[Replicas]:
        """Optimizers made inside know of the replicas.

        A call of `opt.apply_gradients` inside is a RuntimeError.
        """
        with in_scope_of(self):
            yield self

    def values(self, variable: Variable) -> list[Array]:
        """The value on each replica; the first is the variable's own."""
        return [v.value for v in (variable, *self._copies.get(variable, [variable] * (self.n - 1)))]

    def assign(self, variable: Variable, value: Any) -> None:
        """Set the variable to one value on all replicas."""
        for v in self._copied(variable):
            v.load(value)

    def slots(self, optimizer: Optimizer, variable: Variable, slot_name: str) -> list[Array]:
        """The value of a slot on each replica (KeyError if there is none)."""
        variables = self._copied(variable)
        views = self._views(optimizer)
        return [
            view.weights.get_slot(v, slot_name).value
            for view, v in zip(views, variables, strict=True)
        ]

    def gradients(self, losses: Sequence[Loss], xs: Any) -> list[Pairs]:
        """Pairs for each replica: one loss for each, computed from its own copies."""
        variables = check_variables(listed(xs), "xs")
        self._check_number(losses, "losses")
        copies = [self.values(v) for v in variables]
        at = [dict(zip(variables, own, strict=True)) for own in zip(*copies, strict=True)]
        found = [
            differentiate([f], variables, [None], at=w, complex_losses=True)[0]
            for f, w in zip(losses, at, strict=True)
        ]
        return [list(zip(grads, variables, strict=True)) for grads in found]

    def reduce(
        self, per_replica: Sequence[Any], how: Literal["sum", "mean"] = "sum"
    ) -> list[Pairs]:
        """Return the same sum, or mean, of the gradients for every replica: to be applied without aggregation.

        >>> v = Variable([0.0])
        >>> [[float(g[0]) for g, _ in pairs] for pairs in replicas(2).reduce([[([1.0], v)], [([3.0], v)]], "mean")]
        [[2.0], [2.0]]
        """
        if how not in ("sum", "mean"):
            raise ValueError(f'how must be "sum" or "mean", got {how!r}')
        self._check_number(per_replica, "lists of pairs")
        total = sum_gradients([read_pairs(pairs) for pairs in per_replica])
        if how == "mean":
            total = [(divide_gradient(g, self.n), v) for g, v in total]
        return [total] * self.n

    def apply_gradients(
        self,
        optimizer: Optimizer,
        per_replica: Sequence[Any],
        name: str | None = None,
        experimental_aggregate_gradients: bool = True,
    ) -> Any:
        """One step on every replica.

        Args:
            per_replica: for each replica its (gradient, variable) pairs, of the same variables in
                the same order. None stands on all replicas or on none. IndexedSlices are joined;
                slices of one row are summed then.
            name: accepted, without effect.
            experimental_aggregate_gradients: False lets each replica apply its own gradients.

        Returns:
            the optimizer's `iterations`, which count one; N in "keras3" for an optimizer made
            outside the scope.

        Raises:
            ValueError: not one list for each replica, lists that differ, an optimizer of other
                replicas.
            TypeError: no aggregation in "keras3".
            RuntimeError: slots in "keras3" for an optimizer made outside. Nothing changes then.
        """
        lists: list[Pairs] = [read_pairs(pairs) for pairs in per_replica]
        self._check_number(lists, "lists of pairs")
        with new_run():  # at once, in a Graph too
            optimizer._apply_on_replicas(self, lists, experimental_aggregate_gradients)
        return optimizer.iterations

    def _apply(self, optimizer: Optimizer, lists: Sequence[Pairs], aggregate: bool) -> None:
        """Step an optimizer that has an engine of its own."""
        self._check(optimizer, aggregate)
        engine = optimizer._engine
        version = engine.version
        limits = engine.limits
        if not version.clips_in_apply:
            warn_of_no_clipping(limits)
        clip = version.clips_in_apply
        if not aggregate:
            self._step(optimizer, [engine.fill(pairs) for pairs in lists], clip)
            return
        filled = engine.fill(sum_gradients(lists))
        due, commits = self._accumulate(optimizer, lists)
        if clip and version.clips_each_replica:
            due = [_clip_present(pairs, limits, version) for pairs in due]
            clip = False
        total = [(g, v) for g, v in sum_gradients(due) if g is not None]
        self._step(optimizer, [total] * self.n, clip, [v for _, v in filled], commits)

    def _count(self, optimizer: Optimizer) -> None:
        """Count a step that is left out, on every replica."""
        for view in self._views(optimizer):
            view.count()

    def _check(self, optimizer: Optimizer, aggregate: bool) -> None:
        engine = optimizer._engine
        is_keras3 = engine.version.name == "keras3"
        if not aggregate and is_keras3:
            raise TypeError("Keras 3 has no experimental_aggregate_gradients")
        if engine.replicas not in (None, self):
            raise ValueError("this optimizer was made in the scope of other replicas")
        slots = (*engine.extra_slots(), *engine.blank_rule().slots)
        if is_keras3 and engine.replicas is None and slots:
            raise RuntimeError(
                "Keras 3 cannot make slots for replicas outside their "
                "scope; make the optimizer inside"
            )
        if aggregate and optimizer.gradient_aggregator is not None:
            raise NotImplementedError(
                "reduce the gradients yourself and pass experimental_aggregate_gradients=False"
            )

    def _accumulate(
        self, optimizer: Optimizer, lists: Sequence[Pairs]
    ) -> tuple[list[Pairs], list[Commit]]:
        """Return the gradients of each replica that are due now, and functions that store sums."""
        due_lists = list[Pairs]()
        all_commits = list[Commit]()
        for k, (view, pairs) in enumerate(zip(self._views(optimizer), lists, strict=True)):
            due, commits = view.accumulate([(g, self._copied(v)[k]) for g, v in pairs])
            if due:
                due = [(g, v) for (g, _), (_, v) in zip(due, pairs, strict=True)]
            due_lists.append(due)
            all_commits += commits
        return due_lists, all_commits

    def _step(
        self,
        optimizer: Optimizer,
        lists: Sequence[Pairs],
        clip: bool,
        variables: Sequence[Variable] = (),
        commits: Sequence[Commit] = (),
    ) -> None:
        views = self._views(optimizer)
        local = [[(g, self._copied(v)[k]) for g, v in pairs] for k, pairs in enumerate(lists)]
        with hold(views, [pair for pairs in local for pair in pairs]):
            every = [
                view.prepare_update(pairs, [self._copied(v)[k] for v in variables], clip)
                for k, (view, pairs) in enumerate(zip(views, local, strict=True))
            ]
            # After all have computed.
            for commit in itertools.chain(commits, itertools.chain.from_iterable(every)):
                commit()
        engine = optimizer._engine
        if engine.version.name == "keras3" and engine.replicas is None:
            for view in views:
                view.weights.make_iterations("").assign_add(self.n - 1)

    def _views(self, optimizer: Optimizer) -> list[Engine]:
        """The optimizer as each replica sees it: the same settings, slots and iterations of its
        own.
        """
        engine = optimizer._engine
        if optimizer not in self._weights:
            self._weights[optimizer] = [self._copy_weights(engine, k) for k in range(1, self.n)]
        views: list[Engine] = [engine]
        for k, weights in enumerate(self._weights[optimizer], 1):
            view = engine.view()
            view.weights = weights
            for name in VARIABLES:
                setattr(view, name, tuple(self._copied(v)[k] for v in getattr(engine, name)))
            views.append(view)
        return views

    def _copy_weights(self, engine: Engine, k: int) -> Weights:
        """Return what replica k starts with: what the optimizer has by now."""
        weights = Weights(engine.version, engine.weights.unnamed_slots)
        if engine.weights.iterations is not None:
            weights.make_iterations("").assign(engine.weights.iterations)
        for v, slots in engine.weights.slots.items():
            for name, slot in slots.items():
                weights.add_slot(self._copied(v)[k], name, slot.value, "")
        return weights

    def _copied(self, variable: Variable) -> list[Variable]:
        if variable not in self._copies:
            value, name = variable.value, variable.name.removesuffix(":0")
            self._copies[variable] = [
                Variable(value, False, f"{name}/replica_{k}", None, variable.constraint)
                for k in range(1, self.n)
            ]
        return [variable, *self._copies[variable]]

    def _check_number(self, lists: Sequence[Any], what: str) -> None:
        if len(lists) != self.n:
            raise ValueError(f"there are {self.n} replicas, got {len(lists)} {what}")


def _clip_present(pairs: Pairs, limits: Limits, version: Version) -> Pairs:
    """Clip the gradients there are; None keeps its place."""
    clipped = iter(clip_pairs([(g, v) for g, v in pairs if g is not None], limits, version))
    return [(g, v) if g is None else next(clipped) for g, v in pairs]


def replicas(n: int) -> Replicas:
    """`n` simulated replicas: `Replicas(n)`.

    Source: `tf.distribute.MirroredStrategy`, TensorFlow 2.21 (2026).

    >>> replicas(2)
    <gradlab.keras.Replicas n=2>
    """
    return Replicas(n)


def sum_gradients(lists: Sequence[Pairs]) -> Pairs:
    """Return the sum over replicas for each variable.

    Slices are joined, to be summed where rows meet.

    Raises ValueError where replicas give other variables, or gradients of another kind; as
    `checked_gradient`.

    >>> import numpy as np
    >>> v = Variable([0.0])
    >>> [g.tolist() for g, _ in sum_gradients([[(np.float32([1.0]), v)], [(np.float32([2.0]), v)]])]
    [[3.0]]
    """
    if any([v for _, v in pairs] != [v for _, v in lists[0]] for pairs in lists):
        raise ValueError(
            "all replicas must give gradients for the same variables in the same order"
        )
    return [(_sum([pairs[k][0] for pairs in lists], v), v) for k, (_, v) in enumerate(lists[0])]


def _sum(grads: Sequence[Gradient | None], v: Variable) -> Gradient | None:
    missing = [g is None for g in grads]
    sparse = [isinstance(g, IndexedSlices) for g in grads]
    if all(missing):
        return None
    if any(missing) or len(set(sparse)) > 1:
        raise ValueError(
            f"{v.name}: either all replicas give a dense gradient, or all slices, or all None"
        )
    if sparse[0]:
        values, indices = ([getattr(g, name) for g in grads] for name in ("values", "indices"))
        xp = namespace(*values)
        return IndexedSlices(
            xp.concatenate(values), xp.concatenate(indices), getattr(grads[0], "dense_shape", None)
        )
    dense: list[Any] = [checked_gradient(g, v, is_trainable) for g in grads]
    total: Array = functools.reduce(operator.add, dense)
    return total


def divide_gradient(g: Gradient | None, n: int) -> Gradient | None:
    """Return the mean over n replicas from their sum.

    >>> import numpy as np
    >>> divide_gradient(np.float32([4.0]), 2).tolist()
    [2.0]
    """
    if isinstance(g, IndexedSlices):
        return g.with_values(_over(g.values, n))
    return None if g is None else _over(g, n)


def _over(x: Array, n: int) -> Array:
    quotient: Array = x / x.dtype.type(n)
    return quotient
