"""Operations of TPU embeddings: a function becomes one by its name and its shape function, which is called first.

Nothing here imports `gradlab.tpu`, which brings JAX, before an operation is called.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..errors import FailedPreconditionError

Tensor = Any  # an input; the shape function gets its shape
Tensors = Sequence[Any]  # a list of inputs; the shape function gets their shapes
Variant = Any  # deduplication data, whose shape says nothing
Config = Any  # bytes, or a message

_READ: dict[str, Callable[[Any], Any]] = {
    "Tensor": np.shape,
    "Tensors": lambda given: [np.shape(x) for x in given],
    "Variant": lambda _: None,
}
_Op = TypeVar("_Op", bound=Callable[..., Any])


def op(shapes: Callable[..., Any]) -> Callable[[_Op], _Op]:
    """Give an operation its TensorFlow name as OP_NAME, and its shape function as `shapes`.

    `shapes` takes what the operation takes, but shapes for inputs (None where nothing is known), and gives the shapes
    of its outputs or raises.
    """

    def decorate(function: _Op) -> _Op:
        signature = inspect.signature(function)

        def bind(given: dict[str, Any]) -> inspect.BoundArguments:
            try:
                return signature.bind(**given)
            except TypeError as error:
                takes = ", ".join(signature.parameters)
                raise TypeError(f"{function.__name__} takes {takes}, by name; {error}") from None

        def shapes_of(**given: Any) -> Any:
            bound = bind(given)
            bound.apply_defaults()
            return shapes(**{name: x for name, x in bound.arguments.items() if name != "name"})

        @functools.wraps(function)
        def call(**given: Any) -> Any:
            bound = bind(given).arguments
            kinds = {name: signature.parameters[name].annotation for name in bound}
            shapes_of(**{name: _READ[k](bound[name]) if (k := kinds[name]) in _READ else bound[name] for name in bound})
            return function(**given)

        call.OP_NAME, call.shapes = function.__name__, shapes_of  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def variant(
    base: Callable[..., Any], name: str, doc: str, parameters: Sequence[inspect.Parameter], **read: Callable[[Any], Any]
) -> Callable[..., Any]:
    """Another form of an operation, of other parameters: those that `base` knows are passed on, the others left out.

    Args:
        read: what becomes of an argument before it is passed on, by its name.
    """
    signature = inspect.signature(base)

    def known(given: dict[str, Any]) -> dict[str, Any]:
        return {n: x for n, x in given.items() if n in signature.parameters}

    def function(**given: Any) -> Any:
        return base(**{n: read[n](x) if n in read else x for n, x in known(given).items()})

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = doc, "gradlab.raw_ops"
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return op(lambda **given: base.shapes(**known(given)))(function)  # type: ignore[attr-defined]


def part(name: str) -> Any:
    """A module of `gradlab.tpu`, loaded when it is first asked for."""
    return importlib.import_module(f"..tpu.{name}", __package__)


def system(config: Config = "") -> Any:
    """The running system, if it is this configuration's.

    Raises:
        FailedPreconditionError: none is running, or one of another configuration.
    """
    running = part("engine.current").current_system()
    if not running.is_configured_by(config):
        raise FailedPreconditionError(
            "config is not that of the running system; all operations carry one configuration, and "
            "gl.tpu.initialize_system(config) changes it and wipes the tables"
        )
    return running
