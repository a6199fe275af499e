"""Keras 3's MultiOptimizer: one optimizer for each variable, out of several.

It has an engine of its own for its name, its count and the scale of the loss. The steps are those
of the inner optimizers, each with its own variables, and all of them are computed before one is
stored.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np

from .. import rules
from ..errors import InvalidArgumentError
from ..rules import pure
from ..train.autodiff import check_variables
from ..train.gradient_checks import read_pairs
from ..train.hyperparameters import describe
from ..train.state_dict import (
    Commit,
    VariablesByName,
    check_class,
    combine_commits,
    get_part,
)
from ..train.variable import Variable as Variable
from .configs import deserialize, serialize
from .engine import Pairs, hold
from .keras3 import NewerEngine
from .loss_scale_optimizer import LossScaleOptimizer
from .optimizer import CallableList, Optimizer
from .saved import load_engine, save_engine
from .versions import Declaration, Name, Strict


class OptimizerMap(MutableMapping[str, Optimizer]):
    """A dictionary from names of variables, or regular expressions of whole names, to optimizers.

    Args:
        default_optimizer: for variables that match nothing.
        optimizer_map: dictionary to begin with.

    Raises:
        TypeError: the default isn't an optimizer, or the dictionary isn't one.
        ValueError: what is set isn't an optimizer, or is a MultiOptimizer or LossScaleOptimizer; a
            key that is there already, or isn't a string; a name that matches two of them.

    Source: `keras.optimizers.OptimizerMap`, Keras 3.15 (2026).

    >>> from gradlab.keras import SGD, Adam
    >>> chosen = OptimizerMap(SGD(semantics="keras3", name="sgd"))
    >>> chosen["encoder/.*"] = Adam(semantics="keras3", name="adam")
    >>> chosen["encoder/w"].name, chosen["w"].name
    ('adam', 'sgd')
    """

    def __init__(
        self,
        default_optimizer: Optimizer,
        optimizer_map: dict[str, Optimizer] | None = None,
    ) -> None:
        if not isinstance(default_optimizer, Optimizer):
            raise TypeError(
                f"default_optimizer must be an optimizer of gl.keras, got {default_optimizer!r}"
            )
        if optimizer_map is not None and not isinstance(optimizer_map, dict):
            raise TypeError(f"optimizer_map must be a dictionary, got {optimizer_map!r}")
        self.default_optimizer = default_optimizer
        self._optimizer_map = dict(optimizer_map or {})

    def __getitem__(self, key: str) -> Optimizer:
        if key in self._optimizer_map:
            return self._optimizer_map[key]
        matching = [pattern for pattern in self._optimizer_map if re.fullmatch(pattern, key)]
        if len(matching) > 1:
            raise ValueError(
                f"Multiple optimizers assigned to variable {key}: {', '.join(matching)} match it"
            )
        return self._optimizer_map[matching[0]] if matching else self.default_optimizer

    def __setitem__(self, key: str, optimizer: Optimizer) -> None:
        if key in self._optimizer_map:
            raise ValueError(f"{key!r} already exists in the OptimizerMap; delete it first")
        if not isinstance(key, str):
            raise ValueError(f"key must be a string, got {key!r}")
        _check_inner(optimizer)
        self._optimizer_map[key] = optimizer

    def __delitem__(self, key: str) -> None:
        del self._optimizer_map[key]

    def __len__(self) -> int:
        return len(self._optimizer_map)

    def __iter__(self) -> Iterator[str]:
        return iter(self._optimizer_map)

    def __call__(self, variable: Any) -> Optimizer:
        return self[variable.path]

    def _replace_optimizers(self, copies: Mapping[Optimizer, Optimizer]) -> OptimizerMap:
        """Return a map in which other optimizers take the place of these."""
        new = copy.copy(self)
        new.default_optimizer = copies.get(self.default_optimizer, self.default_optimizer)
        new._optimizer_map = {key: copies.get(x, x) for key, x in self._optimizer_map.items()}
        return new

    def get_config(self) -> dict[str, Any]:
        """The optimizers as `gl.keras.serialize` gives them."""
        return {
            "default_optimizer": serialize(self.default_optimizer),
            "optimizer_map": {key: serialize(x) for key, x in self._optimizer_map.items()},
        }

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any],
        custom_objects: Mapping[str, Any] | None = None,
        **changes: Any,
    ) -> Self:
        """The map of a config; `changes` are of all optimizers in it."""
        return cls(
            deserialize(config["default_optimizer"], custom_objects, **changes),
            {
                key: deserialize(x, custom_objects, **changes)
                for key, x in config["optimizer_map"].items()
            },
        )


@dataclass(frozen=True)
class Weight:
    """What a function that chooses optimizers is shown of a weight in the pure form."""

    name: str
    path: str
    shape: tuple[int, ...]
    dtype: Any


class MultiOptimizer(Optimizer):
    """Several optimizers as one: each variable is stepped by the one that is chosen for it.

    Args:
        optimizer_map: an `OptimizerMap`, or a function from a variable to its optimizer.
        loss_scale_factor: takes the place of that of every inner optimizer.
        name: as of `Adagrad`.
        semantics: "keras3"; older versions have no MultiOptimizer.
        strict: as of `Adagrad`.

    All variables are given at every step. An optimizer none of whose variables has a gradient
    raises, as in Keras. Rates, clips and averages are those of the inner optimizers, in
    `optimizers`. In the pure form a function is given an object with name, path, shape and dtype.

    Raises:
        ValueError: what is chosen isn't an optimizer of "keras3", or is a MultiOptimizer or a
            LossScaleOptimizer; another number of gradients than of variables.
        AttributeError: the learning rate is read or set.

    Differs from Keras: a step that raises has changed nothing.

    Source: `keras.optimizers.MultiOptimizer`, Keras 3.15 (2026).

    >>> from gradlab.keras import SGD
    >>> v, w = Variable([1.0], name="v"), Variable([1.0], name="w")
    >>> slow, fast = SGD(0.25, semantics="keras3"), SGD(0.5, semantics="keras3")
    >>> opt = MultiOptimizer(OptimizerMap(slow, {"w": fast}))
    >>> opt.apply_gradients([([2.0], v), ([2.0], w)]).numpy().item()
    1
    >>> v.numpy().tolist(), w.numpy().tolist()
    ([0.5], [0.0])
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.StochasticGradientDescent,
        fields={},
        only=("keras3",),
    )

    def __init__(
        self,
        optimizer_map: OptimizerMap | Callable[[Any], Optimizer],
        loss_scale_factor: float | None = None,
        name: str | None = None,
        semantics: Name = "keras3",
        *,
        strict: Strict = None,
    ) -> None:
        kwargs = {"loss_scale_factor": loss_scale_factor}
        super().__init__(name, semantics, strict, 0.0, {}, kwargs)
        self._optimizer_map = optimizer_map
        self._optimizers: list[Optimizer] = []
        self._choices: list[int] = []  # for each variable of `build` the place of its optimizer
        if isinstance(optimizer_map, OptimizerMap):
            for optimizer in (*optimizer_map.values(), optimizer_map.default_optimizer):
                _check_chosen(optimizer)
                self._find_or_add(optimizer)

    def __repr__(self) -> str:
        return describe(
            self, self._name, optimizers=self._optimizers, loss_scale_factor=self.loss_scale_factor
        )

    def __copy__(self) -> Self:
        new = super().__copy__()
        copies = {optimizer: copy.copy(optimizer) for optimizer in self._optimizers}
        new._optimizers = list(copies.values())
        if isinstance(self._optimizer_map, OptimizerMap):
            new._optimizer_map = self._optimizer_map._replace_optimizers(copies)
        return new

    def _choose(self, variable: Any) -> Optimizer:
        """Return the optimizer that is chosen for a variable."""
        optimizer = self._optimizer_map(variable)
        _check_chosen(optimizer)
        return optimizer

    def _find_or_add(self, optimizer: Optimizer) -> int:
        """Return the place of an optimizer in the list; a new one joins it."""
        for place, other in enumerate(self._optimizers):
            if other is optimizer:
                return place
        optimizer.loss_scale_factor = self.loss_scale_factor
        optimizer._set_scope(self._engine.scope)
        self._optimizers.append(optimizer)
        return len(self._optimizers) - 1

    @property
    def _own_engine(self) -> NewerEngine:
        return self._engine_with("apply")

    # Settings

    @property
    def optimizers(self) -> list[Optimizer]:
        """The inner optimizers, in the order in which they were first chosen."""
        return self._optimizers

    @property
    def learning_rate(self) -> Any:
        """AttributeError: each of `optimizers` has its own."""
        raise AttributeError(
            "Learning rate cannot be accessed on a MultiOptimizer. Access the learning rate on the "
            "individual sub-optimizers instead."
        )

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        raise AttributeError(
            "Learning rate cannot be set on a MultiOptimizer. Set the learning rate on the "
            "individual sub-optimizers instead."
        )

    @property
    def loss_scale_factor(self) -> Any:
        """Gradients are divided by it, or None; of all inner optimizers."""
        return self._own_engine.loss_scale_factor

    @loss_scale_factor.setter
    def loss_scale_factor(self, value: Any) -> None:
        self._own_engine.loss_scale_factor = value
        for optimizer in self._optimizers:
            optimizer.loss_scale_factor = value

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor by name. A function is there by its name."""
        return {
            "optimizer_map": serialize(self._optimizer_map),
            "loss_scale_factor": self.loss_scale_factor,
            "name": self._name,
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None, **changes: Any
    ) -> Self:
        """The optimizer of a config. A function must be in `custom_objects` under its name."""
        arguments = {**config, **changes}
        optimizer_map = arguments.pop("optimizer_map")
        return cls(deserialize(optimizer_map, custom_objects), **arguments)

    # Steps

    def build(self, variables: Iterable[Variable]) -> None:
        """Choose the optimizer of each variable, and build them. A second call does nothing."""
        engine = self._own_engine
        if engine.built_variables:
            return
        known = tuple(check_variables(list(variables), "variables"))
        choices = [self._find_or_add(optimizer) for optimizer in map(self._choose, known)]
        for place, optimizer in enumerate(self._optimizers):
            chosen = [v for v, choice in zip(known, choices, strict=True) if choice == place]
            if chosen:
                optimizer.build(chosen)
        self._choices = choices
        engine.build(known)

    def _fill(self, grads_and_vars: Iterable[Any]) -> Pairs:
        """Return the pairs, those without a gradient, too."""
        engine = self._engine
        pairs = read_pairs(grads_and_vars)
        if all(g is None for g, _ in pairs):
            return engine.fill(pairs)  # which raises
        engine.note_step_variables([v for _, v in pairs])
        variables = engine.built_variables or engine.step_variables
        if len(pairs) != len(variables):
            raise ValueError(
                f"Gradients must match trainable variables one-to-one. Received {len(pairs)} "
                f"gradients and {len(variables)} variables."
            )
        return pairs

    def _create(self, variables: Sequence[Variable]) -> None:
        self.build(self._engine.step_variables)
        super()._create(variables)

    def _hold(self, pairs: Pairs) -> AbstractContextManager[None]:
        chosen = [optimizer._engine for optimizer, _ in self._split(pairs)]
        return hold([self._engine, *chosen], pairs)

    def _prepare_step(self, pairs: Pairs, clip: bool, aggregate: bool) -> Iterable[Commit]:
        if self._engine.strict:
            self.build(self._engine.step_variables)
        commits: list[Iterable[Commit]] = []
        for optimizer, part in self._split(pairs):
            filled = optimizer._engine.fill(part)
            commits.append(optimizer._prepare_step(filled, clip, aggregate))
        return chain(
            [lambda: self.build(self._engine.step_variables)],
            chain.from_iterable(commits),
            [self._engine.count],
        )

    def _split(self, pairs: Pairs) -> list[tuple[Optimizer, Pairs]]:
        """Return the pairs of each optimizer that has some."""
        known = self._engine.built_variables
        if known:
            choices = dict(zip(known, self._choices, strict=True))
        else:
            choices = {v: self._find_or_add(self._choose(v)) for _, v in pairs}
        parts: list[tuple[Optimizer, Pairs]] = []
        for place, optimizer in enumerate(self._optimizers):
            part = [(g, v) for g, v in pairs if choices[v] == place]
            if part:
                parts.append((optimizer, part))
        return parts

    def _set_scope(self, scope: str) -> None:
        super()._set_scope(scope)
        for optimizer in self._optimizers:
            optimizer._set_scope(scope)

    def _apply_on_replicas(self, replicas: Any, lists: Sequence[Pairs], aggregate: bool) -> None:
        filled = [self._fill(pairs) for pairs in lists]
        self.build(self._engine.step_variables)
        places = [self._split(pairs) for pairs in filled]
        for parts in zip(*places, strict=True):
            optimizer = parts[0][0]
            optimizer._apply_on_replicas(replicas, [part for _, part in parts], aggregate)
        self._engine.count()

    def finalize_variable_values(self, var_list: Iterable[Variable]) -> None:
        """Set the variables to their moving averages, where their optimizer has some."""
        pairs = [(None, v) for v in check_variables(list(var_list), "var_list")]
        for optimizer, part in self._split(pairs):
            optimizer.finalize_variable_values([v for _, v in part])

    # Pure form

    def init(self, values: Any) -> dict[str, Any]:
        """State of the pure form: a step count, and the state of each optimizer that has weights."""
        from .._base.jax import jax

        _, parts = self._split_tree(values)
        return {
            "step": jax.numpy.zeros((), np.int32),
            "optimizers": [optimizer.init(leaves) for optimizer, leaves in parts],
        }

    def step(self, values: Any, state: Any, grads: Any, axis_name: Any = None) -> tuple[Any, Any]:
        """`Optimizer.step` for each part of the tree.

        >>> from gradlab.keras import SGD
        >>> slow, fast = SGD(0.25, semantics="keras3"), SGD(0.5, semantics="keras3")
        >>> opt = MultiOptimizer(OptimizerMap(slow, {"b": fast}))
        >>> w = {"a": np.float32([1.0]), "b": np.float32([1.0])}
        >>> w, state = opt.step(w, opt.init(w), {"a": np.float32([2.0]), "b": np.float32([2.0])})
        >>> w["a"].tolist(), w["b"].tolist()
        ([0.5], [0.0])
        """
        tree, parts = self._split_tree(values)
        names = pure.leaf_names(values)
        gradients = dict(zip(names, tree.flatten_up_to(grads), strict=True))
        new = dict[str, Any]()
        states = []
        for (optimizer, leaves), before in zip(parts, state["optimizers"], strict=True):
            part = {name: gradients[name] for name in leaves}
            after, inner_state = optimizer.step(leaves, before, part, axis_name)
            new |= after
            states.append(inner_state)
        after_step = tree.unflatten([new[name] for name in names])
        return after_step, {"step": state["step"] + 1, "optimizers": states}

    def _split_tree(self, values: Any) -> tuple[Any, list[tuple[Optimizer, dict[str, Any]]]]:
        """Return the structure of a tree, and the leaves of each optimizer by name."""
        from .._base.jax import jax

        leaves, tree = jax.tree.flatten(values)
        parts: dict[int, dict[str, Any]] = {}
        for name, w in zip(pure.leaf_names(values), leaves, strict=True):
            weight = Weight(f"{name}:0", name, tuple(w.shape), w.dtype)
            place = self._find_or_add(self._choose(weight))
            parts.setdefault(place, {})[name] = w
        return tree, [(self._optimizers[place], parts[place]) for place in sorted(parts)]

    # Weights

    @property
    def weights(self) -> list[Variable]:
        """Its own count and learning rate, which stays 0, then the weights of each optimizer."""
        inner = [w for optimizer in self._optimizers for w in optimizer.weights]
        return [*self._engine.weights.all, *inner]

    @property
    def variables(self) -> CallableList:
        """`weights`."""
        return CallableList(self.weights)

    def _prepare_weights(self, weights: Sequence[Any]) -> Commit:
        if len(weights) != len(self.weights):
            raise ValueError(
                f"You called `set_weights(weights)` on {self._name} with {len(weights)} weights, "
                f"but the optimizer was expecting {len(self.weights)} weights"
            )
        count = len(self._engine.weights.all)
        commits = [self._engine.prepare_weights(weights[:count])]
        rest = weights[count:]
        for optimizer in self._optimizers:
            count = len(optimizer.weights)
            commits.append(optimizer._prepare_weights(rest[:count]))
            rest = rest[count:]
        return combine_commits(commits)

    def get_slot(self, var: Variable, slot_name: str) -> Variable:
        """The slot variable of the optimizer of a variable (KeyError if there is none)."""
        choices = dict(zip(self._engine.built_variables, self._choices, strict=True))
        if var not in choices:
            raise KeyError(f"{getattr(var, 'name', var)} has no optimizer yet; build() chooses one")
        return self._optimizers[choices[var]].get_slot(var, slot_name)

    def get_slot_names(self) -> list[str]:
        """Names of the slots of all optimizers."""
        names = [name for optimizer in self._optimizers for name in optimizer.get_slot_names()]
        return list(dict.fromkeys(names))

    def _stepped_variables(self) -> list[Variable]:
        return list(self._engine.built_variables)

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        return {
            "optimizer": type(self).__name__,
            "own": save_engine(self._engine, names),
            "choices": list(self._choices),
            "optimizers": [optimizer._to_save(names) for optimizer in self._optimizers],
        }

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        check_class(state, self)
        own_state = get_part(state, "own")
        saved = get_part(state, "optimizers", list)
        choices = get_part(state, "choices", list)
        load_own = load_engine(self._engine, own_state, names, self)
        known = own_state["known"]
        optimizers = dict.fromkeys(self._optimizers)
        if not self._engine.built_variables:
            optimizers.update(dict.fromkeys(self._choose(names[key]) for key in known))
        if len(saved) != len(optimizers):
            raise ValueError(
                f"the state is of {len(saved)} optimizers, there are {len(optimizers)}; "
                "nothing was loaded"
            )
        if len(choices) != len(known) or any(x not in range(len(saved)) for x in choices):
            raise InvalidArgumentError(
                f"the state has the choices {choices} of {len(saved)} optimizers for {len(known)} "
                "variables; nothing was loaded"
            )
        for optimizer in optimizers:
            self._find_or_add(optimizer)
        load_optimizers = [
            optimizer._loading(inner, names)
            for optimizer, inner in zip(self._optimizers, saved, strict=True)
        ]

        def set_choices() -> None:
            self._choices = list(choices)

        return combine_commits([load_own, set_choices, *load_optimizers])


def _check_chosen(optimizer: Any) -> None:
    """Refuse what a MultiOptimizer cannot step with."""
    if isinstance(optimizer, LossScaleOptimizer | MultiOptimizer):
        # Keras's own words, which differ from those of a map.
        kind = type(optimizer).__name__
        raise ValueError(f"{kind} cannot be used inside an MultiOptimizer.")
    _check_inner(optimizer)


def _check_inner(optimizer: Any) -> None:
    """Refuse what cannot be in a map."""
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"optimizer must be an optimizer of gl.keras, got {optimizer!r}")
    if isinstance(optimizer, LossScaleOptimizer):
        raise ValueError("optimizer cannot be LossScaleOptimizer. Put it around the MultiOptimizer")
    if isinstance(optimizer, MultiOptimizer):
        raise ValueError("optimizer cannot be MultiOptimizer.")
    version = optimizer._engine.version.name
    if version != "keras3":
        raise ValueError(
            f"{type(optimizer).__name__} is of semantics {version!r}, a MultiOptimizer takes "
            '"keras3" only'
        )
