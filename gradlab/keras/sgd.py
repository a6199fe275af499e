"""Keras's gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import rules
from ..rules import dense_and_sparse, pure
from ..rules.rule import Rule
from ..train.variable import Variable as Variable
from .optimizer import Optimizer, own_argument
from .versions import Declaration, Name, Strict, Version, version_of


def has_momentum(arguments: Mapping[str, Any]) -> bool:
    """Tell whether momentum may differ from 0, as the constructor sees it."""
    momentum = arguments["momentum"]
    # Those come from configs.
    is_tensor = hasattr(momentum, "dtype") and not isinstance(momentum, np.generic)
    return callable(momentum) or is_tensor or bool(np.asarray(momentum) > 0)


def _choose_rule(version: Version, arguments: Mapping[str, Any]) -> type[Rule]:
    """Choose a rule without a slot where momentum is 0 at first; the rewrite keeps the slot in any
    case.
    """
    if has_momentum(arguments) or version.name == "rewrite":
        return rules.KerasMomentum
    return rules.StochasticGradientDescent


def _choose_sparse(version: Version, rule: type[Rule]) -> pure.Sparse:
    if rule is rules.StochasticGradientDescent:
        return dense_and_sparse.each
    return dense_and_sparse.rows if version.engine == "legacy" else dense_and_sparse.every_row


class SGD(Optimizer):
    """Gradient descent, with Keras's momentum if asked for.

        w = w - g * lr_t                                        momentum=0
        m = momentum * m - g * lr_t;  w = w + m,  or with nesterov  w = w + (momentum * m - g * lr_t)

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function without arguments, as
            of `Adagrad`.
        momentum: number in [0, 1] (ValueError); in "tf2.3" and "legacy" also an array, a Variable
            or a function. Setting it later acts only if it was not 0 at first.
        nesterov: look ahead.
        name, semantics, strict, kwargs: as of `Adagrad`.

    Without momentum each slice of IndexedSlices moves its row in turn. With it slices of one row
    are summed and other rows keep w and m in "tf2.3" and "legacy"; in "rewrite" and "keras3"
    momentum moves every row.

    Differs from `gl.train.MomentumOptimizer`: the slot holds steps, so old ones keep the rate they
    were made with.

    Source: `tf.keras.optimizers.SGD`, TensorFlow 2.3 (2020), tf_keras 2.21 and Keras 3.15 (2026).

    >>> v = Variable([1.0], name="v")
    >>> opt = SGD(0.5, momentum=0.5)
    >>> for _ in range(2):
    ...     n = opt.minimize(lambda: v.value.sum(), [v])
    >>> v.numpy().tolist(), opt.get_slot(v, "momentum").numpy().tolist(), n.numpy().item()
    ([-0.25], [-0.75], 2)
    """

    _declaration = Declaration(
        choose_rule=_choose_rule,
        fields={"momentum": "momentum", "nesterov": "nesterov"},
        hyperparameters=("momentum",),
        slots={"rewrite": {"momentum": "m"}},
        choose_sparse=_choose_sparse,
    )

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: Any = 0.0,
        nesterov: bool = False,
        name: str | None = "SGD",
        semantics: Name = "legacy",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        is_keras3 = version_of(semantics).name == "keras3"
        if is_keras3 and not isinstance(momentum, float):
            raise ValueError(f"`momentum` must be a float between [0, 1], got {momentum!r}")
        own = {"momentum": momentum, "nesterov": nesterov}
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)
        if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
            kind = "a float between" if is_keras3 else "between"
            raise ValueError(f"`momentum` must be {kind} [0, 1], got {momentum!r}")

    momentum = own_argument(
        "momentum",
        "A number as the float32 variable that it has become (a number "
        'still in "rewrite" and "keras3").',
    )
    nesterov = own_argument("nesterov", "Whether the step looks ahead.")
