"""What a schedule of stale gradients is about: variables, losses, the optimizer inside, the
threshold.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from gradlab.train.variable import current_collection
from tests.conformance import decode
from tests.conformance.scenarios import Unsupported

OPTIMIZERS = {
    "sgd": gl.train.GradientDescentOptimizer,
    "gradient_descent": gl.train.GradientDescentOptimizer,
    "momentum": gl.train.MomentumOptimizer,
    "nesterov": lambda *args, **kwargs: gl.train.MomentumOptimizer(
        *args, **{"use_nesterov": True, **kwargs}
    ),
    "adagrad": gl.train.AdagradOptimizer,
    "adadelta": gl.train.AdadeltaOptimizer,
    "adam": gl.train.AdamOptimizer,
    "ftrl": gl.train.FtrlOptimizer,
    "rmsprop": gl.train.RMSPropOptimizer,
    "proximal_sgd": gl.train.ProximalGradientDescentOptimizer,
    "proximal_adagrad": gl.train.ProximalAdagradOptimizer,
}
SETUP = {
    "variables",
    "dtype",
    "loss",
    "inner_optimizer",
    "inner_args",
    "workers",
    "global_step_dtype",
    "via",
}
# Words about the original's test and not about numbers: gradlab has one kind of variable.
WITHOUT_EFFECT = {
    "resource_variables",
    "use_resource",
    "ref_variables",
    "comparison_hint",
    "notes",
    "note",
}


def mode(hint: str) -> str:
    """How to compare, from the words of the file."""
    if "bit-exact" in hint:
        return "bitwise"
    for pattern, kind in ((r"within (\d+) ulp", "ulp"), (r"rtol (\S+)", "rtol")):
        if found := re.search(pattern, hint):
            return f"{kind} {found[1]}"
    raise Unsupported(f"comparison {hint!r}")


def threshold(setup: dict[str, Any]) -> Any:
    """The staleness: an integer, or a tensor of the integer type that the file names beside it."""
    if isinstance(setup["staleness"], bool):
        return setup["staleness"]
    given = {k: v for k, v in setup.items() if k.startswith("staleness")}
    told = " ".join(f"{k} {v}" for k, v in given.items())
    number = re.search(r"-?\b\d+", str(given["staleness"]))
    if number is None:
        raise Unsupported(f"threshold {given}")
    dtype = re.search(r"int(32|64)", told)
    as_tensor = dtype or ("tensor" in told and "False" not in told)
    return tensor(int(number[0]), dtype[0] if dtype else "int64") if as_tensor else int(number[0])


def tensor(n: int, dtype: str) -> gl.Variable:
    """An integer that keeps its type, which a NumPy scalar does not in the original."""
    return gl.Variable(np.dtype(dtype).type(n), trainable=False, name="staleness")


def inner_optimizer(setup: dict[str, Any]) -> Any:
    name = setup["inner_optimizer"].split()[0].lower()  # a test double is named after what it is
    if name not in OPTIMIZERS:
        raise Unsupported(f"optimizer {setup['inner_optimizer']!r}")
    return OPTIMIZERS[name](**setup["inner_args"])


def loss(spec: dict[str, Any], variables: dict[str, gl.Variable], worker: str) -> Callable[[], Any]:
    """The loss that a worker differentiates."""
    for words, make in LOSSES.items():
        if spec["kind"].startswith(words):
            return make(spec, variables, worker)
    raise Unsupported(f"loss {spec['kind']!r}")


def _linear(spec: dict[str, Any], variables: dict[str, gl.Variable], _: str) -> Callable[[], Any]:
    return lambda: sum(
        (c * variables[name].value).sum() for name, c in spec["coefficients"].items()
    )


def _quadratic(
    spec: dict[str, Any], variables: dict[str, gl.Variable], _: str
) -> Callable[[], Any]:
    targets = {name: np.asarray(t, variables[name].dtype) for name, t in spec["targets"].items()}
    scale = 0.5 * spec.get("scale", 1.0)
    return lambda: sum(
        scale * ((variables[name].value - t) ** 2).sum() for name, t in targets.items()
    )


def _gathered(
    spec: dict[str, Any], variables: dict[str, gl.Variable], worker: str
) -> Callable[[], Any]:
    (table,) = variables.values()
    indices = np.asarray(spec["indices_by_worker"][worker], np.int32)
    return lambda: (
        0.5 * ((gl.gather(table, indices) - np.asarray(spec["target"], table.dtype)) ** 2).sum()
    )


LOSSES = {
    "sum of c*v": _linear,
    "0.5*scale*sum((v-t)^2)": _quadratic,
    "0.5*sum((v-t)^2)": _quadratic,
    "0.5*sum((gather(": _gathered,
}


def check(setup: dict[str, Any]) -> None:
    """Refuse what may mean something that is not known here."""
    known = SETUP | WITHOUT_EFFECT
    if unknown := {key for key in setup if key not in known and not key.startswith("staleness")}:
        raise Unsupported(f"setup with {sorted(unknown)}")
    if setup["via"] not in ("compute_apply", "minimize"):
        raise Unsupported(f"via {setup['via']!r}")


def variables(setup: dict[str, Any]) -> dict[str, gl.Variable]:
    dtype = decode.dtype(setup["dtype"])
    return {
        name: gl.Variable(
            np.asarray(decode.numbers(v["init"]), dtype).reshape(v["shape"]), name=name
        )
        for name, v in setup["variables"].items()
    }


def global_step(setup: dict[str, Any]) -> gl.Variable:
    """A global step of the dtype asked for, as that of the collection."""
    step = gl.Variable(
        np.dtype(setup["global_step_dtype"]).type(0), trainable=False, name="global_step"
    )
    current_collection().global_step = step
    return step


class Stage:
    """The problem of the observations: v = [0, 1] goes down sum((v - 2)²) at the rate 1/4, and u =
    5 stands by.
    """

    def __init__(self) -> None:
        self.v, self.u = gl.Variable([0.0, 1.0], name="v"), gl.Variable(5.0, name="u")
        self.step = gl.get_or_create_global_step()

    def loss(self) -> Any:
        return ((self.v.value - 2.0) ** 2).sum()

    def wrapped(self, staleness: Any = 0, inner: Any = None, **given: Any) -> Any:
        inner = gl.train.GradientDescentOptimizer(0.25) if inner is None else inner
        return gl.train.DropStaleGradientOptimizer(inner, staleness, **{"strict": "tf", **given})

    def applied(self, opt: Any, pairs: Any = None) -> Any:
        """An update that is described."""
        computed = opt.compute_gradients(self.loss, [self.v])
        return opt.apply_gradients(computed if pairs is None else pairs, self.step)

    def told(self, returned: Any, **more: Any) -> dict[str, Any]:
        state = {"v": self.v.numpy(), "u": float(self.u), "global_step": int(self.step)}
        return {"returned": returned, **state, **more}
