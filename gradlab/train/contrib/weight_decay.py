"""Decoupled weight decay: weights shrink before the step of any optimizer with a rule.

`DecoupledWeightDecayExtension` comes before the optimizer among the bases of a class. Dense steps
take `decaying(rule)`, a class of rules made from the optimizer's own; steps by slices shrink the
named rows and then go on by the optimizer's own way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cache
from typing import Any, ClassVar

from ... import rules
from ..._base.arrays import Array, as_array, set_rows, take_rows
from ..._base.slices import IndexedSlices
from ...errors import DTypeError
from ...rules import dense_and_sparse
from ...rules.rule import Slots, rounded
from ..adam import AdamOptimizer
from ..autodiff import Loss
from ..gate import GATE_OP
from ..gradient_descent import MomentumOptimizer
from ..hyperparameters import LearningRate, Rate, is_function, is_plain
from ..rule_optimizer import RuleChoice, RuleOptimizer
from ..variable import Variable


@cache
def decaying(rule_class: Any) -> Any:
    """Return the class of the rule that shrinks the weights before its step.

    w = w - weight_decay * w, then the step of `rule_class`
    """

    @dataclasses.dataclass(frozen=True)
    class DecayingRule(rule_class):  # type: ignore[misc]
        decoupled_decay: Any = 0.0
        base: ClassVar[Any] = rule_class

        def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
            shrunk = w - self.decoupled_decay * w
            stepped: tuple[Array, Slots] = super().step(shrunk, slots, g, lr)
            return stepped

        def for_weights(self, name: str, shape: Sequence[int]) -> rules.Rule:
            own = self.without_decay().for_weights(name, shape)
            return _add_decay(own, self.decoupled_decay)

        def without_decay(self) -> rules.Rule:
            """Return the rule that steps after the weights were shrunk."""
            rule: rules.Rule = rule_class(**_fields(self, rule_class))
            return rule

    DecayingRule.__name__ = rule_class.__name__  # for messages
    return DecayingRule


def _fields(rule: Any, rule_class: Any) -> dict[str, Any]:
    return {field.name: getattr(rule, field.name) for field in dataclasses.fields(rule_class)}


@dataclasses.dataclass(frozen=True)
class _DecayNamedRows:
    """How slices meet a rule that decays: the named rows shrink, then step in the way `base`."""

    base: Callable[..., tuple[Array, Slots]]

    def __call__(
        self, rule: Any, w: Array, slots: Slots, g: IndexedSlices, lr: Any
    ) -> tuple[Array, Slots]:
        if not hasattr(rule, "without_decay"):
            return self.base(rule, w, slots, g, lr)
        w, slots, g = dense_and_sparse.of_one_library(w, slots, g, lr)
        # Slices that are applied one by one, those of gradient descent, decay nothing.
        if self.base is not dense_and_sparse.each:
            named = take_rows(w, g.indices)
            shrunk = named - rounded(rule.decoupled_decay, w.dtype) * named
            w = set_rows(w, g.indices, shrunk)
        return self.base(rule.without_decay(), w, slots, g, lr)


class DecoupledWeightDecayExtension:
    """Weight decay for the optimizer that follows it among the bases of a class.

        w = w - weight_decay * w, then the optimizer's step

    The decay knows neither the gradient nor the learning rate: where the rate falls, let the decay
    fall with it. IndexedSlices: only the rows that are named decay; in gradient descent none do.

    Args:
        weight_decay: number, scalar array or variable of the dtype of the weights.
        kwargs: of the optimizer, by name.

    Raises:
        TypeError: a function as `weight_decay`; raised by the first update, as in TensorFlow, which
            documents functions and refuses them.
        DTypeError: an array or variable of another dtype than the weights.

    Differs from TensorFlow: the optimizer must be one that steps by a rule. Source:
    `tf.contrib.opt.DecoupledWeightDecayExtension`, TensorFlow 1.15 (2019); Loshchilov & Hutter,
    "Decoupled Weight Decay Regularization" (2019).

    >>> import gradlab as gl
    >>> class AdagradW(gl.contrib.opt.DecoupledWeightDecayExtension, gl.train.AdagradOptimizer):
    ...     pass
    >>> v = gl.Variable([2.0], name="v")
    >>> AdagradW(0.25, learning_rate=1.0).apply_gradients([([0.0], v)])
    >>> v.numpy().tolist()
    [1.5]
    """

    _sparse: ClassVar[Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        base: Any = super()
        if not issubclass(cls, RuleOptimizer):
            raise TypeError(
                f"weight decay extends optimizers with a rule, such as gl.train.AdamOptimizer; the "
                f"bases of {cls.__name__} are {[base.__name__ for base in cls.__bases__]}"
            )
        if not isinstance(base._sparse, _DecayNamedRows):
            cls._sparse = staticmethod(_DecayNamedRows(base._sparse))

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._weight_decay = weight_decay
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: Loss,
        global_step: Variable | None = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        decay_var_list: Iterable[Variable] | None = None,
    ) -> Any:
        """`compute_gradients` and `apply_gradients` in one.

        `decay_var_list` has no effect, as in TensorFlow, where `apply_gradients` forgets it: every
        variable decays. Give it to `apply_gradients`.
        """
        optimizer: Any = super()
        return optimizer.minimize(
            loss,
            global_step,
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            name,
            grad_loss,
        )

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Variable | None = None,
        name: str | None = None,
        decay_var_list: Iterable[Variable] | None = None,
    ) -> Any:
        """Shrink the weights, then step.

        Args:
            grads_and_vars, global_step, name: as of the optimizer.
            decay_var_list: the variables that decay; None, or an empty list, means all.

        Raises:
            TypeError: the weight decay is a function.
        """
        optimizer: Any = self
        choose = self._choose_rule(global_step, set(decay_var_list or ()))
        return optimizer._apply(grads_and_vars, global_step, name, choose)

    def _choose_rule(
        self, global_step: Variable | None, chosen: Set[Variable] = frozenset()
    ) -> RuleChoice:
        base: Any = super()
        choose_base: RuleChoice = base._choose_rule(global_step)
        if is_function(self._weight_decay):
            raise TypeError(
                f"weight_decay must be a number or an array, got {self._weight_decay!r}"
            )

        def choose(rule: rules.Rule, v: Variable) -> rules.Rule:
            rule = choose_base(rule, v)
            if chosen and v not in chosen:
                return rule
            return _add_decay(rule, _read_decay(self._weight_decay, v.name, v.dtype))

        return choose

    def _pure_rule(self, rule: rules.Rule, step: Any) -> rules.Rule:
        base: Any = super()
        return _add_decay(base._pure_rule(rule, step), _read_decay(self._weight_decay))

    def _reads(self) -> dict[str, Any]:
        base: Any = super()
        return {**base._reads(), "weight_decay": self._weight_decay}


def _add_decay(rule: rules.Rule, weight_decay: Any) -> rules.Rule:
    found: Any = type(rule)
    rule_class = decaying(found)
    decayed: rules.Rule = rule_class(**_fields(rule, rule_class.base), decoupled_decay=weight_decay)
    return decayed


def _read_decay(weight_decay: Any, name: str = "", dtype: Any = None) -> Any:
    """Return the decay; Python's numbers keep their precision, unlike other hyperparameters."""
    if is_plain(weight_decay):
        return float(weight_decay)
    decay = as_array(weight_decay, "weight_decay")
    if dtype is not None and decay.dtype != dtype:
        raise DTypeError(f"weight_decay is {decay.dtype} but {name} is {dtype}")
    return decay[()]


