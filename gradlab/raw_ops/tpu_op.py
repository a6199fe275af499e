"""What the ops of TPU embeddings share: types of arguments, shape functions, and the running system.

An op is a plain function. The decorator `op` attaches TensorFlow's shape function to it as
`shapes`; the function itself begins with the checks of that shape function, as TensorFlow runs them
before an op does anything.

Nothing here imports `gradlab.tpu` before an op is called, because that imports JAX, and the ops of
accumulators work without it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..errors import FailedPreconditionError

Tensor: TypeAlias = Any  # an array; shape functions take its shape
Tensors: TypeAlias = Sequence[Any]  # a list of arrays; shape functions take their shapes
Variant: TypeAlias = Any  # deduplication data; its shape says nothing, so shape functions take None
Config: TypeAlias = Any  # the bytes of a configuration, or its message
_Op = TypeVar("_Op", bound=Callable[..., Any])


def op(shape_function: Callable[..., Any]) -> Callable[[_Op], _Op]:
    """Attach a shape function to an op, as its attribute `shapes`.

    Args:
        shape_function: takes the arguments of the op by name, without `name`, and a shape for each
            tensor (None where it is unknown). Returns the shapes of the outputs, or raises.
    """

    def attach(function: _Op) -> _Op:
        signature = inspect.signature(function)

        def shapes(**arguments: Any) -> Any:
            bound = signature.bind(**arguments)
            bound.apply_defaults()
            del bound.arguments["name"]
            return shape_function(**bound.arguments)

        function.shapes = shapes  # type: ignore[attr-defined]
        return function

    return attach


def shapes_of(arrays: Iterable[Any]) -> list[tuple[int, ...]]:
    """Return the shape of each array."""
    return [np.shape(array) for array in arrays]


def tpu_module(name: str) -> Any:
    """Import a module of `gradlab.tpu`."""
    return importlib.import_module(f"..tpu.{name}", __package__)


def running_system(config: Config = "") -> Any:
    """Return the running system, if it runs this configuration.

    Raises:
        FailedPreconditionError: none is running, or one of another configuration.
    """
    system = tpu_module("engine.system").current_system()
    if not system.is_configured_by(config):
        raise FailedPreconditionError(
            "config is not that of the running system; all operations carry one configuration, and "
            "gl.tpu.initialize_system(config) changes it and wipes the tables"
        )
    return system
