"""Keras's LossScaleOptimizer: it scales the loss, and leaves out steps whose gradients overflow.

It has no engine of its own: settings, slots and the count are those of the optimizer inside, whose
engine it shares. What it adds is the scale, and the choice between a step and none.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any, Self

import numpy as np

from .._base.arrays import Array, as_array, is_traced, namespace, precision, quiet
from .._base.gradient_types import Gradient
from .._base.slices import IndexedSlices
from ..errors import KerasWarning, warn
from ..train.autodiff import Loss
from ..train.hyperparameters import describe
from ..train.state_dict import (
    Commit,
    VariablesByName,
    check_class,
    combine_commits,
    get_part,
    prepare_assign,
    read_array,
)
from ..train.variable import Variable as Variable
from ..train.variable import current_collection
from .configs import deserialize, serialize
from .engine import Pairs, snake_case
from .keras3 import choose
from .optimizer import CallableList, Optimizer, newer_method
from .weights import prepare_load

_log = logging.getLogger("gradlab")

# Keras 3 refuses these, but for the values that its own configs had.
_NOT_SUPPORTED = {
    "weight_decay": None,
    "clipnorm": None,
    "global_clipnorm": None,
    "clipvalue": None,
    "use_ema": False,
    "ema_momentum": 0.99,
    "ema_overwrite_frequency": None,
    "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
}


class LossScaleOptimizer(Optimizer):
    """An optimizer around another one, for float16: it multiplies the loss, so that gradients don't vanish.

        scale = initial_scale
        a step with infinite gradients, or NaN:    no step;  scale = scale / 2
        dynamic_growth_steps other steps:          scale = scale * 2

    In "keras3" `apply_gradients` takes the gradients of the scaled loss and divides them by the
    scale. In "legacy" and "rewrite" it takes those of the loss itself, as `get_unscaled_gradients`
    gives them; a scale is at least 1 there and stays finite, and steps that are left out count in
    `iterations`. `minimize` scales and unscales by itself in all of them.

    Args:
        inner_optimizer: the optimizer that steps. Its version is that of this one, too.
        dynamic: False for a fixed scale, and for every step to be made; not in "keras3"
            (ValueError).
        initial_scale: the scale at first, 2**15 by default.
        dynamic_growth_steps: 2000 by default; None, and only that, beside dynamic=False.
        name: in "keras3".
        semantics: "legacy", "rewrite" or "keras3": that of the optimizer, which need not be given.

    Whatever else is set or read (rates, clips, averages, slots) is the inner optimizer's.

    On `gl.keras.Replicas` "keras3" looks at the gradients of the first replica only, as Keras does
    (a warning says so where those of another one aren't finite).

    Raises:
        TypeError: the inner optimizer isn't an optimizer of gl.keras, or is a LossScaleOptimizer;
            dynamic isn't a bool.
        ValueError: an inner optimizer of "tf2.3", or one that is inside another; a fixed scale
            without a number, or with growth steps; in "keras3" other settings.

    Differs from Keras: all arguments but the first are by name, because their order differs between
    versions. Gradients of float16 keep their dtype in "keras3", where Keras goes on in float32 and
    so refuses to accumulate them.

    Source: `tf.keras.mixed_precision.LossScaleOptimizer`, tf_keras 2.21 and
    `keras.optimizers.LossScaleOptimizer`, Keras 3.15 (2026); Micikevicius et al., "Mixed Precision
    Training" (2017).

    >>> from gradlab.keras import SGD
    >>> v = Variable([1.0], name="v")
    >>> opt = LossScaleOptimizer(SGD(0.5, semantics="keras3"), initial_scale=8.0)
    >>> for g in (8.0, np.inf):
    ...     n = opt.apply_gradients([([g], v)])
    >>> v.numpy().tolist(), opt.dynamic_scale.numpy().item()
    ([0.5], 4.0)
    """

    def __init__(
        self,
        inner_optimizer: Any,
        *,
        dynamic: bool = True,
        initial_scale: float | None = None,
        dynamic_growth_steps: int | None = None,
        name: str | None = None,
        semantics: str | None = None,
        **kwargs: Any,
    ) -> None:
        _check_inner(inner_optimizer, semantics)
        self.inner_optimizer: Optimizer = inner_optimizer
        self._engine = inner_optimizer._engine
        self._is_keras3 = self._engine.version.name == "keras3"
        _check_scale(self._is_keras3, dynamic, initial_scale, dynamic_growth_steps)
        if self._is_keras3:
            _check_others(kwargs)
        elif kwargs or name is not None:
            unknown = next(iter(kwargs), "name")
            raise TypeError(f"LossScaleOptimizer of tf_keras has no argument {unknown!r}")
        self.dynamic = dynamic
        self.initial_scale = 2.0**15 if initial_scale is None else float(initial_scale)
        self.dynamic_growth_steps: int | None = None
        if dynamic and dynamic_growth_steps is None:
            self.dynamic_growth_steps = 2000
        elif dynamic_growth_steps is not None:
            self.dynamic_growth_steps = int(dynamic_growth_steps)
        inner_optimizer._is_loss_scaled = True
        self._has_scaled_loss = False
        self._has_unscaled_gradients = False
        self._own_name = ""
        self._own_weights: list[Variable] = []
        names = ("current_loss_scale", "good_steps")
        if self._is_keras3:
            inner_optimizer.loss_scale_factor = None  # else gradients were scaled twice
            self._own_name = name or current_collection().unique_name(
                snake_case(type(self).__name__)
            )
            prefix = f"{self._own_name}/"
            names = (f"{prefix}dynamic_scale", f"{prefix}step_counter")
            # Keras makes these two for any optimizer, and doesn't use them in this one.
            iteration = Variable(np.int64(0), trainable=False, name=f"{prefix}iteration")
            rate = Variable(np.float32(0.0), trainable=False, name=f"{prefix}learning_rate")
            self._own_weights = [iteration, rate]
        self._loss_scale = Variable(np.float32(self.initial_scale), trainable=False, name=names[0])
        self._good_steps = Variable(np.int64(0), trainable=False, name=names[1])

    def __repr__(self) -> str:
        return describe(
            self,
            self._name,
            inner_optimizer=self.inner_optimizer,
            dynamic=self.dynamic,
            initial_scale=self.initial_scale,
            dynamic_growth_steps=self.dynamic_growth_steps,
        )

    def __copy__(self) -> Self:
        new = object.__new__(type(self))
        vars(new).update(vars(self), inner_optimizer=copy.copy(self.inner_optimizer))
        new._engine = new.inner_optimizer._engine
        return new

    def __setstate__(self, state: dict[str, Any]) -> None:
        # It has no `_declaration` for the engine, whose own optimizer puts that back.
        vars(self).update(state)

    def __getattr__(self, name: str) -> Any:
        """In "legacy" hyperparameters are the inner optimizer's."""
        if self._has_hyperparameter(name):
            return getattr(self.inner_optimizer, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name) and self._has_hyperparameter(name):
            setattr(self.inner_optimizer, name, value)
        else:
            super().__setattr__(name, value)

    def _has_hyperparameter(self, name: str) -> bool:
        engine = vars(self).get("_engine")
        if engine is None or engine.version.engine != "legacy":
            return False
        return name in engine.declaration.hyperparameters

    # Settings

    @property
    def _name(self) -> str:
        return self._own_name or self._engine.name

    @property
    def name(self) -> str:
        """Its own name in "keras3", that of the inner optimizer in "rewrite"; not in "legacy"."""
        return self._own_name or self.inner_optimizer.name

    @property
    def learning_rate(self) -> Any:
        """The inner optimizer's learning rate."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.inner_optimizer.learning_rate = value

    @property
    def loss_scale(self) -> np.ndarray:
        """The scale as a float32 number."""
        return np.asarray(self._loss_scale.numpy())

    @property
    def dynamic_scale(self) -> Variable:
        """The variable of the scale, in "keras3"."""
        self._check_keras3("dynamic_scale")
        return self._loss_scale

    @property
    def step_counter(self) -> Variable:
        """The variable that counts steps since the scale changed, in "keras3"."""
        self._check_keras3("step_counter")
        return self._good_steps

    @property
    def dynamic_counter(self) -> Variable | None:
        """The variable that counts steps since the scale changed; None for a fixed scale."""
        return self._good_steps if self.dynamic else None

    def _check_keras3(self, name: str) -> None:
        if not self._is_keras3:
            raise AttributeError(f"LossScaleOptimizer of tf_keras has no {name}")

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor by name, the inner optimizer as `gl.keras.serialize` gives it."""
        config: dict[str, Any] = {"inner_optimizer": serialize(self.inner_optimizer)}
        if self._is_keras3:
            config = {"name": self._own_name, **config}
        else:
            config["dynamic"] = self.dynamic
        config["initial_scale"] = self.initial_scale
        config["dynamic_growth_steps"] = self.dynamic_growth_steps
        return config

    def _names_in_config(self) -> tuple[str, str, str | None]:
        if self._is_keras3:
            return super()._names_in_config()
        is_rewrite = self._engine.version.name == "rewrite"
        name = "LossScaleOptimizerV3" if is_rewrite else "LossScaleOptimizer"
        return "tf_keras.src.mixed_precision.loss_scale_optimizer", name, name

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None, **changes: Any
    ) -> Self:
        """The optimizer of a config, as of `Optimizer`; `changes` are of the inner optimizer."""
        arguments = dict(config)
        if "loss_scale" in arguments:
            _read_older_config(arguments)
        inner = arguments.pop("inner_optimizer")
        if not isinstance(inner, Optimizer):
            inner = deserialize(inner, custom_objects, **changes)
        return cls(inner, **arguments)

    # Steps

    @newer_method
    def scale_loss(self, loss: Any) -> Any:
        """Return loss * scale. In "keras3"; see `get_scaled_loss` for the others.

        >>> from gradlab.keras import SGD
        >>> opt = LossScaleOptimizer(SGD(semantics="keras3"), initial_scale=8.0)
        >>> opt.scale_loss(np.float32(0.5)).item()
        4.0
        """
        scale = self._loss_scale.numpy() if self.built else self.initial_scale
        with precision(as_array(loss, "loss").dtype):
            return namespace(loss).multiply(loss, scale)

    def get_scaled_loss(self, loss: Any) -> Any:
        """Return loss * scale, in "legacy" and "rewrite"; of a function a function.

        >>> from gradlab.keras import SGD
        >>> opt = LossScaleOptimizer(SGD(), initial_scale=8.0)
        >>> opt.get_scaled_loss(np.float32(0.5)).item()
        4.0
        """
        self._check_tf_keras("get_scaled_loss")
        self._has_scaled_loss = True
        if callable(loss):
            return lambda: self._scale_value(loss())
        return self._scale_value(loss)

    def _scale_value(self, loss: Any) -> Any:
        if not hasattr(loss, "dtype"):
            loss = np.float32(loss)
        with precision(loss.dtype):
            return loss * self._loss_scale.value.astype(loss.dtype)

    def get_unscaled_gradients(self, grads: Sequence[Gradient | None]) -> list[Gradient | None]:
        """Return the gradients times 1 / scale, in "legacy" and "rewrite"; None stays None.

        >>> from gradlab.keras import SGD
        >>> opt = LossScaleOptimizer(SGD(), initial_scale=8.0)
        >>> opt.get_unscaled_gradients([np.float32([4.0]), None])
        [array([0.5], dtype=float32), None]
        """
        self._check_tf_keras("get_unscaled_gradients")
        self._has_unscaled_gradients = True
        factor = np.float32(1) / self._loss_scale.numpy()
        return [None if g is None else _multiply(g, factor) for g in grads]

    def _check_tf_keras(self, name: str) -> None:
        if self._is_keras3:
            raise AttributeError(f"LossScaleOptimizer of Keras 3 has no {name}; use scale_loss")

    def _scale_loss_function(self, loss: Loss) -> Loss:
        if not callable(loss):
            hint = "scale_loss(loss)" if self._is_keras3 else "get_scaled_loss(loss)"
            raise ValueError(f"the loss must be scaled on the tape: tape {hint}, apply_gradients")
        if not self._is_keras3:
            scaled: Loss = self.get_scaled_loss(loss)
            return scaled
        return lambda: self.scale_loss(loss())

    def _gradients(self, loss: Any, var_list: Any, grad_loss: Any, tape: Any) -> Pairs:
        pairs = super()._gradients(loss, var_list, grad_loss, tape)
        if self._is_keras3:
            return pairs
        grads = self.get_unscaled_gradients([g for g, _ in pairs])
        return list(zip(grads, [v for _, v in pairs], strict=True))

    def _fill(self, grads_and_vars: Iterable[Any]) -> Pairs:
        if self._is_keras3 and not self.built:
            # Keras 3 makes these weights in the scope of this optimizer, but by `build` in none.
            self.inner_optimizer._set_scope(f"{self._own_name}/")
        return self.inner_optimizer._fill(grads_and_vars)

    def _create(self, variables: Sequence[Variable]) -> None:
        self.inner_optimizer._create(variables)

    def _hold(self, pairs: Pairs) -> AbstractContextManager[None]:
        return self.inner_optimizer._hold(pairs)

    def _prepare_step(self, pairs: Pairs, clip: bool, aggregate: bool) -> Iterable[Commit]:
        """Prepare the inner step if all gradients are finite, then a change of the scale."""
        engine = self._engine
        pairs = self._check_gradients(pairs)
        if engine.strict:
            # As in Keras, where what a later error leaves behind is built.
            self._build_inner()
        if aggregate and not self._is_keras3:
            # What another replica has may be infinite.
            pairs = engine.aggregate(pairs)
            aggregate = False
        is_finite = self._can_step(g for g, _ in pairs)
        commits: Iterable[Commit] = []
        if is_finite:
            commits = self.inner_optimizer._prepare_step(self._unscale(pairs), clip, aggregate)
        elif not self._is_keras3:
            commits = [lambda: engine.iterations().assign_add(1)]
        return chain([self._build_inner], commits, [lambda: self._change_scale(is_finite)])

    def _check_gradients(self, pairs: Pairs) -> Pairs:
        """Return the gradients as arrays or slices that fit their variables; None stays None."""
        check = self._engine.check_gradient
        return [(None if g is None else check(g, v), v) for g, v in pairs]

    def _apply_on_replicas(self, replicas: Any, lists: Sequence[Pairs], aggregate: bool) -> None:
        """Do the same on all replicas, or on none if there are gradients that aren't finite."""
        lists = [self._check_gradients(pairs) for pairs in lists]
        self._engine.note_step_variables([v for pairs in lists for _, v in pairs])
        self._build_inner()
        are_finite = [self._can_step(g for g, _ in pairs) for pairs in lists]
        is_finite = all(are_finite)
        if self._is_keras3 and are_finite[0] and not is_finite:
            warn(
                "Keras 3 looks at the gradients of the first replica only: the step is made, "
                "though those of another one are not finite",
                KerasWarning,
            )
            is_finite = True
        if is_finite:
            unscaled = [self._unscale(pairs) for pairs in lists]
            self.inner_optimizer._apply_on_replicas(replicas, unscaled, aggregate)
        elif not self._is_keras3:
            replicas._count(self.inner_optimizer)
        self._change_scale(is_finite)

    def _can_step(self, grads: Iterable[Any]) -> bool:
        return not self.dynamic or bool(all_finite([g for g in grads if g is not None]))

    def _build_inner(self) -> None:
        """Build the inner optimizer, as Keras 3 and the rewrite do ahead of the first step."""
        engine = self._engine
        if engine.version.engine == "newer" and not engine.built_variables:
            self.inner_optimizer.build(engine.step_variables)

    def _unscale(self, pairs: Pairs) -> Pairs:
        """Return the gradients of the loss itself."""
        if not self._is_keras3:
            self._warn_of_no_scaling()
            return pairs
        scale = self._loss_scale.numpy()
        return [(None if g is None else _divide(g, scale), v) for g, v in pairs]

    def _warn_of_no_scaling(self) -> None:
        if not (self._has_scaled_loss and self._has_unscaled_gradients):
            _log.warning(
                "apply_gradients of a LossScaleOptimizer takes gradients of a scaled loss, divided "
                "by the scale: call get_scaled_loss() and get_unscaled_gradients() first"
            )

    def _change_scale(self, is_finite: bool) -> None:
        """Change the scale after a step, or after none."""
        if not self.dynamic:
            return
        scale, good_steps = next_scale(
            is_finite,
            self._loss_scale.numpy(),
            self._good_steps.numpy(),
            self.dynamic_growth_steps,
            self._is_keras3,
        )
        self._loss_scale.assign(scale)
        self._good_steps.assign(good_steps)

    # Pure form

    def init(self, values: Any) -> dict[str, Any]:
        """State of the pure form: that of the inner optimizer, and the scale.

        Multiply the loss by `state["loss_scale"]`.
        """
        from .._base.jax import jax

        return {
            "loss_scale": jax.numpy.asarray(self.initial_scale, np.float32),
            "good_steps": jax.numpy.zeros((), np.int32),
            "inner": self.inner_optimizer.init(values),
        }

    def step(self, values: Any, state: Any, grads: Any, axis_name: Any = None) -> tuple[Any, Any]:
        """`Optimizer.step`, with gradients as `apply_gradients` takes them.

        >>> import jax
        >>> from gradlab.keras import SGD
        >>> opt = LossScaleOptimizer(SGD(0.5, semantics="keras3"), initial_scale=8.0)
        >>> w = {"a": np.float32([1.0])}
        >>> w, state = jax.jit(opt.step)(w, opt.init(w), {"a": np.float32([8.0])})
        >>> w["a"].tolist(), state["loss_scale"].item()
        ([0.5], 8.0)
        """
        from .._base.jax import jax

        scale = state["loss_scale"]
        is_gradient = lambda g: g is None or isinstance(g, IndexedSlices)  # noqa: E731
        leaves = [g for g in jax.tree.leaves(grads, is_leaf=is_gradient) if g is not None]
        is_finite = all_finite(leaves) if self.dynamic else np.bool_(True)
        if axis_name is not None and self.dynamic:
            is_finite = jax.lax.pmin(is_finite, axis_name)  # type: ignore[no-untyped-call]  # JAX says no types of it
        if self._is_keras3:
            grads = jax.tree.map(
                lambda g: None if g is None else _divide(g, scale), grads, is_leaf=is_gradient
            )
        new, inner = self.inner_optimizer.step(values, state["inner"], grads, axis_name)
        skipped = state["inner"]
        if not self._is_keras3:
            # Count, and move nothing.
            none = jax.tree.map(lambda w: None, values)
            skipped = self.inner_optimizer.step(values, skipped, none)[1]
        new, inner = choose(is_finite, (new, inner), (values, skipped))
        good_steps = state["good_steps"]
        if self.dynamic:
            scale, good_steps = next_scale(
                is_finite, scale, good_steps, self.dynamic_growth_steps, self._is_keras3
            )
        return new, {"loss_scale": scale, "good_steps": good_steps, "inner": inner}

    # Weights

    @property
    def weights(self) -> list[Variable]:
        """In "keras3" its own variables, then those of the inner optimizer; else only these."""
        weights = list(self._own_weights)
        if self._is_keras3 and self.built:
            weights += [self._good_steps, self._loss_scale]
        return weights + self.inner_optimizer.weights

    @property
    def variables(self) -> CallableList:
        """`weights`."""
        return CallableList(self.weights)

    def build(self, variables: Any) -> None:
        """Build the inner optimizer."""
        self.inner_optimizer.build(variables)

    def _prepare_weights(self, weights: Sequence[Any]) -> Commit:
        own_count = len(self.weights) - len(self.inner_optimizer.weights)
        if len(weights) != len(self.weights):
            raise ValueError(
                f"You called `set_weights(weights)` on {self._name} with {len(weights)} weights, "
                f"but the optimizer was expecting {len(self.weights)} weights"
            )
        inner = self.inner_optimizer._prepare_weights(weights[own_count:])
        own = prepare_load(self.weights[:own_count], weights[:own_count])
        return combine_commits([inner, own])

    def _stepped_variables(self) -> list[Variable]:
        return self.inner_optimizer._stepped_variables()

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        return {
            "optimizer": type(self).__name__,
            "inner": self.inner_optimizer._to_save(names),
            "loss_scale": read_array(self._loss_scale),
            "good_steps": read_array(self._good_steps),
        }

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        check_class(state, self)
        load_inner = self.inner_optimizer._loading(get_part(state, "inner"), names)
        load_scale = prepare_assign(self._loss_scale, state.get("loss_scale"), "the loss scale")
        load_good_steps = prepare_assign(self._good_steps, state.get("good_steps"), "good_steps")
        return combine_commits([load_inner, load_scale, load_good_steps])


