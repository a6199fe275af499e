"""Muon: momentum whose singular values are all made about 1."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._base.arrays import Array, namespace
from .adam import Adam
from .rule import Rule, Shared, Slots

# Of the Newton-Schulz iteration; Keras's defaults.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalize(
    x: Array,
    steps: int = 5,
    coefficients: tuple[float, float, float] = COEFFICIENTS,
    epsilon: float = 1e-7,
) -> Array:
    """Return a matrix with about the singular vectors of x, and singular values near 1.

        x = x / (norm(x) + epsilon)
        steps times:
            s = x @ x.T
            x = a * x + (b * s + c * s @ s) @ x        a, b, c = coefficients

    A matrix of more rows than columns is transposed before and after. With the coefficients of
    Keras singular values end between about 0.7 and 1.2, which is what makes five steps enough.

    Source: Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024);
    `keras.optimizers.Muon.zeropower_via_newtonschulz5`, Keras 3.15 (2026).

    >>> import numpy as np
    >>> orthogonalize(np.diag([4.0, -0.5]), steps=30, coefficients=(1.5, -0.5, 0.0)).round(3).tolist()
    [[1.0, 0.0], [0.0, -1.0]]
    """
    is_tall = x.shape[0] > x.shape[1]
    if is_tall:
        x = x.T
    as_type = x.dtype.type
    a, b, c = map(as_type, coefficients)
    x = x / (namespace(x).sqrt((x * x).sum()) + as_type(epsilon))
    for _ in range(steps):
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    return x.T if is_tall else x


@dataclass(frozen=True)
class Muon(Rule):
    """Step by the momentum of a matrix after its singular values are made about 1.

        m = momentum * m + g
        ahead = g + momentum * m                           use_nesterov; else m
        w = w - lr * orthogonalize(ahead) * sqrt(max(rows, columns)) * rms_rate

    Weights that aren't matrices are stepped by the rule `others`, and so are those whose name holds
    one of the regular expressions `excluded`: embeddings and last layers, usually. An rms_rate of
    None leaves the last two factors out. `steps` and `coefficients` are of `orthogonalize`, and
    `share` is that of `Adam`: 1 - momentum, for callers that round it in another way.

    Shapes: w, g, m (rows, columns). Slots: m, from 0; of other weights those of `others`. A tensor
    rule. Source: Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024);
    Liu et al., "Muon is Scalable for LLM Training" (2025), for rms_rate; `keras.optimizers.Muon`,
    Keras 3.15 (2026).

    >>> import numpy as np
    >>> rule, w = Muon(momentum=0.5, rms_rate=None), np.zeros((2, 2))
    >>> w, (m,) = rule(w, rule.init(w), np.diag([3.0, -4.0]), 1.0)
    >>> w.round(2).tolist(), m.tolist()
    ([[-0.72, 0.0], [0.0, 1.12]], [[3.0, 0.0], [0.0, -4.0]])
    >>> type(rule.for_weights("bias", (3,))).__name__
    'Adam'
    """

    momentum: float = 0.95
    use_nesterov: bool = True
    steps: int = 5
    coefficients: tuple[float, float, float] = COEFFICIENTS
    rms_rate: float | None = 0.2
    others: Rule = Adam()  # noqa: RUF009 - frozen
    excluded: tuple[str, ...] = ()
    share: float | None = None
    slots: ClassVar[dict[str, float | str]] = {"m": 0.0}
    is_row_local: ClassVar[bool] = False
    depends_on_weights: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.others, Mapping):  # as a config has it
            from . import from_config

            object.__setattr__(self, "others", from_config(self.others))
        object.__setattr__(self, "coefficients", tuple(self.coefficients))
        object.__setattr__(self, "excluded", tuple(self.excluded))

    def for_weights(self, name: str, shape: Sequence[int]) -> Rule:
        is_excluded = any(re.search(pattern, name) for pattern in self.excluded)
        return self.others if len(shape) != 2 or is_excluded else self

    def start(self) -> Shared:
        return self.others.start()

    def advance(self, shared: Shared) -> Shared:
        return self.others.advance(shared)

    def at(self, shared: Shared) -> Self:
        return dataclasses.replace(self, others=self.others.at(shared))

    def get_config(self) -> dict[str, Any]:
        """The hyperparameters by name, with the config of `others`."""
        return {**super().get_config(), "others": self.others.get_config()}

    def _in(self, dtype: Any) -> Self:
        # The rate of the entries is multiplied in float32 where w has 16 bits.
        return dataclasses.replace(super()._in(dtype), rms_rate=self.rms_rate)

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        share = w.dtype.type(1) - self.momentum if self.share is None else self.share
        # momentum * m + g in the order in which Keras rounds it.
        m = slots[0] + (g - slots[0] * share)
        ahead = g + self.momentum * m if self.use_nesterov else m
        update = orthogonalize(ahead, int(self.steps), self.coefficients)
        # In Keras the rate is float32, and so is what it is multiplied with in 16 bits.
        wide: Any = update.astype(np.float32) if w.dtype.itemsize == 2 else update
        wide = lr.astype(wide.dtype) * wide
        if self.rms_rate is not None:
            as_type = wide.dtype.type
            wide = wide * as_type(max(w.shape) ** 0.5) * as_type(self.rms_rate)
        return w - wide.astype(w.dtype), (m,)
