"""Weights that a problem is lent, and arrays that it lends: neither side changes what the other one
has.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from gradlab._base.arrays import Array
from gradlab.errors import InvalidArgumentError
from gradlab.workers import Bowl, Digits, Experiment, Server, replay, run


def halve(w: Any) -> None:
    w *= 0.5


WRITES: dict[str, Callable[[Any], Any]] = {
    "in place": halve,
    "one entry": lambda w: w.__setitem__(0, 1.0),
    "out": lambda w: np.negative(w, out=w),
    "fill": lambda w: w.fill(0),
    "random": lambda w: np.random.default_rng(0).random(w.shape, w.dtype, out=w),
}


class Careless(Bowl):
    """Changes the weights it was given."""

    def __init__(self, write: Callable[[Any], Any]) -> None:
        super().__init__()
        object.__setattr__(self, "write", write)

    def gradient(self, weights: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
        self.write(weights["w"])  # type: ignore[attr-defined]
        return super().gradient(weights, rng)


@pytest.mark.parametrize("engine", ["simulated", "threads"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_the_error_of_a_gradient_that_writes_to_the_weights_says_to_copy_them(
    engine: str, write: Any
) -> None:
    e = Experiment(Careless(write), gradients=5)
    with pytest.raises(
        InvalidArgumentError,
        match=r"writes to the weights .* write to a copy, as w = weights\['w'\]",
    ):
        run(e, engine)


def test_a_replay_lends_weights_in_the_same_way() -> None:
    trace = run(Experiment(Bowl(), gradients=5))
    with pytest.raises(InvalidArgumentError, match="write to a copy"):
        replay(Experiment(Careless(halve), gradients=5), trace)


class Lodger(Bowl):
    """Changes its arguments in ways that NumPy cannot forbid: the dictionary, and `np.add.at`."""

    def gradient(self, weights: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
        found = super().gradient(weights, rng)
        with suppress(ValueError):  # later releases of NumPy refuse it like other writes
            np.add.at(weights["w"], [0], 1.0)
        weights["w"] = None  # type: ignore[index]
        return found


@pytest.mark.parametrize("engine", ["simulated", "threads"])
def test_changes_that_numpy_cannot_forbid_have_no_effect(engine: str) -> None:
    e = Experiment(Lodger(), workers=1, gradients=9)
    assert (
        run(e, engine).weights["w"].tobytes()
        == run(Experiment(Bowl(), workers=1, gradients=9)).weights["w"].tobytes()
    )


def test_other_errors_of_a_gradient_are_raised_as_they_are() -> None:
    def fail(w: Any) -> None:
        raise ValueError("no batch left")

    with pytest.raises(ValueError, match=r"^no batch left$"):
        run(Experiment(Careless(fail), gradients=5))


def test_weights_of_the_server_are_read_only() -> None:
    own = np.ones((2, 3))
    server = Server(Experiment(Digits(), weights={"w": own}, workers=1))
    for weights in (server.fetch(0), server.weights, server.held(0)):
        assert not weights["w"].flags.writeable
    own[0] = 2  # the caller's, still
    server.push(0, {"w": np.ones((2, 3))})
    assert not server.fetch(0)["w"].flags.writeable


class Thrifty(Bowl):
    """Has one buffer for all its gradients."""

    def __init__(self) -> None:
        super().__init__(noise=0.5)
        object.__setattr__(self, "buffer", np.zeros(2, np.float32))

    def gradient(self, weights: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
        self.buffer[:] = super().gradient(weights, rng)["w"]  # type: ignore[attr-defined]
        return {"w": self.buffer}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "more", [{"policy": "backup", "aggregate": 3}, {"policy": "apply", "atomic": False}]
)
def test_gradients_that_wait_do_not_change_with_the_buffer_of_their_problem(
    more: dict[str, Any],
) -> None:
    thrifty, other = (
        Experiment(problem, gradients=40, **more) for problem in (Thrifty(), Bowl(noise=0.5))
    )
    assert run(thrifty).weights["w"].tobytes() == run(other).weights["w"].tobytes()
