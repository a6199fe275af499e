"""Keras's gradient descent with momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from .. import rules
from ..rules import apply, pure
from ..train.variable import Variable as Variable
from .built import Keras3, Rewrite
from .hyperparameters import Hyperparameter
from .optimizer import Optimizer
from .semantics import Name
from .semantics import semantics as version_of
from .settings import Strict


class SGD(Optimizer):
    """Gradient descent, with Keras's momentum if asked for.

        w = w - g * lr_t                                        momentum=0
        m = momentum * m - g * lr_t;  w = w + m,  or with nesterov  w = w + (momentum * m - g * lr_t)

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function without arguments, as of `Adagrad`.
        momentum: number in [0, 1] (ValueError); in "tf2.3" and "legacy" also an array, a Variable or a function.
            Setting it later acts only if it was not 0 at first.
        nesterov: look ahead. name, semantics, strict, kwargs: as of `Adagrad`.

    Without momentum each slice of IndexedSlices moves its row in turn. With it slices of one row are summed and other
    rows keep w and m in "tf2.3" and "legacy"; in "rewrite" and "keras3" momentum moves every row.

    Differs from `gl.train.MomentumOptimizer`: the slot holds steps, so old ones keep the rate they were made with.
    Source: `tf.keras.optimizers.SGD`, TensorFlow 2.3 (2020), tf_keras 2.21 and Keras 3.15 (2026).

    >>> v = Variable([1.0], name="v")
    >>> opt = SGD(0.5, momentum=0.5)
    >>> for _ in range(2):
    ...     n = opt.minimize(lambda: v.value.sum(), [v])
    >>> v.numpy().tolist(), opt.get_slot(v, "momentum").numpy().tolist(), n.numpy().item()
    ([-0.25], [-0.75], 2)
    """

    if TYPE_CHECKING:  # pyright reads the class from here, mypy from `__init__`

        @overload
        def __new__(cls, *args: Any, semantics: Literal["keras3"], **kwargs: Any) -> SGDKeras3: ...
        @overload
        def __new__(cls, *args: Any, semantics: Literal["rewrite"], **kwargs: Any) -> SGDRewrite: ...
        @overload
        def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...

        def __new__(cls, *args: Any, **kwargs: Any) -> Any: ...

    @overload
    def __init__(  # type: ignore[misc]  # the class changes in it
        self: SGDKeras3,
        learning_rate: Any = ...,
        momentum: Any = ...,
        nesterov: bool = ...,
        name: str | None = ...,
        *,
        semantics: Literal["keras3"],
        strict: Strict = ...,
        **kwargs: Any,
    ) -> None: ...

    @overload
    def __init__(  # type: ignore[misc]  # the class changes in it
        self: SGDRewrite,
        learning_rate: Any = ...,
        momentum: Any = ...,
        nesterov: bool = ...,
        name: str | None = ...,
        *,
        semantics: Literal["rewrite"],
        strict: Strict = ...,
        **kwargs: Any,
    ) -> None: ...

    @overload
    def __init__(
        self,
        learning_rate: Any = ...,
        momentum: Any = ...,
        nesterov: bool = ...,
        name: str | None = ...,
        semantics: Name = ...,
        *,
        strict: Strict = ...,
        **kwargs: Any,
    ) -> None: ...

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
        version = version_of(semantics)
        if version.name == "keras3" and not isinstance(momentum, float):
            raise ValueError(f"`momentum` must be a float between [0, 1], got {momentum!r}")
        super().__init__(name, semantics, strict, {"learning_rate": learning_rate}, kwargs)
        if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
            raise ValueError(
                f"`momentum` must be {'a float ' * (version.name == 'keras3')}between [0, 1], got {momentum!r}"
            )
        is_tensor = hasattr(momentum, "dtype") and not isinstance(momentum, np.generic)  # those come from configs
        rolls = callable(momentum) or is_tensor or bool(np.asarray(momentum) > 0)
        self._rolls = rolls or version.name == "rewrite"  # which keeps the slot in any case
        self._momentum = Hyperparameter("momentum", momentum)
        if version.lazy:
            self._hyper["momentum"] = self._momentum
        self.nesterov = nesterov

    @property
    def momentum(self) -> Any:
        """A number as the float32 variable that it has become (a number still in "rewrite" and "keras3")."""
        return self._read("momentum") if self._version.lazy else self._momentum.value

    @momentum.setter
    def momentum(self, value: Any) -> None:
        self._momentum.write(value)

    def _rule(self) -> rules.Rule:
        if not self._rolls:
            return rules.StochasticGradientDescent()
        momentum = self._momentum.read()
        number: Any = np.float32(momentum) if type(momentum) in (int, float) else np.asarray(momentum)[()]
        return rules.KerasMomentum(number, bool(self.nesterov))

    def _blank(self) -> rules.Rule:
        return rules.KerasMomentum() if self._rolls else rules.StochasticGradientDescent()

    def _sparse(self) -> pure.Sparse:
        if not self._rolls:
            return apply.each
        return apply.rows if self._version.lazy else apply.every_row

    def _own_config(self) -> dict[str, Any]:
        return {"momentum": self._momentum.number(), "nesterov": self.nesterov}


class SGDKeras3(Keras3, SGD):
    """`SGD` with what Keras 3 adds: the class of `SGD(semantics="keras3")`."""


class SGDRewrite(Rewrite, SGD):
    """`SGD` with what the rewrite adds: the class of `SGD(semantics="rewrite")`."""
