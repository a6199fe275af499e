"""TensorFlow 1's optimizers: gradlab's, whose tensors are arrays and whose operations are nodes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins import graph
from tests.originals.stand_ins.graph import Slices, Tensor, is_node, raw, running
from tests.originals.stand_ins.tf_variables import Variable


class Bridge:
    """Mixed into an optimizer of gradlab: what it is given becomes arrays, what it returns nodes or
    tensors.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        for inner in (*arguments, *keywords.values()):
            if isinstance(inner, Bridge):  # a wrapper of gradlab calls it, with arrays
                inner._within = True
        super().__init__(*map(_number, arguments), **{k: _number(x) for k, x in keywords.items()})

    _within = False  # while a method of gradlab calls this one

    def compute_gradients(
        self, loss: Any, var_list: Any = None, *arguments: Any, **keywords: Any
    ) -> Any:
        if self._within:
            return super().compute_gradients(loss, var_list, *arguments, **keywords)  # type: ignore[misc]
        if any(isinstance(v, Tensor) for v in var_list or ()):
            return self._by_tensors(loss, var_list, *arguments, **keywords)
        if graph.executing_eagerly():
            loss = (lambda f=loss: raw(f())) if callable(loss) else loss
            pairs = super().compute_gradients(loss, var_list, *arguments, **keywords)  # type: ignore[misc]
            return [(graph.boxed(g), v) for g, v in pairs]
        node = loss() if callable(loss) else loss
        here = graph.default_graph()

        def compute() -> Any:
            with here.as_default():
                return super(Bridge, self).compute_gradients(
                    _loss(node), var_list, *arguments, **keywords
                )  # type: ignore[misc]

        with running(building=True):
            sample = compute()
        whole = Tensor(compute, "gradients")
        return [(_part(whole, i, g), v) for i, (g, v) in enumerate(sample)]

    def _by_tensors(self, loss: Any, tensors: Any, *arguments: Any, **keywords: Any) -> Any:
        """gradlab differentiates by JAX arrays, which these tensors hold from now on."""
        import jax.numpy as jnp

        for x in tensors:
            x._value = jnp.asarray(x._value)
        with running():
            pairs = super().compute_gradients(
                lambda: raw(loss()), [x._value for x in tensors], *arguments, **keywords
            )  # type: ignore[misc]
        return [(graph.boxed(g), x) for (g, _), x in zip(pairs, tensors, strict=True)]

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Any = None, **more: Any
    ) -> Any:
        if self._within:
            return super().apply_gradients(grads_and_vars, global_step, name, **more)  # type: ignore[misc]
        pairs = [tuple(pair) if isinstance(pair, tuple | list) else pair for pair in grads_and_vars]
        if graph.executing_eagerly():
            super().apply_gradients([(raw(g), v) for g, v in pairs], global_step, name, **more)  # type: ignore[misc]
            return None
        here = graph.default_graph()

        def described(value: Any = lambda g, _: raw(g)) -> Any:
            given = [(value(g, v), v) for g, v in pairs]
            return super(Bridge, self).apply_gradients(given, global_step, name, **more)  # type: ignore[misc]

        changes = is_node([g for g, _ in pairs])
        with running(building=True), here.as_default():
            first = described(_sample)

        def update() -> None:
            operation = first
            if changes or graph.has_feeds():
                with here.as_default():
                    operation = described()
            operation.run()

        return _in_train_ops(Tensor(update, first.name))

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        *arguments: Any,
        **keywords: Any,
    ) -> Any:
        if graph.executing_eagerly():
            given = (lambda: raw(loss())) if callable(loss) else loss
            with self._calling():
                super().minimize(given, global_step, var_list, *arguments, **keywords)  # type: ignore[misc]
            return None
        node = loss() if callable(loss) else loss
        with running(building=True), self._calling():
            operation = super().minimize(_loss(node), global_step, var_list, *arguments, **keywords)  # type: ignore[misc]
        return _in_train_ops(Tensor(operation.run, operation.name))

    @contextlib.contextmanager
    def _calling(self) -> Iterator[None]:
        before, self._within = self._within, True
        try:
            yield
        finally:
            self._within = before

    def _get_beta_accumulators(self) -> Any:
        """Adam's tests read its powers of beta by this name."""
        return tuple(
            v for v in self.variables() if v.name.startswith(("beta1_power", "beta2_power"))
        )

    @property
    def _slots(self) -> Any:
        """Ftrl's test reads all slots by this name."""
        found: dict[str, dict[Any, Any]] = {}
        for v in gl.trainable_variables():
            for name in self.get_slot_names():  # type: ignore[attr-defined]
                if (slot := self.get_slot(v, name)) is not None:
                    found.setdefault(name, {})[v] = slot
        return found

    def get_slot(self, var: Any, name: str) -> Any:
        return Variable.adopt(super().get_slot(var, name))  # type: ignore[misc]

    def variables(self) -> Any:
        return [Variable.adopt(v) for v in super().variables()]  # type: ignore[misc]


