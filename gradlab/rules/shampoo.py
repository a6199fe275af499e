"""Shampoo: Adagrad with a matrix for each axis of the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from .._base.arrays import Array, add_rows, is_traced, namespace, take_rows
from .._base.linear_algebra import decompose
from .._base.slices import IndexedSlices
from ..errors import FailedAssertionError
from .rule import Rule, Shared, Slots, float32

# A number, or a function from the number of the step, from 1, to one.
OfStep: TypeAlias = float | Callable[[Any], Any]
ROOT_ITERATIONS = 100
ROOT_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Shampoo(Rule):
    """Multiply the gradient, along each axis, by a power of a matrix of sums of its products.

        gbar = gbar_decay * gbar + gbar_weight * g
        Gbar_i = mat_gbar_decay * Gbar_i + mat_gbar_weight * gg_i
        H_i = (Gbar_i / d_i + epsilon * I) ** (-alpha / n)
        w = w - lr * gbar multiplied by H_i along each axis i

    with gg_i the products of the slices of g along axis i, n the number of axes and d_i their
    sizes. An axis longer than max_matrix_size has a diagonal only: sums of squares, which neither
    epsilon nor, in a vector, d_i touches. Numbers may be functions of `count`, the number of the
    step from 1, which changes from step to step; `rate_of_step` is such a function in the place of
    lr. `shape` is that of the weights, which `for_weights` gives: the slots depend on it.

    Shapes: w, g, gbar (d_0, d_1, ...), Gbar_i and H_i (d_i, d_i), a diagonal (d_i). Slots: gbar and
    Gbar_0, Gbar_1, ..., from 0; if svd_interval is above 1 also H_0, H_1, ..., from the identity. A
    tensor rule. Source: Gupta, Koren & Singer, "Shampoo: Preconditioned Stochastic Tensor
    Optimization" (2018); `tf.contrib.opt.ShampooOptimizer`, TensorFlow 1.15 (2019).

    >>> rule, w = Shampoo(epsilon=0.0), np.eye(2)
    >>> w, slots = rule(w, rule.init(w), np.diag([2.0, 4.0]), 1.0)
    >>> w.round(4).tolist()
    [[-0.4142, 0.0], [0.0, -0.4142]]
    """

    max_matrix_size: int = 768
    gbar_decay: OfStep = 0.0
    gbar_weight: OfStep = 1.0
    mat_gbar_decay: OfStep = 1.0
    mat_gbar_weight: OfStep = 1.0
    svd_interval: float = 1
    precond_update_interval: OfStep = 1
    epsilon: float = 1e-4
    alpha: OfStep = 0.5
    use_iterative_root: bool = False
    rate_of_step: Callable[[Any], Any] | None = None
    shape: tuple[int, ...] = ()
    count: Any = 1.0
    is_row_local: ClassVar[bool] = False
    depends_on_weights: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))  # a list in a config

    def for_weights(self, name: str, shape: Sequence[int]) -> Shampoo:
        return replace(self, shape=tuple(shape))

    @property
    def slots(self) -> dict[str, float | str]:  # type: ignore[override]
        """The names of the slots of weights of this shape, in the order in which they are made."""
        names = ["gbar"]
        for i, size in enumerate(self.shape):
            if size <= self.max_matrix_size and self.svd_interval > 1:
                names.append(f"H_{i}")
            names.append(f"Gbar_{i}")
        return dict.fromkeys(names, 0.0)

    def start(self) -> Shared:
        return {"count": np.float32(1)}

    def advance(self, shared: Shared) -> Shared:
        return {"count": shared["count"] + float32(1)}

    def slot_shape(self, slot: str, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a slot: a matrix for each axis, or its diagonal.

        >>> Shampoo(max_matrix_size=3).slot_shape("Gbar_0", (5, 2))
        (5,)
        """
        if slot == "gbar":
            return tuple(shape)
        size = shape[int(slot.rpartition("_")[2])]
        return (size, size) if size <= self.max_matrix_size else (size,)

    def init(self, w: Array) -> Slots:
        xp: Any = namespace(w)
        slots = []
        for name in self.for_weights("", w.shape).slots:
            if name.startswith("H_"):
                slots.append(xp.eye(*self.slot_shape(name, w.shape), dtype=w.dtype))
            else:
                slots.append(xp.zeros(self.slot_shape(name, w.shape), w.dtype))
        return tuple(slots)

    def _in(self, dtype: Any) -> Shampoo:
        """Numbers stay Python's, as they do in TensorFlow until they meet an array."""
        return self

    def _check(self, w: Array, slots: Slots, g: Any) -> None:
        super(Shampoo, self.for_weights("", w.shape))._check(w, slots, g)

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        named = self._by_name(w, slots)
        average = self._average(named, "gbar", self.gbar_decay, self._now(self.gbar_weight) * g)
        for i in range(w.ndim):
            average = self._precondition(named, average, g, i)
        return w - self._rate(lr) * average, tuple(named.values())

    def step_rows(self, w: Array, slots: Slots, g: IndexedSlices, lr: Array) -> tuple[Array, Slots]:
        """Step distinct rows of a variable that has too many of them for a matrix."""
        if callable(self.mat_gbar_decay) or self.mat_gbar_decay != 1.0:
            raise FailedAssertionError(
                "a sparse step of a variable with more rows than max_matrix_size adds to the rows "
                "named, and can't decay the others: mat_gbar_decay must be 1"
            )
        named = self._by_name(w, slots)
        update = self._precondition_rows(named, g)
        for i in range(1, w.ndim):
            update = self._precondition(named, update, g.values, i, normalize=False)
        return add_rows(w, g.indices, -self._rate(lr) * update), tuple(named.values())

    def _by_name(self, w: Array, slots: Slots) -> dict[str, Array]:
        names = self.for_weights("", w.shape).slots
        return dict(zip(names, slots, strict=True))

    def _now(self, x: OfStep) -> Any:
        return x(self.count) if callable(x) else x

    def _rate(self, lr: Array) -> Any:
        return lr if self.rate_of_step is None else self.rate_of_step(self.count)

    def _average(self, named: dict[str, Array], name: str, decay: OfStep, new: Array) -> Array:
        """Return a decaying sum, and keep it; with a decay of 0 nothing is kept."""
        if not callable(decay) and decay == 0.0:
            return new
        if not callable(decay) and decay == 1.0:
            named[name] = named[name] + new
        else:
            named[name] = named[name] + ((self._now(decay) - 1) * named[name] + new)
        return named[name]

    def _exponent(self, rank: int) -> Any:
        return -self._now(self.alpha) / rank

    def _precondition(
        self, named: dict[str, Array], x: Array, g: Array, i: int, normalize: bool = True
    ) -> Any:
        """Multiply the first axis of x, axis i of the gradient, and make it the last one.

        After all axes they are in their own order again.
        """
        xp: Any = namespace(x)
        axes = [axis for axis in range(g.ndim) if axis != i]
        if named[f"Gbar_{i}"].ndim == 2:
            root = self._root_of_matrix(named, g, axes, i)
            return xp.tensordot(x, root, axes=([0], [0]))
        squares = (g * g).sum(axis=tuple(axes)) if axes else g * g
        if axes and normalize:
            squares = squares / float(g.shape[i])
        squares = self._now(self.mat_gbar_weight) * squares
        total = self._average(named, f"Gbar_{i}", self.mat_gbar_decay, squares)
        return xp.moveaxis(x, 0, -1) * _power_or_zero(total, self._exponent(g.ndim))

    def _precondition_rows(self, named: dict[str, Array], g: IndexedSlices) -> Any:
        """Multiply the rows of a sparse gradient, and make their axis the last one."""
        xp: Any = namespace(g.values)
        axes = tuple(range(1, g.values.ndim))
        squares = (g.values * g.values).sum(axis=axes)
        squares = self._now(self.mat_gbar_weight) * squares
        named["Gbar_0"] = add_rows(named["Gbar_0"], g.indices, squares)
        total = take_rows(named["Gbar_0"], g.indices)
        return xp.moveaxis(g.values, 0, -1) * _power_or_zero(total, self._exponent(g.values.ndim))

    def _root_of_matrix(
        self, named: dict[str, Array], g: Array, axes: Sequence[int], i: int
    ) -> Any:
        """Update the matrix of an axis where it is due, and return its root, new or kept."""
        xp: Any = namespace(g)
        interval = self._now(self.precond_update_interval)

        def update() -> tuple[Array, Array]:
            kept = {"Gbar": named[f"Gbar_{i}"]}
            outer = xp.tensordot(g, g, axes=(axes, axes))
            outer = self._now(self.mat_gbar_weight) * interval * outer
            used = self._average(kept, "Gbar", self.mat_gbar_decay, outer)
            return used, kept["Gbar"]

        before = named[f"Gbar_{i}"]
        used, kept = _where(self._is_due(interval), update, (before, before))
        named[f"Gbar_{i}"] = kept
        matrix = used / float(g.shape[i])

        def root() -> tuple[Array]:
            return (self._root(matrix, self._exponent(g.ndim)),)

        if self.svd_interval == 1:
            return root()[0]
        (result,) = _where(self._is_due(self.svd_interval), root, (named[f"H_{i}"],))
        named[f"H_{i}"] = result
        return result

    def _is_due(self, interval: Any) -> Any:
        return namespace(self.count).mod(self.count, interval) < 1

    def _root(self, matrix: Array, exponent: Any) -> Any:
        if self.use_iterative_root:
            return _inverse_root(_square_root(matrix, self.epsilon), 2 * exponent)
        xp: Any = namespace(matrix)
        if matrix.shape[0] == 1:
            return (matrix + self.epsilon) ** exponent
        damped = matrix + self.epsilon * xp.eye(matrix.shape[0], dtype=matrix.dtype)
        u, singular, vh = decompose(damped)
        return (vh.T * xp.maximum(singular, self.epsilon) ** exponent) @ u.T


