"""Run scenarios of conditional accumulators on TensorFlow: one graph and one session each, or
eager.

A take that may wait runs in its own thread; after every call the threads get a moment to come back.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tests.conformance.adapters import accumulator_calls
from tests.conformance.adapters.accumulator import USUAL
from tests.conformance.decode import dtype
from tests.golden import objects
from tests.golden.tensorflow_values import Json, tensorflow, word

MOMENT = 0.15  # seconds in which TensorFlow wakes a taker; it needs a few milliseconds
BLOCKED_MS = 400  # after which a take that nobody can serve is given up
_names = itertools.count()


def outputs(scenario: Json) -> list[Json]:
    """What each call gave, in the words of the golden file; keys without a value are left out."""
    if "accumulator" not in scenario:
        played = objects.play(scenario["calls"], objects.TensorFlow(scenario["mode"]))
        return [{key: _written(x) for key, x in outcome.items()} for outcome in played]
    spec = {**USUAL, **scenario["accumulator"]}
    run = (Eager if spec["mode"] == "eager" else InSession)(spec)
    found = [run.call(dict(call)) for call in scenario["calls"]]
    run.close()
    return found


class Runner:
    """One accumulator of TensorFlow and those who wait for it."""

    def __init__(self, spec: Json) -> None:
        self.tf, self.spec = tensorflow(), spec
        self.dtype = dtype(spec["dtype"])
        self.takers: dict[str, threading.Thread] = {}
        self.results: dict[str, Json] = {}
        self.closed = False

    def make(self, **more: Any) -> Any:
        kind = (
            "SparseConditionalAccumulator"
            if self.spec["kind"] == "sparse"
            else "ConditionalAccumulator"
        )
        if self.spec["reduction_type"] is not None:
            more["reduction_type"] = self.spec["reduction_type"]
        return getattr(self.tf.compat.v1, kind)(
            self.tf.as_dtype(self.spec["dtype"]), self.spec["shape"], **more
        )

    def call(self, call: Json) -> Json:
        verb = call.pop("op")
        found = self.caught(lambda: getattr(self, verb)(call))
        if self.takers:
            found.update(self.settle())
        return found if self.closed else {**found, "num_accumulated": self.count()}

    def caught(self, act: Callable[[], Any]) -> Json:
        try:
            out = act()
        except Exception as error:  # which class it is, is the result
            return {"error": type(error).__name__}
        return {} if out is None else {"out": out}

    def settle(self) -> Json:
        """Who came back, by name, and who waits, in the order of asking."""
        start = time.monotonic()
        if not self.closed:
            ThreadPoolExecutor(1).submit(self.count).result()  # how slow threads are here and now
        moment = max(MOMENT, 20 * (time.monotonic() - start))
        for thread in list(self.takers.values()):
            thread.join(moment / len(self.takers))
        done = [name for name, thread in self.takers.items() if not thread.is_alive()]
        for name in done:
            del self.takers[name]
        completed = [{"taker": name, **self.results.pop(name)} for name in sorted(done)]
        found = {"completed": completed, "still_blocked": list(self.takers)}
        return {key: x for key, x in found.items() if x}

    def start(self, name: str, act: Callable[[], Any]) -> None:
        self.takers[name] = threading.Thread(
            target=lambda: self.results.update({name: self.caught(act)}), daemon=True
        )
        self.takers[name].start()

    def encoded(self, out: Any) -> Any:
        if isinstance(out, np.ndarray | np.generic):
            return (
                {"empty_shape": list(out.shape)}
                if out.size == 0
                else _words(out.astype(np.float64).tolist())
            )
        indices, values = np.asarray(out.indices), np.asarray(out.values)
        shape = np.asarray(
            out.shape if hasattr(out, "_fields") and "shape" in out._fields else out.dense_shape
        )
        found = {"indices": indices.tolist(), "values": _words(values.astype(np.float64).tolist())}
        found |= {"values_shape_if_empty": list(values.shape)} if values.size == 0 else {}
        return {**found, "shape": shape.tolist()}


class InSession(Runner):
    """Graph mode: each call is built, then run."""

    def __init__(self, spec: Json) -> None:
        super().__init__(spec)
        self.graph = self.tf.Graph()
        with self.graph.as_default():
            self.acc = self.make()
            self.counter = self.acc.num_accumulated()
        self.session = self.tf.compat.v1.Session(graph=self.graph)

    def run(self, build: Callable[[], Any], feed: Json | None = None, ms: int = 0) -> Any:
        with self.graph.as_default():
            built = build()
        return self._run(built, feed, ms)

    def _run(self, built: Any, feed: Any = None, ms: int = 0) -> Any:
        options = self.tf.compat.v1.RunOptions(timeout_in_ms=ms)
        return self.session.run(built, feed, options=options)

    def count(self) -> int:
        return int(self._run(self.counter))

    def fed(self, x: Any, dtype: Any, feed: Json) -> Any:
        with self.graph.as_default():
            placeholder = self.tf.compat.v1.placeholder(dtype, None)
        feed[placeholder] = np.array(x, dtype)
        return placeholder

    def applied(self, call: Json) -> tuple[Any, Any]:
        """The operation of one apply, and what is fed to it."""
        feed: Any = {}
        step = {"local_step": call["local_step"]} if "local_step" in call else {}
        if call.get("local_step_fed"):
            step["local_step"] = self.fed(call["local_step"], np.int64, feed)
        if self.spec["kind"] == "sparse":
            indices, values, shape = accumulator_calls.rows(call, self.dtype)
            return lambda: self.acc.apply_grad(indices, values, shape, **step), feed
        grad = accumulator_calls.gradient(call, self.dtype)
        grad = self.fed(grad, grad.dtype, feed) if call.get("dynamic") else grad
        return lambda: self.acc.apply_grad(grad, **step), feed

    def apply_grad(self, call: Json) -> None:
        self.run(*self.applied(call))

    def repeat_apply_grad(self, call: Json) -> None:
        build, feed = self.applied(call)
        with self.graph.as_default():
            op = build()
        for _ in range(call["times"]):
            self._run(op, feed)

    def parallel_apply_grad(self, call: Json) -> None:
        built = [self.applied({**call, "grad": grad}) for grad in call["grads"]]
        with self.graph.as_default():
            ops = [build() for build, _ in built]
        threads = [threading.Thread(target=self._run, args=(op,)) for op in ops]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def apply_indexed_slices_grad(self, call: Json) -> None:
        indices, values, shape = accumulator_calls.rows(call, self.dtype)
        step = {"local_step": call["local_step"]} if "local_step" in call else {}

        def build() -> Any:
            dense_shape = None if shape is None else self.tf.constant(shape, self.tf.int64)
            made = self.tf.IndexedSlices(
                self.tf.constant(values), self.tf.constant(indices), dense_shape
            )
            return self.acc.apply_indexed_slices_grad(made, **step)

        self.run(build)

    def take_grad(self, call: Json) -> Any:
        return self.encoded(
            self.run(lambda: self.acc.take_grad(call["num_required"]), ms=BLOCKED_MS)
        )

    def take_indexed_slices_grad(self, call: Json) -> Any:
        take = self.acc.take_indexed_slices_grad
        return self.encoded(self.run(lambda: take(call["num_required"]), ms=BLOCKED_MS))

    def set_global_step(self, call: Json) -> None:
        feed: Any = {}
        step = call["new_global_step"]
        step = self.fed(step, np.int64, feed) if call.get("fed") else step
        self.run(lambda: self.acc.set_global_step(step), feed)

    def start_take(self, call: Json) -> None:
        with self.graph.as_default():
            out = self.acc.take_grad(call["num_required"])
        self.start(
            call["taker"], lambda: self.encoded(self._run(out, ms=call.get("timeout_ms", 0)))
        )

    def wait_ms(self, call: Json) -> None:
        threading.Event().wait(call["ms"] / 1000)

    def session_close(self, call: Json) -> None:
        self.closed = True
        self.session.close()

    def close(self) -> None:
        self.session.close()
        for thread in self.takers.values():
            thread.join()


class Eager(Runner):
    """Each call acts at once; a name keeps the accumulator apart from those of other scenarios."""

    def __init__(self, spec: Json) -> None:
        super().__init__(spec)
        self.acc = self.make(shared_name=f"scenario_{next(_names)}")

    def count(self) -> int:
        return int(self.acc.num_accumulated())

    def apply_grad(self, call: Json) -> None:
        step = {"local_step": call["local_step"]} if "local_step" in call else {}
        self.acc.apply_grad(accumulator_calls.gradient(call, self.dtype), **step)

    def take_grad(self, call: Json) -> Any:
        return self.encoded(self.acc.take_grad(call["num_required"]).numpy())

    def set_global_step(self, call: Json) -> None:
        self.acc.set_global_step(call["new_global_step"])

    def start_take(self, call: Json) -> None:
        self.start(call["taker"], lambda: self.take_grad(call))

    def close(self) -> None:
        """Nothing may wait at the end: no one could wake it."""
        for thread in self.takers.values():
            thread.join()


def _words(x: Any) -> Any:
    """Numbers as short as they can be written."""
    if isinstance(x, list):
        return [_words(v) for v in x]
    return int(x) if float(x).is_integer() and str(x) != "-0.0" else word(x)


def _written(outcome: Any) -> Any:
    """What a step of named objects gave."""
    if isinstance(outcome, Exception):
        return type(outcome).__name__
    return outcome if isinstance(outcome, str) else _words(outcome.tolist())
