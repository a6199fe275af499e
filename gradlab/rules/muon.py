"""Muon: momentum whose singular values are all made about 1."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from .._base.arrays import Array, namespace
from .._base.options import check_choice
from .adam import Adam
from .rule import Rule, Shared, Slots, float32

Coefficients: TypeAlias = tuple[float, float, float]

# Coefficients of the Newton-Schulz iteration. torch and optax have those of Keras as their default.
KERAS: Coefficients = (3.4445, -4.7750, 2.0315)
# A triple for each step, by the paper of Dion; "dion" in optax.
DION: tuple[Coefficients, ...] = (
    (4.0848, -6.8946, 2.9270),
    (3.9505, -6.3029, 2.6377),
    (3.7418, -5.5913, 2.3037),
    (2.8769, -3.1427, 1.2046),
    (2.8366, -3.0525, 1.2012),
)


def orthogonalize(
    x: Array,
    steps: int = 5,
    coefficients: Coefficients | tuple[Coefficients, ...] = KERAS,
    epsilon: float = 1e-7,
    epsilon_is_floor: bool = False,
) -> Array:
    """Return a matrix with about the singular vectors of x, and singular values near 1.

        x = x / (norm(x) + epsilon)
            x / max(norm(x), epsilon)                  epsilon_is_floor
        steps times:
            s = x @ x.T
            x = a * x + (b * s + c * s @ s) @ x        a, b, c = coefficients

    A matrix of more rows than columns is transposed before and after. With the coefficients of
    Keras singular values end between about 0.7 and 1.2, which is what makes five steps enough.
    Where `coefficients` has a triple for each step, as `DION`, there are as many steps as triples.

    Source: Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024); Ahn et
    al., "Dion: Distributed Orthonormalized Updates" (2025), for DION;
    `keras.optimizers.Muon.zeropower_via_newtonschulz5`, Keras 3.15 (2026).

    >>> import numpy as np
    >>> orthogonalize(np.diag([4.0, -0.5]), steps=30, coefficients=(1.5, -0.5, 0.0)).round(3).tolist()
    [[1.0, 0.0], [0.0, -1.0]]
    """
    is_tall = x.shape[0] > x.shape[1]
    if is_tall:
        x = x.T
    xp = namespace(x)
    as_type = x.dtype.type
    norm = xp.sqrt((x * x).sum())
    x = x / (xp.maximum(norm, as_type(epsilon)) if epsilon_is_floor else norm + as_type(epsilon))
    for triple in _triples(coefficients, steps):
        a, b, c = map(as_type, triple)
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    return x.T if is_tall else x


def _triples(coefficients: Any, steps: int) -> Sequence[Coefficients]:
    """Return the coefficients of each step."""
    is_one_triple = np.ndim(coefficients) == 1
    triples: Sequence[Coefficients] = [coefficients] * steps if is_one_triple else coefficients
    return triples


@dataclass(frozen=True)
class Muon(Rule):
    """Step by the momentum of a matrix after its singular values are made about 1.

        m = momentum * m + g                               form="keras3"
        ahead = g + momentum * m
        m = m + (g - m) * (1 - momentum)                   form="torch"
        ahead = g + (m - g) * momentum
        m = momentum * m + (1 - momentum) * g              form="optax"
        ahead = (momentum * m / (1 - momentum * momentum_power)
                 + (1 - momentum) * g / (1 - momentum_power))
        w = w - lr * orthogonalize(ahead) * factor

        factor = rms_rate * sqrt(max(rows, columns))       adjust_lr="match_rms_adamw"
                 sqrt(max(1, rows / columns))                        "original"
                 sqrt(max(1, columns / rows))                        "width"

    Without use_nesterov ahead is m, in the form of optax m / (1 - momentum_power). An rms_rate of
    None leaves the first factor out. The factors are those of torch by its names; optax has the
    last, which is "original" for weights that are (inputs, outputs). `momentum_power`, momentum to
    the power of the step, changes from step to step. `steps`, `coefficients` and `norm_epsilon` are
    of `orthogonalize`, which divides by the larger of norm and epsilon in torch's form.

    Weights that aren't matrices are stepped by the rule `others`, and so are those whose name holds
    one of the regular expressions `excluded`: embeddings and last layers, usually. `share` is that of
    `Adam`: 1 - momentum, for callers that round it in another way, in the form of Keras.

    Shapes: w, g, m (rows, columns). Slots: m, from 0; of other weights those of `others`. A tensor
    rule. Raises ValueError for a form or an adjust_lr that is none of these. Differs from torch: it
    computes in the dtype of the weights; torch orthogonalizes in bfloat16. Source: Jordan et al.,
    "Muon: An optimizer for hidden layers in neural networks" (2024); Liu et al., "Muon is Scalable
    for LLM Training" (2025), for rms_rate; `keras.optimizers.Muon`, Keras 3.15 (2026);
    `torch.optim.Muon`, torch 2.13 (2026); `optax.contrib.muon`, optax 0.2.8 (2026).

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
    coefficients: Coefficients | tuple[Coefficients, ...] = KERAS
    rms_rate: float | None = 0.2
    others: Rule = Adam()  # noqa: RUF009 - frozen
    excluded: tuple[str, ...] = ()
    form: Literal["keras3", "torch", "optax"] = "keras3"
    adjust_lr: Literal["match_rms_adamw", "original", "width"] = "match_rms_adamw"
    norm_epsilon: float = 1e-7
    momentum_power: float = 0.0
    share: float | None = None
    slots: ClassVar[dict[str, float | str]] = {"m": 0.0}
    is_row_local: ClassVar[bool] = False
    depends_on_weights: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice("form", self.form, ("keras3", "torch", "optax"))
        check_choice("adjust_lr", self.adjust_lr, ("match_rms_adamw", "original", "width"))
        if isinstance(self.others, Mapping):  # as a config has it
            from . import from_config

            object.__setattr__(self, "others", from_config(self.others))
        # A config has lists.
        triples = (tuple(x) if isinstance(x, Sequence) else x for x in self.coefficients)
        object.__setattr__(self, "coefficients", tuple(triples))
        object.__setattr__(self, "excluded", tuple(self.excluded))

    def for_weights(self, name: str, shape: Sequence[int]) -> Rule:
        is_excluded = any(re.search(pattern, name) for pattern in self.excluded)
        return self.others if len(shape) != 2 or is_excluded else self

    def start(self) -> Shared:
        return {**self._powers(float32(self.momentum)), **self.others.start()}

    def advance(self, shared: Shared) -> Shared:
        if self.form != "optax":
            return self.others.advance(shared)
        momentum_power, of_others = _split(shared)
        power = momentum_power * float32(self.momentum)
        return {**self._powers(power), **self.others.advance(of_others)}

    def at(self, shared: Shared) -> Self:
        if self.form != "optax":
            return dataclasses.replace(self, others=self.others.at(shared))
        momentum_power, of_others = _split(shared)
        others = self.others.at(of_others)
        return dataclasses.replace(self, others=others, momentum_power=momentum_power)

    def _powers(self, power: Any) -> Shared:
        return {"momentum_power": power} if self.form == "optax" else {}

    def get_config(self) -> dict[str, Any]:
        """The hyperparameters by name, with the config of `others`."""
        return {**super().get_config(), "others": self.others.get_config()}

    def _in(self, dtype: Any) -> Self:
        # The rate of the entries is multiplied in float32 where w has 16 bits.
        return dataclasses.replace(super()._in(dtype), rms_rate=self.rms_rate)

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        m, ahead = self._update_momentum(slots[0], g)
        update = orthogonalize(
            ahead, int(self.steps), self.coefficients, self.norm_epsilon, self.form == "torch"
        )
        # In Keras the rate is float32, and so is what it is multiplied with in 16 bits.
        wide: Any = update.astype(np.float32) if w.dtype.itemsize == 2 else update
        wide = lr.astype(wide.dtype) * wide
        for factor in self._factors(*w.shape):
            wide = wide * wide.dtype.type(factor)
        return w - wide.astype(w.dtype), (m,)

    def _update_momentum(self, m: Array, g: Array) -> tuple[Array, Array]:
        """Return the momentum and the matrix to orthogonalize."""
        one = m.dtype.type(1)
        if self.form == "keras3":
            share = one - self.momentum if self.share is None else self.share
            # momentum * m + g in the order in which Keras rounds it.
            m = m + (g - m * share)
            return m, g + self.momentum * m if self.use_nesterov else m
        if self.form == "torch":
            m = m + (g - m) * (one - self.momentum)
            return m, g + (m - g) * self.momentum if self.use_nesterov else m
        m = self.momentum * m + (one - self.momentum) * g
        correction = one - self.momentum_power
        if not self.use_nesterov:
            return m, m / correction
        next_m = m / (one - self.momentum * self.momentum_power)
        return m, self.momentum * next_m + (one - self.momentum) * (g / correction)

    def _factors(self, rows: int, columns: int) -> tuple[float, ...]:
        """Return what the step is multiplied with, by the shape of the weights."""
        if self.adjust_lr == "original":
            return (max(1, rows / columns) ** 0.5,)
        if self.adjust_lr == "width":
            return (max(1, columns / rows) ** 0.5,)
        if self.rms_rate is None:
            return ()
        return max(rows, columns) ** 0.5, self.rms_rate


def _split(shared: Shared) -> tuple[Any, Shared]:
    """Return the power of the momentum, and the shared fields of other weights' rule."""
    of_others = dict(shared)
    return of_others.pop("momentum_power"), of_others