# Checks of arguments


def _read_older_config(arguments: dict[str, Any]) -> None:
    """Turn a config of TensorFlow 2.3, in which the scale is an object, into arguments."""
    scale = arguments.pop("loss_scale")
    arguments["inner_optimizer"] = arguments.pop("optimizer")
    numbers = scale["config"]
    if scale["class_name"] == "FixedLossScale":
        arguments["dynamic"] = False
        arguments["initial_scale"] = numbers["loss_scale_value"]
        return
    if numbers["multiplier"] != 2:
        shown = ", ".join(f"{name}={value}" for name, value in numbers.items())
        raise ValueError(
            "Cannot deserialize LossScaleOptimizer with a DynamicLossScale whose multiplier is not "
            f"2. Got DynamicLossScale: DynamicLossScale({shown})"
        )
    arguments["initial_scale"] = numbers["initial_loss_scale"]
    arguments["dynamic_growth_steps"] = numbers["increment_period"]


def _check_inner(inner: Any, semantics: str | None) -> None:
    if not isinstance(inner, Optimizer):
        raise TypeError(f'"inner_optimizer" must be an optimizer of gl.keras, got {inner!r}')
    if isinstance(inner, LossScaleOptimizer):
        raise TypeError(f"LossScaleOptimizer cannot wrap another LossScaleOptimizer, got {inner!r}")
    version = inner._engine.version.name
    if version == "tf2.3":
        raise ValueError(
            'LossScaleOptimizer is of semantics "legacy", "rewrite", "keras3"; its inner optimizer '
            "is of 'tf2.3'"
        )
    if semantics not in (None, version):
        raise ValueError(f"the inner optimizer is of semantics {version!r}, got {semantics!r}")
    if version != "keras3" and getattr(inner, "_is_loss_scaled", False):
        raise ValueError(
            '"inner_optimizer" is already wrapped by a LossScaleOptimizer; an optimizer can only be '
            "wrapped by one of them"
        )


