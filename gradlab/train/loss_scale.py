"""Loss scaling: the loss times a number, its gradients divided by it, so that float16 keeps small ones.

A `LossScale` is the number: fixed, or as large as the gradients stay finite with. The optimizer that
scales by it wraps another one, and leaves out the steps whose gradients aren't finite.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._base.arrays import Array, as_array, namespace, precision, quiet
from .._base.gradient_types import Gradient
from .._base.slices import IndexedSlices
from .._base.tensors import compute_now, deferrable, describe
from ..errors import InvalidArgumentError
from .autodiff import GradsAndVars, Loss
from .gate import GATE_OP
from .gradient_checks import checked_pairs
from .graph import Graph, no_op
from .hyperparameters import describe as describe_optimizer
from .optimizer import Optimizer
from .state_dict import (
    Commit,
    VariablesByName,
    combine_commits,
    get_part,
    prepare_assign,
    read_array,
)
from .variable import Variable, current_collection
from .wrapper import Wrapper


class LossScale(ABC):
    """The number that a loss is multiplied with; called, it returns it as a float32.

    Source: `tf.compat.v1.mixed_precision.LossScale`, TensorFlow 2.21 (2026).
    """

    @abstractmethod
    def __call__(self) -> Any:
        """Return the scale now, in a `gl.Graph` a tensor."""

    @abstractmethod
    def update(self, grads: Any) -> tuple[Any, Any]:
        """Learn from the gradients of a step, which were divided by the scale.

        Args:
            grads: a list, or one gradient; None for no gradient.

        Returns:
            (None, whether the gradients may be applied); in a `gl.Graph` an Operation and a tensor.
        """

    @abstractmethod
    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LossScale:
        """Return a loss scale of these arguments."""
        return cls(**config)

    def weights(self) -> dict[str, Variable]:
        """Return the variables that hold the scale, by name."""
        return {}


class FixedLossScale(LossScale):
    """A scale that stays.

    Args:
        loss_scale_value: a Python number, at least 1.

    Raises:
        ValueError: it's something else.

    Source: `tf.compat.v1.mixed_precision.FixedLossScale`, TensorFlow 2.21 (2026).

    >>> FixedLossScale(128)().item()
    128.0
    """

    def __init__(self, loss_scale_value: float) -> None:
        if not isinstance(loss_scale_value, int | float):
            raise ValueError(
                f"loss_scale_value must be a Python int or float, got {loss_scale_value!r}"
            )
        if loss_scale_value < 1:
            raise ValueError(f"loss_scale_value must be at least 1, got {loss_scale_value}")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> np.float32:
        return np.float32(self._loss_scale_value)

    def update(self, grads: Any) -> tuple[Any, bool]:
        return no_op(), True

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"

    def get_config(self) -> dict[str, Any]:
        return {"loss_scale_value": self._loss_scale_value}


class DynamicLossScale(LossScale):
    """A scale that grows while gradients are finite, and shrinks when one isn't.

        a step that isn't finite:    scale = max(scale / multiplier, 1);  good steps = 0
        `increment_period` good steps in a row:    scale = scale * multiplier;  good steps = 0

    Where the product would not be finite, the scale stays.

    Args:
        initial_loss_scale: the scale of the first step; better too large than too small, because it
            shrinks faster than it grows.
        increment_period: how many finite steps in a row raise it.
        multiplier: what it's multiplied with, or divided by.

    Source: `tf.compat.v1.mixed_precision.DynamicLossScale`, TensorFlow 2.21 (2026).

    >>> scale = DynamicLossScale(initial_loss_scale=8, increment_period=2)
    >>> for gradient in (np.inf, 1.0, 1.0):
    ...     _, is_applied = scale.update([np.float32(gradient)])
    ...     print(is_applied, scale().item())
    False 4.0
    True 4.0
    True 8.0
    """

    def __init__(
        self,
        initial_loss_scale: float = 2**15,
        increment_period: int = 2000,
        multiplier: float = 2.0,
    ) -> None:
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = Variable(
            np.float32(self._initial_loss_scale), trainable=False, name="current_loss_scale"
        )
        self._num_good_steps = Variable(np.int64(0), trainable=False, name="good_steps")

    @property
    def initial_loss_scale(self) -> float:
        """The scale of the first step."""
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        """How many finite steps in a row raise the scale."""
        return self._increment_period

    @property
    def multiplier(self) -> float:
        """What the scale is multiplied with, or divided by."""
        return self._multiplier

    def __call__(self) -> Any:
        if current_collection().graph:
            return describe(self._read)
        return self._read()

    def _read(self) -> Array:
        return self._current_loss_scale.value[()]

    def update(self, grads: Any) -> tuple[Any, Any]:
        collection = current_collection()
        is_finite = _is_all_finite(grads if isinstance(grads, list | tuple) else [grads])
        operation = collection.fetch(
            lambda: self.learn(bool(compute_now(is_finite))), "loss_scale_update"
        )
        return operation, is_finite

    @quiet
    def learn(self, is_finite: bool) -> None:
        """Count a step whose gradients were all finite, or weren't."""
        scale = np.float32(self._current_loss_scale)
        factor = np.float32(self._multiplier)
        if not is_finite:
            self._num_good_steps.assign(np.int64(0))
            self._current_loss_scale.assign(np.maximum(scale / factor, np.float32(1)))
        elif int(self._num_good_steps) + 1 < self._increment_period:
            self._num_good_steps.assign_add(np.int64(1))
        else:
            if np.isfinite(scale * factor):
                self._current_loss_scale.assign(scale * factor)
            self._num_good_steps.assign(np.int64(0))

    def __repr__(self) -> str:
        return (
            f"DynamicLossScale(current_loss_scale={np.float32(self._current_loss_scale)!s}, "
            f"num_good_steps={int(self._num_good_steps)}, "
            f"initial_loss_scale={self._initial_loss_scale}, "
            f"increment_period={self._increment_period}, multiplier={self._multiplier})"
        )

    def get_config(self) -> dict[str, Any]:
        return {
            "initial_loss_scale": self._initial_loss_scale,
            "increment_period": self._increment_period,
            "multiplier": self._multiplier,
        }

    def weights(self) -> dict[str, Variable]:
        return {
            "current_loss_scale": self._current_loss_scale,
            "good_steps": self._num_good_steps,
        }


