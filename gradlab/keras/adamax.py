"""Keras's Adamax."""

from __future__ import annotations

from typing import Any

from .. import rules
from ..rules import dense_and_sparse, pure
from ..rules.rule import Rule
from ..train.variable import Variable as Variable
from .adam import powers_of_betas
from .optimizer import Optimizer, own_argument
from .unsummed import choose_every_row, warn_of_unsummed
from .versions import Declaration, Name, Strict, Version


def _choose_sparse(version: Version, rule: type[Rule]) -> pure.Sparse:
    return dense_and_sparse.rows if version.engine == "legacy" else choose_every_row(version, rule)


class Adamax(Optimizer):
    """Adamax as Keras has it: Adam with the largest gradient in place of the root of the mean square.

        m = m + (g - m) * (1 - beta_1)
        v = max(beta_2 * v, |g|)
        w = w - lr_t / (1 - beta_1 ** t) * m / (v + epsilon)

    with t the number of the step, from 1.

    Args:
        learning_rate: number, scalar array, Variable, schedule, or function, as of `Adagrad`.
        beta_1: share of the old mean in the new one; in "tf2.3" and "legacy" also an array, a
            Variable or a function, and a number becomes a float32 variable at the first use.
        beta_2: what the largest gradient decays by at each step, likewise.
        epsilon: number beside v. None and 0 become `gl.keras.epsilon()` in "tf2.3" and "legacy",
            with a warning for 0.
        name: as of `Adagrad`.
        semantics: as of `Adagrad`.
        strict: as of `Adagrad`.
        kwargs: as of `Adagrad`.

    IndexedSlices: other rows keep everything in "tf2.3" and "legacy"; they move by a gradient of 0
    in "rewrite" and "keras3". Slices of one row are summed first; in "keras3" v sees the sum of
    their absolute values instead (a warning says so). Shapes: w, g, m, v (...); dtypes float16,
    bfloat16, float32, float64.

    Raises:
        ValueError: limits that exclude each other; None for epsilon in "rewrite" and "keras3".
        TypeError: unknown arguments.

    Powers are computed in float64 and rounded, so results agree with Keras's within a few units in
    the last place.

    Source: `tf.keras.optimizers.Adamax`, TensorFlow 2.3 (2020), tf_keras 2.21 and Keras 3.15
    (2026); Kingma & Ba, "Adam: A Method for Stochastic Optimization", section 7.1 (2014).

    >>> v = Variable([1.0], name="v")
    >>> opt = Adamax(0.25, beta_1=0.5)
    >>> opt.apply_gradients([([4.0], v)]).numpy().item()
    1
    >>> round(v.numpy().item(), 4), opt.get_slot(v, "v").numpy().tolist()
    (0.75, [4.0])
    """

    _declaration = Declaration(
        choose_rule=lambda version, arguments: rules.AdaMax,
        fields={"beta1": "beta_1", "beta2": "beta_2", "epsilon": "epsilon"},
        version_fields=lambda version: {"order": "keras" if version.engine == "newer" else "dense"},
        shares={"share1": "beta_1"},
        step_fields=powers_of_betas,
        hyperparameters=("beta_1", "beta_2"),
        slots={"rewrite": {"v": "u"}, "keras3": {"m": "momentum", "v": "norm"}},
        slots_by_variable=lambda version: ("m", "v") if version.engine == "newer" else (),
        choose_sparse=_choose_sparse,
        inspect_gradient=warn_of_unsummed,
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        name: str | None = "Adamax",
        semantics: Name = "legacy",
        *,
        strict: Strict = None,
        **kwargs: Any,
    ) -> None:
        own = {"beta_1": beta_1, "beta_2": beta_2, "epsilon": epsilon}
        super().__init__(name, semantics, strict, learning_rate, own, kwargs)

    beta_1 = own_argument("beta_1", "The share of the old mean in the new one.")
    beta_2 = own_argument("beta_2", "What the largest gradient decays by at each step.")
    epsilon = own_argument("epsilon", "The number beside the largest gradient; it may be set.")