def _check_scale(is_keras3: bool, dynamic: Any, initial_scale: Any, growth_steps: Any) -> None:
    if is_keras3 and not dynamic:
        raise ValueError(
            "LossScaleOptimizer no longer supports `dynamic=False`: set `loss_scale_factor` of the "
            "inner optimizer instead"
        )
    if not isinstance(dynamic, bool):
        raise TypeError(
            f'"dynamic" argument to LossScaleOptimizer.__init__ must be a bool, but got: {dynamic!r}'
        )
    if dynamic:
        return
    if initial_scale is None:
        raise ValueError('"initial_scale" must be specified if "dynamic" is False')
    if growth_steps is not None:
        raise ValueError(
            f'"dynamic_growth_steps" must be None if "dynamic" is False, but got: {growth_steps!r}'
        )


def _check_others(kwargs: Mapping[str, Any]) -> None:
    for name, value in kwargs.items():
        if name in _NOT_SUPPORTED and value != _NOT_SUPPORTED[name]:
            raise ValueError(
                f"LossScaleOptimizer does not support `{name}`. Instead, set `{name}` on the "
                "`inner_optimizer`."
            )
    unknown = [f"`{name}`" for name in kwargs if name not in _NOT_SUPPORTED]
    if unknown:
        raise ValueError(f"LossScaleOptimizer does not support arguments: {', '.join(unknown)}.")


