"""The gate race: which orders each gate allows, and what they end in."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import GateWarning
from gradlab.train import GATE_GRAPH, GATE_NONE, GATE_OP, GateRace

RIGHT = {  # TensorFlow's numbers for loss sum(a @ b), rate 0.1
    "a": np.float32([[-0.10000002384185791, 0.5], [1.899999976158142, 2.5]]),
    "b": np.float32(
        [[4.599999904632568, 5.599999904632568], [6.400000095367432, 7.400000095367432]]
    ),
}


@pytest.fixture
def pair() -> tuple[gl.Variable, gl.Variable]:
    return gl.Variable([[1.0, 2.0], [3.0, 4.0]], name="a"), gl.Variable(
        [[5.0, 6.0], [7.0, 8.0]], name="b"
    )


def _race(pair: Any, gate: int) -> GateRace:
    a, b = pair
    return GateRace(lambda: jnp.sum(jnp.asarray(a) @ jnp.asarray(b)), [a, b], 0.1, gate)


@pytest.mark.parametrize("gate", [GATE_OP, GATE_GRAPH])
def test_gated_steps_end_as_tensorflow_ends(pair: Any, gate: int) -> None:
    outcomes = _race(pair, gate).outcomes()
    assert len(outcomes) == 4  # two orders of the gradients, two of the updates
    for values in outcomes.values():
        for name, expected in RIGHT.items():
            np.testing.assert_array_equal(values[name], expected)


def test_without_a_gate_there_are_six_orders_and_two_of_them_race(pair: Any) -> None:
    outcomes = _race(pair, GATE_NONE).outcomes()
    tasks = ("gradient a", "update a", "gradient b", "update b")
    legal = [
        o
        for o in itertools.permutations(tasks)
        if all(o.index(f"gradient {n}") < o.index(f"update {n}") for n in "ab")
    ]
    assert (len(outcomes), set(outcomes)) == (6, set(legal))
    for order, values in outcomes.items():
        a_raced = order.index("update b") < order.index("gradient a")
        b_raced = order.index("update a") < order.index("gradient b")
        assert np.array_equal(values["a"], RIGHT["a"]) is not a_raced
        assert np.array_equal(values["b"], RIGHT["b"]) is not b_raced


def test_the_order_tensorflow_was_seen_to_take(pair: Any) -> None:
    race = _race(pair, GATE_NONE)
    for task in ("gradient b", "update b", "gradient a", "update a"):
        race.run(task)
    assert race.raced == ("a",)
    ones, f = np.ones((2, 2), np.float32), np.float32
    np.testing.assert_array_equal(race.values["b"], RIGHT["b"])
    np.testing.assert_allclose(
        race.values["a"], f([[1, 2], [3, 4]]) - f(0.1) * (ones @ RIGHT["b"].T), rtol=1e-6
    )
    assert [e.saw_updated for e in race.events] == [(), (), ("b",), ("b",)]
    assert race.ready == ()
    with pytest.raises(
        ValueError, match="'update a' cannot run now; ready: nothing, the step is over"
    ):
        race.run("update a")
    race.restart()
    assert (race.done, race.raced) == ((), ())


@pytest.mark.parametrize(
    ("gate", "done", "ready"),
    [
        (GATE_NONE, ["gradient a"], "update a, gradient b"),
        (GATE_OP, ["gradient a"], "gradient b"),
        (GATE_GRAPH, ["gradient a"], "gradient b"),
        (GATE_GRAPH, ["gradient b", "gradient a"], "update a, update b"),
    ],
)
def test_tasks_that_are_not_ready_are_refused(
    pair: Any, gate: int, done: list[str], ready: str
) -> None:
    race = _race(pair, gate)
    for task in done:
        race.run(task)
    assert ", ".join(race.ready) == ready
    with pytest.raises(ValueError, match=f"'no task' cannot run now; ready: {ready}"):
        race.run("no task")


def test_gate_op_waits_only_for_variables_of_the_same_operation() -> None:
    a, b, c = (gl.Variable([2.0], name=n) for n in "abc")
    race = GateRace(lambda: (a * b).sum() + (c * c).sum(), [a, b, c], 0.1, GATE_OP)
    race.run("gradient c")
    assert race.ready == ("gradient a", "gradient b", "update c")
    race.run("update c")
    race.run("gradient a")
    assert "update a" not in race.ready
    whole = GateRace(lambda: (a * b).sum() + (c * c).sum(), [a, b, c], 0.1, GATE_GRAPH)
    whole.run("gradient c")
    assert "update c" not in whole.ready


def test_a_gradient_that_does_not_read_what_was_updated_has_not_raced() -> None:
    a, b = gl.Variable([1.0], name="a"), gl.Variable([2.0], name="b")
    race = GateRace(lambda: (a * a).sum() + (b * b).sum(), [a, b], 0.1, GATE_NONE)
    for task in ("gradient a", "update a", "gradient b", "update b"):
        race.run(task)
    assert race.reads == {"a": {"a"}, "b": {"b"}}
    assert (race.events[2].saw_updated, race.raced) == (("a",), ())


def test_the_gradient_of_one_factor_reads_the_other(pair: Any) -> None:
    assert _race(pair, GATE_NONE).reads == {"a": {"b"}, "b": {"a"}}


def test_the_variables_stay(pair: Any) -> None:
    _race(pair, GATE_NONE).outcomes()
    assert [v.numpy().ravel().tolist() for v in pair] == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_one_variable_cannot_race() -> None:
    v = gl.Variable([3.0], name="v")
    (values,) = GateRace(lambda: (v * v).sum(), [v], 0.5, GATE_NONE).outcomes().values()
    assert values["v"].tolist() == [0]


@pytest.mark.parametrize(
    ("names", "gate", "message"),
    [
        ("ab", 3, r"GATE_GRAPH \(2\), got 3"),
        ("abcde", 1, "1 to 4 .* got 5"),
        ("", 1, "got 0"),
        ("aa", 1, "different names"),
    ],
)
def test_what_cannot_race_is_refused(names: str, gate: int, message: str) -> None:
    made = [gl.Variable([1.0], name=n) for n in names]
    with pytest.raises(ValueError, match=message):
        GateRace(lambda: sum((v * v).sum() for v in made), made, 0.1, gate)


def test_an_unknown_gate_warns_outside_a_graph_and_is_refused_in_one() -> None:
    v, opt = gl.Variable([1.0]), gl.train.GradientDescentOptimizer(0.1)
    with pytest.warns(GateWarning, match="got 7; ignored outside a Graph") as caught:
        opt.compute_gradients(lambda: v * v, [v], gate_gradients=7)
    assert caught[0].filename == __file__
    with gl.Graph().as_default(), pytest.raises(ValueError, match=r"must be GATE_NONE .* got 7"):
        opt.compute_gradients(lambda: v * v, [v], gate_gradients=7)


@pytest.mark.parametrize("loss", ["a.T @ b", "(2 * a) @ jnp.tanh(b)", "jax.jit(jnp.matmul)(a, b)"])
def test_gate_op_is_safe_however_the_variables_meet(loss: str) -> None:
    a, b = (
        gl.Variable(np.arange(4.0, dtype=np.float32).reshape(2, 2) + k, name=n)
        for k, n in ((1, "a"), (5, "b"))
    )
    names = {"jax": jax, "jnp": jnp}
    race = gl.train.GateRace(
        lambda: eval(loss, names, {"a": a.value, "b": b.value}).sum(), [a, b], 0.1
    )
    assert len({str(values) for values in race.outcomes().values()}) == 1


def test_gate_op_lets_variables_that_never_meet_go_their_own_way() -> None:
    a, b = gl.Variable([1.0], name="a"), gl.Variable([2.0], name="b")
    race = gl.train.GateRace(lambda: (a * a).sum() + (b * b).sum(), [a, b], 0.1)
    race.run("gradient a")
    assert "update a" in race.ready
