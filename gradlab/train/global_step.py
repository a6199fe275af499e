"""The global step: the variable that counts the updates of a collection or a Graph."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .._base.tensors import Tensor
from ..errors import DTypeError, NotAVariableError
from .variable import Collection, Variable, current_collection, enter_collection


def get_global_step(graph: Collection | None = None) -> Variable | None:
    """The global step of a Graph or of the current collection, or None if none was made.

    In a Graph a variable named "global_step" counts as the global step.

    Raises:
        TypeError: the variable of this name isn't an integer or a scalar.

    Source: `tf.compat.v1.train.get_global_step`.

    >>> import gradlab as gl
    >>> with gl.variable_collection():
    ...     print(get_global_step())
    None
    """
    collection = current_collection() if graph is None else graph
    with collection._lock:
        if collection.global_step is None and collection.graph:
            named = next((v for v in collection if v.name == "global_step:0"), None)
            if named is not None:
                assert_global_step(named)
            collection.global_step = named
        return collection.global_step


def get_or_create_global_step(graph: Collection | None = None) -> Variable:
    """The global step of a Graph or of the current collection: an int64 variable that starts at 0 and is not trainable.

    Source: `tf.compat.v1.train.get_or_create_global_step`.

    >>> import gradlab as gl
    >>> with gl.variable_collection():
    ...     get_or_create_global_step().assign_add(2).numpy().item(), get_global_step().name
    (2, 'global_step:0')
    """
    collection = current_collection() if graph is None else graph
    with collection._lock:
        if get_global_step(collection) is None:
            collection.global_step = _make_global_step(collection)
        return cast(Variable, collection.global_step)


def create_global_step(graph: Collection | None = None) -> Variable:
    """Make the global step of a Graph or of the current collection.

    Raises:
        ValueError: there is one already.

    Source: `tf.compat.v1.train.create_global_step`.

    >>> import gradlab as gl
    >>> with gl.variable_collection():
    ...     create_global_step().name
    'global_step:0'
    """
    collection = current_collection() if graph is None else graph
    with collection._lock:
        if get_global_step(collection) is not None:
            raise ValueError(
                '"global_step" already exists; gl.train.get_or_create_global_step() returns it'
            )
        collection.global_step = _make_global_step(collection)
        return collection.global_step


def _make_global_step(collection: Collection) -> Variable:
    with enter_collection(collection):
        return Variable(np.int64(0), trainable=False, name="global_step")


def assert_global_step(global_step_tensor: Any) -> None:
    """Check that something is a global step: a Variable or a tensor, an integer, a scalar.

    Raises:
        TypeError: it isn't one.

    Source: `tf.compat.v1.train.assert_global_step`.

    >>> assert_global_step(Variable(np.int64(0)))
    """
    step = global_step_tensor
    if not isinstance(step, Variable | Tensor):
        raise NotAVariableError(f'Existing "global_step" must be a Variable or Tensor: {step!r}')
    if not np.issubdtype(step.dtype, np.integer):
        raise DTypeError(f'Existing "global_step" does not have integer type: {step.dtype}')
    if step.shape != ():
        raise TypeError(f'Existing "global_step" is not scalar: its shape is {step.shape}')


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """Return the global step as a Python number.

    Args:
        sess: a `gl.Session`, or None.
        global_step_tensor: a Variable or a tensor.

    Source: `tf.compat.v1.train.global_step`.

    >>> import gradlab as gl
    >>> with gl.Graph().as_default():
    ...     step = gl.train.create_global_step()
    ...     global_step(gl.Session(), step)
    0
    """
    if sess is None:
        return int(np.asarray(global_step_tensor))
    return int(sess.run(global_step_tensor))
