"""optax itself, with gradlab's clips in place of its own; arguments that have other names are
handed on by meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradlab as gl
from tests.originals.namespaces import Namespace, StandIn


def clip(max_delta: Any) -> Any:
    return gl.optax.clip_by_value(-max_delta, max_delta)


def clip_by_block_rms(threshold: Any) -> Any:
    return _stateless(lambda leaves: gl.clip_by_block_rms(leaves, threshold))


def per_example_global_norm_clip(grads: Any, l2_norm_clip: Any) -> Any:
    return gl.per_example_clip(grads, l2_norm_clip)


def per_example_layer_norm_clip(grads: Any, global_l2_norm_clip: Any, uniform: bool = True) -> Any:
    return gl.per_example_clip(
        grads, global_l2_norm_clip, per_layer="uniform" if uniform else "size"
    )


def _stateless(clip_leaves: Callable[[list[Any]], list[Any]]) -> Any:
    import jax
    import optax

    def update(updates: Any, _params: Any = None) -> Any:
        leaves, tree = jax.tree.flatten(updates)
        return tree.unflatten(clip_leaves(leaves))

    return optax.stateless(update)


def _unitwise_norm(*arguments: Any, **keywords: Any) -> Any:
    """What the suite measures results with; gradlab has no such function of its own."""
    from optax.transforms import _clipping

    return _clipping.unitwise_norm(*arguments, **keywords)


CLIPPING = Namespace(
    "optax.transforms._clipping",
    {
        "adaptive_grad_clip": gl.optax.adaptive_grad_clip,
        "clip": clip,
        "clip_by_block_rms": clip_by_block_rms,
        "clip_by_global_norm": gl.optax.clip_by_global_norm,
        "per_example_global_norm_clip": per_example_global_norm_clip,
        "per_example_layer_norm_clip": per_example_layer_norm_clip,
        "unitwise_norm": _unitwise_norm,
    },
)
STAND_IN = StandIn(("optax",), None, exactly={"optax.transforms._clipping": CLIPPING}, real=True)
