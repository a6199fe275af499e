"""Any rule, or any optimizer with a pure form, as a gradient transformation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._base.arrays import Array, as_array, is_float, is_python_number
from .._base.extras import need
from .._base.slices import IndexedSlices
from ..errors import InvalidArgumentError
from ..rules import Rule, dense_and_sparse, pure

if TYPE_CHECKING:
    import optax


class RuleState(NamedTuple):
    """State of `from_rule`: steps done, fields that change with them, slots shaped like the weights.

    Not in TensorFlow.

    >>> import jax.numpy as jnp
    >>> from gradlab import rules
    >>> from_rule(rules.Momentum(0.9), 0.1).init({"a": jnp.ones(2)}).slots["momentum"]["a"].tolist()
    [0.0, 0.0]
    """

    count: Array  # type: ignore[assignment]  # which every tuple has as a method
    shared: dict[str, Array]
    slots: dict[str, Any]


def from_rule(
    rule: Any, learning_rate: Any = None, *, replace: bool = False
) -> optax.GradientTransformation:
    """The transformation whose updates lead `optax.apply_updates` to the weights the rule gives.

        update = u with params + u == new weights = rule(params, slots, gradient, learning_rate), bit for bit

    Weights of 16 bits are stepped in float32: slots, hyperparameters and powers are float32 (in
    bfloat16 a beta of 0.999 would be 1), and only the update, which has the dtype of the weights,
    is rounded. TensorFlow's own 16-bit kernels, which `gl.train` and `gl.keras` reproduce, round
    all of these.

    There is such a u wherever the rule adds a number to the weight. Where it sets weights
    (`Assign`, FTRL, dual averaging), where a float32 weight is rounded to 16 bits, or where XLA
    fuses a product and a sum under `jit`, an array may not be able to say it; the new weight is
    then off by at most the machine epsilon times the larger of old and new weight, unless `replace`
    is set.

    Args:
        rule: a rule of `gl.rules`, or an optimizer with `init(values)` and
            `update(state, values, gradients)`: `gl.train`'s and `gl.keras`'s, which bring their own
            learning rate and their own way with IndexedSlices.
        learning_rate: for a rule a number, a scalar array (traced too), or a function of the step
            count from 0, of optax or `gl.schedules`; None for an optimizer.
        replace: make every update a `Replacement`: the same bits as the rule's own for every rule,
            under `jit` too. It must be the last transformation then, and be applied in the same
            `jit`.

    Gradients are arrays, IndexedSlices or None, which moves nothing; leaves of params that are None
    stay None. Updates can be differentiated as the new weights can: with respect to weights,
    gradients, slots and a learning rate.

    Raises:
        ValueError: update without params; a learning rate for an optimizer; a vector as learning
            rate.
        TypeError: neither a rule nor such an optimizer; a rule without a learning rate.
        ImportError: optax is missing.

    Not in TensorFlow.

    >>> import jax.numpy as jnp, optax
    >>> from gradlab import rules
    >>> tx, w = from_rule(rules.Adagrad(9.0, epsilon=0.0), 0.5), {"w": jnp.float32([1.0])}
    >>> updates, state = tx.update({"w": jnp.float32([4.0])}, tx.init(w), w)
    >>> updates["w"].tolist(), int(state.count)
    ([-0.3999999761581421], 1)
    """
    from .._base.jax import jax

    optax = need("optax", "gl.optax", "optax")
    if isinstance(rule, type):
        raise TypeError(
            f"from_rule got the class {rule.__name__}; give one of it: {rule.__name__}(...)"
        )
    if isinstance(rule, optax.GradientTransformation):
        raise TypeError("from_rule got a transformation of optax; chain it as it is")
    transformation = (
        _OfRule(rule, learning_rate)
        if isinstance(rule, Rule)
        else _OfOptimizer(rule, learning_rate)
    )

    def update(grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        if params is None:
            raise ValueError("a rule needs the weights: call update(gradients, state, params)")
        params = jax.tree.map(_on_jax, params)
        new, state = transformation.update(grads, state, params)
        if replace:
            return jax.tree.map(lambda w, n: Replacement(n.astype(w.dtype)), params, new), state
        return jax.tree.map(difference, params, new), state

    return optax.GradientTransformation(transformation.init, update)


class _OfRule:
    def __init__(self, rule: Rule, learning_rate: Any) -> None:
        self.rule, self.learning_rate = rule, _checked_rate(learning_rate, rule)

    def init(self, params: Any) -> RuleState:
        from .._base.jax import jax

        state = pure.init(self.rule, jax.tree.map(_widen, jax.tree.map(_on_jax, params)))
        return RuleState(state["step"], state["shared"], self._name_slots(params, state["slots"]))

    def _rules(self, params: Any) -> list[Rule]:
        """Return the rule of each leaf."""
        from .._base.jax import jax

        pairs = zip(pure.leaf_names(params), jax.tree.leaves(params), strict=True)
        return [self.rule.for_weights(name, w.shape) for name, w in pairs]

    def _name_slots(self, params: Any, slots: Any) -> dict[str, Any]:
        """Return each slot as a tree like params, with None for weights that don't have it."""
        from .._base.jax import jax

        tree: Any = jax.tree.structure(params)
        pairs = zip(self._rules(params), slots, strict=True)
        leaves = [dict(zip(rule.slots, values, strict=True)) for rule, values in pairs]
        others = [name for leaf in leaves for name in leaf]
        names = dict.fromkeys([*self.rule.slots, *others])  # those of the rule without leaves, too
        return {name: tree.unflatten([leaf.get(name) for leaf in leaves]) for name in names}

    def update(self, grads: Any, state: RuleState, params: Any) -> tuple[Any, RuleState]:
        from .._base.jax import jax

        tree: Any = jax.tree.structure(params)
        rate = (
            self.learning_rate(state.count) if callable(self.learning_rate) else self.learning_rate
        )
        columns = {name: tree.flatten_up_to(slot) for name, slot in state.slots.items()}
        # By the rule's order, as jit sorts the names of a dict.
        slots = [
            tuple(columns[name][k] for name in rule.slots)
            for k, rule in enumerate(self._rules(params))
        ]
        before = {"step": state.count, "shared": state.shared, "slots": slots}
        wide = jax.tree.map(_widen, params)
        new, after = pure.update(
            self.rule, rate, before, wide, _widen_gradients(grads), dense_and_sparse.rows
        )
        named = self._name_slots(params, after["slots"])
        return new, RuleState(after["step"], after["shared"], named)


