"""Dropping stale gradients as a gradient transformation around another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._base.arrays import Array, as_array
from .._base.extras import need
from ..errors import DTypeError, InvalidArgumentError
from ..train.staleness import is_accepted
from .rule import Replacement

if TYPE_CHECKING:
    import optax


class StaleState(NamedTuple):
    """State of `drop_stale`: the step of the next gradient, the number dropped, the inner transformation's state.

    Not in TensorFlow.

    >>> import jax.numpy as jnp, optax
    >>> state = drop_stale(optax.sgd(0.1), 2).init({"w": jnp.ones(2)})
    >>> int(state.global_step), float(state.stale_counter)
    (0, 0.0)
    """

    global_step: Array
    stale_counter: Array
    inner: Any


def drop_stale(
    inner: optax.GradientTransformation, staleness: Any
) -> optax.GradientTransformationExtraArgs:
    """Drop a gradient if more than `staleness` updates came between its computation and now.

        accepted = state.global_step - local_step <= staleness
        accepted:  the inner update;  global_step = global_step + 1
        dropped:   no update, the inner state as it was;  stale_counter = stale_counter + 1

    A worker reads `state.global_step` together with the weights, and hands it back with its
    gradient as the extra argument `local_step` of `update`. The numbers are those of
    `gl.train.DropStaleGradientOptimizer`.

    Args:
        inner: the whole optimizer, for what comes after this in a chain runs for stale gradients
            too.
        staleness: integer, or integer scalar array, which may be traced, so that `vmap` tries
            several at once.

    The update of a dropped gradient is -0.0, which leaves every weight as it is, 0.0 and -0.0 too.
    Updates of `from_rule` with `replace` are replacements here too. Both outcomes are computed and
    one is selected.

    Raises:
        TypeError: `staleness` or `local_step` is no integer; `inner` is no transformation.
        ValueError: no `local_step`; one that isn't a scalar.
        ImportError: optax is missing.

    Source: `tf.contrib.opt.DropStaleGradientOptimizer`, TensorFlow 1.15 (2019).

    >>> import jax, jax.numpy as jnp, optax
    >>> tx, w = drop_stale(optax.sgd(0.25), staleness=0), jnp.float32([8.0])
    >>> state, step = tx.init(w), jax.jit(tx.update)
    >>> read = state.global_step  # by two workers
    >>> for _ in range(2):
    ...     updates, state = step(2 * w, state, w, local_step=read)
    ...     print(updates.tolist(), int(state.global_step), float(state.stale_counter))
    [-4.0] 1 0.0
    [-0.0] 1 1.0
    """
    from .._base.jax import jax, jnp

    optax = need("optax", "gl.optax", "optax")
    _check_integer(staleness, "staleness")
    if not isinstance(inner, optax.GradientTransformation):
        raise TypeError(
            f"drop_stale needs an optax transformation, got {type(inner).__name__}; see from_rule"
        )
    inner = optax.with_extra_args_support(inner)

    def init(params: Any) -> StaleState:
        return StaleState(jnp.zeros((), jnp.int32), jnp.zeros((), jnp.float32), inner.init(params))

    def update(
        grads: Any, state: StaleState, params: Any = None, *, local_step: Any = None, **extra: Any
    ) -> tuple[Any, StaleState]:
        _check_integer(local_step, "local_step")
        step, counter, before = state
        accepted = is_accepted(step - local_step, staleness)
        updates, after = inner.update(grads, before, params, **extra)
        taken, left = StaleState(step + 1, counter, after), StaleState(step, counter + 1, before)
        state = jax.tree.map(lambda new, old: jnp.where(accepted, new, old), taken, left)
        return _or_nothing(accepted, updates, params), state

    return optax.GradientTransformationExtraArgs(init, update)


def _or_nothing(accepted: Array, updates: Any, params: Any) -> Any:
    """The updates, or what changes no weight."""
    from .._base.jax import jax, jnp

    def chosen(u: Any, w: Any) -> Any:
        if isinstance(u, Replacement):
            return Replacement(jnp.where(accepted, u.weights, w))
        return jnp.where(accepted, u, -jnp.zeros_like(u))

    def replaced(u: Any) -> bool:
        return isinstance(u, Replacement)

    tree: Any
    leaves, tree = jax.tree.flatten(updates, is_leaf=replaced)
    weights = tree.flatten_up_to(params) if any(map(replaced, leaves)) else leaves
    return tree.unflatten(list(map(chosen, leaves, weights)))


def _check_integer(x: Any, name: str) -> None:
    if x is None:
        raise ValueError(
            f"{name} is missing: give an integer, as local_step the state.global_step of when it "
            "was computed"
        )
    array = as_array(x, name)
    if not np.issubdtype(array.dtype, np.integer):
        raise DTypeError(f"{name} must be an integer, got {array.dtype}")
    if array.shape != ():
        raise InvalidArgumentError(f"{name} must be a scalar, got shape {tuple(array.shape)}")