def extend_with_decoupled_weight_decay(base_optimizer: type[Any]) -> type[Any]:
    """Return a class of optimizers that shrinks the weights before each step of `base_optimizer`.

        w = w - weight_decay * w, then the optimizer's step

    Its constructor takes the weight decay first, and the arguments of `base_optimizer` by name. See
    `DecoupledWeightDecayExtension`.

    Args:
        base_optimizer: class of an optimizer that steps by a rule, such as
            `gl.train.AdamOptimizer`.

    Raises:
        TypeError: another class.

    Source: `tf.contrib.opt.extend_with_decoupled_weight_decay`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> SGDW = gl.contrib.opt.extend_with_decoupled_weight_decay(gl.train.GradientDescentOptimizer)
    >>> v = gl.Variable([2.0], name="v")
    >>> SGDW(0.25, learning_rate=0.5).apply_gradients([([1.0], v)])
    >>> v.numpy().tolist()
    [1.0]
    """

    base: Any = base_optimizer

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base):  # type: ignore[misc]
        """`base_optimizer` with decoupled weight decay."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            # Positional arguments are refused by the extension, as in TensorFlow.
            super().__init__(weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """Momentum with decoupled weight decay, with slot "momentum".

        w = w - weight_decay * w
        m = m * momentum + g
        w = w - m * lr,  or with use_nesterov  w = w - (g * lr + m * momentum * lr)

    IndexedSlices: slices of one row are summed first; rows not named keep w and m.

    Args:
        weight_decay: number, scalar array or variable of the dtype of the weights.
        learning_rate, momentum: number, scalar array or variable, or function without arguments;
            the learning rate also a schedule.
        use_locking: no effect on values.
        name: not empty (ValueError).
        use_nesterov: look ahead.

    Source: `tf.contrib.opt.MomentumWOptimizer`, TensorFlow 1.15 (2019); Loshchilov & Hutter,
    "Decoupled Weight Decay Regularization" (2019).

    >>> import gradlab as gl
    >>> v = gl.Variable([2.0], name="v")
    >>> gl.contrib.opt.MomentumWOptimizer(0.25, 0.5, 0.9).apply_gradients([([1.0], v)])
    >>> v.numpy().tolist()
    [1.0]
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: LearningRate,
        momentum: Rate,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """Adam with decoupled weight decay, with Adam's slots "m" and "v" and its two powers.

        w = w - weight_decay * w
        m = m + (g - m) * (1 - beta1);  v = v + (g * g - v) * (1 - beta2)
        w = w - (m * (lr * sqrt(1 - beta2_power) / (1 - beta1_power))) / (sqrt(v) + epsilon)

    IndexedSlices: slices of one row are summed first; the named rows decay, then **every** row
    moves, as in `gl.train.AdamOptimizer`.

    Args:
        weight_decay: number, scalar array or variable of the dtype of the weights. It is not
            multiplied by the learning rate, as it is in Keras and PyTorch.
        learning_rate, beta1, beta2, epsilon: number, scalar array or variable, or function without
            arguments; the learning rate also a schedule.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Source: `tf.contrib.opt.AdamWOptimizer`, TensorFlow 1.15 (2019); Loshchilov & Hutter,
    "Decoupled Weight Decay Regularization" (2019).

    >>> import gradlab as gl
    >>> v = gl.Variable([2.0], name="v")
    >>> gl.contrib.opt.AdamWOptimizer(0.25, 0.5).apply_gradients([([1.0], v)])
    >>> v.numpy().round(4).tolist()
    [1.0]
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: LearningRate = 0.001,
        beta1: Rate = 0.9,
        beta2: Rate = 0.999,
        epsilon: Rate = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
