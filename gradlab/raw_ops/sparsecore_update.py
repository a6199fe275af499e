"""Ops that update the rows of a table by their gradients: one for each of five optimizers.

Each row that is named takes one step of the optimizer. TensorFlow has these ops in programs for
TPUs only, as plain XLA: rows are gathered, stepped and put back. So an index outside the table
changes nothing. A row that is named twice takes the step of one of its gradients, which XLA doesn't
choose; here it is the last.

The results are new arrays, as the ops of compiled programs have no variables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import rules
from .._base.slices import IndexedSlices
from ..errors import InvalidArgumentError
from . import sparsecore_shapes as shapes
from .tpu_op import Tensor, op, tpu_module


@op(shapes.same_as("embedding_table"))
def XlaSparseCoreSgd(
    *,
    indices: Tensor,
    gradient: Tensor,
    learning_rate: Tensor,
    embedding_table: Tensor,
    feature_width: int,
    name: str | None = None,
) -> np.ndarray:
    """Return a table after a step of gradient descent of some rows.

        w = w - learning_rate * g

    Args:
        indices: int32, (n,), the rows.
        gradient: float32, (n, feature_width).
        learning_rate: float32 scalar.
        embedding_table: float32, (rows, width).
        feature_width: the columns that are updated, from the first on.

    Raises:
        InvalidArgumentError: arrays that don't fit each other.
        DTypeError: a table that isn't float32.

    Source: `tf.raw_ops.XlaSparseCoreSgd`, TensorFlow 2.21 (2026), read.

    >>> table = XlaSparseCoreSgd(
    ...     indices=[1], gradient=[[2.0, 4.0]], learning_rate=0.5, embedding_table=[[1.0, 1.0]] * 2,
    ...     feature_width=2,
    ... )
    >>> table.tolist()
    [[1.0, 1.0], [0.0, -1.0]]
    """
    tables = {"embedding_table": embedding_table}
    rule = rules.StochasticGradientDescent()
    (table,) = _update(rule, tables, indices, gradient, learning_rate, feature_width)
    return table


class AdagradTables(NamedTuple):
    """A table and its accumulator."""

    updated_embedding_table: np.ndarray
    updated_accumulator: np.ndarray


@op(shapes.same_as("embedding_table", "accumulator"))
def XlaSparseCoreAdagrad(
    *,
    indices: Tensor,
    gradient: Tensor,
    learning_rate: Tensor,
    accumulator: Tensor,
    embedding_table: Tensor,
    feature_width: int,
    name: str | None = None,
) -> AdagradTables:
    """Return a table and its slot after a step of Adagrad of some rows.

        a = a + g * g;    w = w - learning_rate * g / sqrt(a)

    Args:
        accumulator: float32, of the shape of the table.
        indices, gradient, learning_rate, embedding_table, feature_width: as in `XlaSparseCoreSgd`.

    Raises: as there.

    Source: `tf.raw_ops.XlaSparseCoreAdagrad`, TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseCoreAdagrad(
    ...     indices=[1], gradient=[[4.0]], learning_rate=0.5, accumulator=[[9.0]] * 2,
    ...     embedding_table=[[1.0]] * 2, feature_width=1,
    ... )
    >>> found.updated_embedding_table.ravel().tolist(), found.updated_accumulator.ravel().tolist()
    ([1.0, 0.6000000238418579], [9.0, 25.0])
    """
    tables = {"embedding_table": embedding_table, "accumulator": accumulator}
    found = _update(adagrad_rule(), tables, indices, gradient, learning_rate, feature_width)
    return AdagradTables(*found)


class AdagradMomentumTables(NamedTuple):
    """A table, its accumulator and its momentum."""

    updated_embedding_table: np.ndarray
    updated_accumulator: np.ndarray
    updated_momentum: np.ndarray


@op(shapes.same_as("embedding_table", "accumulator", "momentum"))
def XlaSparseCoreAdagradMomentum(
    *,
    indices: Tensor,
    gradient: Tensor,
    learning_rate: Tensor,
    beta_1: Tensor,
    epsilon: Tensor,
    accumulator: Tensor,
    momentum: Tensor,
    embedding_table: Tensor,
    feature_width: int,
    use_nesterov: bool,
    beta_2: float,
    exponent: float,
    name: str | None = None,
) -> AdagradMomentumTables:
    """Return a table and its slots after a step of Adagrad with momentum of some rows.

        a = a + g * g                               if beta_2 is 1
            beta_2 * a + (1 - beta_2) * g * g       else
        s = (a + epsilon) ** (-1 / exponent) * g;   m = beta_1 * m + s
        w = w - learning_rate * m                   plain
            w - learning_rate * (beta_1 * m + s)    use_nesterov

    Args:
        accumulator, momentum: float32, of the shape of the table.
        beta_1, epsilon: float32 scalars.
        indices, gradient, learning_rate, embedding_table, feature_width: as in `XlaSparseCoreSgd`.

    Raises: as there.

    Source: `tf.raw_ops.XlaSparseCoreAdagradMomentum`, TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseCoreAdagradMomentum(
    ...     indices=[1], gradient=[[4.0]], learning_rate=0.5, beta_1=0.5, epsilon=0.0,
    ...     accumulator=[[9.0]] * 2, momentum=[[1.0]] * 2, embedding_table=[[1.0]] * 2,
    ...     feature_width=1, use_nesterov=False, beta_2=1.0, exponent=2.0,
    ... )
    >>> found.updated_momentum.round(4).ravel().tolist()
    [1.0, 1.2999999523162842]
    """
    tables = {
        "embedding_table": embedding_table,
        "accumulator": accumulator,
        "momentum": momentum,
    }
    rule = rules.AdagradMomentum(
        momentum=_scalar("beta_1", beta_1),
        use_nesterov=use_nesterov,
        exponent=exponent,
        beta2=beta_2,
        epsilon=_scalar("epsilon", epsilon),
    )
    found = _update(rule, tables, indices, gradient, learning_rate, feature_width)
    return AdagradMomentumTables(*found)


class AdamTables(NamedTuple):
    """A table, its velocity and its momentum, in TensorFlow's order."""

    updated_embedding_table: np.ndarray
    updated_velocity: np.ndarray
    updated_momentum: np.ndarray