class MixedPrecisionLossScaleOptimizer(Wrapper):
    """Multiply the loss by a scale, divide the gradients by it, and let another optimizer apply them.

    With a `DynamicLossScale` a step whose gradients aren't all finite changes no variable, nor the
    global step; the scale shrinks instead.

    Args:
        opt: a `gl.train.Optimizer`.
        loss_scale: a `LossScale`, a number of 1 or more for a fixed one, or "dynamic".

    Raises:
        ValueError: something else is given.

    Differs from TensorFlow: `get_slot` and `get_slot_names` are the wrapped optimizer's, not
    empty; gradients of other dtypes than float32 are divided too, which is an error there.

    Source: `tf.compat.v1.mixed_precision.MixedPrecisionLossScaleOptimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0, 2.0])
    >>> opt = MixedPrecisionLossScaleOptimizer(gl.train.GradientDescentOptimizer(0.5), "dynamic")
    >>> for gradient in ([np.inf, 0.0], [1.0, 2.0]):
    ...     opt.apply_gradients([(np.float32(gradient), v)])
    ...     print(v.numpy().tolist(), opt.variables()[0].numpy().item())
    [1.0, 2.0] 16384.0
    [0.5, 1.0] 16384.0
    """

    def __init__(self, opt: Optimizer, loss_scale: LossScale | float | str) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt, opt.get_name())
        self._loss_scale = _get_loss_scale(loss_scale)

    def __repr__(self) -> str:
        return describe_optimizer(self, self._name, opt=self._opt, loss_scale=self._loss_scale)

    def compute_gradients(
        self,
        loss: Loss,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> GradsAndVars:
        """The wrapped optimizer's gradients of the scaled loss, divided by the scale."""

        def scaled_loss() -> Array:
            value = as_array(loss(), "the loss")
            return value * namespace(value).asarray(self._loss_scale(), value.dtype)

        pairs = self._opt.compute_gradients(
            scaled_loss if callable(loss) else loss,
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )

        @deferrable
        def unscale(grads: Sequence[Gradient | None]) -> list[Gradient | None]:
            return _divide(grads, self._loss_scale())

        grads = unscale([g for g, _ in pairs])
        return list(zip(grads, [v for _, v in pairs], strict=True))

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Variable | None = None, name: str | None = None
    ) -> Any:
        """Let the wrapped optimizer apply the gradients; with a dynamic scale only finite ones.

        Arguments, errors and what is returned are the wrapped optimizer's.
        """
        scale = self._loss_scale
        if not isinstance(scale, DynamicLossScale):
            return self._opt.apply_gradients(grads_and_vars, global_step, name)
        pairs = list(grads_and_vars)
        checked_pairs(pairs)
        collection = current_collection()
        scope = name or self._name
        collection.check_scope(scope)
        run_inner = partial(self._opt.apply_gradients, pairs, global_step, f"{scope}-wrapped")
        if isinstance(collection, Graph):
            run_inner = run_inner().run  # of the Operation that it describes

        def step() -> None:
            is_finite = bool(_is_all_finite([g for g, _ in compute_now(pairs)]))
            if is_finite:
                run_inner()
            # After the step, which may raise: then the scale stays too.
            scale.learn(is_finite)

        return collection.fetch(step, scope)

    def variables(self) -> list[Variable]:
        """The wrapped optimizer's variables, then those of the loss scale."""
        return [*super().variables(), *self._loss_scale.weights().values()]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy of the wrapped optimizer, with a scale of its own."""
        new = memo[id(self)] = object.__new__(type(self))
        vars(new).update(vars(self))
        new._opt = copy.deepcopy(self._opt, memo)
        new._loss_scale = copy.deepcopy(self._loss_scale, memo)
        return new

    def __getstate__(self) -> dict[str, Any]:
        """All but the collection, which belongs to this process."""
        return {name: x for name, x in vars(self).items() if name != "_collection"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _collection=current_collection())

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        weights = {k: read_array(v) for k, v in self._loss_scale.weights().items()}
        return {**super()._to_save(names), "loss_scale": weights}

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        inner = super()._loading(state, names)
        saved = get_part(state, "loss_scale")
        own = self._loss_scale.weights()
        if set(saved) != set(own):
            raise InvalidArgumentError(
                f"the state has for its loss scale {', '.join(saved) or 'nothing'}, "
                f"{self._loss_scale!r} has {', '.join(own) or 'nothing'}; nothing was loaded"
            )
        return combine_commits([inner, *(prepare_assign(own[k], x, k) for k, x in saved.items())])


def _get_loss_scale(identifier: Any) -> LossScale:
    if isinstance(identifier, LossScale):
        return identifier
    if isinstance(identifier, int | float):
        return FixedLossScale(identifier)
    if identifier is None:
        raise ValueError("loss_scale cannot be None")
    if isinstance(identifier, str) and identifier == "dynamic":
        return DynamicLossScale()
    raise ValueError(
        f"Could not interpret loss scale identifier: {identifier!r}. Pass a number, 'dynamic' or "
        "a LossScale"
    )


@deferrable
def _is_all_finite(grads: Iterable[Gradient | None]) -> bool:
    """Tell whether all entries of all gradients are finite."""
    for g in grads:
        values = g.values if isinstance(g, IndexedSlices) else g
        if values is not None and not namespace(values).isfinite(as_array(values)).all():
            return False
    return True


@quiet
def _divide(grads: Sequence[Gradient | None], scale: Any) -> list[Gradient | None]:
    """Return gradients divided by the scale, as TensorFlow does it: times its reciprocal."""
    reciprocal = np.float32(1) / np.float32(scale)

    def divide(x: Array) -> Array:
        with precision(x.dtype):
            return x * namespace(x).asarray(reciprocal, x.dtype)

    divided: list[Gradient | None] = []
    for g in grads:
        if g is None:
            divided.append(None)
        elif isinstance(g, IndexedSlices):
            divided.append(g.with_values(divide(g.values)))
        else:
            divided.append(divide(g))
    return divided
