"""TensorFlow 1's graph mode: updates and values are described first and computed later.

A `Graph` is a collection of variables. While it's the default one, and nothing runs, operators and
gradlab's functions describe `gl.Tensor`s, and what changes variables is an `Operation`, or a tensor
that changes one variable (`v.assign`). `gl.Session.run`, `Operation.run` and `Tensor.eval` open a
run (`_base/tensors.py`): inside it everything is computed at once, and once.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from .._base.arrays import Array
from .._base.tensors import Tensor, Update, compute_once, new_run
from .variable import (
    Collection,
    GraphKey,
    Variable,
    current_collection,
    enter_collection,
    is_outermost,
    replace_outermost,
)

# TensorFlow's, of a scope that is in no other scope.
_SCOPE = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")


class Operation:
    """An update that is described but not done.

    Args:
        name: unique in its graph.
        run: does the update; may be called again for the next step. Most return None.
        graph: whose operation it is.
        control_inputs: operations that run before it.
    """

    def __init__(
        self,
        name: str,
        run: Callable[[], Any],
        graph: Graph | None = None,
        control_inputs: Sequence[Operation | Tensor] = (),
    ) -> None:
        self.name = name
        self.graph = graph
        self.control_inputs = tuple(control_inputs)
        self._run = run

    def run(self, feed_dict: None = None, session: Any = None) -> Any:
        """Do the update, after its control inputs; inside a run each operation is done once."""
        return compute_once(self, self._run_in_order)

    def _run_in_order(self) -> Any:
        run_all(self.control_inputs)
        return self._run()

    def __repr__(self) -> str:
        return f"<gradlab.Operation {self.name!r}>"


class Graph(Collection):
    """A collection of variables in which updates and values are described, and computed when they're run.

    Inside `with graph.as_default():` variables, names and the global step are the graph's own;
    `minimize` and `apply_gradients` return an `Operation`, which `gl.Session.run` or
    `Operation.run` runs; operators on variables, gradients, and clips give a `gl.Tensor`, which is
    computed again at every run. An unknown `gate_gradients` is an error here, elsewhere a warning.

    A loss is a tensor, or a function without arguments that computes with jax.numpy.

    Differs from TensorFlow: variables have their initial values from the start, and keep them for
    `gl.global_variables_initializer`, so a graph takes that memory again. Sessions have no
    variables of their own.

    Source: `tf.Graph`, TensorFlow 1.

    >>> import gradlab as gl
    >>> with Graph().as_default() as graph:
    ...     v = gl.Variable([1.0], name="v")
    ...     op = gl.train.GradientDescentOptimizer(0.25).minimize(v * v, var_list=[v])
    >>> float(v.value[0]), op.run(), float(v.value[0]), graph.get_collection("train_op")
    (1.0, None, 0.5, [<gradlab.Operation 'GradientDescent'>])
    """

    graph = True

    def __init__(self) -> None:
        super().__init__()
        self.graph_key = GraphKey()
        self._operations: list[Operation] = []
        self._initial_values: weakref.WeakKeyDictionary[Variable, Array] = (
            weakref.WeakKeyDictionary()
        )
        self._control_inputs: tuple[Operation | Tensor, ...] = ()

    def as_default(self) -> AbstractContextManager[Any]:
        return enter_collection(self)

    def add(self, variable: Variable) -> None:
        super().add(variable)
        self._initial_values[variable] = variable._buffer.share()

    def reset_variables(self, variables: Sequence[Variable]) -> None:
        """Set variables of this graph to their initial values, now."""
        for v in variables:
            v.load(self._initial_values[v])

    def check_scope(self, name: Any) -> None:
        """ValueError for a name that TensorFlow refuses as that of a scope."""
        if not isinstance(name, str) or not _SCOPE.fullmatch(name):
            raise ValueError(
                f"name must be a scope name, got {name!r}: the first character must be a letter, a "
                "digit or a dot, and the others may also be _ \\ / > or -"
            )

    def finish(self, run: Callable[[], Any], name: str) -> Operation:
        """Return an Operation that does an update, and list it among the train operations."""

        def update() -> None:
            run()

        operation = self.fetch(update, name)
        self._operations.append(operation)
        return operation

    def fetch(self, run: Callable[[], Any], name: str) -> Operation:
        """Return an Operation whose `run` returns what this function does."""
        self.check_scope(name)
        return Operation(self.unique_name(name), run, self, self._control_inputs)

    def describe_update(self, run: Callable[[], Any], first: Callable[[], Any]) -> Update:
        """Return a tensor whose computation assigns.

        Args:
            run: does the assignment and returns the new value.
            first: computes a value of the same shape and dtype, and assigns nothing.
        """
        control_inputs = self._control_inputs

        def update() -> Any:
            run_all(control_inputs)
            return run()

        with new_run(is_description=True):
            value = first()
        return Update(update, value)

    @contextmanager
    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Iterator[None]:
        """Make what changes variables and is described inside run after `control_inputs`.

        None clears those of the blocks outside.
        """
        outer = self._control_inputs
        self._control_inputs = () if control_inputs is None else (*outer, *control_inputs)
        try:
            yield
        finally:
            self._control_inputs = outer

    def get_collection(self, name: str) -> list[Any]:
        """Return what is in "train_op", "trainable_variables", "variables" or a collection of your own.

        The last are those of `gl.Variable(..., collections=)`. A name that nothing has is an empty
        list, as in TensorFlow.
        """
        if name == "train_op":
            return list(self._operations)
        if name == "trainable_variables":
            return [v for v in self if v.trainable]
        return [v for v in self if name in v.collections]


class AtOnce(Collection):
    """Stands for a Graph while one of its operations runs: what is described inside is done at once."""

    def __init__(self, graph: Collection) -> None:
        super().__init__()
        self.global_step = graph.global_step
        self.graph_key = graph.graph_key


def run_all(inputs: Sequence[Any]) -> None:
    """Run operations, and compute tensors, in order."""
    for x in inputs:
        if isinstance(x, Operation):
            x.run()
        elif isinstance(x, Tensor):
            x()


@contextmanager
def control_dependencies(control_inputs: Sequence[Any] | None) -> Iterator[None]:
    """Context manager: what changes variables and is described inside runs after `control_inputs`.

    Args:
        control_inputs: operations and tensors; None clears those of the blocks outside.

    Tensors that change nothing are computed when something asks for them. Outside a `gl.Graph`,
    where everything is done at once, nothing changes.

    Source: `tf.control_dependencies`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> with gl.Graph().as_default():
    ...     v = gl.Variable(1.0)
    ...     with control_dependencies([v.assign(3.0)]):
    ...         double = v.assign_add(v)
    ...     gl.Session().run(double).item()
    6.0
    """
    collection = current_collection()
    if not isinstance(collection, Graph):
        yield
        return
    with collection.control_dependencies(control_inputs):
        yield


def group(*inputs: Any, name: str = "group_deps") -> Operation | None:
    """Return an Operation that runs all of these, in order; outside a `gl.Graph`, where they're done, None.

    Differs from TensorFlow: the order is that of the arguments; TensorFlow promises none.

    Source: `tf.group`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> with gl.Graph().as_default():
    ...     v, w = gl.Variable(1.0), gl.Variable(2.0)
    ...     group(v.assign(5.0), w.assign(6.0)).run()
    >>> float(v), float(w)
    (5.0, 6.0)
    """
    collection = current_collection()
    if not isinstance(collection, Graph):
        return None
    operation: Operation = collection.fetch(lambda: run_all(inputs), name)
    return operation


def no_op(name: str = "NoOp") -> Operation | None:
    """Return an Operation that does nothing; outside a `gl.Graph` None.

    Source: `tf.no_op`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> with gl.Graph().as_default():
    ...     no_op()
    <gradlab.Operation 'NoOp'>
    """
    return group(name=name)


def get_default_graph() -> Graph:
    """Return the graph that is the default one.

    Raises:
        RuntimeError: there is none.

    Differs from TensorFlow: outside of `with gl.Graph().as_default():` there is none, unless
    `gl.disable_eager_execution()` was called.

    Source: `tf.compat.v1.get_default_graph`.

    >>> import gradlab as gl
    >>> with gl.Graph().as_default() as graph:
    ...     get_default_graph() is graph
    True
    """
    collection = current_collection()
    if not isinstance(collection, Graph):
        raise RuntimeError(
            "there is no default graph: put the program into `with gl.Graph().as_default():`, or "
            "call gl.disable_eager_execution() first"
        )
    return collection


def reset_default_graph() -> None:
    """Begin a new default graph, after `gl.disable_eager_execution()`.

    Raises:
        RuntimeError: a graph was made the default one by `as_default`.

    Source: `tf.compat.v1.reset_default_graph`; the example needs a process of its own.

    >>> import gradlab as gl
    >>> with gl.Graph().as_default():  # doctest: +ELLIPSIS
    ...     reset_default_graph()
    Traceback (most recent call last):
    RuntimeError: ...
    """
    if is_outermost(current_collection()):
        disable_eager_execution()
    else:
        raise RuntimeError("leave `with graph.as_default():` before you reset the default graph")


def disable_eager_execution() -> None:
    """Make a `gl.Graph` the default one of this process: TensorFlow 1's programs have no `with`.

    Call it at the start, as in TensorFlow.

    Source: `tf.compat.v1.disable_eager_execution`; the example needs a process of its own.

    >>> import gradlab as gl
    >>> gl.disable_eager_execution()  # doctest: +SKIP
    >>> gl.executing_eagerly()  # doctest: +SKIP
    False
    """
    replace_outermost(Graph())


def disable_v2_behavior() -> None:
    """Make a `gl.Graph` the default one of this process, as `gl.disable_eager_execution` does.

    Source: `tf.compat.v1.disable_v2_behavior`; the example needs a process of its own.

    >>> import gradlab as gl
    >>> gl.disable_v2_behavior()  # doctest: +SKIP
    >>> gl.executing_eagerly()  # doctest: +SKIP
    False
    """
    disable_eager_execution()


def executing_eagerly() -> bool:
    """Tell whether what is written here is done at once, and not described in a `gl.Graph`.

    Source: `tf.executing_eagerly`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> executing_eagerly()
    True
    >>> with gl.Graph().as_default():
    ...     executing_eagerly()
    False
    """
    return not current_collection().graph
