"""`Session`: what runs the operations and computes the tensors of a Graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from .._base.slices import IndexedSlices
from .._base.tensors import Update, new_run, rebuild_like, to_numpy
from .graph import Graph, Operation, get_default_graph, no_op
from .variable import Variable, current_collection, global_variables


class Session:
    """Runs the operations of a `gl.Graph` and computes its tensors.

    `with gl.Session() as sess:` makes the graph the default one too. Variables belong to the graph:
    a second session sees what the first one did, and `gl.global_variables_initializer` resets
    all of them to their initial values.

    Args:
        target: of no use, because everything runs in this process.
        graph: a Graph; the default one if it's left out.
        config: of no use.

    Raises:
        RuntimeError: there is no default graph.

    Differs from TensorFlow: placeholders, queues and partial runs aren't there. What changes from
    step to step is a `gl.Variable` that isn't trainable, assigned before the run.

    Source: `tf.compat.v1.Session`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> with gl.Graph().as_default():
    ...     v = gl.Variable([8.0], name="v")
    ...     step = gl.train.get_or_create_global_step()
    ...     loss = v * v
    ...     train_op = gl.train.GradientDescentOptimizer(0.25).minimize(loss, step)
    ...     with gl.Session() as sess:
    ...         sess.run(gl.global_variables_initializer())
    ...         for _ in range(2):
    ...             sess.run([train_op, loss, {"step": step}])
    [None, array([64.], dtype=float32), {'step': np.int64(0)}]
    [None, array([16.], dtype=float32), {'step': np.int64(1)}]
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a gl.Graph, got {type(graph).__name__}")
        self.graph = get_default_graph() if graph is None else graph
        self._is_closed = False
        self._blocks: list[AbstractContextManager[Any]] = []

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Run operations and compute tensors: one step of a program.

        Tensors and variables are computed first, from the variables as they are, then operations
        and assignments run in the order of `fetches`. So `sess.run([train_op, loss])` gives the
        loss before the step. Each tensor is computed once and each operation runs once; only
        derivatives compute their loss again (`gl.gradients`).

        Args:
            fetches: an Operation, a Tensor, a Variable, a function without arguments (a decayed
                learning rate), IndexedSlices, None among gradients, or a list, tuple or dict of
                these, nested too.
            feed_dict: refused, because there are no placeholders.
            options, run_metadata: no effect.

        Returns:
            the same structure: NumPy arrays and scalars for values, None for operations.

        Raises:
            RuntimeError: the session is closed.
            TypeError: something else is among `fetches`.
            ValueError: an operation or a variable of another graph.
            NotImplementedError: `feed_dict` isn't empty.
        """
        if self._is_closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if feed_dict:
            raise NotImplementedError(
                "feed_dict needs placeholders, which gradlab doesn't have. Make what you feed a "
                "gl.Variable(..., trainable=False), and assign it before the run: "
                "sess.run(x.assign(batch)). If batches have several shapes, write the loss as a function "
                "that reads a Python variable"
            )
        leaves = list(_list_leaves(fetches))
        for leaf in leaves:
            self._check_fetch(leaf)
        results: dict[int, Any] = {}
        with new_run():
            for changes_state in (False, True):
                for leaf in leaves:
                    if isinstance(leaf, Operation | Update) == changes_state:
                        results[id(leaf)] = _compute(leaf)
        return _map_leaves(lambda leaf: results[id(leaf)], fetches)

    def _check_fetch(self, leaf: Any) -> None:
        if isinstance(leaf, Operation) and leaf.graph is not self.graph:
            raise ValueError(f"{leaf!r} is not an element of this graph.")
        if isinstance(leaf, Variable) and leaf._graph_key is not self.graph.graph_key:
            raise ValueError(f"{leaf!r} is not an element of this graph.")
        if leaf is not None and not callable(leaf) and not isinstance(leaf, _FETCHED):
            raise TypeError(
                f"Fetch argument {leaf!r} has invalid type {type(leaf).__name__}, must be an "
                "Operation, a Tensor, a Variable or a function without arguments"
            )

    def close(self) -> None:
        """End the session, which runs nothing any more."""
        self._is_closed = True

    def __enter__(self) -> Session:
        block = self.graph.as_default()
        block.__enter__()
        self._blocks.append(block)
        return self

    def __exit__(self, *error: Any) -> None:
        self._blocks.pop().__exit__(*error)
        self.close()


_FETCHED = (Operation, Variable, IndexedSlices)


def _compute(leaf: Any) -> Any:
    """Return what `Session.run` gives for one thing."""
    if isinstance(leaf, Operation):
        return leaf.run()
    if leaf is None:
        return None
    if isinstance(leaf, IndexedSlices):
        return IndexedSlices(_compute(leaf.values), _compute(leaf.indices), leaf.dense_shape)
    if isinstance(leaf, Variable):
        return leaf.eval()
    return to_numpy(leaf() if callable(leaf) else leaf)


def _list_leaves(fetches: Any) -> Iterator[Any]:
    if isinstance(fetches, dict):
        fetches = fetches.values()
    elif not isinstance(fetches, list | tuple):
        yield fetches
        return
    for item in fetches:
        yield from _list_leaves(item)


def _map_leaves(change: Callable[[Any], Any], fetches: Any) -> Any:
    if isinstance(fetches, dict):
        return {key: _map_leaves(change, item) for key, item in fetches.items()}
    if isinstance(fetches, list | tuple):
        return rebuild_like(fetches, [_map_leaves(change, item) for item in fetches])
    return change(fetches)


def variables_initializer(var_list: Sequence[Variable], name: str = "init") -> Operation | None:
    """Return an Operation that sets variables to their initial values; outside a `gl.Graph` None.

    Differs from TensorFlow: variables have their initial values from the start. An initial value
    that a function gave isn't computed again.

    Source: `tf.compat.v1.variables_initializer`.

    >>> import gradlab as gl
    >>> with gl.Graph().as_default():
    ...     v = gl.Variable(1.0)
    ...     v.assign(5.0).eval(), variables_initializer([v]).run(), v.eval()
    (np.float32(5.0), None, np.float32(1.0))
    """
    collection = current_collection()
    if not isinstance(collection, Graph):
        return None
    variables = list(var_list)
    operation: Operation = collection.fetch(lambda: collection.reset_variables(variables), name)
    return operation


def global_variables_initializer() -> Operation | None:
    """Return an Operation that sets all variables of the graph to their initial values.

    Slots and the global step are among them. Outside a `gl.Graph` it's None.

    Differs from TensorFlow: as `gl.variables_initializer`.

    Source: `tf.compat.v1.global_variables_initializer`.

    >>> import gradlab as gl
    >>> with gl.Graph().as_default():
    ...     v = gl.Variable(1.0)
    ...     v.assign(5.0).eval(), global_variables_initializer().run(), v.eval()
    (np.float32(5.0), None, np.float32(1.0))
    """
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation | None:
    """Return an Operation that does nothing: there are no local variables.

    Source: `tf.compat.v1.local_variables_initializer`.

    >>> import gradlab as gl
    >>> with gl.Graph().as_default():
    ...     gl.Session().run(local_variables_initializer())
    """
    return no_op("init")
