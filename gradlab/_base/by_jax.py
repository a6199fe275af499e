"""Reverse mode by JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .arrays import Array, is_traced
from .derivatives import Keep, Run
from .jax import jax, jnp


class _Pullback:
    def __init__(self, pullback: Callable[..., Any]) -> None:
        self._pullback = pullback

    def __call__(self, upstream: list[Array]) -> list[Array | None]:
        (found,) = self._pullback(upstream)
        return list(found)

    def depends(self, upstream: list[Array], index: int) -> bool:
        jaxpr = jax.make_jaxpr(self._pullback)(upstream).jaxpr
        reached = set(jaxpr.invars)
        for equation in jaxpr.eqns:
            if any(not hasattr(x, "val") and x in reached for x in equation.invars):
                reached.update(equation.outvars)
        out = jaxpr.outvars[index]
        return not hasattr(out, "val") and out in reached


def vjp(run: Run, inputs: Sequence[Array]) -> tuple[list[Array], _Pullback]:
    """The outputs of `run` and the way back."""
    outputs, pullback = jax.vjp(run, [jnp.asarray(x) for x in inputs])
    return outputs, _Pullback(pullback)


def take(table: Array, indices: Array, keep: Keep) -> Array:
    """Rows of a table; inside `jit` or `scan` the gradient is dense."""

    @jax.custom_vjp
    def rows(table: Array, indices: Array) -> Array:
        return table[indices]

    def forward(table: Array, indices: Array) -> tuple[Array, Any]:
        return table[indices], (indices, table.shape)

    def backward(saved: Any, g: Array) -> tuple[Array | None, None]:
        indices, shape = saved
        if is_traced(g) or is_traced(indices):
            keep(None, None)
            return jnp.zeros(shape, g.dtype).at[indices].add(g), None
        keep(indices.reshape(-1), g.reshape(-1, *shape[1:]))
        return None, None

    rows.defvjp(forward, backward)
    found: Array = rows(table, indices)
    return found


def reads(run: Run, inputs: Sequence[Array]) -> list[set[int]]:
    """The inputs that each gradient is computed from, found in the jaxpr of the gradients."""

    def summed(values: list[Array]) -> Array:
        total: Array = jnp.sum(jnp.stack([jnp.sum(y) for y in run(values)]))
        return total

    jaxpr = jax.make_jaxpr(jax.grad(summed))(list(inputs)).jaxpr
    seen: dict[Any, set[int]] = {x: {k} for k, x in enumerate(jaxpr.invars)}
    for equation in jaxpr.eqns:
        sources = set().union(
            *(seen.get(x, set()) for x in equation.invars if not hasattr(x, "val"))
        )
        seen.update(dict.fromkeys(equation.outvars, sources))
    return [set() if hasattr(x, "val") else seen.get(x, set()) for x in jaxpr.outvars]


def hessian(function: Callable[[Array], Array], x: Array) -> Array:
    """The second derivatives; in reverse mode twice, because `take` has no forward one."""
    second: Array = jax.jacrev(jax.grad(function))(jnp.asarray(x))
    return second


def custom_gradient(function: Callable[..., tuple[Array, Any]]) -> Callable[..., Array]:
    """A function with the derivative that `function` returns beside its value."""
    customized: Callable[..., Array] = jax.custom_gradient(function)  # type: ignore[no-untyped-call]
    return customized


def explain(error: BaseException) -> None:
    """Say of an error of a traced loss how losses are written."""
    if isinstance(
        error, jax.errors.TracerArrayConversionError | jax.errors.ConcretizationTypeError
    ):
        error.add_note(
            "A loss is traced while it is differentiated: write it with jax.numpy, without numpy "
            "and float()."
        )


def value_and_gradient(
    loss: Callable[..., Array], compiled: bool
) -> Callable[..., tuple[Array, Any]]:
    """The loss and its gradients by its first argument."""
    found: Callable[..., tuple[Array, Any]] = jax.value_and_grad(loss)
    return compile(found) if compiled else found


def compile(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled by XLA for each shape of its arguments."""
    compiled: Callable[..., Any] = jax.jit(function)
    return compiled