class _OfOptimizer:
    def __init__(self, optimizer: Any, learning_rate: Any) -> None:
        if not (
            callable(getattr(optimizer, "init", None))
            and callable(getattr(optimizer, "step", None))
        ):
            raise TypeError(
                "from_rule needs a rule of gl.rules or an optimizer, got "
                f"{type(optimizer).__name__}"
            )
        if learning_rate is not None:
            raise ValueError(
                f"{type(optimizer).__name__} has its own learning rate; "
                "give it there, not to from_rule"
            )
        self.optimizer = optimizer

    def init(self, params: Any) -> Any:
        from .._base.jax import jax

        return self.optimizer.init(jax.tree.map(_on_jax, params))

    def update(self, grads: Any, state: Any, params: Any) -> tuple[Any, Any]:
        weights, state = self.optimizer.step(params, state, grads)
        return weights, state


def _widen(x: Any) -> Any:
    """Return numbers of 16 bits as float32, which has room for betas, epsilons and squares; others
    as they are.
    """
    dtype = getattr(x, "dtype", None)
    if dtype is not None and is_float(dtype) and np.dtype(dtype).itemsize == 2:
        return x.astype(np.float32)
    return x


def _widen_gradients(grads: Any) -> Any:
    """Widen gradients before slices of one row are summed."""
    from .._base.jax import jax

    def widen(g: Any) -> Any:
        if isinstance(g, IndexedSlices):
            return IndexedSlices(_widen(g.values), g.indices, g.dense_shape)
        return _widen(g)

    return jax.tree.map(widen, grads, is_leaf=lambda g: isinstance(g, IndexedSlices))


def _on_jax(w: Any) -> Array:
    from .._base.jax import jnp

    return jnp.asarray(as_array(w, "a weight"))


