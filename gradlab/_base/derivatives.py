"""The one place that chooses who differentiates: JAX where it is installed, else HIPS autograd,
pure Python on NumPy.

Either gives a module with the functions of `Differentiator`; those who differentiate see nothing
else of the two.
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
# Indices and rows of a gradient; None: it went the dense way.
Keep = Callable[[Array | None, Array | None], None]


class Pullback(Protocol):
    """The way back of a run: from the gradients upstream of its outputs to those of its inputs."""

    def __call__(self, upstream: list[Array]) -> list[Array | None]:
        """For each input its gradient; None where there is none for sure."""
        ...

    def depends(self, upstream: list[Array], index: int) -> bool:
        """Tell whether a gradient of zeros was computed from `upstream` or fills in for
        'unconnected'.
        """
        ...


class Differentiator(Protocol):
    """Functions of `by_jax` and of `by_autograd`."""

    def vjp(self, run: Run, inputs: Sequence[Array]) -> tuple[list[Array], Pullback]:
        """The outputs of `run`, called once, and the way back.

        Outputs are arrays, not traced by this call.
        """
        ...

    def take(self, table: Array, indices: Array, keep: Keep) -> Array:
        """Rows of a traced table, whose gradient goes to `keep` as it is and not to the table."""
        ...

    def reads(self, run: Run, inputs: Sequence[Array]) -> list[set[int]]:
        """For each input the numbers of the inputs that its gradient, of the sum of the outputs, is
        computed from.
        """
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
        """A function (tree of arrays, *arguments) -> the loss, and its gradients by the tree, in a
        tree like it.
        """
        ...

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function compiled, where that is something."""
        ...


def differentiator() -> Differentiator:
    """The differentiator of this machine.

    Raises: ModuleNotFoundError: neither is installed; says what to install.
    """
    found: Differentiator = _found(sys.modules.get("jax", True) is None)
    return found


@cache
def _found(without_jax: bool) -> Any:
    if not without_jax and is_there("jax"):
        return importlib.import_module(f"{__package__}.by_jax")
    if is_there("autograd"):
        return importlib.import_module(f"{__package__}.by_autograd")
    raise ModuleNotFoundError(
        "gradients need JAX or autograd, and neither is installed; run pip install jax, or pip "
        "install autograd",
        name="jax",
    )
