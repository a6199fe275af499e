"""SOAP: Adam in the basis in which Shampoo's matrices are diagonal."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._base.arrays import Array, choose, is_jax, namespace
from .rule import Rule, Shared, Slots, float32

_FACTORS = ("left", "right", "left_basis", "right_basis")


@dataclass(frozen=True)
class SOAP(Rule):
    """Step by Adam on gradients that are rotated into the eigenvectors of their mean squares.

        p = left_basis.T @ g @ right_basis
        m = beta1 * m + share1 * p
        v = beta2 * v + share2 * p * p
        rate = lr * sqrt(correction2) / correction1
        w = w - rate * left_basis @ (m / (sqrt(v) + epsilon)) @ right_basis.T
        left = left + (g @ g.T - left) * shampoo_share
        right = right + (g.T @ g - right) * shampoo_share

    The first step moves no weights: it sets `left` and `right`, and the bases to their eigenvectors
    by falling eigenvalues. After each `interval` further steps the bases follow:

        order = columns of basis by falling diagonal of basis.T @ left @ basis
        basis = Q of the QR decomposition of left @ basis[order]
        v = v[order],  m is rotated from the old bases to the new

    An axis longer than `max_size` isn't rotated, and neither are weights of another number of axes
    than two, which Adam steps in this form. A shampoo_beta of None is beta2. `age`, the number of
    steps since the bases were set last, and the corrections, 1 - beta ** steps, change from step to
    step. `share1` and `share2` are 1 - beta1 and 1 - beta2 unless they are given, `shampoo_share`
    is 1 - shampoo_beta: differences of numbers that weren't rounded to the dtype of the weights.

    Shapes: w, g, m, v (rows, columns), left, left_basis (rows, rows), right, right_basis (columns,
    columns), (0, 0) for an axis that isn't rotated. Slots: all from 0; m and v only for weights
    that aren't matrices. A tensor rule. Differs from the paper's code: that one can rotate every
    axis of tensors and merge axes; it rotates m back and forth at every step.

    Source: Vyas et al., "SOAP: Improving and Stabilizing Shampoo using Adam" (2024), and its code,
    nikhilvyas/SOAP (2024).

    >>> rule, w = SOAP(beta1=0.5, beta2=0.5), np.zeros((2, 2))
    >>> slots, shared = rule.init(w), rule.start()
    >>> for _ in range(2):
    ...     w, slots = rule.at(shared)(w, slots, np.array([[0.0, 3.0], [2.0, 0.0]]), 0.5)
    ...     shared = rule.advance(shared)
    >>> w.round(6).tolist()
    [[0.0, -0.5], [-0.5, 0.0]]
    """

    beta1: float = 0.95
    beta2: float = 0.95
    shampoo_beta: float | None = None
    epsilon: float = 1e-8
    interval: float = 10.0
    max_size: int = 10000
    age: float = 0.0
    correction1: float = 0.0
    correction2: float = 0.0
    share1: float | None = None
    share2: float | None = None
    shampoo_share: float | None = None
    slots: ClassVar[dict[str, float | str]] = dict.fromkeys(("m", "v", *_FACTORS), 0.0)
    is_row_local: ClassVar[bool] = False
    depends_on_weights: ClassVar[bool] = True

    def for_weights(self, name: str, shape: Sequence[int]) -> Rule:
        if len(shape) == 2:
            return self
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return SOAPOfVectors(**fields)

    def slot_shape(self, slot: str, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a slot: a square matrix for each axis that is rotated.

        >>> SOAP(max_size=3).slot_shape("left", (4, 2)), SOAP(max_size=3).slot_shape("right", (4, 2))
        ((0, 0), (2, 2))
        """
        if slot not in _FACTORS:
            return tuple(shape)
        size = shape[0 if slot.startswith("left") else 1]
        return (size, size) if size <= self.max_size else (0, 0)

    def start(self) -> Shared:
        zero = float32(0.0)
        return {"age": zero, "correction1": zero, "correction2": zero}

    def advance(self, shared: Shared) -> Shared:
        def correct(before: Any, beta: Any) -> Any:
            return before * float32(beta) + float32(1 - beta)

        return {
            "age": shared["age"] % float32(self.interval) + float32(1.0),
            "correction1": correct(shared["correction1"], self.beta1),
            "correction2": correct(shared["correction2"], self.beta2),
        }

    def _in(self, dtype: Any) -> Self:
        beta = self.beta2 if self.shampoo_beta is None else self.shampoo_beta
        shares = {"share1": 1 - self.beta1, "share2": 1 - self.beta2, "shampoo_share": 1 - beta}
        missing: Any = {name: x for name, x in shares.items() if getattr(self, name) is None}
        return super(SOAP, dataclasses.replace(self, **missing))._in(dtype)

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        def begin() -> tuple[Array, Slots]:
            return w, self._begin(slots, g)

        def go_on() -> tuple[Array, Slots]:
            return self._descend(w, slots, g, lr)

        result: tuple[Array, Slots] = choose(self.age == 0, begin, go_on)
        return result

    def _begin(self, slots: Slots, g: Array) -> Slots:
        """Return the slots after the first step."""
        m, v, left, right, _, _ = slots
        left, right = self._update_factors(left, right, g)
        return m, v, left, right, _eigenvectors(left), _eigenvectors(right)

    def _descend(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        m, v, left, right, left_basis, right_basis = slots
        rotated = _multiply(left_basis.T, g, right_basis)
        m, v, update = self._adam(m, v, rotated, lr)
        update = _multiply(left_basis, update, right_basis.T)
        left, right = self._update_factors(left, right, g)

        def follow() -> Slots:
            left_order, new_left = _next_basis(left, left_basis)
            right_order, new_right = _next_basis(right, right_basis)
            new_v = v if left_order is None else v[left_order]
            new_v = new_v if right_order is None else new_v[:, right_order]
            new_m = _multiply(left_basis, m, right_basis.T)
            new_m = _multiply(new_left.T, new_m, new_right)
            return new_m, new_v, new_left, new_right

        def stay() -> Slots:
            return m, v, left_basis, right_basis

        m, v, left_basis, right_basis = choose(self.age == self.interval, follow, stay)
        return w - update, (m, v, left, right, left_basis, right_basis)

    def _adam(self, m: Array, v: Array, g: Array, lr: Array) -> tuple[Array, Array, Array]:
        """Return the new means, and what Adam subtracts."""
        xp = namespace(g)
        share1: Any = self.share1
        share2: Any = self.share2
        m = self.beta1 * m + share1 * g
        v = self.beta2 * v + share2 * (g * g)
        rate = lr * (xp.sqrt(self.correction2) / self.correction1)
        return m, v, rate * (m / (xp.sqrt(v) + self.epsilon))

    def _update_factors(self, left: Array, right: Array, g: Array) -> tuple[Array, Array]:
        """Return the mean squares of the gradient between its rows and between its columns."""
        share: Any = self.shampoo_share
        if left.size:
            left = left + (g @ g.T - left) * share
        if right.size:
            right = right + (g.T @ g - right) * share
        return left, right


@dataclass(frozen=True)
class SOAPOfVectors(SOAP):
    """`SOAP` of weights of another number of axes than two, which aren't rotated."""

    slots: ClassVar[dict[str, float | str]] = {"m": 0.0, "v": 0.0}

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        def begin() -> tuple[Array, Slots]:
            return w, slots

        def go_on() -> tuple[Array, Slots]:
            m, v, update = self._adam(slots[0], slots[1], g, lr)
            return w - update, (m, v)

        result: tuple[Array, Slots] = choose(self.age == 0, begin, go_on)
        return result


def _multiply(left: Array, x: Array, right: Array) -> Array:
    """Return left @ x @ right, without the factors that are empty."""
    if left.size:
        x = left @ x
    if right.size:
        x = x @ right
    return x


def _eigenvectors(matrix: Array) -> Array:
    """Return the eigenvectors of a symmetric matrix as columns, by falling eigenvalues."""
    if not matrix.size:
        return matrix
    xp: Any = namespace(matrix)
    vectors: Array = _decompose(matrix, lambda x: xp.linalg.eigh(x)[1])[:, ::-1]
    return vectors


def _next_basis(matrix: Array, basis: Array) -> tuple[Array | None, Array]:
    """Return the order of the columns of a basis, and a basis nearer to the eigenvectors.

    One step of the power iteration, made orthonormal.
    """
    if not matrix.size:
        return None, basis
    xp: Any = namespace(matrix)
    product = matrix @ basis
    estimates = (basis * product).sum(axis=0)
    order = xp.argsort(-estimates)
    return order, _decompose(product[:, order], lambda x: xp.linalg.qr(x)[0])


def _decompose(matrix: Array, function: Callable[[Array], Array]) -> Array:
    """Return what a function of `linalg` returns: NaN where an entry isn't finite, as in JAX.

    NumPy raises an error for it. 16 bits are computed as float32.
    """
    if not is_jax(matrix) and not np.isfinite(matrix).all():
        return np.full_like(matrix, np.nan)
    wide: Any = matrix.astype(np.float32) if matrix.dtype.itemsize == 2 else matrix
    result: Array = function(wide).astype(matrix.dtype)
    return result
