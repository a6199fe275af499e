"""TensorFlow's clips and optax's own, by their names there.

A clip is a gradient transformation without state. It hands the leaves of the gradient tree to the
function of the same name in gradlab: arrays, IndexedSlices, which are clipped by their values as
they stand, and None, which stays None. `global_norm` and `per_example_global_norm_clip` are plain
functions, as in optax.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .. import clip as clips
from .._base.arrays import Array
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
        lambda g: clips.clip_by_value(g, clip_value_min, clip_value_max, semantics=semantics)
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
    return _of_leaves(lambda g: clips.clip_by_norm(g, clip_norm, axes, semantics=semantics))


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
    return _of_leaves(lambda g: clips.clip_by_average_norm(g, clip_norm, mode=mode))


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
        lambda grads, _: clips.clip_by_global_norm(grads, clip_norm, semantics=semantics)[0]
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
        lambda grads, weights: clips.adaptive_grad_clip(grads, weights(), clipping, eps, axis)
    )


def clip(max_delta: Any) -> optax.GradientTransformation:
    """Every entry into [-max_delta, max_delta]: `gl.clip_by_value` on each leaf.

        update = max(min(gradient, max_delta), -max_delta)

    Arguments, dtypes, shapes and errors as of `gl.clip_by_value`. Not in TensorFlow. Source:
    `optax.clip`, optax 0.2.8 (2026).

    >>> import jax.numpy as jnp
    >>> tx = clip(1.0)
    >>> tx.update({"w": jnp.float32([-5.0, 0.5])}, tx.init(None))[0]["w"].tolist()
    [-1.0, 0.5]
    """
    return clip_by_value(-max_delta, max_delta)


def clip_by_block_rms(threshold: float) -> optax.GradientTransformation:
    """Limit the root mean square of each leaf by itself: `gl.clip_by_block_rms`.

        update = gradient / max(1, rms(gradient) / threshold)

    Arguments, dtypes, shapes and errors as of `gl.clip_by_block_rms`. Not in TensorFlow. Source:
    `optax.clip_by_block_rms`, optax 0.2.8 (2026).

    >>> import jax.numpy as jnp
    >>> tx = clip_by_block_rms(1.0)
    >>> tx.update({"w": jnp.float32([2.0, -2.0])}, tx.init(None))[0]["w"].tolist()
    [1.0, -1.0]
    """
    return _stateless(lambda grads, _: clips.clip_by_block_rms(grads, threshold))


def global_norm(updates: Any) -> Array:
    """Return the norm of all leaves of a tree together: `gl.global_norm`.

        norm = sqrt(sum over all entries of entry * entry)

    Args:
        updates: a tree of arrays, IndexedSlices and None.

    Not in TensorFlow. Source: `optax.global_norm`, optax 0.2.8 (2026), where `optax.tree.norm`
    replaces it.

    >>> import jax.numpy as jnp
    >>> float(global_norm({"a": jnp.float32([3.0]), "b": jnp.float32([4.0])}))
    5.0
    """
    return clips.global_norm(_flatten(updates)[0])


def per_example_global_norm_clip(grads: Any, l2_norm_clip: float) -> tuple[Any, Array]:
    """Clip the gradient of every example to the same norm, then sum them: `gl.per_example_clip`.

        factor_i = min(l2_norm_clip / |g_i|, 1),  result = sum_i factor_i * g_i

    Args:
        grads: a tree of arrays whose first axis counts the examples of the batch.
        l2_norm_clip: > 0.

    Returns:
        (tree of summed gradients, how many examples were clipped).

    Raises:
        ValueError: batch sizes differ, or the limit isn't positive.

    Not in TensorFlow. Source: `optax.per_example_global_norm_clip`, optax 0.2.8 (2026).

    >>> import jax.numpy as jnp
    >>> sums, clipped = per_example_global_norm_clip({"w": jnp.float32([[3, 4], [0.5, 1]])}, 2.5)
    >>> sums["w"].tolist(), int(clipped)
    ([2.0, 3.0], 1)
    """
    leaves, tree = _flatten(grads)
    sums, clipped = clips.per_example_clip(leaves, l2_norm_clip)
    return tree.unflatten(sums), clipped


def _of_leaves(clip_one: Callable[[Any], Any]) -> optax.GradientTransformation:
    return _stateless(lambda grads, _: [None if g is None else clip_one(g) for g in grads])


def _stateless(clip_all: Callable[[list[Any], Callable[[], Sequence[Any]]], Sequence[Any]]) -> Any:
    """The transformation of a clip of a list of gradients; its second argument gives the weights
    beside them.
    """
    optax = need("optax", "gl.optax", "optax")

    def update(grads: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        leaves, tree = _flatten(grads)

        def weights() -> Sequence[Any]:
            if params is None:
                raise ValueError(
                    "this clip needs the weights: call update(gradients, state, params)"
                )
            found: Sequence[Any] = tree.flatten_up_to(params)
            return found

        return tree.unflatten(clip_all(leaves, weights)), state

    return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


def _flatten(grads: Any) -> tuple[list[Any], Any]:
    """Return the leaves of a gradient tree, slices and None among them, and its structure."""
    from .._base.jax import jax

    return jax.tree.flatten(grads, is_leaf=lambda x: x is None or isinstance(x, IndexedSlices))
