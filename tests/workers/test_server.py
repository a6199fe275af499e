"""Weights, slots and what the policies make of a gradient, by hand; a call that raises changes
nothing.
"""

from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import gradlab as gl
from gradlab._base.arrays import is_jax, precision
from gradlab.workers import CHECK, UPDATE, Bowl, Experiment, Server
from tests.workers.experiments import POLICIES

DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
every_policy = pytest.mark.parametrize("settings", POLICIES.values(), ids=POLICIES)


def server(workers: int = 2, **settings: Any) -> Server:
    return Server(
        Experiment(Bowl(first=8.0, second=4.0), workers=workers, learning_rate=1.0, **settings)
    )


def g(*entries: float) -> dict[str, np.ndarray]:
    return {"w": np.float32(entries)}


def two_pushes(s: Server) -> list[float]:
    """Both read at step 0; worker 1's gradient is one update old."""
    s.fetch(0)
    s.fetch(1)
    s.push(0, g(2, 0))
    s.push(1, g(4, 2))
    return s.weights["w"].tolist()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"policy": "apply"}, [8 - 2 - 4, 4 - 2]),
        ({"policy": "drop", "staleness": 0}, [8 - 2, 4]),
        ({"policy": "drop", "staleness": 1}, [8 - 2 - 4, 4 - 2]),
        ({"policy": "wait", "staleness": 0}, [8 - 2 - 4, 4 - 2]),
        ({"policy": "damp"}, [8 - 2 - 4 / 2, 4 - 2 / 2]),
        # g + strength * g * g * (w_now - w_read) = 4 + 0.125 * 16 * (6 - 8) = 0, and 2, for w[1]
        # has not moved.
        ({"policy": "compensate", "strength": 0.125}, [8 - 2 - 0, 4 - 2]),
        # The mean of squares is 16, so the strength is 0.5 / 4: the same.
        ({"policy": "compensate", "strength": 0.5, "mean_square_decay": 0.0}, [8 - 2 - 0, 4 - 2]),
        ({"policy": "backup", "aggregate": 2}, [8 - (2 + 4) / 2, 4 - 2 / 2]),
        ({"policy": "backup", "aggregate": 1}, [8 - 2, 4]),
    ],
    ids=lambda x: " ".join(map(str, x.values())) if isinstance(x, dict) else "",
)
def test_two_gradients_by_hand(settings: dict[str, Any], expected: list[float]) -> None:
    assert two_pushes(server(**settings)) == pytest.approx(expected, abs=1e-6)


def test_the_mean_square_runs_over_all_gradients() -> None:
    s = server(policy="compensate", strength=1.0, mean_square_decay=0.75)
    two_pushes(s)
    # worker 0: 0.25 * 4 = 1; worker 1: 0.75 * 1 + 0.25 * 16 = 4.75, and it moves by 4 + 16 *
    # (6 - 8) / sqrt(4.75).
    assert s.weights["w"][0] == pytest.approx(6 - (4 - 32 / 4.75**0.5), rel=1e-6)


@every_policy
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("traced", [False, True], ids=["numpy", "jax"])
def test_dtypes_and_libraries_stay(settings: dict[str, Any], dtype: Any, traced: bool) -> None:
    with precision(dtype):
        make = lambda *x: (jnp if traced else np).asarray(x, dtype)  # noqa: E731
        start, first, second = make(8, 4), make(2, 0), make(4, 2)
    e = Experiment(Bowl(), gl.rules.Momentum(0.5), workers=2, weights={"w": start}, **settings)
    s = Server(e)
    s.fetch(0)
    s.fetch(1)
    s.push(0, {"w": first})
    s.push(1, {"w": second})
    w = s.weights["w"]
    assert w.dtype == dtype and is_jax(w) == traced and s.step > 0
    assert (
        np.isfinite(np.asarray(w, np.float64)).all() and (np.asarray(w) != np.asarray(start)).any()
    )


@every_policy
def test_numbers_and_lists_will_do_as_gradients(settings: dict[str, Any]) -> None:
    a, b = server(**settings), server(**settings)
    two_pushes(a)
    b.fetch(0)
    b.fetch(1)
    b.push(0, {"w": [2.0, 0.0]})
    b.push(1, {"w": [4.0, 2.0]})
    assert a.fingerprint() == b.fingerprint()


class Fails(gl.rules.Momentum):
    """Breaks at the second weight."""

    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        if g.size == 3:
            raise ArithmeticError("no")
        return super().step(w, slots, g, lr)


