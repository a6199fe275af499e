"""TensorFlow's clips, and the adaptive one, as gradient transformations without state.

Each hands the leaves of the gradient tree to the function of the same name in gradlab: arrays,
IndexedSlices, which are clipped by their values as they stand, and None, which stays None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .. import clip
from .._base.extras import need
from .._base.options import Semantics
from .._base.slices import IndexedSlices

if TYPE_CHECKING:
    import optax


def clip_by_value(
    clip_value_min: Any, clip_value_max: Any, *, semantics: Semantics = "tf2.21"
) -> optax.GradientTransformation:
    """Every entry into [clip_value_min, clip_value_max]: `gl.clip_by_value` on each leaf.

        update = max(min(gradient, clip_value_max), clip_value_min)

    Arguments, dtypes, shapes and errors as of `gl.clip_by_value`. Source: `tf.clip_by_value`,
    TensorFlow 2.21 (2026).

    >>> import jax.numpy as jnp
    >>> tx = clip_by_value(-1.0, 1.0)
    >>> tx.update({"w": jnp.float32([-5.0, 0.5])}, tx.init(None))[0]["w"].tolist()
    [-1.0, 0.5]
    """
    return _of_leaves(
        lambda g: clip.clip_by_value(g, clip_value_min, clip_value_max, semantics=semantics)
    )


def clip_by_norm(
    clip_norm: Any, axes: Any = None, *, semantics: Semantics = "tf2.21"
) -> optax.GradientTransformation:
    """Limit the norm of each leaf by itself: `gl.clip_by_norm`.

        update = (gradient * clip_norm) / max(norm(gradient), clip_norm)

    Arguments, dtypes, shapes and errors as of `gl.clip_by_norm`. Source: `tf.clip_by_norm`,
    TensorFlow 2.21 (2026).

    >>> import jax.numpy as jnp
    >>> tx = clip_by_norm(1.0)
    >>> tx.update({"w": jnp.float32([0.0, 5.0])}, tx.init(None))[0]["w"].tolist()
    [0.0, 1.0]
    """
    return _of_leaves(lambda g: clip.clip_by_norm(g, clip_norm, axes, semantics=semantics))


def clip_by_average_norm(
    clip_norm: Any, *, mode: Literal["eager", "graph"] = "eager"
) -> optax.GradientTransformation:
    """Limit the norm per entry of each leaf by itself: `gl.clip_by_average_norm`.

        update = gradient * clip_norm * min(size / norm(gradient), 1 / clip_norm)

    Arguments, dtypes, shapes and errors as of `gl.clip_by_average_norm`.

    Source: `tf.compat.v1.clip_by_average_norm`, TensorFlow 2.21 (2026).

    >>> import jax.numpy as jnp
    >>> tx = clip_by_average_norm(1.0)
    >>> tx.update({"w": jnp.float32([0.0, 4.0])}, tx.init(None))[0]["w"].tolist()
    [0.0, 2.0]
    """
    return _of_leaves(lambda g: clip.clip_by_average_norm(g, clip_norm, mode=mode))


def clip_by_global_norm(
    clip_norm: Any, *, semantics: Semantics = "tf2.21"
) -> optax.GradientTransformation:
    """Shrink all leaves by one factor so that their common norm is at most clip_norm: `gl.clip_by_global_norm`.

        update_i = gradient_i * clip_norm * min(1 / norm, 1 / clip_norm)

    Arguments, dtypes, shapes and errors as of `gl.clip_by_global_norm`: one entry that is not
    finite makes all of them NaN, where `optax.clip_by_global_norm` makes the finite ones 0.

    Source: `tf.clip_by_global_norm`, TensorFlow 2.21 (2026).

    >>> import jax.numpy as jnp
    >>> tx = clip_by_global_norm(2.5)
    >>> tx.update({"a": jnp.float32([3.0]), "b": jnp.float32([4.0]), "c": None}, tx.init(None))[0]
    {'a': Array([1.5], dtype=float32), 'b': Array([2.], dtype=float32), 'c': None}
    """
    return _stateless(
        lambda grads, _: clip.clip_by_global_norm(grads, clip_norm, semantics=semantics)[0]
    )


def adaptive_grad_clip(
    clipping: float, eps: float = 1e-3, axis: int | tuple[int, ...] | None = None
) -> optax.GradientTransformation:
    """Limit each unit's gradient to a share of the unit's own weights: `gl.adaptive_grad_clip`.

        limit_u = clipping * max(|w_u|, eps),  update_u = g_u * limit_u / max(|g_u|, 1e-6)  where |g_u| >= limit_u

    Arguments, dtypes, shapes and errors as of `gl.adaptive_grad_clip`; also ValueError for an
    update without params. Not in TensorFlow. Source: Brock et al., "High-Performance Large-Scale
    Image Recognition Without Normalization" (2021).

    >>> import jax.numpy as jnp
    >>> tx, w = adaptive_grad_clip(0.5), {"w": jnp.float32([0.6, 0.8])}
    >>> tx.update({"w": jnp.float32([0.0, 5.0])}, tx.init(w), w)[0]["w"].tolist()
    [0.0, 0.5]
    """
    return _stateless(
        lambda grads, weights: clip.adaptive_grad_clip(grads, weights(), clipping, eps, axis)
    )


def _of_leaves(clip_one: Callable[[Any], Any]) -> optax.GradientTransformation:
    return _stateless(lambda grads, _: [None if g is None else clip_one(g) for g in grads])


def _stateless(clip_all: Callable[[list[Any], Callable[[], Sequence[Any]]], Sequence[Any]]) -> Any:
    """The transformation of a clip of a list of gradients; its second argument gives the weights
    beside them.
    """
    from .._base.jax import jax

    optax = need("optax", "gl.optax", "optax")

    def update(grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        tree: Any
        leaves, tree = jax.tree.flatten(
            grads, is_leaf=lambda x: x is None or isinstance(x, IndexedSlices)
        )

        def weights() -> Sequence[Any]:
            if params is None:
                raise ValueError(
                    "this clip needs the weights: call update(gradients, state, params)"
                )
            found: Sequence[Any] = tree.flatten_up_to(params)
            return found

        return tree.unflatten(clip_all(leaves, weights)), state

    return optax.GradientTransformation(lambda params: optax.EmptyState(), update)
