"""TensorFlow's training ops: one step of an optimizer on a variable and its slots.

Ops and keywords have TensorFlow's names. Each op reads its scalars, chooses the rule with the order
of operations of TensorFlow's kernel, and calls `step_dense` or `step_rows` of `training_op.py`,
which check shapes, dtypes and indices and make the step.

| form                                     | the variable                   | returns      |
|------------------------------------------|--------------------------------|--------------|
| `ResourceApplyX`, `ResourceSparseApplyX` | a resource                     | None         |
| `ApplyX`, `SparseApplyX`                 | a ref variable of TensorFlow 1 | the variable |

Both forms take a `gl.Variable` here. All of them have in common:

- `var` and its slots are Variables of one shape and dtype.
- Scalars are numbers, or arrays of shape () and the dtype of `var`.
- `grad` (or `delta`) is an array like `var`. In a sparse op it is (n, ...), with `indices` (n,) of
  int32 or int64; a row that is named twice moves twice, as in TensorFlow's kernels. (Most
  optimizers of `gl.train` sum such rows first.)
- `use_locking` has no effect, because a step always holds the locks. `name` is ignored.
- Formulas are those of `gl.rules`, in the order of operations that each kernel has.

Raises, in all of them:
    NotAVariableError: `var` or a slot isn't a Variable.
    InvalidArgumentError: shapes differ, a scalar isn't one, an index is out of range, or a rate, a
        penalty or a power has a sign that the kernel refuses.
    DTypeError: an array of another dtype, or a dtype that the op has no kernel for.

After an error nothing has changed. Differs from TensorFlow: some of its sparse kernels have then
moved the rows before an index that is out of range; a slot of another dtype ends its process.

Source: `tf.raw_ops`, TensorFlow 2.21 (2026), checked by running it.
"""

from __future__ import annotations

from typing import Any, cast

from ..rules import (
    Adadelta,
    Adagrad,
    AdagradDA,
    Adam,
    AdaMax,
    AddSign,
    AMSGrad,
    CenteredRMSProp,
    Ftrl,
    KerasMomentum,
    Momentum,
    PowerSign,
    ProximalAdagrad,
    ProximalGradientDescent,
    RMSProp,
    StochasticGradientDescent,
)
from ..train.variable import Variable
from .training_op import (
    ALL_BUT_BFLOAT16,
    FLOAT_16_32_64,
    FLOAT_32_64,
    REAL,
    check_penalties,
    check_power,
    check_rate_sign,
    clamp_negative_l1,
    read_scalar_step,
    read_scalars,
    step_dense,
    step_rows,
)


def ResourceApplyGradientDescent(
    *, var: Any, delta: Any, alpha: Any, use_locking: bool = False, name: str | None = None
) -> None:
    """Step against the gradient.

        var = var - delta * alpha

    Source: `tf.raw_ops.ResourceApplyGradientDescent`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.StochasticGradientDescent`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> ResourceApplyGradientDescent(var=var, alpha=0.5, delta=[4.0, -4.0])
    >>> var.numpy().round(4).tolist()
    [-1.0, 4.0]
    """
    scalars = read_scalars(var, alpha=alpha)
    rule = StochasticGradientDescent()
    step_dense(rule, var, {}, scalars["alpha"], delta)


def ApplyGradientDescent(
    *, var: Any, delta: Any, alpha: Any, use_locking: bool = False, name: str | None = None
) -> Variable:
    """`ResourceApplyGradientDescent` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyGradientDescent`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> result = ApplyGradientDescent(var=var, alpha=0.5, delta=[4.0, -4.0])
    >>> result is var, var.numpy().round(4).tolist()
    (True, [-1.0, 4.0])
    """
    ResourceApplyGradientDescent(var=var, delta=delta, alpha=alpha)
    return cast(Variable, var)