class ExponentialMovingAverage(gl.train.ExponentialMovingAverage):
    """gradlab's. A tensor is copied to a Variable, zero at first, whenever its average moves."""

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        super().__init__(decay, num_updates, zero_debias, name)
        self._zero_debias = zero_debias
        self._copies: dict[Any, Variable] = {}

    def apply(self, var_list: Any = None) -> Any:
        variables = None if var_list is None else [self._variable(x) for x in var_list]
        averaged = vars(graph.default_graph()).setdefault("moving_average_variables", [])
        averaged.extend(x for x in var_list or () if isinstance(x, gl.Variable))
        operation = super().apply(variables)
        if operation is None:
            return None

        def move() -> None:
            for tensor, copy in self._copies.items():
                copy.load(raw(tensor))
            operation.run()

        return Tensor(move)

    def average(self, var: Any) -> Any:
        return Variable.adopt(super().average(self._variable(var)))

    def average_name(self, var: Any) -> str:
        return super().average_name(self._variable(var))

    def variables_to_restore(self, moving_avg_variables: Any = None) -> Any:
        if moving_avg_variables is None:
            return super().variables_to_restore()
        return super().variables_to_restore([self._variable(x) for x in moving_avg_variables])

    def _variable(self, x: Any) -> Any:
        if isinstance(x, gl.Variable):
            return x
        if x not in self._copies:
            zeros = np.zeros(x.shape, x.dtype.dtype)
            self._copies[x] = Variable(zeros, name=x.name, trainable=False)
        return self._copies[x]


def _number(x: Any) -> Any:
    """A hyperparameter: what a node is worth is asked anew at every step."""
    if isinstance(x, Tensor) and not x.is_known:
        return lambda: raw(x)
    if (
        callable(x)
        and not isinstance(x, type | gl.Variable | gl.rules.Rule | gl.train.LossScale)
        and not hasattr(x, "apply_gradients")
    ):
        return lambda: raw(x())
    return raw(x) if isinstance(x, Tensor) else x


def _loss(node: Any) -> Any:
    """The loss as a function: all it reads is computed again, with what this run was fed."""

    def loss() -> Any:
        with running():
            return raw(node)

    return loss


def _sample(g: Any, v: Any) -> Any:
    """A gradient to describe the update with; zeros where a placeholder may be of any shape."""
    try:
        return raw(g)
    except graph.UnknownShapeError:
        shape = tuple(np.shape(raw(v)))
        zeros = np.zeros(shape, v.dtype)
        return (
            gl.IndexedSlices(zeros[:0], np.zeros(0, np.int32), shape)
            if isinstance(g, Slices)
            else zeros
        )


def _part(whole: Tensor, i: int, sample: Any) -> Any:
    """One gradient of those that are computed together, in the form that it has."""
    if sample is None:
        return None
    if not isinstance(sample, gl.IndexedSlices):
        return Tensor(lambda: raw(whole)[i][0], "gradient")
    values = Tensor(lambda: raw(whole)[i][0].values, "values")
    indices = Tensor(lambda: raw(whole)[i][0].indices, "indices")
    return Slices(values, indices, sample.dense_shape)


def _in_train_ops(node: Tensor) -> Tensor:
    train_ops = vars(graph.default_graph()).setdefault("train_ops", [])
    train_ops.append(node)
    return node


def bridged(cls: type) -> type:
    """The stand-in for an optimizer that gradlab has."""
    return type(cls.__name__, (Bridge, cls), {})


TRAIN: dict[str, Any] = {
    name: bridged(getattr(gl.train, name))
    for name in gl.train.__all__
    if name.endswith("Optimizer") and name not in ("Optimizer", "SyncReplicasOptimizer")
}
TRAIN["ExponentialMovingAverage"] = ExponentialMovingAverage
TRAIN["AggregationMethod"] = type(
    "AggregationMethod",
    (),
    {"ADD_N": 0, "DEFAULT": 0, "EXPERIMENTAL_TREE": 1, "EXPERIMENTAL_ACCUMULATE_N": 2},
)
for _name in ("create_global_step", "get_global_step", "get_or_create_global_step"):
    TRAIN[_name] = lambda *graphs, name=_name: Variable.adopt(getattr(gl.train, name)(*graphs))
