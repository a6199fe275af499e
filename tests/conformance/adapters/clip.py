"""Clip functions: verbs `call` and `grad_of`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import gradlab as gl
from gradlab._base.arrays import precision
from tests.conformance import decode
from tests.conformance.runner import attempt, replay
from tests.conformance.scenarios import Scenario, Unsupported

FUNCTIONS = (
    "clip_by_value",
    "clip_by_norm",
    "clip_by_average_norm",
    "global_norm",
    "clip_by_global_norm",
)
NAMESPACES = ("", "v1.", "linalg.", "compat.v1.")  # TensorFlow's names for the same functions
# Those that differ between TensorFlow versions.
VERSIONED = ("clip_by_value", "clip_by_norm", "clip_by_global_norm")
JAX_TOLERANCE = "ulp 4"


def accepts(scenario: Scenario) -> bool:
    return scenario.group == "clip" and scenario.mode in ("eager", "graph")


def differences(scenario: Scenario) -> list[str]:
    return replay(
        scenario, lambda semantics: [run_call(call, semantics) for call in scenario.calls]
    )


def function(name: str, semantics: str, mode: str = "eager") -> Callable[..., Any]:
    """gradlab's function behind the name of the original, with TensorFlow's version and mode filled
    in.
    """
    known = {prefix + f: f for prefix in NAMESPACES for f in FUNCTIONS}
    if name not in known:
        raise Unsupported(f"function {name!r}")
    plain = getattr(gl, known[name])
    if known[name] == "clip_by_average_norm":
        return functools.partial(plain, mode=mode)
    if known[name] not in VERSIONED:
        return plain
    return lambda *args, **kwargs: plain(*args, **kwargs, semantics=semantics)


def run_call(call: dict[str, Any], semantics: str) -> Any:
    """The output of one `call` or `grad_of`."""
    if call["do"] == "call":
        return _call(call, semantics)
    if call["do"] == "grad_of":
        return _grad_of(call, semantics)
    raise Unsupported(f"verb {call['do']!r}")


def _call(
    call: dict[str, Any], semantics: str, as_array: Callable[[Any], Any] = lambda a: a
) -> Any:
    f = function(call["fn"], semantics)
    args, kwargs = _arguments(call, as_array)
    return attempt(lambda: {"value": f(*args, **kwargs)})


def _arguments(
    call: dict[str, Any], as_array: Callable[[Any], Any] = lambda a: a
) -> tuple[list[Any], dict[str, Any]]:
    args = decode.value(call.get("args", []), as_array)
    return args, {k: decode.value(v, as_array) for k, v in call.get("kwargs", {}).items()}


def _grad_of(call: dict[str, Any], semantics: str) -> Any:
    """The gradient of the sum of what the function gives at x; list functions get [x]."""
    f = function(call["fn"], semantics)
    args, kwargs = _arguments(call)
    x = decode.value(call["x"])
    many = call["fn"].endswith("global_norm")

    def total(t: Any) -> Any:
        y = f([t] if many else t, *args, **kwargs)
        return (y[0][0] if isinstance(y, tuple) else y).sum()

    return attempt(lambda: {"value": _gradient(total, x)})


def _gradient(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    import jax

    with precision(x.dtype):
        return np.asarray(jax.grad(f)(jax.numpy.asarray(x)))


def on_jax(scenario: Scenario) -> bool:
    """Can the scenario be repeated on JAX arrays: calls only, and every one of them gives arrays."""
    if not accepts(scenario) or any(call["do"] != "call" for call in scenario.calls):
        return False
    return all("value" in out for outputs in scenario.data["expected"].values() for out in outputs)


def jax_differences(scenario: Scenario, jit: bool) -> list[str]:
    """Deviations on JAX arrays, eagerly or under jit; float32 and float64 within `JAX_TOLERANCE`."""
    if jit and _underflows(scenario.calls):
        raise Unsupported(
            "XLA simplifies products and square roots, which keeps what "
            "TensorFlow's order lets underflow"
        )
    mode = JAX_TOLERANCE if scenario.data["compare"] == "bitwise" else scenario.data["compare"]
    relaxed = replace(scenario, data={**scenario.data, "compare": mode})
    run = _compiled if jit else _eagerly
    with precision(np.float64 if "float64" in str(scenario.calls) else np.float32):
        return replay(relaxed, lambda semantics: run(scenario.calls, semantics))


def _underflows(x: Any) -> bool:
    """Is there an entry whose square is 0 in its dtype although it is not."""
    if decode.is_array(x):
        entries = decode.array(x)
        with np.errstate(all="ignore"):
            return bool(np.any((entries != 0) & (entries * entries == 0)))
    return any(
        map(_underflows, x.values() if isinstance(x, dict) else x if isinstance(x, list) else ())
    )


def _eagerly(calls: list[dict[str, Any]], semantics: str) -> list[Any]:
    """The outputs of the calls with every array a JAX array."""

    def output(call: dict[str, Any]) -> dict[str, Any]:
        f, arrays = _of_arrays(call, semantics)
        return {"value": f(arrays)}

    return [attempt(lambda call=call: output(call)) for call in calls]


def _compiled(calls: list[dict[str, Any]], semantics: str) -> list[Any]:
    """The same under jit, all calls in one program."""
    import jax

    def outputs() -> list[Any]:
        functions, arrays = zip(*(_of_arrays(call, semantics) for call in calls), strict=True)
        program = jax.jit(lambda arrays: [f(x) for f, x in zip(functions, arrays, strict=True)])
        return [{"value": value} for value in program(arrays)]

    found = attempt(outputs)
    return found if isinstance(found, list) else [found] * len(calls)


def _of_arrays(
    call: dict[str, Any], semantics: str
) -> tuple[Callable[[list[Any]], Any], list[Any]]:
    """The call as a function of its arrays, which are JAX's, and these; what is no array is static."""
    import jax

    f = function(call["fn"], semantics)
    leaves, tree = jax.tree.flatten(_arguments(call, jax.numpy.asarray))

    def given(arrays: list[Any]) -> Any:
        left = iter(arrays)
        args, kwargs = tree.unflatten(
            [next(left) if isinstance(x, jax.Array) else x for x in leaves]
        )
        return f(*args, **kwargs)

    return given, [x for x in leaves if isinstance(x, jax.Array)]