# Formulas


def all_finite(grads: Sequence[Any]) -> Any:
    """Return whether no gradient holds an infinity or NaN; an array inside `jit`.

    >>> all_finite([np.float32([1.0]), np.float32([np.nan])])
    False
    """
    values = [g.values if isinstance(g, IndexedSlices) else g for g in grads]
    finite = [namespace(x).isfinite(x).all() for x in values]
    if any(is_traced(x) for x in finite):
        from .._base.jax import jax

        return jax.numpy.stack([jax.numpy.asarray(x) for x in finite]).all()
    return all(bool(x) for x in finite)


@quiet
def next_scale(
    is_finite: Any, scale: Any, good_steps: Any, growth_steps: Any, is_keras3: bool
) -> tuple[Any, Any]:
    """Return the scale, and the count of steps since it changed, after a step.

    >>> next_scale(True, np.float32(8.0), np.int64(1), 2, is_keras3=True)
    (np.float32(16.0), np.int64(0))
    >>> next_scale(False, np.float32(1.5), np.int64(1), 2, is_keras3=False)
    (np.float32(1.0), np.int64(0))
    """
    xp = namespace(scale, good_steps)
    larger = scale * np.float32(2)
    smaller = scale * np.float32(0.5)
    is_due = good_steps == growth_steps - 1
    if not is_keras3:
        larger = xp.where(xp.isfinite(larger), larger, scale)
        smaller = xp.maximum(smaller, np.float32(1))
        is_due = good_steps + 1 >= growth_steps
    zero = xp.zeros_like(good_steps)
    after_good_step = xp.where(is_due, larger, scale)
    counted = xp.where(is_due, zero, good_steps + 1)
    return xp.where(is_finite, after_good_step, smaller)[()], xp.where(is_finite, counted, zero)[()]


def _multiply(g: Any, factor: Any) -> Any:
    if isinstance(g, IndexedSlices):
        return g.with_values(_multiply(g.values, factor))
    with precision(g.dtype):
        product: Array = g * np.asarray(factor).astype(g.dtype)
    return product


@quiet
def _divide(g: Any, scale: Any) -> Any:
    """Return g / scale, computed in float32 at least."""
    if isinstance(g, IndexedSlices):
        return g.with_values(_divide(g.values, scale))
    wide = g.astype(np.float32) if g.dtype.itemsize == 2 else g
    with precision(g.dtype):
        quotient: Array = (wide / scale).astype(g.dtype)
    return quotient