@op(shapes.same_as("embedding_table", "velocity", "momentum"))
def XlaSparseCoreAdam(
    *,
    embedding_table: Tensor,
    indices: Tensor,
    gradient: Tensor,
    learning_rate: Tensor,
    momentum: Tensor,
    velocity: Tensor,
    beta_1: Tensor,
    beta_2: Tensor,
    epsilon: Tensor,
    feature_width: int,
    use_sum_inside_sqrt: bool,
    name: str | None = None,
) -> AdamTables:
    """Return a table and its slots after a step of Adam of some rows, without bias correction.

        m = beta_1 * m + (1 - beta_1) * g;    v = beta_2 * v + (1 - beta_2) * g * g
        w = w - learning_rate * m / (sqrt(v) + epsilon)            plain
            w - learning_rate * m / sqrt(v + epsilon * epsilon)    use_sum_inside_sqrt

    Args:
        momentum, velocity: float32, of the shape of the table.
        beta_1, beta_2, epsilon: float32 scalars.
        indices, gradient, learning_rate, embedding_table, feature_width: as in `XlaSparseCoreSgd`.

    Raises: as there.

    Source: `tf.raw_ops.XlaSparseCoreAdam`, TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseCoreAdam(
    ...     embedding_table=[[1.0]] * 2, indices=[1], gradient=[[4.0]], learning_rate=0.5,
    ...     momentum=[[0.0]] * 2, velocity=[[0.0]] * 2, beta_1=0.5, beta_2=0.75, epsilon=0.0,
    ...     feature_width=1, use_sum_inside_sqrt=False,
    ... )
    >>> found.updated_embedding_table.ravel().tolist(), found.updated_velocity.ravel().tolist()
    ([1.0, 0.5], [0.0, 4.0])
    """
    tables = {"embedding_table": embedding_table, "momentum": momentum, "velocity": velocity}
    rule = adam_rule(
        use_sum_inside_sqrt,
        _scalar("beta_1", beta_1),
        _scalar("beta_2", beta_2),
        _scalar("epsilon", epsilon),
    )
    table, m, v = _update(rule, tables, indices, gradient, learning_rate, feature_width)
    return AdamTables(table, v, m)


class FtrlTables(NamedTuple):
    """A table, its accumulator and its linear slot."""

    updated_embedding_table: np.ndarray
    updated_accumulator: np.ndarray
    updated_linear: np.ndarray