def _power_or_zero(x: Array, exponent: Any) -> Any:
    xp: Any = namespace(x)
    is_positive = x > 0
    return xp.where(is_positive, xp.where(is_positive, x, x.dtype.type(1)) ** exponent, x * 0)


def _where(condition: Any, compute: Callable[[], tuple[Any, ...]], kept: tuple[Any, ...]) -> Any:
    """Return what `compute` returns, or what is kept; inside `jit` both are computed."""
    if is_traced(condition):
        xp: Any = namespace(condition)
        return tuple(
            xp.where(condition, new, old) for new, old in zip(compute(), kept, strict=True)
        )
    return compute() if condition else kept


def _loop(
    goes_on: Callable[..., Any], body: Callable[..., tuple[Any, ...]], carry: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Repeat `body` while the condition holds, in JAX as one loop of the program."""
    if is_traced(carry[1]):
        from .._base.jax import jax

        looped: tuple[Any, ...] = jax.lax.while_loop(
            lambda state: goes_on(*state), lambda state: body(*state), carry
        )
        return looped
    while goes_on(*carry):
        carry = body(*carry)
    return carry


def _square_root(matrix: Array, epsilon: float) -> Any:
    """Return matrix ** 0.5 by coupled Newton iterations, until the error grows.

    Source: Higham, "Stable iterations for the matrix square root" (1997), equation 2.6.
    """
    xp: Any = namespace(matrix)
    identity = xp.eye(matrix.shape[0], dtype=matrix.dtype)
    damped = matrix + epsilon * identity
    norm = xp.sqrt((damped * damped).sum())

    def goes_on(k: Any, y: Any, before: Any, z: Any, error: Any, last: Any) -> Any:
        return (k < ROOT_ITERATIONS) & (error < last)

    def body(k: Any, y: Any, before: Any, z: Any, error: Any, last: Any) -> tuple[Any, ...]:
        factor = 0.5 * (3.0 * identity - z @ y)
        new_y = y @ factor
        root = new_y * xp.sqrt(norm)
        residual = damped - root @ root
        new_error = xp.sqrt((residual * residual).sum()) / norm
        return k + 1, new_y, y, factor @ z, new_error, error

    start = (0, damped / norm, damped / norm, identity, norm, norm + 1.0)
    # The last iterate is the one whose error grew; the one before it is the best.
    best = _loop(goes_on, body, start)[2]
    return best * xp.sqrt(norm)


def _inverse_root(matrix: Array, exponent: Any) -> Any:
    """Return matrix ** exponent, for an exponent of -1 / p, by Schur-Newton iterations.

    Source: Guo & Higham, "A Schur-Newton Method for the Matrix pth Root and its Inverse" (2006).
    """
    xp: Any = namespace(matrix)
    if matrix.shape[0] == 1:
        return matrix**exponent
    identity = xp.eye(matrix.shape[0], dtype=matrix.dtype)
    scale = (1 - 1 / exponent) / (2 * xp.sqrt((matrix * matrix).sum()))
    power = -1.0 / exponent
    if power != int(power) or power < 1:
        raise FailedAssertionError(
            f"use_iterative_root needs rank / (2 * alpha) to be a whole number, got {power}"
        )

    def goes_on(k: Any, m: Any, x: Any) -> Any:
        return (k < ROOT_ITERATIONS) & (xp.abs(m - identity).max() > ROOT_TOLERANCE)

    def body(k: Any, m: Any, x: Any) -> tuple[Any, ...]:
        factor = (1 - exponent) * identity + exponent * m
        return k + 1, xp.linalg.matrix_power(factor, int(power)) @ m, x @ factor

    return _loop(goes_on, body, (0, matrix * scale, identity * scale**-exponent))[2]
