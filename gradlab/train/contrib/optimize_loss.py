"""`tf.contrib.layers`: one call from a loss to a training step, and a clip that adapts its limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ... import clip
from ..._base.arrays import Array, as_array, namespace, quiet
from ..._base.slices import IndexedSlices
from ..._base.tensors import Tensor, compute_now, deferrable, new_run, take_first
from ...errors import InvalidArgumentError
from ..adagrad import AdagradOptimizer
from ..adam import AdamOptimizer
from ..autodiff import GradsAndVars, Loss
from ..ftrl import FtrlOptimizer
from ..global_step import get_global_step
from ..gradient_checks import check_step
from ..gradient_descent import GradientDescentOptimizer, MomentumOptimizer
from ..graph import Operation, run_all
from ..hyperparameters import Rate
from ..optimizer import Optimizer
from ..rms_prop import RMSPropOptimizer
from ..slots import enter_scope
from ..variable import Variable, current_collection, enter_collection, trainable_variables

Clip = Callable[[GradsAndVars], GradsAndVars]


def _make_momentum(learning_rate: Rate) -> MomentumOptimizer:
    return MomentumOptimizer(learning_rate, momentum=0.9)


OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Optimizer]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": _make_momentum,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]


class AdaptiveClip:
    """The function that `adaptive_clipping_fn` returns, and the two means that it keeps."""

    def __init__(
        self,
        std_factor: float,
        decay: float,
        static_max_norm: float | None,
        global_step: Any,
        epsilon: float,
        name: str | None,
    ) -> None:
        self._std_factor = std_factor
        self._decay = decay
        self._static_max_norm = static_max_norm
        self._global_step = global_step
        self._epsilon = epsilon
        self._name = name or current_collection().unique_name("AdaptiveMaxNorm")
        self.mean: Variable | None = None
        self.sq_mean: Variable | None = None

    def __call__(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Move the means by the norm of these gradients, and return the pairs clipped.

        With tensors of a Graph the means move whenever the clipped gradients are computed.
        """
        pairs = [tuple(pair) for pair in grads_and_vars]
        norm = clip.global_norm([g for g, _ in pairs])
        means = self._find_means(take_first(norm))
        collection = current_collection()
        if collection.graph and isinstance(norm, Tensor):
            factor = collection.describe_update(
                lambda: self._move(means, norm()),
                lambda: self._compute(means, take_first(norm))[0],
            )
        else:
            factor = self._move(means, compute_now(norm))
        return [(_scale(g, factor), v) for g, v in pairs]

    def _find_means(self, norm: Array) -> tuple[Variable, Variable]:
        if self.mean is None or self.sq_mean is None:
            zero = namespace(norm).zeros_like(norm)
            self.mean = Variable(zero, trainable=False, name=f"{self._name}/mean")
            self.sq_mean = Variable(zero, trainable=False, name=f"{self._name}/sq_mean")
        return self.mean, self.sq_mean

    def _move(self, means: tuple[Variable, Variable], norm: Array) -> Array:
        """Move the means, and return the factor of the gradients."""
        factor, *values = self._compute(means, norm)
        for mean, value in zip(means, values, strict=True):
            mean.load(value)
        return factor

    @quiet
    def _compute(self, means: tuple[Variable, Variable], norm: Array) -> tuple[Array, Array, Array]:
        """Return the factor of gradients of this norm, and the new values of the two means."""
        xp = namespace(norm)
        dtype = norm.dtype.type
        log_norm = xp.log(norm + dtype(self._epsilon))
        share = dtype(self._share())
        mean, sq_mean = (v.value for v in means)
        mean = mean - (mean - log_norm) * share
        sq_mean = sq_mean - (sq_mean - log_norm * log_norm) * share
        deviation = xp.sqrt(xp.maximum(dtype(self._epsilon), sq_mean - mean * mean))
        limit = xp.exp(mean + dtype(self._std_factor) * deviation)
        factor = xp.where(norm < limit, dtype(1), xp.exp(mean) / norm)
        if self._static_max_norm is not None:
            factor = xp.minimum(dtype(self._static_max_norm) / norm, factor)
        return factor, mean, sq_mean

    def _share(self) -> Any:
        """Return the share of a new value in the means: at first a large one, if steps are counted."""
        if self._global_step is None:
            return 1.0 - self._decay
        n = np.float32(as_array(self._global_step, "global_step"))
        return np.float32(1) - np.minimum(np.float32(self._decay), n / (n + np.float32(1)))


