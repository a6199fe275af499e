"""Run scenarios on TensorFlow itself: the clip functions, and tf.compat.v1.train eagerly or in a
graph and session.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from tests.golden import op_oracle, sessions
from tests.golden.tensorflow_values import (
    Json,
    array,
    constraint,
    error,
    loss,
    recorded,
    tensorflow,
    value,
)

AGGREGATION = ("ADD_N", "DEFAULT", "EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N")


def outputs(scenario: Json) -> list[Json]:
    """What TensorFlow gives for each call of the scenario."""
    with TensorFlow(scenario["mode"]) as library:
        return Session(scenario, library).play(scenario["calls"])


class TensorFlow:
    """TensorFlow as a session asks for it; in graph mode `read` and `run` go through a tf.Session."""

    def __init__(self, mode: str) -> None:
        self.tf = tensorflow()
        self.v1 = self.tf.compat.v1
        self.is_symbolic = mode == "graph"
        self.initialized: set[str] = set()

    def __enter__(self) -> TensorFlow:
        self.stack = contextlib.ExitStack()
        if self.is_symbolic:
            self.stack.enter_context(self.tf.Graph().as_default())
            self.session = self.stack.enter_context(self.v1.Session())
        return self

    def __exit__(self, *exc: object) -> None:
        self.stack.close()

    def outcome(self, act: Callable[[], Any]) -> Json:
        try:
            return recorded(act())
        except Exception as raised:  # which class it is, is the result
            return error(raised)

    # --- running ----------------------------------------------------------------------------------

    def run(self, operation: Any) -> None:
        if self.is_symbolic:
            self._initialize()
            self.session.run(operation)

    def read(self, x: Any) -> Any:
        """Tensors, slices and variables (nested, None allowed) -> their values now, as they are
        recorded.
        """
        return recorded(self._read(x) if self.is_symbolic else x)

    def _read(self, x: Any) -> Any:
        if isinstance(x, list | tuple):
            return [self._read(v) for v in x]
        if isinstance(x, dict):
            return {k: self._read(v) for k, v in x.items()}
        self._initialize()
        return self.session.run(x) if hasattr(x, "dtype") else x

    def _initialize(self) -> None:
        fresh = [v for v in self.v1.global_variables() if v.name not in self.initialized]
        if fresh:
            self.session.run([v.initializer for v in fresh])
            self.initialized |= {v.name for v in fresh}

    # --- arguments --------------------------------------------------------------------------------

    def variable(self, name: str, x: Json) -> Any:
        how = {"trainable": x.get("trainable", True), "constraint": constraint(x.get("constraint"))}
        if self.is_symbolic:
            return self.v1.Variable(array(x), name=name, use_resource=True, **how)
        return self.tf.Variable(array(x), name=name, **how)

    def value(self, x: Any) -> Any:
        return value(x)

    def constant(self, argument: str, name: str) -> Any:
        if argument == "gate_gradients":
            return getattr(self.v1.train.Optimizer, name)
        return getattr(self.tf.AggregationMethod, name) if name in AGGREGATION else name

    def loss(self, x: Json, variables: dict[str, Any], is_tensor: bool) -> Any:
        return loss(x, variables) if self.is_symbolic or is_tensor else lambda: loss(x, variables)

    def clip(self, name: str) -> Callable[..., Any]:
        special = {
            "v1.global_norm": self.v1.global_norm,
            "clip_by_average_norm": self.v1.clip_by_average_norm,
        }
        if name in special:
            return special[name]
        owner = self.tf.linalg if name in ("global_norm", "linalg.global_norm") else self.tf
        return getattr(owner, name.removeprefix("linalg."))

    # --- what is called ---------------------------------------------------------------------------

    def optimizer(self, name: str, args: list[Any], kwargs: Json) -> Any:
        return getattr(self.v1.train, name.removeprefix("v1."))(*args, **kwargs)

    def gradients(self, ys: list[Json], xs: list[Any], variables: Json, kwargs: Json) -> list[Any]:
        return self.read(self.v1.gradients([loss(y, variables) for y in ys], xs, **kwargs))

    def trainable_variables(self, kwargs: Json) -> list[Any]:
        return self.v1.trainable_variables(**kwargs)

    def collection(self, name: str) -> list[Any]:
        return self.v1.get_collection(name)


class Session(sessions.Session):
    """Clips and training ops by themselves, too."""

    library: TensorFlow

    def do_call(self, call: Json) -> Json:
        f = self.library.clip(call["fn"])
        return {"value": self.library.read(f(*value(call["args"]), **self.kwargs(call)))}

    def do_op(self, call: Json) -> Json:
        return op_oracle.run(call)

    def do_grad_of(self, call: Json) -> Json:
        tf = self.library.tf
        f, x, args = self.library.clip(call["fn"]), value(call["x"]), value(call["args"])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f([x], *args)[0][0] if call["fn"].endswith("global_norm") else f(x, *args)
        return {"value": tape.gradient(y, x)}
