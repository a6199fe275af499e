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
        (gradients,) = self._pullback(upstream)
        return list(gradients)

    def depends(self, upstream: list[Array], index: int) -> bool:
        # JAX returns zeros for an input that no output depends on. Whether these were computed is
        # seen in the jaxpr: follow `upstream` through its equations. Literals, which have a `val`,
        # depend on nothing.
        jaxpr = jax.make_jaxpr(self._pullback)(upstream).jaxpr
        reached = set(jaxpr.invars)
        for equation in jaxpr.eqns:
            if any(not hasattr(x, "val") and x in reached for x in equation.invars):
                reached.update(equation.outvars)
        out = jaxpr.outvars[index]
        return not hasattr(out, "val") and out in reached


def vjp(run: Run, inputs: Sequence[Array]) -> tuple[list[Array], _Pullback]:
    """Return the outputs of `run` and the way back."""
    outputs, pullback = jax.vjp(run, [jnp.asarray(x) for x in inputs])
    return outputs, _Pullback(pullback)


def take(table: Array, indices: Array, keep: Keep) -> Array:
    """Return rows of a table; inside `jit` or `scan` the gradient is dense."""

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
    taken: Array = rows(table, indices)
    return taken


def reads(run: Run, inputs: Sequence[Array]) -> list[set[int]]:
    """Return for each gradient the inputs it reads, by following the jaxpr of the gradients."""

    def sum_outputs(values: list[Array]) -> Array:
        total: Array = jnp.sum(jnp.stack([jnp.sum(y) for y in run(values)]))
        return total

    jaxpr = jax.make_jaxpr(jax.grad(sum_outputs))(list(inputs)).jaxpr
    sources: dict[Any, set[int]] = {x: {k} for k, x in enumerate(jaxpr.invars)}
    for equation in jaxpr.eqns:
        variables = [x for x in equation.invars if not hasattr(x, "val")]  # without literals
        read = set().union(*(sources.get(x, set()) for x in variables))
        sources.update(dict.fromkeys(equation.outvars, read))
    return [set() if hasattr(x, "val") else sources.get(x, set()) for x in jaxpr.outvars]


def hessian(function: Callable[[Array], Array], x: Array) -> Array:
    """The second derivatives; in reverse mode twice, because `take` has no forward one."""
    second: Array = jax.jacrev(jax.grad(function))(jnp.asarray(x))
    return second


def custom_gradient(function: Callable[..., tuple[Array, Any]]) -> Callable[..., Array]:
    """A function with the derivative that `function` returns beside its value."""
    customized: Callable[..., Array] = jax.custom_gradient(function)  # type: ignore[no-untyped-call]
    return customized


def explain(error: BaseException) -> None:
    """Add a note about how to write a loss to an error that tracing has caused."""
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
    """Return a function that returns the loss and its gradients by its first argument."""
    both: Callable[..., tuple[Array, Any]] = jax.value_and_grad(loss)
    return compile(both) if compiled else both


def compile(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, which XLA compiles for each shape of its arguments."""
    compiled: Callable[..., Any] = jax.jit(function)
    return compiled