def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: float = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> AdaptiveClip:
    """Return a clip that shrinks gradients whose norm is unusually large among those of late.

        mean = mean - (mean - log(norm + epsilon)) * (1 - d)
        sq_mean = sq_mean - (sq_mean - log(norm + epsilon) ** 2) * (1 - d)
        std = sqrt(max(epsilon, sq_mean - mean ** 2))
        factor = 1 if norm < exp(mean + std_factor * std) else exp(mean) / norm
        factor = min(factor, static_max_norm / norm) with a static_max_norm

    with norm the global norm of the gradients, d = decay, or min(decay, n / (n + 1)) with a global
    step n. The mean and the deviation are of logarithms, and this step's norm is among them.

    Args:
        std_factor: how many deviations above the mean a norm may be.
        decay: share of the old mean in the new one.
        static_max_norm: a limit that always holds.
        global_step: an integer variable or a number; the means follow faster at first.
        report_summary: no effect, as nothing is summarized here.
        epsilon: number beside the norm, and the least variance.
        name: first part of the names of the means; "AdaptiveMaxNorm" by default.

    Returns:
        a function from (gradient, variable) pairs to such pairs. `mean` and `sq_mean` are its
        Variables, None before its first call.

    Differs from TensorFlow: the same function keeps its means from call to call, where each call
    makes new ones in a graph. Source: `tensorflow.contrib.layers.python.layers.optimizers`,
    TensorFlow 1.15 (2019); Chorowski et al., "End-to-end Continuous Speech Recognition using
    Attention-based Recurrent NN" (2014).

    >>> import gradlab as gl
    >>> adapt = gl.contrib.layers.adaptive_clipping_fn(std_factor=1.0, decay=0.5)
    >>> for norm in (1.0, 1.0, 1.0, 1.0, 100.0):
    ...     pairs = adapt([(np.float32([norm]), "v")])
    >>> round(float(pairs[0][0][0]), 4)
    10.0
    """
    return AdaptiveClip(std_factor, decay, static_max_norm, global_step, epsilon, name)


@deferrable
def _scale(g: Any, factor: Array) -> Any:
    if g is None:
        return None
    if isinstance(g, IndexedSlices):
        return g.with_values(g.values * factor.astype(g.values.dtype))
    values = as_array(g, "a gradient")
    return values * factor.astype(values.dtype)


def optimize_loss(
    loss: Loss,
    global_step: Variable | None,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: float | Clip | None = None,
    learning_rate_decay_fn: Callable[[Any, Variable], Any] | None = None,
    update_ops: Sequence[Operation] | None = None,
    variables: Sequence[Variable] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Operation:
    """Describe a whole training step: compute, add noise, multiply, clip, apply.

    Args:
        loss: function without arguments that computes a scalar on variables.
        global_step: integer variable; by default that of the collection, if there is one.
        learning_rate: a float, which becomes the Variable "OptimizeLoss/learning_rate"; a scalar
            array, a Variable or a function without arguments; or None for an optimizer that has
            its rate.
        optimizer: one of `OPTIMIZER_CLS_NAMES`, a class of optimizers, an optimizer, or a function
            from the rate (without arguments if `learning_rate` is None) to an optimizer.
        gradient_noise_scale: adds this times normal noise, cut at two deviations, to gradients.
        gradient_multipliers: numbers by variable or by name, "v:0".
        clip_gradients: a float is the limit of `gl.clip_by_global_norm`; a function, such as
            `adaptive_clipping_fn()`, is given the pairs and returns what is applied; None leaves
            gradients as they are.
        learning_rate_decay_fn: from the rate and the global step to a rate.
        update_ops: Operations that run before the loss.
        variables: all trainable ones of the collection by default.
        name: first part of the names of the rate and of slots; "OptimizeLoss" by default.
        summaries: names in `OPTIMIZER_SUMMARIES`; no effect, as nothing is summarized here.
        colocate_gradients_with_ops: no effect on values.
        increment_global_step: whether a step counts.

    Returns:
        an Operation, outside of a Graph, too. Each `run` does a step and returns the loss before
        it.

    Raises:
        ValueError: the loss isn't a scalar; a rate that is an int, a negative float or missing; an
            unknown optimizer or summary; `clip_gradients` is none of the three; a decay without a
            global step.
        TypeError: `global_step` isn't an integer variable.

    Source: `tf.contrib.layers.optimize_loss`, TensorFlow 1.15 (2019).

    >>> import gradlab as gl
    >>> v = gl.Variable([3.0, 4.0], name="v")
    >>> step = gl.contrib.layers.optimize_loss(
    ...     lambda: (v * v).sum(), None, 0.5, "SGD", clip_gradients=5.0, variables=[v]
    ... )
    >>> float(step.run()), v.numpy().tolist()
    (25.0, [1.5, 2.0])
    """
    step = _find_step(global_step)
    collection = current_collection()
    scope = name or collection.unique_name("OptimizeLoss")
    rate = _read_rate(learning_rate, scope)
    _check_summaries(summaries)
    if learning_rate is not None and learning_rate_decay_fn is not None:
        if step is None:
            raise ValueError("global_step is required for learning_rate_decay_fn")
        rate = learning_rate_decay_fn(rate, step)
    opt = _make_optimizer(optimizer, learning_rate, rate)
    listed = trainable_variables() if variables is None else list(variables)
    process = _choose_clip(clip_gradients)

    def update() -> Any:
        """Do all but the loss; in a Graph return the Operation that does it."""
        pairs = opt.compute_gradients(loss, listed)
        if gradient_noise_scale is not None:
            pairs = [(_add_noise(g, gradient_noise_scale), v) for g, v in pairs]
        pairs = process([(_multiply(g, v, gradient_multipliers or {}), v) for g, v in pairs])
        with enter_scope(scope, slots=True):
            return opt.apply_gradients(pairs, step if increment_global_step else None)

    _check_loss(loss)
    train = update().run if collection.graph else update

    def run() -> Any:
        run_all(update_ops or ())
        value = as_array(loss(), "loss")[()]
        with enter_collection(collection):
            train()
        return value

    if collection.graph:
        operation: Operation = collection.fetch(run, "train")
        return operation
    return Operation("train", run)


def _find_step(global_step: Variable | None) -> Variable | None:
    if global_step is None:
        return get_global_step()
    check_step(global_step)
    return global_step


def _check_loss(loss: Loss) -> None:
    if not callable(loss):
        raise InvalidArgumentError(
            f"loss must be a function without arguments, got {type(loss).__name__}: write lambda: "
            "..."
        )
    with new_run():
        shape = loss.shape if isinstance(loss, Tensor) else as_array(loss(), "loss").shape
    if shape != ():
        raise InvalidArgumentError(f"loss must be a scalar, got shape {tuple(shape)}")


def _read_rate(learning_rate: Any, scope: str) -> Any:
    if learning_rate is None or isinstance(learning_rate, Variable) or callable(learning_rate):
        return learning_rate
    if isinstance(learning_rate, float):
        if learning_rate < 0.0:
            raise ValueError(f"learning_rate must not be negative, got {learning_rate}")
        return Variable(np.float32(learning_rate), trainable=False, name=f"{scope}/learning_rate")
    if getattr(learning_rate, "shape", None) == () and hasattr(learning_rate, "dtype"):
        return learning_rate
    raise ValueError(f"learning_rate must be a float or a scalar array, got {learning_rate!r}")


def _check_summaries(summaries: Sequence[str] | None) -> None:
    for summary in summaries or ():
        if summary not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"summaries must be among {', '.join(OPTIMIZER_SUMMARIES)}; got {summary!r}"
            )


