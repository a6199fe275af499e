"""TensorFlow's TestCase and the decorators that say in which mode a case runs."""

from __future__ import annotations

import contextlib
import functools
import threading
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins import graph
from tests.originals.stand_ins.comparing import Comparing
from tests.originals.stand_ins.graph import Session, fetched, running

OP_ERRORS = (
    gl.errors.InvalidArgumentError,
    gl.errors.CancelledError,
    gl.errors.DeadlineExceededError,
    RuntimeError,
)


class TestCase(Comparing):
    """`tensorflow.python.platform.test.TestCase`."""

    @contextlib.contextmanager
    def session(self, graph: Any = None, **_: Any) -> Iterator[Session]:
        """In a Graph a session; outside, TensorFlow 2's tests ask for one too and then compute
        eagerly.
        """
        with contextlib.nullcontext() if graph is None else graph.as_default():
            session = Session(graph=graph)
            _SESSIONS.append(session)
            try:
                yield session
            finally:
                _SESSIONS.remove(session)

    cached_session = test_session = session

    def evaluate(self, fetches: Any) -> Any:
        with running():
            return fetched(fetches)

    def assertRaisesOpError(self, pattern: str) -> Any:
        return self.assertRaisesRegex(OP_ERRORS, pattern)

    def assertEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        """A variable is compared by its value, in its dtype, as TensorFlow 2 does."""
        if isinstance(first, gl.Variable) and isinstance(second, int | float | gl.Variable):
            first = first.numpy()
            second = np.asarray(second, first.dtype)
        super().assertEqual(first, second, msg)

    def assertAllClose(self, a: Any, b: Any, *arguments: Any, **keywords: Any) -> None:
        with running():
            super().assertAllClose(fetched(a), fetched(b), *arguments, **keywords)

    def assertAllCloseAccordingToType(self, a: Any, b: Any, *given: Any, **keywords: Any) -> None:
        with running():
            super().assertAllCloseAccordingToType(fetched(a), fetched(b), *given, **keywords)

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        with running():
            super().assertAllEqual(fetched(a), fetched(b), msg)

    def assertShapeEqual(self, array: Any, tensor: Any, msg: Any = None) -> None:
        self.assertEqual(np.shape(array), tuple(tensor.shape), msg)

    def assertProtoEquals(self, expected: Any, actual: Any, msg: Any = None) -> None:
        self.assertEqual(str(expected), str(actual), msg)

    def assertItemsEqual(self, a: Any, b: Any) -> None:
        self.assertCountEqual(a, b)

    def checkedThread(
        self, target: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> CheckedThread:
        return CheckedThread(target, args, kwargs or {})

    def get_temp_dir(self) -> str:
        return self.create_tempdir().full_path


_SESSIONS: list[Session] = []


class CheckedThread(threading.Thread):
    """A thread whose error is raised again by `join`; it has the collection of the one that made
    it.
    """

    def __init__(self, target: Callable[..., Any], arguments: Any, keywords: Any) -> None:
        super().__init__(daemon=True)
        self._collection, self._error = graph.default_graph(), None
        self._call = functools.partial(target, *arguments, **keywords)

    def run(self) -> None:
        from gradlab.train.variable import enter_collection

        try:
            with enter_collection(self._collection):
                self._call()
        except BaseException as error:
            self._error = error

    def join(self, timeout: float | None = 60) -> None:
        super().join(timeout)
        if self.is_alive():
            raise AssertionError("a thread of this case has not ended after a minute")
        if self._error is not None:
            raise self._error

    def check_termination(self) -> None:
        self.join()


class DefaultGraph(gl.Graph):
    """A Graph with what the tests ask graphs for."""

    def switch_to_thread_local(self) -> None: ...

    def finalize(self) -> None: ...

    seed = None
    building_function = False


def default_graph() -> Any:
    """The Graph around a case; one to enter where TensorFlow 2 computes eagerly."""
    here = graph.default_graph()
    return here if here.graph else DefaultGraph()


@contextlib.contextmanager
def in_graph() -> Iterator[None]:
    with DefaultGraph().as_default():
        yield


def graph_only(function: Any = None, *_: Any) -> Any:
    """`run_deprecated_v1` and its likes, with and without a reason."""
    if not callable(function):
        return graph_only
    if isinstance(function, type):
        return function  # of TensorFlow 1, whose cases are in a Graph anyway

    @functools.wraps(function)
    def case(self: Any, *arguments: Any, **keywords: Any) -> None:
        with in_graph():
            function(self, *arguments, **keywords)

    return case


def both_modes(function: Any = None, *_: Any, **__: Any) -> Any:
    """`run_in_graph_and_eager_modes`."""
    if not callable(function):
        return both_modes

    @functools.wraps(function)
    def case(self: Any, *arguments: Any, **keywords: Any) -> None:
        with in_graph():
            function(self, *arguments, **keywords)
        self.tearDown()
        self.setUp()
        with gl.variable_collection():
            function(self, *arguments, **keywords)

    return case


def unchanged(*arguments: Any, **_: Any) -> Any:
    """A decorator that changes nothing here, with and without arguments."""
    if arguments and callable(arguments[0]):
        return arguments[0]
    return lambda function: function


@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    with gl.variable_collection():
        yield


@contextlib.contextmanager
def somewhere(*_: Any, **__: Any) -> Iterator[None]:
    yield


TEST: dict[str, Any] = {
    "Graph": DefaultGraph,
    "Session": Session,
    "TestCase": TestCase,
    "TensorFlowTestCase": TestCase,
    "defun": unchanged,
    "deprecated_graph_mode_only": graph_only,
    "disable_tfrt": unchanged,
    "disable_copy_on_read": somewhere,
    "disable_resource_variables": lambda: None,
    "eager_mode": eager_mode,
    "enable_v2_behavior": lambda: None,
    "executing_eagerly": graph.executing_eagerly,
    "get_default_graph": default_graph,
    "get_default_session": lambda: _SESSIONS[-1] if _SESSIONS else Session(),
    "graph_mode": in_graph,
    "is_gpu_available": lambda *_, **__: False,
    "is_xla_enabled": lambda: False,
    "main": lambda *_: None,
    "reset_default_graph": lambda: None,
    "run_all_in_graph_and_eager_modes": lambda cls: cls,
    "run_deprecated_v1": graph_only,
    "run_gpu_only": unittest.skip("Test requires GPU"),
    "run_in_graph_and_eager_modes": both_modes,
    "run_v1_only": graph_only,
    "run_v2_only": unchanged,
    "use_gpu": somewhere,
}
