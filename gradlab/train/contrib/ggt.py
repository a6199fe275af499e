"""GGT: full-matrix adaptive regularization from a window of past gradients."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from ..._base.arrays import Array, namespace, precision, quiet
from ..._base.linear_algebra import decompose
from ..._base.slices import IndexedSlices
from ..._base.tensors import compute_now, take_first
from ...errors import DTypeError, InvalidArgumentError, SlicesUnsupportedError
from ..copies import follow, get_copy
from ..gradient_checks import check_step, checked_pairs
from ..hyperparameters import Rate, check_functions, describe, read_scalar
from ..optimizer import Optimizer
from ..slots import keys_of, variable_of
from ..state_dict import (
    Commit,
    VariablesByName,
    check_class,
    convert_saved,
    get_part,
    plain_numbers,
    read_array,
    warn_of_changes,
)
from ..variable import Variable, current_collection

# What is kept, in the order in which TensorFlow makes the variables.
STATE = ("global_step", "grad_buffer", "moment1", "flat_grad")


@quiet
def compute_move(
    state: Mapping[str, Array], flat_grad: Array, numbers: Mapping[str, Any], window: int
) -> tuple[Array, dict[str, Array]]:
    """Return what the weights are to move by, before the learning rate, and the new state.

    Shapes: flat_grad, moment1 and the move (n), grad_buffer (window, n).
    """
    xp: Any = namespace(flat_grad)
    beta1, eps, svd_eps, sigma_eps = (
        numbers[name] for name in ("beta1", "eps", "svd_eps", "sigma_eps")
    )
    one = flat_grad.dtype.type(1)
    count = state["global_step"] + one
    moment = beta1 * state["moment1"] + (one - beta1) * flat_grad
    buffer = _set_row(state["grad_buffer"], int(count - one) % window, moment)

    m = (buffer / xp.sqrt(xp.minimum(count, flat_grad.dtype.type(window)))).T
    identity = xp.eye(window, dtype=flat_grad.dtype)
    u, sigma, _ = decompose(m.T @ m + identity * svd_eps)
    root = xp.sqrt(sigma)
    least = root.min()
    projected = u.T @ (m.T @ moment)
    head = m @ (u @ (projected / (root + sigma_eps) ** 3))
    tail = moment - m @ (u @ (projected / sigma))
    move = xp.where(least > eps, head + tail / least, head)
    new = {"global_step": count, "grad_buffer": buffer, "moment1": moment, "flat_grad": flat_grad}
    return move, new


def _set_row(x: Array, row: int, values: Array) -> Array:
    xp: Any = namespace(x)
    is_row = (xp.arange(x.shape[0]) == row)[:, None]
    result: Array = xp.where(is_row, values[None], x)
    return result


class GGTOptimizer(Optimizer):
    """Step by the inverse root of the covariance of the last `window` means of gradients.

        moment1 = beta1 * moment1 + (1 - beta1) * g
        grad_buffer[(t - 1) mod window] = moment1;  M = grad_buffer.T / sqrt(min(t, window))
        U, S = eigenvectors and eigenvalues of M.T M + svd_eps * I
        move = M U (sqrt(S) + sigma_eps) ** -3 U.T M.T moment1
        if sqrt(min(S)) > eps:
            move = move + (moment1 - M U S ** -1 U.T M.T moment1) / sqrt(min(S))
        w = w - learning_rate * move

    with g the gradients of all variables as one vector, in the order of the names, and t the number
    of the step, from 1. There are no slots: `variables()` are "global_step", "grad_buffer",
    "moment1" and "flat_grad", for all variables together. Memory: `window` times the weights.

    Args:
        learning_rate, beta1, eps, svd_eps, sigma_eps: number, scalar array or variable, or function
            without arguments.
        use_locking: no effect on values.
        name: not empty (ValueError).
        window: an integer above 0 (ValueError), how many means are kept.

    Raises:
        SlicesUnsupportedError: a gradient that is IndexedSlices; it is a TypeError, and the
            NotImplementedError of TensorFlow's other kind of variable.
        DTypeError: variables of several dtypes.
        ValueError: other variables than those of the first step.

    Source: `tf.contrib.opt.GGTOptimizer`, TensorFlow 1.15 (2019); Agarwal et al., "Efficient
    Full-Matrix Adaptive Regularization" (2019).

    >>> import gradlab as gl
    >>> v = gl.Variable([1.0, 1.0], name="v")
    >>> opt = gl.contrib.opt.GGTOptimizer(0.1, beta1=0.0, window=1)
    >>> opt.apply_gradients([([3.0, 4.0], v)])
    >>> [round(x, 2) for x in v.numpy().tolist()]
    [0.94, 0.92]
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: Rate = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: int = 10,
        eps: Rate = 1e-4,
        svd_eps: Rate = 1e-6,
        sigma_eps: Rate = 1e-2,
    ) -> None:
        super().__init__(name)
        self._numbers = {
            "learning_rate": learning_rate,
            "beta1": beta1,
            "eps": eps,
            "svd_eps": svd_eps,
            "sigma_eps": sigma_eps,
        }
        check_functions(**self._numbers)
        if window < 1:
            raise ValueError(f"window must be at least 1, got {window}")
        self._window = int(window)
        self._order: list[Variable] = []
        self._state: dict[str, Variable] = {}

    def __repr__(self) -> str:
        return describe(self, self._name, **self._numbers, window=self._window)

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """None: all that is kept is of all variables together."""
        return None

    def get_slot_names(self) -> list[str]:
        """An empty list: all that is kept is of all variables together."""
        return []

    def variables(self) -> list[Variable]:
        """Return the variables of the state, by name; none before the first step."""
        return sorted(self._state.values(), key=lambda v: v.name)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Variable | None = None, name: str | None = None
    ) -> Any:
        """Third step: update every variable, then add 1 to global_step.

        Args:
            grads_and_vars: pairs of (array, list or None, variable); None is skipped.
            global_step: integer variable, or None.
            name: of the Operation in a Graph; by default the optimizer's.

        Returns:
            None; in a Graph an Operation to run.
        """
        collection = current_collection()
        given = list(grads_and_vars)
        pairs = checked_pairs(take_first(given) if collection.graph else given)
        for g, v in pairs:
            if isinstance(g, IndexedSlices):
                raise SlicesUnsupportedError(
                    f"the gradient of {v.name} is IndexedSlices, and GGT has no sparse step: give "
                    "g.to_dense()"
                )
        if global_step is not None:
            check_step(global_step)
        scope = name or self._name
        collection.check_scope(scope)
        gradients = _by_variable(pairs)
        order = self._find_order(list(gradients))
        if not collection.graph:
            return self._update(gradients, global_step)
        self._keep(order, self._start(order))
        # Tensors among the gradients have other values at every run.
        return collection.finish(
            lambda: self._update(_by_variable(checked_pairs(compute_now(given))), global_step),
            scope,
        )

    def _find_order(self, variables: Sequence[Variable]) -> list[Variable]:
        """Return the variables in the order in which their gradients make one vector."""
        if self._order:
            if set(variables) != set(self._order):
                raise InvalidArgumentError(
                    f"GGT steps {[v.name for v in self._order]} together, and is now given "
                    f"{[v.name for v in variables]}"
                )
            return self._order
        dtypes = {v.dtype for v in variables}
        if len(dtypes) > 1:
            raise DTypeError(
                f"variables of one GGT must share a dtype, got {sorted(map(str, dtypes))}"
            )
        return sorted(set(variables), key=lambda v: v.name)

    def _start(self, order: Sequence[Variable]) -> dict[str, Array]:
        """Return the state now, or before the first step."""
        if self._state:
            return {name: self._state[name].value for name in STATE}
        xp: Any = namespace(order[0]._value)
        dtype = order[0].dtype
        size = sum(v._value.size for v in order)
        shapes: dict[str, tuple[int, ...]] = {
            "global_step": (),
            "grad_buffer": (self._window, size),
            "moment1": (size,),
            "flat_grad": (size,),
        }
        with precision(dtype):
            return {name: xp.zeros(shapes[name], dtype) for name in STATE}

    def _keep(self, order: list[Variable], state: Mapping[str, Array]) -> None:
        """Store a state; its variables are made with the first one."""
        self._order = order
        for name in STATE:
            if name in self._state:
                self._state[name].load(state[name])
            else:
                self._state[name] = Variable(state[name], trainable=False, name=name)

    def _update(self, gradients: Mapping[Variable, Array], global_step: Variable | None) -> None:
        with ExitStack() as stack:
            # One order for all threads, or two could deadlock.
            for v in sorted(gradients, key=id):
                stack.enter_context(v._lock)
            order = self._find_order(list(gradients))
            dtype = order[0].dtype
            stack.enter_context(precision(dtype))
            xp: Any = namespace(order[0]._value)
            numbers = {
                name: np.asarray(read_scalar(x, name)).astype(dtype)[()]
                for name, x in self._numbers.items()
            }
            flat = xp.concatenate([xp.asarray(gradients[v], dtype).reshape(-1) for v in order])
            move, state = compute_move(self._start(order), flat, numbers, self._window)
            new = []
            first = 0
            for v in order:
                part = move[first : first + v._value.size].reshape(v.shape)
                first += v._value.size
                w = v._value - numbers["learning_rate"] * part
                new.append(v._fitting(v.constraint(w) if v.constraint else w))
            for v, w in zip(order, new, strict=True):
                v.load(w)
            self._keep(order, state)
            if global_step is not None:
                global_step.assign_add(1)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """State of its own, for the variables copied with it, else for the same."""
        new = memo[id(self)] = object.__new__(type(self))
        vars(new).update(vars(self))
        new._numbers = {
            name: get_copy(x, memo) if isinstance(x, Variable) else x
            for name, x in self._numbers.items()
        }
        new._order = [get_copy(v, memo) for v in self._order]
        new._state = copy.deepcopy(self._state, memo)
        follow(new, memo)
        return new

    def _follow(self, old: Variable, new: Variable) -> None:
        self._order = [new if v is old else v for v in self._order]
        self._numbers = {name: new if x is old else x for name, x in self._numbers.items()}

    def _stepped_variables(self) -> list[Variable]:
        return list(self._order)

    def _to_save(self, names: VariablesByName) -> dict[str, Any]:
        keys = keys_of(names, dict.fromkeys(self._order))
        return {
            "optimizer": type(self).__name__,
            "settings": self._settings(),
            "order": [keys[v] for v in self._order],
            "variables": {name: read_array(v) for name, v in self._state.items()},
        }

    def _loading(self, state: Any, names: VariablesByName) -> Commit:
        check_class(state, self)
        order = [variable_of(key, names) for key in get_part(state, "order", list)]
        values = get_part(state, "variables")
        warn_of_changes(get_part(state, "settings"), self._settings(), self._name)
        if not order:
            return self._forget
        if set(values) != set(STATE):
            raise InvalidArgumentError(
                f"the state has {', '.join(values) or 'nothing'}, GGT {', '.join(STATE)}; nothing was "
                "loaded"
            )
        likes = type(self)(window=self._window)._start(order)
        new = {name: convert_saved(values[name], likes[name], name, name) for name in STATE}

        def commit() -> None:
            if any(self._state[name].shape != new[name].shape for name in self._state):
                self._forget()
            self._keep(order, new)

        return commit

    def _forget(self) -> None:
        self._order = []
        self._state = {}

    def _settings(self) -> dict[str, Any]:
        return plain_numbers({**self._numbers, "window": self._window})


def _by_variable(pairs: Sequence[tuple[Any, Variable]]) -> dict[Variable, Any]:
    """Return gradients by variable; ValueError for a variable that comes twice."""
    gradients = {v: g for g, v in pairs}
    if len(gradients) < len(pairs):
        raise InvalidArgumentError(
            f"a variable comes twice in {[v.name for _, v in pairs]}; add its gradients"
        )
    return gradients
