"""TensorFlow 1's graph mode, as far as optimizers show it: updates are described first and run later."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from .variable import Collection, GraphKey, enter_collection

# TensorFlow's, of a scope that is in no other scope.
_SCOPE = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")


class Operation:
    """An update that is described but not done.

    Args:
        name: unique in its graph.
        run: does the update; may be called again for the next step. Most return None.
    """

    def __init__(self, name: str, run: Callable[[], Any]) -> None:
        self.name, self.run = name, run

    def __repr__(self) -> str:
        return f"<gradlab.Operation {self.name!r}>"


class Graph(Collection):
    """A collection of variables in which optimizers return Operations instead of updating at once.

    Inside `with graph.as_default():` variables, names and the global step are the graph's own;
    `minimize` and `apply_gradients` return an `Operation` to be run with `Operation.run`; gate
    values are checked.

    Differs from TensorFlow: gradients are arrays, computed when asked for; only the update waits. A
    loss runs once when its operation is made, to check it, and once at every run.

    Source: `tf.Graph`, TensorFlow 1.

    >>> import gradlab as gl
    >>> with Graph().as_default() as graph:
    ...     v = gl.Variable([1.0], name="v")
    ...     op = gl.train.GradientDescentOptimizer(0.25).minimize(lambda: (v * v).sum(), var_list=[v])
    >>> float(v.value[0]), op.run(), float(v.value[0]), graph.get_collection("train_op")
    (1.0, None, 0.5, [<gradlab.Operation 'GradientDescent'>])
    """

    graph = True

    def __init__(self) -> None:
        super().__init__()
        self.graph_key = GraphKey()
        self._operations: list[Operation] = []

    def as_default(self) -> AbstractContextManager[Any]:
        return enter_collection(self)

    def check_scope(self, name: Any) -> None:
        """ValueError for a name that TensorFlow refuses as that of a scope."""
        if not isinstance(name, str) or not _SCOPE.fullmatch(name):
            raise ValueError(
                f"name must be a scope name, got {name!r}: the first character must be a letter, a "
                "digit or a dot, and the others may also be _ \\ / > or -"
            )

    def finish(self, run: Callable[[], Any], name: str) -> Operation:
        self.check_scope(name)
        operation = Operation(self.unique_name(name), lambda: (run(), None)[1])
        self._operations.append(operation)
        return operation

    def fetch(self, run: Callable[[], Any], name: str) -> Operation:
        self.check_scope(name)
        return Operation(self.unique_name(name), run)

    def get_collection(self, name: str) -> list[Any]:
        """ "train_op", "trainable_variables" or "variables"; another name is an empty list, as in TensorFlow."""
        everything = list(self)
        collections: dict[str, list[Any]] = {
            "train_op": list(self._operations),
            "trainable_variables": [v for v in everything if v.trainable],
            "variables": everything,
        }
        return collections.get(name, [])


class AtOnce(Collection):
    """Stands for a Graph while one of its operations runs: what is described inside is done at once."""

    def __init__(self, graph: Collection) -> None:
        super().__init__()
        self.global_step, self.graph_key = graph.global_step, graph.graph_key