def _checked_rate(rate: Any, rule: Rule) -> Any:
    if callable(rate):
        return rate
    if rate is None:
        raise TypeError(
            f"{type(rule).__name__} needs a learning rate: a number or a function of the step count"
        )
    rate = rate if is_python_number(rate) else as_array(rate, "learning_rate")
    if getattr(rate, "shape", ()) != ():
        raise InvalidArgumentError(f"learning_rate must be a scalar, got shape {tuple(rate.shape)}")
    return rate


def difference(w: Array, n: Array) -> Array:
    """u with w + u == n, bit for bit, where the dtype has one; else n - w.

    optax computes w + u, rounded. If n is itself a rounded sum w + x, which it is wherever a rule
    moves a weight, then the rounded difference n - w is at most half an ulp of n away from the true
    one, as x is, and so w + u rounds to n. One exception: around a power of two the numbers below
    lie twice as close as those above, and there the neighbor of u does it. If a rule sets a weight,
    or a fused multiply-add rounds once where a product and a sum round twice, n may lie between the
    numbers that w + u can be: they lie as far apart as those around w.

    Of weights of 16 bits n may be float32. Then u is the rounded difference, so that a step smaller
    than the gap between two weights is still seen in u, but where only another u makes w + u what n
    rounds to.

    Its derivative is that of n - w, forward and backward: what is lost in rounding has none.

    >>> import jax.numpy as jnp
    >>> w, n = jnp.float32(3e7), jnp.float32(30000004)
    >>> bool(w + difference(w, n) == n)
    True
    """
    u: Array = _differentiable()(w, n)
    return u


@cache
def _differentiable() -> Callable[[Array, Array], Array]:
    """`difference` for JAX, which knows no derivative of `nextafter`."""
    from .._base.jax import jax, jnp

    @jax.custom_jvp
    def exact(w: Array, n: Array) -> Array:
        if n.dtype != w.dtype:
            rounded = n.astype(w.dtype)
            # Without it XLA may leave out the rounding to 16 bits, and w + small would be what it
            # is for no caller.
            barrier: Any = jax.lax.optimization_barrier
            small = barrier((n - w.astype(n.dtype)).astype(w.dtype))
            other = same_dtype(w, rounded)
            return jnp.where((w + small != rounded) & (w + other == rounded), other, small)
        return same_dtype(w, n)

    def same_dtype(w: Array, n: Array) -> Array:
        u = jnp.where(n == w, jnp.zeros_like(w), n - w)  # inf stays inf
        reached = w + u
        neighbor = jnp.nextafter(u, jnp.where(n > reached, jnp.inf, -jnp.inf).astype(u.dtype))
        return jnp.where((reached != n) & (w + neighbor == n), neighbor, u)

    @exact.defjvp
    def derivative(at: tuple[Array, Array], moved: tuple[Array, Array]) -> tuple[Array, Array]:
        w, n = at
        change = moved[1] - moved[0].astype(n.dtype)
        return exact(w, n), change.astype(w.dtype)

    return exact


_ONLY_LAST = (
    "this update is a new weight, which only optax.apply_updates can use: make "
    "from_rule(..., replace=True) the last transformation of a chain, or leave replace out"
)


class Replacement:
    """A new weight where optax expects an update: added to the old weight it takes its place.

    `optax.apply_updates` and what works like it need nothing else. It isn't an array on purpose: a
    transformation that would scale or average it fails instead of changing the weight, and it
    cannot leave `jit`. Not in TensorFlow.

    >>> import jax.numpy as jnp, optax
    >>> optax.apply_updates({"w": jnp.ones(2)}, {"w": Replacement(jnp.zeros(2))})["w"].tolist()
    [0.0, 0.0]
    """

    __array_ufunc__ = None  # NumPy asks this class, and does not add entry by entry

    def __init__(self, weights: Array) -> None:
        self.weights = weights

    def __radd__(self, old: Any) -> Array:
        return self.weights

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError(_ONLY_LAST)

    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__ = __sub__ = __rsub__ = __neg__ = (
        _refuse
    )
    __pow__ = __abs__ = __array__ = _refuse
    dtype = shape = ndim = size = real = property(_refuse)

    def __repr__(self) -> str:
        return f"Replacement({self.weights!r})"
