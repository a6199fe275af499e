"""The three steps compute, process, apply: the interface of every optimizer of `gl.train`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from .._base.arrays import is_inexact, is_jax
from ..errors import DTypeError
from .array_gradients import differentiate_by_all
from .autodiff import (
    GradsAndVars,
    Loss,
    check_aggregation,
    check_variables,
    describe_in_graph,
    differentiate,
    differentiate_touched,
    listed,
)
from .gate import GATE_GRAPH, GATE_NONE, GATE_OP, check_gate
from .state_dict import Stateful
from .variable import Variable, current_collection, trainable_variables


class Optimizer(Stateful, ABC):
    """The three steps of `tf.compat.v1.train.Optimizer`: compute the gradients, process them, apply them.

    `RuleOptimizer` brings a rule, and with it everything but the rule's fields;
    `DropStaleGradientOptimizer` and `SyncReplicasOptimizer` wrap another optimizer.

    Args:
        name: a string, not empty.

    Raises:
        ValueError: `name` is empty.
        TypeError: it isn't a string.

    Source: `tf.compat.v1.train.Optimizer`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> isinstance(gl.train.AdamOptimizer(), Optimizer)
    True
    """

    GATE_NONE, GATE_OP, GATE_GRAPH = GATE_NONE, GATE_OP, GATE_GRAPH

    def __init__(self, name: str) -> None:
        if not name:  # first, so that None is a ValueError, as in TensorFlow
            raise ValueError(f"name must be a non-empty string, got {name!r}")
        if not isinstance(name, str):
            raise TypeError(f"name must be a non-empty string, got {name!r}")
        self._name = name

    def get_name(self) -> str:
        """Return the name that the optimizer was given."""
        return self._name

    @abstractmethod
    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """Return a variable's slot of this name, or None where there is none (Keras raises KeyError)."""

    @abstractmethod
    def get_slot_names(self) -> list[str]:
        """Return the sorted names of the slots that exist: none before the first step."""

    @abstractmethod
    def variables(self) -> list[Variable]:
        """Return the variables that hold the optimizer's state, by name."""

    def compute_gradients(
        self,
        loss: Loss,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> GradsAndVars:
        """First step: (gradient or None, variable) for each variable, in order; in a Graph, tensors for gradients.

        Args:
            loss: function without arguments that computes with jax.numpy on variables, or a tensor
                of a `gl.Graph`; a vector is summed.
            var_list: variables, or one; None means the trainable ones the loss reads (in a Graph:
                all trainable ones). JAX arrays that the loss computes with may be among them, as
                tensors in TensorFlow; `apply_gradients` refuses them. Not NumPy's, which are
                constants to a loss.
            gate_gradients: has an effect in a Graph only; see `GateRace`. The values are the same
                for all gates.
            aggregation_method, colocate_gradients_with_ops: no effect on values.
            grad_loss: upstream gradient, of the loss's shape.

        Raises:
            RuntimeError or TypeError: the loss is neither a function nor a tensor.
            ValueError: no variables, integer ones only; in a Graph an unknown gate or aggregation
                method. Integer variables beside others have no gradient: None.
        """
        if not callable(loss):
            raise RuntimeError(
                "loss must be a function without arguments, got "
                f"{type(loss).__name__}: write lambda: ..."
            )
        graph = current_collection().graph
        check_gate(gate_gradients, strict=graph)
        check_aggregation(aggregation_method, strict=graph)
        if var_list is None and not graph:
            pairs = differentiate_touched(loss, grad_loss)
            if not pairs:
                raise ValueError(
                    "No variables: the loss reads no trainable variable; pass var_list or read "
                    "variables in it"
                )
            return pairs
        items = trainable_variables() if var_list is None else listed(var_list)
        if any(map(is_jax, items)):
            by_all = describe_in_graph(
                lambda: [g for g, _ in differentiate_by_all(loss, items, grad_loss)]
            )
            return list(zip(by_all, items, strict=True))
        variables = check_variables(items, "var_list")
        if not variables:
            raise ValueError("No variables to optimize: var_list is empty")
        if not any(is_inexact(v.dtype) for v in variables):
            v = variables[0]
            raise DTypeError(f"{v.name} is {v.dtype}; only floating-point variables have gradients")
        grads = describe_in_graph(lambda: differentiate([loss], variables, [grad_loss])[0])
        return list(zip(grads, variables, strict=True))

    @abstractmethod
    def apply_gradients(
        self, grads_and_vars: Any, global_step: Variable | None = None, name: str | None = None
    ) -> Any:
        """Third step: update every variable, then add 1 to global_step."""

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

        >>> from gradlab.train import GradientDescentOptimizer
        >>> v = Variable([1.0, -2.0], name="v")
        >>> GradientDescentOptimizer(0.25).minimize(lambda: (v * v).sum())
        >>> v.numpy().tolist()
        [0.5, -1.0]
        """
        pairs = self.compute_gradients(
            loss,
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )
        return self.apply_gradients(pairs, global_step, name)