def snapshot(s: Server) -> Any:
    ledger = {k: str(x) for k, x in vars(s.ledger).items()}
    return (
        s.fingerprint(),
        ledger,
        [s.held(k)["w"].tolist() for k in range(2)],
        str(s.given(0)),
        str(s.given(1)),
    )


@every_policy
def test_an_update_that_raises_leaves_all_as_it_was(settings: dict[str, Any]) -> None:
    start = {"a": np.zeros(2, np.float32), "w": np.zeros(3, np.float32)}
    s = Server(Experiment(Bowl(), Fails(0.5), workers=2, weights=start, **settings))
    s.fetch(0)
    s.fetch(1)
    gradient = {"a": np.ones(2, np.float32), "w": np.ones(3, np.float32)}
    s.check(0, gradient)
    s.check(1, gradient)
    if settings["policy"] == "backup":
        s.update(1)
    before = snapshot(s)
    with pytest.raises(ArithmeticError):
        s.update(0)
    assert snapshot(s) == before


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda s: s.check(0, {"v": np.ones(2)}),
            r"the gradient is of \['v'\], the weights are \['w'\]",
        ),
        (lambda s: s.check(0, {}), r"the gradient is of \[\], the weights are \['w'\]"),
        (
            lambda s: s.check(0, g(1, 2, 3)),
            r"the gradient of w has shape \(3,\), the weight has \(2,\)",
        ),
        (lambda s: s.check(0, {"w": None}), "the gradient of w is None"),
        (lambda s: s.check(2, g(1, 2)), "there is no worker 2; there are 0 to 1"),
        (lambda s: s.read(-1), "there is no worker -1; there are 0 to 1"),
        (lambda s: s.record(5), "there is no worker 5"),
        (lambda s: s.update(7), "there is no worker 7"),
        (lambda s: s.handle(CHECK, 9, 0, g(1, 2)), "there is no worker 9"),
        (
            lambda s: s.handle(17, 0, 0),
            "move must be 0 to 5, for read, record, check, update, leave, join; got 17",
        ),
        (lambda s: s.update(0), "worker 0 has no gradient that was checked"),
        (lambda s: s.handle(UPDATE, 0, 0), "worker 0 has no gradient that was checked"),
    ],
)
def test_invalid_calls_are_refused_and_change_nothing(call: Any, message: str) -> None:
    s = server()
    s.fetch(0)
    s.fetch(1)
    before = snapshot(s)
    with pytest.raises(ValueError, match=message):
        call(s)
    assert snapshot(s) == before


def test_a_gradient_of_weights_that_were_never_read_is_refused() -> None:
    with pytest.raises(ValueError, match="worker 0 has not read any weights yet"):
        server().push(0, g(1, 2))


def test_a_gradient_counts_once() -> None:
    s = server(policy="apply")
    s.fetch(0)
    s.push(0, g(1, 1))
    with pytest.raises(ValueError, match="worker 0 has no gradient"):
        s.update(0)
    assert s.step == 1


def test_a_copy_changes_independently() -> None:
    s = server(policy="compensate", mean_square_decay=0.5, optimizer=gl.rules.Adam())
    s.fetch(0)
    s.fetch(1)
    other = s.copy()
    before = snapshot(other)
    s.push(0, g(1, 1))
    s.push(1, g(2, 3))
    assert snapshot(other) == before
    other.push(0, g(1, 1))
    other.push(1, g(2, 3))
    assert snapshot(other) == snapshot(s)


def test_weights_that_a_worker_read_do_not_change() -> None:
    s = server(policy="apply")
    read = s.fetch(0)["w"]
    s.fetch(1)
    s.push(1, g(1, 1))
    assert read.tolist() == [8, 4] and s.held(0)["w"] is read


def test_shared_slots_advance_once_per_update() -> None:
    s = server(policy="drop", staleness=0, optimizer=gl.rules.Adam())
    values = {"w": np.float32([8, 4])}
    optimizer = gl.train.AdamOptimizer(1.0, epsilon=gl.rules.Adam().epsilon)
    state = optimizer.init(values)
    for gradient in (g(2, 1), g(1, -1), g(0, 3)):
        s.fetch(0)
        s.fetch(1)
        s.push(0, gradient)
        s.push(1, g(100, 100))  # dropped
        values, state = optimizer.step(values, state, gradient)
    np.testing.assert_allclose(s.weights["w"], values["w"], rtol=1e-6)
    assert s.step == 3 and s.ledger.dropped == 3
