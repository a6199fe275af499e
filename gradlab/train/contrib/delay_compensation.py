"""Gradient descent that corrects a late gradient for how far the weights have moved since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..._base.arrays import Array
from ...errors import InvalidArgumentError
from ...rules.rule import Rule, Slots
from ..autodiff import Loss
from ..gate import GATE_OP
from ..hyperparameters import LearningRate, Rate
from ..rule_optimizer import RuleOptimizer
from ..variable import Variable


@dataclass(frozen=True)
class DelayCompensatedDescent(Rule):
    """The formula of delay compensation; `worker` says whose shadow counts."""

    variance_parameter: float = 0.0
    num_workers: int = 1
    worker: int = 0

    @property
    def slots(self) -> dict[str, float | str]:  # type: ignore[override]
        """A shadow for each worker."""
        return {f"shadow_{k}": 0.0 for k in range(int(self.num_workers))}

    def init(self, w: Array) -> Slots:
        return tuple(w.copy() for _ in self.slots)

    def step(self, w: Array, slots: Slots, g: Array, lr: Array) -> tuple[Array, Slots]:
        shadow = slots[int(self.worker)]
        new_w = w - lr * (g + self.variance_parameter * g * g * (w - shadow))
        kept = [new_w if k == int(self.worker) else s.copy() for k, s in enumerate(slots)]
        return new_w, tuple(kept)


class DelayCompensatedGradientDescentOptimizer(RuleOptimizer):
    """Gradient descent for workers whose gradients are late.

        w = w - lr * (g + variance_parameter * g * g * (w - shadow))
        shadow = w

    with a slot "shadow_0", "shadow_1", ... for each worker, which starts as the weights: what the
    weights were when the worker last stepped, and so what its gradient was computed at. The second
    term moves g toward the gradient at the weights now, with g * g as an estimate of the diagonal
    of the Hessian. IndexedSlices: slices of one row are summed first; rows not named keep w and
    shadow.

    Args:
        learning_rate, variance_parameter: number, scalar array or variable, or function without
            arguments; the learning rate also a schedule.
        num_workers: how many workers compute gradients.
        use_locking: no effect on values.
        name: not empty (ValueError).

    Raises:
        ValueError: `num_workers` isn't above 0.

    Differs from TensorFlow: no release of it has a kernel for this class, which was merged, found
    broken and removed; the formula is the paper's, names and arguments are TensorFlow's. Without
    `worker_index`, `minimize` takes worker 0, as `apply_gradients` does. Source:
    `tf.contrib.opt.DelayCompensatedGradientDescentOptimizer`, TensorFlow's sources of 2017; Zheng
    et al., "Asynchronous Stochastic Gradient Descent with Delay Compensation" (2017).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0], name="v")
    >>> opt = gl.contrib.opt.DelayCompensatedGradientDescentOptimizer(0.5, 1.0, num_workers=2)
    >>> opt.apply_gradients([([1.0], v)], worker_index=0)
    >>> opt.apply_gradients([([1.0], v)], worker_index=1)
    >>> v.numpy().tolist(), opt.get_slot(v, "shadow_0").numpy().tolist()
    ([0.25], [0.5])
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        variance_parameter: Rate,
        num_workers: int = 1,
        use_locking: bool = False,
        name: str = "DelayCompensatedGradientDescent",
    ) -> None:
        if num_workers <= 0:
            raise ValueError(f"num_workers must be above 0, got {num_workers}")
        super().__init__(
            DelayCompensatedDescent(num_workers=num_workers),
            learning_rate,
            use_locking,
            name,
            variance_parameter=variance_parameter,
        )
        self._num_workers = num_workers

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Variable | None = None,
        name: str | None = None,
        worker_index: int | None = None,
    ) -> Any:
        """Third step: update every variable by a worker's gradient, then add 1 to global_step.

        Args:
            grads_and_vars, global_step, name: as of other optimizers.
            worker_index: whose gradient it is, from 0; None means 0.

        Raises:
            ValueError: there is no such worker.
        """
        self._check_worker(worker_index)

        def choose(rule: Any, v: Variable) -> Any:
            return replace(rule, worker=worker_index or 0)

        return self._apply(grads_and_vars, global_step, name, choose)

    def minimize(
        self,
        loss: Loss,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
        worker_index: int | None = None,
    ) -> Any:
        """`compute_gradients` and `apply_gradients` in one, by a worker's gradient.

        In a Graph an Operation that does both at every run. Raises ValueError where there is no such
        worker.
        """
        self._check_worker(worker_index)
        pairs = self.compute_gradients(
            loss,
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
        )
        return self.apply_gradients(pairs, global_step, name, worker_index)

    def _check_worker(self, worker_index: int | None) -> None:
        if worker_index is not None and not 0 <= worker_index < self._num_workers:
            raise InvalidArgumentError(
                f"worker_index must be at least 0 and below num_workers={self._num_workers}, got "
                f"{worker_index}"
            )
