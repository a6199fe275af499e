"""Keras's Adam, which gl.keras does not have: its rule under what gl.keras does around every rule.

So what the originals' suites ask of any optimizer, and happen to ask of Adam, is asked of gradlab.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradlab as gl
from gradlab.keras.built import Built
from gradlab.rules import apply


class Adam(gl.keras.Optimizer):
    """Adam of any `semantics`; its powers of beta are those of the iterations, as Keras computes them."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: Any = 1e-7,
        amsgrad: bool = False,
        name: Any = "Adam",
        semantics: Any = "legacy",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, semantics, None, {"learning_rate": learning_rate}, kwargs)
        self._own = {"beta_1": beta_1, "beta_2": beta_2, "epsilon": epsilon, "amsgrad": amsgrad}

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__.get("_own", {})
        if name not in own:
            raise AttributeError(name)
        return own[name]

    def _rule(self) -> gl.rules.Rule:
        count = self._updates() if isinstance(self, Built) else gl.keras.Optimizer.iterations.fget(self)._value
        step = 1 + int(np.asarray(count))
        own = self._own
        rule = (gl.rules.AMSGrad if own["amsgrad"] else gl.rules.Adam)(own["beta_1"], own["beta_2"], own["epsilon"])
        return rule.at({f"beta{k}_power": np.float64(own[f"beta_{k}"]) ** step for k in (1, 2)})

    def _blank(self) -> gl.rules.Rule:
        return (gl.rules.AMSGrad if self._own["amsgrad"] else gl.rules.Adam)()

    def _sparse(self) -> Any:
        return apply.every_row

    def _own_config(self) -> dict[str, Any]:
        return self._own


class AdamW(Adam):
    """Adam whose weights decay unless told otherwise."""

    def __init__(self, learning_rate: Any = 0.001, weight_decay: Any = 0.004, *given: Any, **kwargs: Any) -> None:
        if weight_decay is None:
            raise ValueError("Missing value of `weight_decay` which is required and must be a float value.")
        super().__init__(learning_rate, *given, weight_decay=weight_decay, **kwargs)
