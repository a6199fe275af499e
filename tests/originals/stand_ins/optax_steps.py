"""optax's accumulation of steps around gradlab's rules, and as much of flax as its suite takes a
loss from.
"""

from __future__ import annotations

from typing import Any

import gradlab as gl
from tests.originals.namespaces import Namespace, StandIn


class Module:
    """`flax.linen.Module`: parameters are made in the first call, and given in others."""

    _params: dict[str, Any] | None = None
    _making: dict[str, Any] | None = None

    def init(self, _keys: Any, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        Module._making = {}
        self(*arguments, **keywords)
        made, Module._making = Module._making, None
        return {"params": made}

    def apply(self, variables: Any, *arguments: Any, **keywords: Any) -> Any:
        Module._params = variables["params"]
        return self(*arguments, **keywords)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        raise NotImplementedError


class Dense:
    """`flax.linen.Dense`, one in a module."""

    def __init__(self, features: int, dtype: Any, param_dtype: Any) -> None:
        self._features, self._dtype, self._param_dtype = features, dtype, param_dtype

    def __call__(self, x: Any) -> Any:
        import jax.numpy as jnp

        if Module._making is not None:
            kernel = jnp.full((x.shape[-1], self._features), 0.1, self._param_dtype)
            Module._making["Dense_0"] = {
                "kernel": kernel,
                "bias": jnp.zeros(self._features, self._param_dtype),
            }
        params = (Module._making or Module._params or {})["Dense_0"]
        return (x @ params["kernel"] + params["bias"]).astype(self._dtype)


def sgd(learning_rate: Any) -> Any:
    return gl.optax.from_rule(gl.rules.StochasticGradientDescent(), learning_rate)


def adam(learning_rate: Any) -> Any:
    return gl.optax.from_rule(gl.rules.Adam(epsilon=1e-8), learning_rate)


FLAX = Namespace(
    "flax", {"Dense": Dense, "Module": Module, "compact": lambda call: call}, frozenset(["linen"])
)
ALIAS = Namespace("optax's optimizers", {"adam": adam, "sgd": sgd})
STAND_IN = StandIn(
    ("optax", "flax"), None, exactly={"flax": FLAX, "optax._src.alias": ALIAS}, real=True
)
