"""The choice between JAX, where it is installed, and HIPS autograd, which is pure Python on NumPy.

`by_jax` and `by_autograd` both have the functions of `Differentiator`, and no other code
differentiates by either library directly.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

from .arrays import Array
from .extras import is_there

Run = Callable[[list[Array]], list[Array]]
# Takes the indices and rows of a gradient, or None twice if the gradient is dense.
Keep = Callable[[Array | None, Array | None], None]


class Pullback(Protocol):
    """The way back of a run: from gradients by its outputs to gradients by its inputs."""

    def __call__(self, upstream: list[Array]) -> list[Array | None]:
        """Return the gradient by each input, None where no output depends on it for sure."""
        ...

    def depends(self, upstream: list[Array], index: int) -> bool:
        """Tell whether the gradient by an input depends on `upstream`.

        Where it doesn't, zeros stand for TensorFlow's "unconnected".
        """
        ...


class Differentiator(Protocol):
    """Functions of `by_jax` and of `by_autograd`."""

    def vjp(self, run: Run, inputs: Sequence[Array]) -> tuple[list[Array], Pullback]:
        """Call `run` once; return its outputs, no longer traced by this call, and the way back."""
        ...

    def take(self, table: Array, indices: Array, keep: Keep) -> Array:
        """Return rows of a traced table; their gradient goes to `keep` and not to the table."""
        ...

    def reads(self, run: Run, inputs: Sequence[Array]) -> list[set[int]]:
        """Return, for the gradient of the outputs' sum by each input, which inputs it reads."""
        ...

    def hessian(self, function: Callable[[Array], Array], x: Array) -> Array:
        """The second derivatives of a scalar function, of the shape of `x` twice."""
        ...

    def custom_gradient(self, function: Callable[..., tuple[Array, Any]]) -> Callable[..., Array]:
        """A function whose derivative is what `function` says: it returns its value, and a function
        from the gradient upstream to those of its arguments.
        """
        ...

    def explain(self, error: BaseException) -> None:
        """Add a note to an error that a loss raises because it is traced."""
        ...

    def value_and_gradient(
        self, loss: Callable[..., Array], compiled: bool
    ) -> Callable[..., tuple[Array, Any]]:
        """Return a function (tree of arrays, *arguments) -> (loss, gradients in a tree like it)."""
        ...

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, compiled if the library has a compiler."""
        ...


def differentiator() -> Differentiator:
    """Return the differentiator of this machine.

    Raises:
        ModuleNotFoundError: neither library is installed; says what to install.
    """
    is_jax_blocked = sys.modules.get("jax", True) is None
    module: Differentiator = _import_differentiator(is_jax_blocked)
    return module


@cache
def _import_differentiator(is_jax_blocked: bool) -> Any:
    if not is_jax_blocked and is_there("jax"):
        return importlib.import_module(f"{__package__}.by_jax")
    if is_there("autograd"):
        return importlib.import_module(f"{__package__}.by_autograd")
    raise ModuleNotFoundError(
        "gradients need JAX or autograd, and neither is installed; run pip install jax, or pip "
        "install autograd",
        name="jax",
    )