def ResourceApplyMomentum(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    lr: Any,
    momentum: Any,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> None:
    """Step along a decaying sum of gradients.

        accum = accum * momentum + grad
        var = var - accum * lr                             plain
        var = var - (grad * lr + accum * momentum * lr)     use_nesterov

    Source: `tf.raw_ops.ResourceApplyMomentum`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.Momentum`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum = gl.Variable([0.0, 0.0])
    >>> ResourceApplyMomentum(var=var, accum=accum, lr=0.5, momentum=0.5, grad=[4.0, -4.0])
    >>> var.numpy().round(4).tolist()
    [-1.0, 4.0]
    """
    scalars = read_scalars(var, lr=lr, momentum=momentum)
    rule = Momentum(scalars["momentum"], use_nesterov)
    step_dense(rule, var, {"accum": accum}, scalars["lr"], grad)


def ApplyMomentum(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    lr: Any,
    momentum: Any,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyMomentum` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyMomentum`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum = gl.Variable([0.0, 0.0])
    >>> result = ApplyMomentum(var=var, accum=accum, lr=0.5, momentum=0.5, grad=[4.0, -4.0])
    >>> result is var, var.numpy().round(4).tolist()
    (True, [-1.0, 4.0])
    """
    ResourceApplyMomentum(
        var=var, accum=accum, grad=grad, lr=lr, momentum=momentum, use_nesterov=use_nesterov
    )
    return cast(Variable, var)


def ResourceSparseApplyMomentum(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    momentum: Any,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> None:
    """`ResourceApplyMomentum` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyMomentum`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum = gl.Variable([[0.0], [0.0]])
    >>> ResourceSparseApplyMomentum(
    ...     var=var, accum=accum, lr=0.5, momentum=0.5, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [0.0]]
    """
    scalars = read_scalars(var, lr=lr, momentum=momentum)
    rule = Momentum(scalars["momentum"], use_nesterov)
    step_rows(rule, var, {"accum": accum}, scalars["lr"], grad, indices, order="sparse")


def SparseApplyMomentum(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    momentum: Any,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyMomentum` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyMomentum`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum = gl.Variable([[0.0], [0.0]])
    >>> result = SparseApplyMomentum(
    ...     var=var, accum=accum, lr=0.5, momentum=0.5, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [0.0]])
    """
    ResourceSparseApplyMomentum(
        var=var,
        accum=accum,
        grad=grad,
        indices=indices,
        lr=lr,
        momentum=momentum,
        use_nesterov=use_nesterov,
    )
    return cast(Variable, var)


def ResourceApplyKerasMomentum(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    lr: Any,
    momentum: Any,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> None:
    """Step by the last step times `momentum`, plus a step against the gradient.

        accum = accum * momentum - grad * lr
        var = var + accum                                   plain
        var = var + (accum * momentum - grad * lr)          use_nesterov

    Source: `tf.raw_ops.ResourceApplyKerasMomentum`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.KerasMomentum`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum = gl.Variable([0.0, 0.0])
    >>> ResourceApplyKerasMomentum(var=var, accum=accum, lr=0.5, momentum=0.5, grad=[4.0, -4.0])
    >>> var.numpy().round(4).tolist()
    [-1.0, 4.0]
    """
    scalars = read_scalars(var, lr=lr, momentum=momentum)
    rule = KerasMomentum(scalars["momentum"], use_nesterov)
    step_dense(rule, var, {"accum": accum}, scalars["lr"], grad)


def ResourceSparseApplyKerasMomentum(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    momentum: Any,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> None:
    """`ResourceApplyKerasMomentum` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyKerasMomentum`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum = gl.Variable([[0.0], [0.0]])
    >>> ResourceSparseApplyKerasMomentum(
    ...     var=var, accum=accum, lr=0.5, momentum=0.5, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [0.0]]
    """
    scalars = read_scalars(var, lr=lr, momentum=momentum)
    rule = KerasMomentum(scalars["momentum"], use_nesterov)
    step_rows(rule, var, {"accum": accum}, scalars["lr"], grad, indices)


def ResourceApplyAdagrad(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    lr: Any,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> None:
    """Step by the gradient over the root of the sum of its squares.

        accum = accum + grad * grad                         unchanged if update_slots is False
        var = var - (grad * lr) * (1 / sqrt(accum))

    Source: `tf.raw_ops.ResourceApplyAdagrad`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.Adagrad`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum = gl.Variable([0.0, 0.0])
    >>> ResourceApplyAdagrad(var=var, accum=accum, lr=0.5, grad=[4.0, -4.0])
    >>> var.numpy().round(4).tolist()
    [0.5, 2.5]
    """
    scalars = read_scalars(var, lr=lr)
    rule = Adagrad(epsilon=0.0, epsilon_place="none", order="reciprocal", update_slots=update_slots)
    step_dense(rule, var, {"accum": accum}, scalars["lr"], grad)


def ApplyAdagrad(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    lr: Any,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyAdagrad` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyAdagrad`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum = gl.Variable([0.0, 0.0])
    >>> result = ApplyAdagrad(var=var, accum=accum, lr=0.5, grad=[4.0, -4.0])
    >>> result is var, var.numpy().round(4).tolist()
    (True, [0.5, 2.5])
    """
    ResourceApplyAdagrad(var=var, accum=accum, grad=grad, lr=lr, update_slots=update_slots)
    return cast(Variable, var)


def ResourceSparseApplyAdagrad(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> None:
    """`ResourceApplyAdagrad` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyAdagrad`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum = gl.Variable([[0.0], [0.0]])
    >>> ResourceSparseApplyAdagrad(var=var, accum=accum, lr=0.5, grad=[[4.0]], indices=np.int32([1]))
    >>> var.numpy().round(4).tolist()
    [[1.0], [1.5]]
    """
    scalars = read_scalars(var, lr=lr)
    rule = Adagrad(epsilon=0.0, epsilon_place="none", order="reciprocal", update_slots=update_slots)
    step_rows(rule, var, {"accum": accum}, scalars["lr"], grad, indices)


def SparseApplyAdagrad(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyAdagrad` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyAdagrad`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum = gl.Variable([[0.0], [0.0]])
    >>> result = SparseApplyAdagrad(var=var, accum=accum, lr=0.5, grad=[[4.0]], indices=np.int32([1]))
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [1.5]])
    """
    ResourceSparseApplyAdagrad(
        var=var, accum=accum, grad=grad, indices=indices, lr=lr, update_slots=update_slots
    )
    return cast(Variable, var)


def ResourceApplyAdagradV2(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    lr: Any,
    epsilon: Any,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> None:
    """Step by the gradient over the root of the sum of its squares, plus epsilon.

        accum = accum + grad * grad                         unchanged if update_slots is False
        var = var - (grad * lr) / (sqrt(accum) + epsilon)

    Source: `tf.raw_ops.ResourceApplyAdagradV2`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.Adagrad`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum = gl.Variable([0.0, 0.0])
    >>> ResourceApplyAdagradV2(var=var, accum=accum, lr=0.5, epsilon=1.0, grad=[4.0, -4.0])
    >>> var.numpy().round(4).tolist()
    [0.6000000238418579, 2.4000000953674316]
    """
    scalars = read_scalars(var, lr=lr, epsilon=epsilon)
    rule = Adagrad(epsilon=scalars["epsilon"], update_slots=update_slots)
    step_dense(rule, var, {"accum": accum}, scalars["lr"], grad)


def ApplyAdagradV2(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    lr: Any,
    epsilon: Any,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyAdagradV2` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyAdagradV2`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum = gl.Variable([0.0, 0.0])
    >>> result = ApplyAdagradV2(var=var, accum=accum, lr=0.5, epsilon=1.0, grad=[4.0, -4.0])
    >>> result is var, var.numpy().round(4).tolist()
    (True, [0.6000000238418579, 2.4000000953674316])
    """
    ResourceApplyAdagradV2(
        var=var, accum=accum, grad=grad, lr=lr, epsilon=epsilon, update_slots=update_slots
    )
    return cast(Variable, var)


def ResourceSparseApplyAdagradV2(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    epsilon: Any,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> None:
    """`ResourceApplyAdagradV2` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyAdagradV2`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum = gl.Variable([[0.0], [0.0]])
    >>> ResourceSparseApplyAdagradV2(
    ...     var=var, accum=accum, lr=0.5, epsilon=1.0, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [1.600000023841858]]
    """
    scalars = read_scalars(var, lr=lr, epsilon=epsilon)
    rule = Adagrad(epsilon=scalars["epsilon"], update_slots=update_slots)
    step_rows(rule, var, {"accum": accum}, scalars["lr"], grad, indices)


def SparseApplyAdagradV2(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    epsilon: Any,
    use_locking: bool = False,
    update_slots: bool = True,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyAdagradV2` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyAdagradV2`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum = gl.Variable([[0.0], [0.0]])
    >>> result = SparseApplyAdagradV2(
    ...     var=var, accum=accum, lr=0.5, epsilon=1.0, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [1.600000023841858]])
    """
    ResourceSparseApplyAdagradV2(
        var=var,
        accum=accum,
        grad=grad,
        indices=indices,
        lr=lr,
        epsilon=epsilon,
        update_slots=update_slots,
    )
    return cast(Variable, var)


def ResourceApplyAdagradDA(
    *,
    var: Any,
    gradient_accumulator: Any,
    gradient_squared_accumulator: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    global_step: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """Set each weight by the sum of its gradients so far.

        s, q = gradient_accumulator + grad, gradient_squared_accumulator + grad * grad
        var = -lr * sign(s) * max(|s| - global_step * l1, 0) / (global_step * lr * l2 + sqrt(q))
        gradient_accumulator, gradient_squared_accumulator = s, q

    Source: `tf.raw_ops.ResourceApplyAdagradDA`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.AdagradDA`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> gradient_accumulator, gradient_squared_accumulator = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> ResourceApplyAdagradDA(
    ...     var=var, gradient_accumulator=gradient_accumulator,
    ...     gradient_squared_accumulator=gradient_squared_accumulator, lr=0.5, l1=0.5, l2=0.0,
    ...     global_step=1, grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [-0.4375, 0.4375]
    """
    scalars = read_scalars(var, lr=lr, l1=l1, l2=l2)
    rule = AdagradDA(
        0.0,
        clamp_negative_l1(scalars["l1"]),
        scalars["l2"],
        global_step=read_scalar_step(global_step),
    )
    step_dense(
        rule,
        var,
        {
            "gradient_accumulator": gradient_accumulator,
            "gradient_squared_accumulator": gradient_squared_accumulator,
        },
        scalars["lr"],
        grad,
        dtypes=FLOAT_32_64,
    )


def ApplyAdagradDA(
    *,
    var: Any,
    gradient_accumulator: Any,
    gradient_squared_accumulator: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    global_step: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyAdagradDA` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyAdagradDA`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> gradient_accumulator, gradient_squared_accumulator = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> result = ApplyAdagradDA(
    ...     var=var, gradient_accumulator=gradient_accumulator,
    ...     gradient_squared_accumulator=gradient_squared_accumulator, lr=0.5, l1=0.5, l2=0.0,
    ...     global_step=1, grad=[4.0, -4.0],
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [-0.4375, 0.4375])
    """
    ResourceApplyAdagradDA(
        var=var,
        gradient_accumulator=gradient_accumulator,
        gradient_squared_accumulator=gradient_squared_accumulator,
        grad=grad,
        lr=lr,
        l1=l1,
        l2=l2,
        global_step=global_step,
    )
    return cast(Variable, var)


def ResourceSparseApplyAdagradDA(
    *,
    var: Any,
    gradient_accumulator: Any,
    gradient_squared_accumulator: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    global_step: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """`ResourceApplyAdagradDA` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyAdagradDA`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> gradient_accumulator, gradient_squared_accumulator = (gl.Variable([[0.0], [0.0]]) for _ in range(2))
    >>> ResourceSparseApplyAdagradDA(
    ...     var=var, gradient_accumulator=gradient_accumulator,
    ...     gradient_squared_accumulator=gradient_squared_accumulator, lr=0.5, l1=0.5, l2=0.0,
    ...     global_step=1, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [-0.4375]]
    """
    scalars = read_scalars(var, lr=lr, l1=l1, l2=l2)
    rule = AdagradDA(
        0.0,
        clamp_negative_l1(scalars["l1"]),
        scalars["l2"],
        global_step=read_scalar_step(global_step),
    )
    step_rows(
        rule,
        var,
        {
            "gradient_accumulator": gradient_accumulator,
            "gradient_squared_accumulator": gradient_squared_accumulator,
        },
        scalars["lr"],
        grad,
        indices,
        dtypes=FLOAT_32_64,
        order="sparse",
        scalar_row_order="scalar",
    )


def SparseApplyAdagradDA(
    *,
    var: Any,
    gradient_accumulator: Any,
    gradient_squared_accumulator: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    global_step: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyAdagradDA` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyAdagradDA`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> gradient_accumulator, gradient_squared_accumulator = (gl.Variable([[0.0], [0.0]]) for _ in range(2))
    >>> result = SparseApplyAdagradDA(
    ...     var=var, gradient_accumulator=gradient_accumulator,
    ...     gradient_squared_accumulator=gradient_squared_accumulator, lr=0.5, l1=0.5, l2=0.0,
    ...     global_step=1, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [-0.4375]])
    """
    ResourceSparseApplyAdagradDA(
        var=var,
        gradient_accumulator=gradient_accumulator,
        gradient_squared_accumulator=gradient_squared_accumulator,
        grad=grad,
        indices=indices,
        lr=lr,
        l1=l1,
        l2=l2,
        global_step=global_step,
    )
    return cast(Variable, var)


def ResourceApplyProximalAdagrad(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """Step as Adagrad does, then shrink toward 0 at the rate of each weight.

        accum = accum + grad * grad
        e = lr / sqrt(accum);  p = var - grad * e
        var = sign(p) * max(|p| - e * l1, 0) / (1 + e * l2)

    Source: `tf.raw_ops.ResourceApplyProximalAdagrad`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.ProximalAdagrad`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum = gl.Variable([0.0, 0.0])
    >>> ResourceApplyProximalAdagrad(var=var, accum=accum, lr=0.5, l1=0.5, l2=0.0, grad=[4.0, -4.0])
    >>> var.numpy().round(4).tolist()
    [0.4375, 2.4375]
    """
    scalars = read_scalars(var, lr=lr, l1=l1, l2=l2)
    check_rate_sign(scalars["lr"])
    check_penalties(scalars["l1"], scalars["l2"])
    rule = ProximalAdagrad(0.0, scalars["l1"], scalars["l2"])
    step_dense(rule, var, {"accum": accum}, scalars["lr"], grad, dtypes=FLOAT_32_64)


def ApplyProximalAdagrad(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyProximalAdagrad` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyProximalAdagrad`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum = gl.Variable([0.0, 0.0])
    >>> result = ApplyProximalAdagrad(var=var, accum=accum, lr=0.5, l1=0.5, l2=0.0, grad=[4.0, -4.0])
    >>> result is var, var.numpy().round(4).tolist()
    (True, [0.4375, 2.4375])
    """
    ResourceApplyProximalAdagrad(var=var, accum=accum, grad=grad, lr=lr, l1=l1, l2=l2)
    return cast(Variable, var)


def ResourceSparseApplyProximalAdagrad(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """`ResourceApplyProximalAdagrad` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyProximalAdagrad`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum = gl.Variable([[0.0], [0.0]])
    >>> ResourceSparseApplyProximalAdagrad(
    ...     var=var, accum=accum, lr=0.5, l1=0.5, l2=0.0, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [1.4375]]
    """
    scalars = read_scalars(var, lr=lr, l1=l1, l2=l2)
    check_rate_sign(scalars["lr"])
    check_penalties(scalars["l1"], scalars["l2"])
    rule = ProximalAdagrad(0.0, scalars["l1"], scalars["l2"])
    step_rows(
        rule,
        var,
        {"accum": accum},
        scalars["lr"],
        grad,
        indices,
        dtypes=FLOAT_32_64,
        order="dense",
        scalar_row_order="scalar",
    )


def SparseApplyProximalAdagrad(
    *,
    var: Any,
    accum: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyProximalAdagrad` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyProximalAdagrad`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum = gl.Variable([[0.0], [0.0]])
    >>> result = SparseApplyProximalAdagrad(
    ...     var=var, accum=accum, lr=0.5, l1=0.5, l2=0.0, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [1.4375]])
    """
    ResourceSparseApplyProximalAdagrad(
        var=var, accum=accum, grad=grad, indices=indices, lr=lr, l1=l1, l2=l2
    )
    return cast(Variable, var)


def ResourceApplyProximalGradientDescent(
    *,
    var: Any,
    delta: Any,
    alpha: Any,
    l1: Any,
    l2: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """Step against the gradient, then shrink toward 0.

        p = var - delta * alpha
        var = sign(p) * max(|p| - alpha * l1, 0) / (1 + alpha * l2)

    Source: `tf.raw_ops.ResourceApplyProximalGradientDescent`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.ProximalGradientDescent`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> ResourceApplyProximalGradientDescent(var=var, alpha=0.5, l1=0.5, l2=0.0, delta=[4.0, -4.0])
    >>> var.numpy().round(4).tolist()
    [-0.75, 3.75]
    """
    scalars = read_scalars(var, alpha=alpha, l1=l1, l2=l2)
    rule = ProximalGradientDescent(clamp_negative_l1(scalars["l1"]), scalars["l2"])
    step_dense(rule, var, {}, scalars["alpha"], delta, dtypes=FLOAT_32_64)


def ApplyProximalGradientDescent(
    *,
    var: Any,
    delta: Any,
    alpha: Any,
    l1: Any,
    l2: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyProximalGradientDescent` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyProximalGradientDescent`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> result = ApplyProximalGradientDescent(var=var, alpha=0.5, l1=0.5, l2=0.0, delta=[4.0, -4.0])
    >>> result is var, var.numpy().round(4).tolist()
    (True, [-0.75, 3.75])
    """
    ResourceApplyProximalGradientDescent(var=var, delta=delta, alpha=alpha, l1=l1, l2=l2)
    return cast(Variable, var)


def ResourceSparseApplyProximalGradientDescent(
    *,
    var: Any,
    grad: Any,
    indices: Any,
    alpha: Any,
    l1: Any,
    l2: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """`ResourceApplyProximalGradientDescent` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyProximalGradientDescent`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> ResourceSparseApplyProximalGradientDescent(
    ...     var=var, alpha=0.5, l1=0.5, l2=0.0, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [0.0]]
    """
    scalars = read_scalars(var, alpha=alpha, l1=l1, l2=l2)
    rule = ProximalGradientDescent(clamp_negative_l1(scalars["l1"]), scalars["l2"])
    step_rows(
        rule,
        var,
        {},
        scalars["alpha"],
        grad,
        indices,
        dtypes=FLOAT_32_64,
        order="dense",
        scalar_row_order="scalar",
    )


def SparseApplyProximalGradientDescent(
    *,
    var: Any,
    grad: Any,
    indices: Any,
    alpha: Any,
    l1: Any,
    l2: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyProximalGradientDescent` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyProximalGradientDescent`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> result = SparseApplyProximalGradientDescent(
    ...     var=var, alpha=0.5, l1=0.5, l2=0.0, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [0.0]])
    """
    ResourceSparseApplyProximalGradientDescent(
        var=var, grad=grad, indices=indices, alpha=alpha, l1=l1, l2=l2
    )
    return cast(Variable, var)


def ResourceApplyAdadelta(
    *,
    var: Any,
    accum: Any,
    accum_update: Any,
    grad: Any,
    lr: Any,
    rho: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """Step by the gradient times the root mean square of past steps over that of past gradients.

        accum = accum * rho + grad * grad * (1 - rho)
        u = sqrt(accum_update + epsilon) * (1 / sqrt(accum + epsilon)) * grad
        var = var - u * lr;  accum_update = accum_update * rho + u * u * (1 - rho)

    Source: `tf.raw_ops.ResourceApplyAdadelta`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.Adadelta`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum, accum_update = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> ResourceApplyAdadelta(
    ...     var=var, accum=accum, accum_update=accum_update, lr=0.5, rho=0.75, epsilon=1.0,
    ...     grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [0.10559999942779541, 2.894399881362915]
    """
    scalars = read_scalars(var, lr=lr, rho=rho, epsilon=epsilon)
    rule = Adadelta(scalars["rho"], scalars["epsilon"])
    step_dense(rule, var, {"accum": accum, "accum_update": accum_update}, scalars["lr"], grad)


def ApplyAdadelta(
    *,
    var: Any,
    accum: Any,
    accum_update: Any,
    grad: Any,
    lr: Any,
    rho: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyAdadelta` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyAdadelta`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum, accum_update = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> result = ApplyAdadelta(
    ...     var=var, accum=accum, accum_update=accum_update, lr=0.5, rho=0.75, epsilon=1.0,
    ...     grad=[4.0, -4.0],
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [0.10559999942779541, 2.894399881362915])
    """
    ResourceApplyAdadelta(
        var=var, accum=accum, accum_update=accum_update, grad=grad, lr=lr, rho=rho, epsilon=epsilon
    )
    return cast(Variable, var)


def ResourceSparseApplyAdadelta(
    *,
    var: Any,
    accum: Any,
    accum_update: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    rho: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """`ResourceApplyAdadelta` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyAdadelta`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum, accum_update = (gl.Variable([[0.0], [0.0]]) for _ in range(2))
    >>> ResourceSparseApplyAdadelta(
    ...     var=var, accum=accum, accum_update=accum_update, lr=0.5, rho=0.75, epsilon=1.0,
    ...     grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [1.1055999994277954]]
    """
    scalars = read_scalars(var, lr=lr, rho=rho, epsilon=epsilon)
    rule = Adadelta(scalars["rho"], scalars["epsilon"])
    step_rows(
        rule, var, {"accum": accum, "accum_update": accum_update}, scalars["lr"], grad, indices
    )


def SparseApplyAdadelta(
    *,
    var: Any,
    accum: Any,
    accum_update: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    rho: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyAdadelta` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyAdadelta`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum, accum_update = (gl.Variable([[0.0], [0.0]]) for _ in range(2))
    >>> result = SparseApplyAdadelta(
    ...     var=var, accum=accum, accum_update=accum_update, lr=0.5, rho=0.75, epsilon=1.0,
    ...     grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [1.1055999994277954]])
    """
    ResourceSparseApplyAdadelta(
        var=var,
        accum=accum,
        accum_update=accum_update,
        grad=grad,
        indices=indices,
        lr=lr,
        rho=rho,
        epsilon=epsilon,
    )
    return cast(Variable, var)


def ResourceApplyRMSProp(
    *,
    var: Any,
    ms: Any,
    mom: Any,
    grad: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """Step along a decaying sum of gradients over the root of their mean square.

        ms = ms + (grad * grad - ms) * (1 - rho)
        mom = mom * momentum + (grad * lr) / sqrt(ms + epsilon);  var = var - mom

    Source: `tf.raw_ops.ResourceApplyRMSProp`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.RMSProp`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> ms, mom = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> ResourceApplyRMSProp(
    ...     var=var, ms=ms, mom=mom, lr=0.5, rho=0.75, momentum=0.5, epsilon=0.0, grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [0.0, 3.0]
    """
    scalars = read_scalars(var, lr=lr, rho=rho, momentum=momentum, epsilon=epsilon)
    rule = RMSProp(scalars["rho"], scalars["momentum"], scalars["epsilon"])
    step_dense(rule, var, {"ms": ms, "mom": mom}, scalars["lr"], grad)


def ApplyRMSProp(
    *,
    var: Any,
    ms: Any,
    mom: Any,
    grad: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyRMSProp` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyRMSProp`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> ms, mom = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> result = ApplyRMSProp(
    ...     var=var, ms=ms, mom=mom, lr=0.5, rho=0.75, momentum=0.5, epsilon=0.0, grad=[4.0, -4.0],
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [0.0, 3.0])
    """
    ResourceApplyRMSProp(
        var=var, ms=ms, mom=mom, grad=grad, lr=lr, rho=rho, momentum=momentum, epsilon=epsilon
    )
    return cast(Variable, var)


def ResourceSparseApplyRMSProp(
    *,
    var: Any,
    ms: Any,
    mom: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """`ResourceApplyRMSProp` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyRMSProp`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> ms, mom = (gl.Variable([[0.0], [0.0]]) for _ in range(2))
    >>> ResourceSparseApplyRMSProp(
    ...     var=var, ms=ms, mom=mom, lr=0.5, rho=0.75, momentum=0.5, epsilon=0.0, grad=[[4.0]],
    ...     indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [1.0]]
    """
    scalars = read_scalars(var, lr=lr, rho=rho, momentum=momentum, epsilon=epsilon)
    rule = RMSProp(scalars["rho"], scalars["momentum"], scalars["epsilon"])
    step_rows(
        rule,
        var,
        {"ms": ms, "mom": mom},
        scalars["lr"],
        grad,
        indices,
        order="sparse",
        dtypes=ALL_BUT_BFLOAT16,
    )


def SparseApplyRMSProp(
    *,
    var: Any,
    ms: Any,
    mom: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyRMSProp` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyRMSProp`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> ms, mom = (gl.Variable([[0.0], [0.0]]) for _ in range(2))
    >>> result = SparseApplyRMSProp(
    ...     var=var, ms=ms, mom=mom, lr=0.5, rho=0.75, momentum=0.5, epsilon=0.0, grad=[[4.0]],
    ...     indices=np.int32([1]),
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [1.0]])
    """
    ResourceSparseApplyRMSProp(
        var=var,
        ms=ms,
        mom=mom,
        grad=grad,
        indices=indices,
        lr=lr,
        rho=rho,
        momentum=momentum,
        epsilon=epsilon,
    )
    return cast(Variable, var)


def ResourceApplyCenteredRMSProp(
    *,
    var: Any,
    mg: Any,
    ms: Any,
    mom: Any,
    grad: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """Step along a decaying sum of gradients over their standard deviation.

        ms = ms + (grad * grad - ms) * (1 - rho);  mg = mg + (grad - mg) * (1 - rho)
        mom = mom * momentum + (grad * lr) / sqrt(ms - mg * mg + epsilon);  var = var - mom

    Source: `tf.raw_ops.ResourceApplyCenteredRMSProp`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.CenteredRMSProp`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> mg, ms, mom = (gl.Variable([0.0, 0.0]) for _ in range(3))
    >>> ResourceApplyCenteredRMSProp(
    ...     var=var, mg=mg, ms=ms, mom=mom, lr=0.5, rho=0.75, momentum=0.5, epsilon=0.0,
    ...     grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [-0.15469999611377716, 3.1547000408172607]
    """
    scalars = read_scalars(var, lr=lr, rho=rho, momentum=momentum, epsilon=epsilon)
    rule = CenteredRMSProp(scalars["rho"], scalars["momentum"], scalars["epsilon"])
    step_dense(rule, var, {"ms": ms, "mom": mom, "mg": mg}, scalars["lr"], grad)


def ApplyCenteredRMSProp(
    *,
    var: Any,
    mg: Any,
    ms: Any,
    mom: Any,
    grad: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyCenteredRMSProp` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyCenteredRMSProp`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> mg, ms, mom = (gl.Variable([0.0, 0.0]) for _ in range(3))
    >>> result = ApplyCenteredRMSProp(
    ...     var=var, mg=mg, ms=ms, mom=mom, lr=0.5, rho=0.75, momentum=0.5, epsilon=0.0,
    ...     grad=[4.0, -4.0],
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [-0.15469999611377716, 3.1547000408172607])
    """
    ResourceApplyCenteredRMSProp(
        var=var,
        mg=mg,
        ms=ms,
        mom=mom,
        grad=grad,
        lr=lr,
        rho=rho,
        momentum=momentum,
        epsilon=epsilon,
    )
    return cast(Variable, var)


def ResourceSparseApplyCenteredRMSProp(
    *,
    var: Any,
    mg: Any,
    ms: Any,
    mom: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """`ResourceApplyCenteredRMSProp` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyCenteredRMSProp`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> mg, ms, mom = (gl.Variable([[0.0], [0.0]]) for _ in range(3))
    >>> ResourceSparseApplyCenteredRMSProp(
    ...     var=var, mg=mg, ms=ms, mom=mom, lr=0.5, rho=0.75, momentum=0.5, epsilon=0.0,
    ...     grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [0.845300018787384]]
    """
    scalars = read_scalars(var, lr=lr, rho=rho, momentum=momentum, epsilon=epsilon)
    rule = CenteredRMSProp(scalars["rho"], scalars["momentum"], scalars["epsilon"])
    step_rows(
        rule,
        var,
        {"ms": ms, "mom": mom, "mg": mg},
        scalars["lr"],
        grad,
        indices,
        dtypes=ALL_BUT_BFLOAT16,
        order="sparse",
    )


def SparseApplyCenteredRMSProp(
    *,
    var: Any,
    mg: Any,
    ms: Any,
    mom: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyCenteredRMSProp` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyCenteredRMSProp`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> mg, ms, mom = (gl.Variable([[0.0], [0.0]]) for _ in range(3))
    >>> result = SparseApplyCenteredRMSProp(
    ...     var=var, mg=mg, ms=ms, mom=mom, lr=0.5, rho=0.75, momentum=0.5, epsilon=0.0,
    ...     grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [0.845300018787384]])
    """
    ResourceSparseApplyCenteredRMSProp(
        var=var,
        mg=mg,
        ms=ms,
        mom=mom,
        grad=grad,
        indices=indices,
        lr=lr,
        rho=rho,
        momentum=momentum,
        epsilon=epsilon,
    )
    return cast(Variable, var)


def ResourceApplyFtrl(
    *,
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> None:
    """Follow the regularized leader: the weights that would have been best on all gradients so far.

        new = accum + grad * grad;  root(x) = x ** -lr_power
        linear = linear + grad - (root(new) - root(accum)) / lr * var
        var = (clip(linear, -l1, l1) - linear) / (root(new) / lr + 2 * l2);  accum = new

    Source: `tf.raw_ops.ResourceApplyFtrl`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.Ftrl`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum, linear = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> ResourceApplyFtrl(
    ...     var=var, accum=accum, linear=linear, lr=0.5, l1=0.5, l2=0.0, lr_power=-0.5,
    ...     grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [0.4375, 2.4375]
    """
    scalars = read_scalars(var, lr=lr, l1=l1, l2=l2, lr_power=lr_power)
    rule = Ftrl(
        scalars["lr_power"],
        scalars["l1"],
        scalars["l2"],
        multiply_linear_by_lr=multiply_linear_by_lr,
    )
    step_dense(rule, var, {"accum": accum, "linear": linear}, scalars["lr"], grad, dtypes=REAL)


def ApplyFtrl(
    *,
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyFtrl` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyFtrl`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum, linear = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> result = ApplyFtrl(
    ...     var=var, accum=accum, linear=linear, lr=0.5, l1=0.5, l2=0.0, lr_power=-0.5,
    ...     grad=[4.0, -4.0],
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [0.4375, 2.4375])
    """
    ResourceApplyFtrl(
        var=var,
        accum=accum,
        linear=linear,
        grad=grad,
        lr=lr,
        l1=l1,
        l2=l2,
        lr_power=lr_power,
        multiply_linear_by_lr=multiply_linear_by_lr,
    )
    return cast(Variable, var)


def ResourceSparseApplyFtrl(
    *,
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> None:
    """`ResourceApplyFtrl` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyFtrl`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum, linear = (gl.Variable([[0.0], [0.0]]) for _ in range(2))
    >>> ResourceSparseApplyFtrl(
    ...     var=var, accum=accum, linear=linear, lr=0.5, l1=0.5, l2=0.0, lr_power=-0.5,
    ...     grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [1.4375]]
    """
    scalars = read_scalars(var, lr=lr, l1=l1, l2=l2, lr_power=lr_power)
    check_rate_sign(scalars["lr"], multiply_linear_by_lr)
    check_penalties(scalars["l1"], scalars["l2"])
    check_power(scalars["lr_power"])
    rule = Ftrl(
        scalars["lr_power"],
        scalars["l1"],
        scalars["l2"],
        multiply_linear_by_lr=multiply_linear_by_lr,
    )
    step_rows(
        rule,
        var,
        {"accum": accum, "linear": linear},
        scalars["lr"],
        grad,
        indices,
        dtypes=REAL,
        order="sparse",
        scalar_row_order="scalar",
    )


def SparseApplyFtrl(
    *,
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyFtrl` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyFtrl`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum, linear = (gl.Variable([[0.0], [0.0]]) for _ in range(2))
    >>> result = SparseApplyFtrl(
    ...     var=var, accum=accum, linear=linear, lr=0.5, l1=0.5, l2=0.0, lr_power=-0.5,
    ...     grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [1.4375]])
    """
    ResourceSparseApplyFtrl(
        var=var,
        accum=accum,
        linear=linear,
        grad=grad,
        indices=indices,
        lr=lr,
        l1=l1,
        l2=l2,
        lr_power=lr_power,
        multiply_linear_by_lr=multiply_linear_by_lr,
    )
    return cast(Variable, var)


def ResourceApplyFtrlV2(
    *,
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    l2_shrinkage: Any,
    lr_power: Any,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> None:
    """Follow the regularized leader, with a penalty on the weights, `l2_shrinkage`, in the gradient.

        new = accum + grad * grad;  root(x) = x ** -lr_power
        linear = linear + grad + 2 * l2_shrinkage * var - (root(new) - root(accum)) / lr * var
        var = (clip(linear, -l1, l1) - linear) / (root(new) / lr + 2 * l2);  accum = new

    Source: `tf.raw_ops.ResourceApplyFtrlV2`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.Ftrl`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum, linear = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> ResourceApplyFtrlV2(
    ...     var=var, accum=accum, linear=linear, lr=0.5, l1=0.5, l2=0.0, l2_shrinkage=0.0,
    ...     lr_power=-0.5, grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [0.4375, 2.4375]
    """
    scalars = read_scalars(var, lr=lr, l1=l1, l2=l2, l2_shrinkage=l2_shrinkage, lr_power=lr_power)
    rule = Ftrl(
        scalars["lr_power"],
        scalars["l1"],
        scalars["l2"],
        l2_shrinkage=scalars["l2_shrinkage"],
        multiply_linear_by_lr=multiply_linear_by_lr,
    )
    step_dense(rule, var, {"accum": accum, "linear": linear}, scalars["lr"], grad, dtypes=REAL)


def ApplyFtrlV2(
    *,
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    l2_shrinkage: Any,
    lr_power: Any,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyFtrlV2` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyFtrlV2`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> accum, linear = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> result = ApplyFtrlV2(
    ...     var=var, accum=accum, linear=linear, lr=0.5, l1=0.5, l2=0.0, l2_shrinkage=0.0,
    ...     lr_power=-0.5, grad=[4.0, -4.0],
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [0.4375, 2.4375])
    """
    ResourceApplyFtrlV2(
        var=var,
        accum=accum,
        linear=linear,
        grad=grad,
        lr=lr,
        l1=l1,
        l2=l2,
        l2_shrinkage=l2_shrinkage,
        lr_power=lr_power,
        multiply_linear_by_lr=multiply_linear_by_lr,
    )
    return cast(Variable, var)


def ResourceSparseApplyFtrlV2(
    *,
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    l2_shrinkage: Any,
    lr_power: Any,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> None:
    """`ResourceApplyFtrlV2` for rows.

    Source: `tf.raw_ops.ResourceSparseApplyFtrlV2`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum, linear = (gl.Variable([[0.0], [0.0]]) for _ in range(2))
    >>> ResourceSparseApplyFtrlV2(
    ...     var=var, accum=accum, linear=linear, lr=0.5, l1=0.5, l2=0.0, l2_shrinkage=0.0,
    ...     lr_power=-0.5, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> var.numpy().round(4).tolist()
    [[1.0], [1.4375]]
    """
    scalars = read_scalars(var, lr=lr, l1=l1, l2=l2, l2_shrinkage=l2_shrinkage, lr_power=lr_power)
    check_rate_sign(scalars["lr"], multiply_linear_by_lr)
    check_penalties(scalars["l1"], scalars["l2"])
    check_power(scalars["lr_power"])
    rule = Ftrl(
        scalars["lr_power"],
        scalars["l1"],
        scalars["l2"],
        l2_shrinkage=scalars["l2_shrinkage"],
        multiply_linear_by_lr=multiply_linear_by_lr,
    )
    step_rows(
        rule,
        var,
        {"accum": accum, "linear": linear},
        scalars["lr"],
        grad,
        indices,
        dtypes=REAL,
        order="sparse",
        scalar_row_order="scalar",
    )


def SparseApplyFtrlV2(
    *,
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    indices: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    l2_shrinkage: Any,
    lr_power: Any,
    use_locking: bool = False,
    multiply_linear_by_lr: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceSparseApplyFtrlV2` for a ref variable, which it returns.

    Source: `tf.raw_ops.SparseApplyFtrlV2`, TensorFlow 2.21 (2026).

    >>> import numpy as np
    >>> import gradlab as gl
    >>> var = gl.Variable([[1.0], [2.0]])
    >>> accum, linear = (gl.Variable([[0.0], [0.0]]) for _ in range(2))
    >>> result = SparseApplyFtrlV2(
    ...     var=var, accum=accum, linear=linear, lr=0.5, l1=0.5, l2=0.0, l2_shrinkage=0.0,
    ...     lr_power=-0.5, grad=[[4.0]], indices=np.int32([1]),
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [[1.0], [1.4375]])
    """
    ResourceSparseApplyFtrlV2(
        var=var,
        accum=accum,
        linear=linear,
        grad=grad,
        indices=indices,
        lr=lr,
        l1=l1,
        l2=l2,
        l2_shrinkage=l2_shrinkage,
        lr_power=lr_power,
        multiply_linear_by_lr=multiply_linear_by_lr,
    )
    return cast(Variable, var)


def ResourceApplyAdam(
    *,
    var: Any,
    m: Any,
    v: Any,
    grad: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> None:
    """Step along the mean gradient over the root of the mean square.

        m = m + (grad - m) * (1 - beta1);  v = v + (grad * grad - v) * (1 - beta2)
        rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
        var = var - (m * rate) / (sqrt(v) + epsilon)                                   plain
        var = var - ((grad * (1 - beta1) + beta1 * m) * rate) / (sqrt(v) + epsilon)    use_nesterov

    Source: `tf.raw_ops.ResourceApplyAdam`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.Adam`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> m, v = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> ResourceApplyAdam(
    ...     var=var, m=m, v=v, beta1_power=0.5, beta2_power=0.75, lr=0.5, beta1=0.5, beta2=0.75,
    ...     epsilon=0.0, grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [0.5, 2.5]
    """
    scalars = read_scalars(
        var,
        beta1_power=beta1_power,
        beta2_power=beta2_power,
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
    )
    rule = Adam(
        scalars["beta1"],
        scalars["beta2"],
        scalars["epsilon"],
        use_nesterov=use_nesterov,
        beta1_power=scalars["beta1_power"],
        beta2_power=scalars["beta2_power"],
    )
    step_dense(rule, var, {"m": m, "v": v}, scalars["lr"], grad)


def ApplyAdam(
    *,
    var: Any,
    m: Any,
    v: Any,
    grad: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    use_locking: bool = False,
    use_nesterov: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyAdam` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyAdam`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> m, v = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> result = ApplyAdam(
    ...     var=var, m=m, v=v, beta1_power=0.5, beta2_power=0.75, lr=0.5, beta1=0.5, beta2=0.75,
    ...     epsilon=0.0, grad=[4.0, -4.0],
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [0.5, 2.5])
    """
    ResourceApplyAdam(
        var=var,
        m=m,
        v=v,
        grad=grad,
        beta1_power=beta1_power,
        beta2_power=beta2_power,
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
        use_nesterov=use_nesterov,
    )
    return cast(Variable, var)


def ResourceApplyAdamWithAmsgrad(
    *,
    var: Any,
    m: Any,
    v: Any,
    vhat: Any,
    grad: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """Step along the mean gradient over the root of the largest mean square so far.

        m = m + (grad - m) * (1 - beta1);  v = v + (grad * grad - v) * (1 - beta2)
        vhat = max(vhat, v);  rate = lr * sqrt(1 - beta2_power) / (1 - beta1_power)
        var = var - (m * rate) / (sqrt(vhat) + epsilon)

    Source: `tf.raw_ops.ResourceApplyAdamWithAmsgrad`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.AMSGrad`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> m, v, vhat = (gl.Variable([0.0, 0.0]) for _ in range(3))
    >>> ResourceApplyAdamWithAmsgrad(
    ...     var=var, m=m, v=v, vhat=vhat, beta1_power=0.5, beta2_power=0.75, lr=0.5, beta1=0.5,
    ...     beta2=0.75, epsilon=0.0, grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [0.5, 2.5]
    """
    scalars = read_scalars(
        var,
        beta1_power=beta1_power,
        beta2_power=beta2_power,
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
    )
    rule = AMSGrad(
        scalars["beta1"],
        scalars["beta2"],
        scalars["epsilon"],
        scalars["beta1_power"],
        scalars["beta2_power"],
    )
    step_dense(rule, var, {"m": m, "v": v, "vhat": vhat}, scalars["lr"], grad, dtypes=REAL)


def ResourceApplyAdaMax(
    *,
    var: Any,
    m: Any,
    v: Any,
    grad: Any,
    beta1_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """Step along the mean gradient, in units of the largest recent gradient.

        m = m + (grad - m) * (1 - beta1);  v = max(beta2 * v, |grad|)
        var = var - lr / (1 - beta1_power) * (m / (v + epsilon))

    Source: `tf.raw_ops.ResourceApplyAdaMax`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.AdaMax`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> m, v = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> ResourceApplyAdaMax(
    ...     var=var, m=m, v=v, beta1_power=0.5, lr=0.5, beta1=0.5, beta2=0.75, epsilon=0.0,
    ...     grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [0.5, 2.5]
    """
    scalars = read_scalars(
        var, beta1_power=beta1_power, lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon
    )
    rule = AdaMax(scalars["beta1"], scalars["beta2"], scalars["epsilon"], scalars["beta1_power"])
    slots = {"m": m, "v": v}
    step_dense(rule, var, slots, scalars["lr"], grad, dtypes=FLOAT_16_32_64)


def ApplyAdaMax(
    *,
    var: Any,
    m: Any,
    v: Any,
    grad: Any,
    beta1_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyAdaMax` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyAdaMax`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> m, v = (gl.Variable([0.0, 0.0]) for _ in range(2))
    >>> result = ApplyAdaMax(
    ...     var=var, m=m, v=v, beta1_power=0.5, lr=0.5, beta1=0.5, beta2=0.75, epsilon=0.0,
    ...     grad=[4.0, -4.0],
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [0.5, 2.5])
    """
    ResourceApplyAdaMax(
        var=var,
        m=m,
        v=v,
        grad=grad,
        beta1_power=beta1_power,
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
    )
    return cast(Variable, var)


def ResourceApplyAddSign(
    *,
    var: Any,
    m: Any,
    grad: Any,
    lr: Any,
    alpha: Any,
    sign_decay: Any,
    beta: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """Scale the step up where gradient and mean gradient agree in sign, down where they don't.

        m = m * beta + grad * (1 - beta)
        var = var - lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad

    Source: `tf.raw_ops.ResourceApplyAddSign`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.AddSign`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> m = gl.Variable([0.0, 0.0])
    >>> ResourceApplyAddSign(
    ...     var=var, m=m, lr=0.5, alpha=1.0, sign_decay=0.0, beta=0.5, grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [-1.0, 4.0]
    """
    scalars = read_scalars(var, lr=lr, alpha=alpha, sign_decay=sign_decay, beta=beta)
    rule = AddSign(scalars["alpha"], scalars["sign_decay"], scalars["beta"])
    step_dense(rule, var, {"m": m}, scalars["lr"], grad, dtypes=REAL)


def ApplyAddSign(
    *,
    var: Any,
    m: Any,
    grad: Any,
    lr: Any,
    alpha: Any,
    sign_decay: Any,
    beta: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyAddSign` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyAddSign`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> m = gl.Variable([0.0, 0.0])
    >>> result = ApplyAddSign(
    ...     var=var, m=m, lr=0.5, alpha=1.0, sign_decay=0.0, beta=0.5, grad=[4.0, -4.0],
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [-1.0, 4.0])
    """
    ResourceApplyAddSign(
        var=var, m=m, grad=grad, lr=lr, alpha=alpha, sign_decay=sign_decay, beta=beta
    )
    return cast(Variable, var)


def ResourceApplyPowerSign(
    *,
    var: Any,
    m: Any,
    grad: Any,
    lr: Any,
    logbase: Any,
    sign_decay: Any,
    beta: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> None:
    """Multiply the step where gradient and mean gradient agree in sign, divide it where they don't.

        m = m * beta + grad * (1 - beta)
        var = var - lr * exp(logbase * sign_decay * sign(grad) * sign(m)) * grad

    Source: `tf.raw_ops.ResourceApplyPowerSign`, TensorFlow 2.21 (2026).
    The rule is `gl.rules.PowerSign`.

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> m = gl.Variable([0.0, 0.0])
    >>> ResourceApplyPowerSign(
    ...     var=var, m=m, lr=0.5, logbase=1.0, sign_decay=0.0, beta=0.5, grad=[4.0, -4.0],
    ... )
    >>> var.numpy().round(4).tolist()
    [-1.0, 4.0]
    """
    scalars = read_scalars(var, lr=lr, logbase=logbase, sign_decay=sign_decay, beta=beta)
    rule = PowerSign(scalars["logbase"], scalars["sign_decay"], scalars["beta"])
    step_dense(rule, var, {"m": m}, scalars["lr"], grad, dtypes=REAL)


def ApplyPowerSign(
    *,
    var: Any,
    m: Any,
    grad: Any,
    lr: Any,
    logbase: Any,
    sign_decay: Any,
    beta: Any,
    use_locking: bool = False,
    name: str | None = None,
) -> Variable:
    """`ResourceApplyPowerSign` for a ref variable, which it returns.

    Source: `tf.raw_ops.ApplyPowerSign`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> var = gl.Variable([1.0, 2.0])
    >>> m = gl.Variable([0.0, 0.0])
    >>> result = ApplyPowerSign(
    ...     var=var, m=m, lr=0.5, logbase=1.0, sign_decay=0.0, beta=0.5, grad=[4.0, -4.0],
    ... )
    >>> result is var, var.numpy().round(4).tolist()
    (True, [-1.0, 4.0])
    """
    ResourceApplyPowerSign(
        var=var, m=m, grad=grad, lr=lr, logbase=logbase, sign_decay=sign_decay, beta=beta
    )
    return cast(Variable, var)
