"""Trees as other libraries hold their weights in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Linear:
    """As an equinox module: a dataclass that is a tree, with static fields, and None where there is
    no array.
    """

    weight: Any
    bias: Any = None
    activation: str = field(default="relu", metadata={"static": True})


def equinox_like() -> Any:
    return {
        "layers": [
            Linear(jnp.float32([[1.0, -2.0], [3.0, 4.0]]), jnp.float32([0.5, 0.25])),
            Linear(jnp.ones(3)),
        ]
    }


def flax_like() -> Any:
    kernel = jnp.float32([[1.0, -2.0], [3.0, 4.0]])
    return {
        "params": {
            "Dense_0": {"kernel": kernel, "bias": jnp.float32([0.5, 0.25])},
            "scale": jnp.float32(2.0),
        }
    }


def named_tuple_like() -> Any:
    from collections import namedtuple

    return namedtuple("Weights", "a b")(jnp.ones((2, 3)), (jnp.zeros(2), None))


TREES = {
    "equinox": equinox_like,
    "flax": flax_like,
    "named tuple": named_tuple_like,
    "array": lambda: jnp.ones(3),
}


def gradients(params: Any, seed: int = 0) -> Any:
    """Random numbers shaped as the weights."""
    leaves, tree = jax.tree.flatten(params)
    keys = jax.random.split(jax.random.key(seed), len(leaves))
    return tree.unflatten(
        [jax.random.normal(k, w.shape, w.dtype) for k, w in zip(keys, leaves, strict=True)]
    )