@op(shapes.same_as("embedding_table", "accumulator", "linear"))
def XlaSparseCoreFtrl(
    *,
    embedding_table: Tensor,
    accumulator: Tensor,
    linear: Tensor,
    learning_rate: Tensor,
    indices: Tensor,
    gradient: Tensor,
    beta: Tensor,
    learning_rate_power: Tensor,
    l2_regularization_strength: Tensor,
    feature_width: int,
    multiply_linear_by_learning_rate: bool,
    l1_regularization_strength: float,
    name: str | None = None,
) -> FtrlTables:
    """Return a table and its slots after a step of FTRL of some rows.

        a = a + g * g;    p = a ** -learning_rate_power, before it p'
        linear = linear + g - (p - p') * w / learning_rate
        w = (clip(linear, -l1, l1) - linear) / ((p + beta) / learning_rate + 2 * l2)

    With `multiply_linear_by_learning_rate`, `linear` and both parts of the quotient are these times
    the rate, beta isn't.

    Args:
        accumulator, linear: float32, of the shape of the table.
        beta, learning_rate_power, l2_regularization_strength: float32 scalars.
        indices, gradient, learning_rate, embedding_table, feature_width: as in `XlaSparseCoreSgd`.

    Raises: as there.

    Source: `tf.raw_ops.XlaSparseCoreFtrl`, TensorFlow 2.21 (2026), read.

    >>> found = XlaSparseCoreFtrl(
    ...     embedding_table=[[0.0]] * 2, accumulator=[[9.0]] * 2, linear=[[0.0]] * 2,
    ...     learning_rate=0.5, indices=[1], gradient=[[4.0]], beta=0.0, learning_rate_power=-0.5,
    ...     l2_regularization_strength=0.0, feature_width=1,
    ...     multiply_linear_by_learning_rate=False, l1_regularization_strength=0.0,
    ... )
    >>> found.updated_embedding_table.round(4).ravel().tolist(), found.updated_linear.tolist()
    ([0.0, -0.4000000059604645], [[0.0], [4.0]])
    """
    tables = {"embedding_table": embedding_table, "accumulator": accumulator, "linear": linear}
    rule = ftrl_rule(
        multiply_linear_by_learning_rate,
        _scalar("beta", beta),
        _scalar("learning_rate_power", learning_rate_power),
        l1_regularization_strength,
        _scalar("l2_regularization_strength", l2_regularization_strength),
    )
    found = _update(rule, tables, indices, gradient, learning_rate, feature_width)
    return FtrlTables(*found)


def adagrad_rule() -> rules.Rule:
    """Return Adagrad as SparseCores have it."""
    return rules.Adagrad(epsilon=0.0, epsilon_place="none")


def adam_rule(use_sum_inside_sqrt: bool, beta1: float, beta2: float, epsilon: float) -> rules.Rule:
    """Return Adam as SparseCores have it."""
    return rules.Adam(
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
        epsilon_place="inside" if use_sum_inside_sqrt else "outside",
        bias_correction=False,
        order="sparse",
    )


def ftrl_rule(
    multiply_linear_by_learning_rate: bool, beta: float, power: float, l1: float, l2: float
) -> rules.Rule:
    """Return FTRL as SparseCores have it."""
    return rules.Ftrl(
        lr_power=power,
        l1=l1,
        l2=l2,
        beta=beta,
        multiply_linear_by_lr=multiply_linear_by_learning_rate,
        order="scalar",
    )


def _update(
    rule: rules.Rule,
    tables: dict[str, Tensor],
    indices: Tensor,
    gradient: Tensor,
    learning_rate: Tensor,
    feature_width: int,
) -> list[np.ndarray]:
    """Return a table and its slots after a step of some rows."""
    matmul = tpu_module("sparsecore.matmul")
    arrays = matmul.read_tables(**tables)
    rows = np.asarray(indices, np.int32)
    gradients = np.asarray(gradient, np.float32)
    num_rows, width = arrays[0].shape
    if rows.ndim != 1 or gradients.shape != (rows.size, feature_width):
        raise InvalidArgumentError(
            f"indices must be a vector and gradient have shape (indices, {feature_width}), got "
            f"{rows.shape} and {gradients.shape}"
        )
    if not 1 <= feature_width <= width:
        raise InvalidArgumentError(f"feature_width must be 1 to {width}, got {feature_width}")

    is_inside = (rows >= 0) & (rows < num_rows)
    # Of equal indices the last: `np.unique` finds the first, so it is asked from the end.
    distinct, last = np.unique(rows[is_inside][::-1], return_index=True)
    own = gradients[is_inside][::-1][last]
    columns = tuple(array[:, :feature_width] for array in arrays)
    slices = IndexedSlices(own, distinct, columns[0].shape)
    updated = matmul.update_slices(rule, columns, slices, _scalar("learning_rate", learning_rate))
    return [
        np.concatenate([new, array[:, feature_width:]], axis=1)
        for new, array in zip(updated, arrays, strict=True)
    ]


def _scalar(name: str, x: Any) -> float:
    """Return a scalar rounded to float32; refuse other shapes."""
    array = np.asarray(x, np.float32)
    if array.shape != ():
        raise InvalidArgumentError(f"{name} must be a scalar, got shape {array.shape}")
    return float(array)