def _make_optimizer(optimizer: Any, learning_rate: Any, rate: Any) -> Any:
    is_class = isinstance(optimizer, type) and issubclass(optimizer, Optimizer)
    if isinstance(optimizer, str) or is_class:
        if rate is None:
            raise ValueError(f"learning_rate is None, and {optimizer!r} needs one")
        if is_class:
            return optimizer(learning_rate=rate)
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"optimizer must be among {', '.join(OPTIMIZER_CLS_NAMES)}; got {optimizer!r}"
            )
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, Optimizer):
        return optimizer
    if not callable(optimizer):
        raise ValueError(
            "optimizer must be a name, a class of optimizers, an optimizer, or a function that "
            f"returns one; got {optimizer!r}"
        )
    made = optimizer() if learning_rate is None else optimizer(rate)
    if not isinstance(made, Optimizer):
        raise ValueError(f"the function given as optimizer must return one, got {made!r}")
    return made


def _choose_clip(clip_gradients: Any) -> Clip:
    if clip_gradients is None:
        return list
    if isinstance(clip_gradients, float):
        return lambda pairs: _clip_by_global_norm(pairs, clip_gradients)
    if callable(clip_gradients):
        chosen: Clip = clip_gradients
        return chosen
    raise ValueError(f"clip_gradients must be a float, a function or None, got {clip_gradients!r}")


def _clip_by_global_norm(pairs: GradsAndVars, limit: float) -> GradsAndVars:
    clipped, _ = clip.clip_by_global_norm([g for g, _ in pairs], limit)
    return [(g, v) for g, (_, v) in zip(clipped, pairs, strict=True)]


def _multiply(g: Any, v: Variable, multipliers: Mapping[Any, Any]) -> Any:
    if g is None or not (v in multipliers or v.name in multipliers):
        return g
    multiplier = multipliers[v] if v in multipliers else multipliers[v.name]
    return _scale(g, np.asarray(multiplier))


@deferrable
def _add_noise(g: Any, scale: float) -> Any:
    if g is None:
        return None
    dense = g.to_dense() if isinstance(g, IndexedSlices) else g
    noise = _draw_truncated_normal(dense.shape) * scale
    return dense + namespace(dense).asarray(noise, dense.dtype)


def _draw_truncated_normal(shape: Sequence[int]) -> np.ndarray:
    """Draw normal numbers, again where one is more than two deviations from 0."""
    random = np.random.default_rng()
    noise = random.normal(size=tuple(shape))
    while (is_far := np.abs(noise) > 2).any():
        noise = np.where(is_far, random.normal(size=tuple(shape)), noise)
    return noise
