"""One optimizer, whichever the version: its settings, its steps, and its pure form."""

import copy
import logging
import os
import threading
import warnings
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, PartitionSpec

import gradlab as gl
from gradlab.errors import InvalidArgumentError, KerasWarning
from gradlab.keras import SGD, Adagrad, replicas
from gradlab.keras.versions import Declaration
from gradlab.rules import pure
from tests.differences import differs

F = np.float32

# Settings: names, configs, and what stays out of a config

STAIRS = gl.schedules.ExponentialDecay(0.5, 2, 0.5, True)


@differs(
    "`name` of an optimizer of Keras 3 that is given none",
    tensorflow="unique: sgd, sgd_1",
    gradlab="SGD, as in the other versions; None makes it unique",
)
def test_names() -> None:
    assert (Adagrad().get_config()["name"], Adagrad(name="Ada").get_config()["name"]) == (
        "Adagrad",
        "Ada",
    )
    assert [Adagrad(name=n).get_config()["name"] for n in (None, "", None)] == [
        "adagrad",
        "adagrad_1",
        "adagrad_2",
    ]
    assert SGD(name=None).get_config()["name"] == "sgd"
    assert [SGD(semantics="keras3", **more).name for more in ({}, {"name": None})] == [
        "SGD",
        "sgd_1",
    ]


def test_config_holds_limits_that_are_set_and_versions_that_are_not_the_default() -> None:
    config = Adagrad(0.5, clipvalue=2.0, decay=0.25, name="a").get_config()
    common = {"name": "a", "learning_rate": 0.5, "initial_accumulator_value": 0.1, "epsilon": 1e-7}
    assert config == {**common, "clipvalue": 2.0, "decay": 0.25}
    config = Adagrad(0.5, name="a", semantics="keras3").get_config()
    assert common.items() <= config.items()
    assert (config["clipnorm"], config["use_ema"], config["semantics"]) == (None, False, "keras3")
    assert Adagrad(strict="tf").get_config()["strict"] == "tf"
    with pytest.raises(ValueError, match="strict must be"):
        Adagrad(strict="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ["tf2.3", "legacy", "rewrite", "keras3"])
def test_round_trip(version: Any) -> None:
    opt = Adagrad(0.25, 0.5, 0.125, "a", version, strict="tf", clipnorm=2.0)
    assert Adagrad.from_config(opt.get_config()).get_config() == opt.get_config()
    scheduled = SGD(STAIRS, semantics=version)
    assert SGD.from_config(scheduled.get_config()).get_config() == scheduled.get_config()
    assert (
        Adagrad.from_config({}, semantics=version).get_config().get("semantics", "legacy")
        == version
    )


def test_from_config_changes_the_dictionary_and_refuses_unknown_names() -> None:
    config = {"lr": 0.5}
    assert SGD.from_config(config).get_config()["learning_rate"] == 0.5
    assert config == {"learning_rate": 0.5}
    with pytest.raises(TypeError, match="no argument 'foo'"):
        SGD.from_config({"foo": 1})


def test_schedules_are_written_as_each_version_writes_them() -> None:
    assert SGD(STAIRS, semantics="tf2.3").get_config()["learning_rate"].keys() == {
        "class_name",
        "config",
    }
    assert "registered_name" in SGD(STAIRS).get_config()["learning_rate"]
    assert SGD(lambda: 0.5).get_config()["learning_rate"] == 0.5


def test_an_optimizer_shows_what_it_was_told_and_makes_nothing_for_it() -> None:
    opt = Adagrad(0.1, clipnorm=2.0, epsilon=1e-8)
    shown = (
        "Adagrad('Adagrad', learning_rate=0.1, initial_accumulator_value=0.1, epsilon=1e-08, "
        "clipnorm=2.0, semantics='legacy')"
    )
    assert repr(opt) == shown
    assert opt.weights == [] and not opt._engine.has_created_hyper
    assert opt.learning_rate is not None and repr(opt) == shown
    function = lambda: 1 / 0  # noqa: E731
    assert repr(SGD(function, semantics="keras3")).startswith(
        f"SGD('SGD', learning_rate={function!r}, momentum=0.0, "
    )


# Steps: which gradients count, atomic or as Keras leaves it, constraints, variables that come late


def test_none_is_skipped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    v, w, opt = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w"), Adagrad()
    with caplog.at_level(logging.WARNING, "gradlab"):
        opt.apply_gradients([(None, w), (F([1.0]), v)])
    assert ["w:0" in r.getMessage() for r in caplog.records] == [True]
    assert [x.name for x in opt.weights] == ["Adagrad/iter:0", "Adagrad/v/accumulator:0"]
    with pytest.warns(KerasWarning, match="Gradients do not exist for variables"):
        SGD(semantics="keras3").apply_gradients([(None, w), (F([1.0]), v)])


@pytest.mark.parametrize("version", ["tf2.3", "legacy", "rewrite", "keras3"])
def test_no_gradients_at_all(version: Any) -> None:
    opt, v = SGD(semantics=version), gl.Variable([1.0], name="v")
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        opt.apply_gradients([(None, v)])
    if version == "keras3":
        with pytest.raises(ValueError, match="No gradients provided"):
            opt.apply_gradients([])
    elif version == "rewrite":
        assert opt.apply_gradients([]) is opt.iterations
    else:
        assert opt.weights == []
        assert opt.apply_gradients(iter([])) is None
        assert [w.name for w in opt.weights] == ["SGD/iter:0"] and opt.iterations.numpy() == 0


BAD = [(F([1.0, 2.0]), InvalidArgumentError), (np.array([1.0]), InvalidArgumentError)]


@pytest.mark.parametrize(("bad", "error"), BAD)
def test_all_or_nothing(bad: np.ndarray, error: type[Exception]) -> None:
    v, w, opt = (
        gl.Variable([1.0], name="v"),
        gl.Variable([1.0], name="w"),
        Adagrad(0.1, clipnorm=1.0),
    )
    with pytest.raises(error, match="w:0"):
        opt.apply_gradients([(F([1.0]), v), (bad, w)])
    assert (v.numpy().tolist(), opt.weights) == ([1.0], [])


def test_a_constraint_that_raises_leaves_all_as_it_was() -> None:
    def refuse(w: np.ndarray) -> np.ndarray:
        raise ArithmeticError

    v, w, opt = gl.Variable([1.0]), gl.Variable([1.0], constraint=refuse), Adagrad()
    with pytest.raises(ArithmeticError):
        opt.apply_gradients([(F([1.0]), v), (F([1.0]), w)])
    assert (v.numpy().tolist(), opt.weights) == ([1.0], [])


@differs(
    "a call of a `gl.keras` `Optimizer` that raises",
    tensorflow="everything ahead of the bad gradient is done",
    gradlab="nothing has changed",
    strict="TensorFlow's behavior",
)
@pytest.mark.parametrize(("bad", "error"), BAD)
def test_strict_leaves_done_what_keras_leaves_done(bad: np.ndarray, error: type[Exception]) -> None:
    v, w, opt = (
        gl.Variable([1.0], name="v"),
        gl.Variable([1.0], name="w"),
        Adagrad(0.1, 3.0, strict="tf"),
    )
    with pytest.raises(error, match="w:0"):
        opt.apply_gradients([(F([1.0]), v), (bad, w)])
    assert v.numpy().tolist() == [F(0.95)]
    assert [x.tolist() for x in opt.get_weights()] == [0, [4.0], [3.0]]
    assert opt.apply_gradients([(F([1.0]), v), (F([1.0]), w)]).numpy() == 1


def test_rows_out_of_range_change_nothing() -> None:
    v, opt = gl.Variable(np.ones((2, 1), F), name="v"), Adagrad(strict="tf")
    for indices in ([-1], [2]):
        with pytest.raises(InvalidArgumentError, match=r"indices of v:0 must be in \[0, 2\)"):
            opt.apply_gradients([(gl.IndexedSlices(F([[1.0]]), indices), v)])
    assert v.numpy().ravel().tolist() == [1, 1]


@pytest.mark.parametrize("given", [[1.0, 2.0], None, [(1.0,)], "ab"])
def test_not_pairs(given: Any) -> None:
    with pytest.raises(TypeError):
        SGD().apply_gradients(given)


@pytest.mark.parametrize("given", [[(1.0,)], [(1.0, 2.0, 3.0)], {"a": 1}])
def test_pairs_of_another_length_are_a_value_error_too(given: Any) -> None:
    with pytest.raises(ValueError, match=r"must hold \(gradient, variable\) pairs"):
        SGD().apply_gradients(given)


def test_no_variable() -> None:
    for error in (AttributeError, NotImplementedError, TypeError):
        with pytest.raises(error, match="can only update a gradlab Variable"):
            SGD().apply_gradients([(F([1.0]), F([1.0]))])


def test_integers_have_no_slots() -> None:
    for strict in (None, "tf"):
        with pytest.raises(TypeError, match="only floating-point variables"):
            Adagrad(strict=strict).apply_gradients([(np.int32([1]), gl.Variable(np.int32([1])))])


def test_lists_take_the_dtype_of_the_variable() -> None:
    v = gl.Variable(np.array([1.0]))
    SGD(1.0).apply_gradients([([1], v)])
    assert v.numpy().tolist() == [0.0]


def test_the_same_variable_twice_means_two_updates() -> None:
    v, opt = gl.Variable([0.0], name="v"), SGD(1.0, momentum=0.5)
    assert opt.apply_gradients([(F([1.0]), v), (F([1.0]), v)]).numpy() == 1
    assert v.numpy().tolist() == [-2.5]


def test_constraints() -> None:
    def make() -> gl.Variable:
        return gl.Variable(
            F([[1.0], [-4.0]]), name="c", constraint=lambda w: gl.clip_by_value(w, 0.0, 9.0)
        )

    dense, sparse = F([[2.0], [1.0]]), gl.IndexedSlices(F([[2.0]]), [0])
    c = make()
    SGD(1.0).apply_gradients([(dense, c)])
    assert c.numpy().ravel().tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="has a constraint"):
        SGD(1.0).apply_gradients([(sparse, c)])
    c = make()
    SGD(1.0, semantics="keras3").apply_gradients([(sparse, c)])
    assert c.numpy().ravel().tolist() == [0, 0]


@pytest.mark.parametrize(
    ("version", "error"), [("keras3", ValueError), ("rewrite", KeyError), ("legacy", None)]
)
def test_variables_that_come_late(version: Any, error: type[Exception] | None) -> None:
    v, w, opt = (
        gl.Variable([1.0], name="v"),
        gl.Variable([1.0], name="w"),
        Adagrad(semantics=version),
    )
    with pytest.raises(InvalidArgumentError):
        opt.apply_gradients([(F([1.0, 1.0]), w)])  # was no first step
    opt.apply_gradients([(F([1.0]), v)])
    if error is None:
        opt.apply_gradients([(F([1.0]), w)])
        return
    with pytest.raises(error, match="w:0 was not among the variables of the first step"):
        opt.apply_gradients([(F([1.0]), w)])


def test_the_variables_of_the_first_step_stay_known() -> None:
    v, w, opt = (
        gl.Variable([1.0], name="v"),
        gl.Variable([1.0], name="w"),
        SGD(1.0, semantics="keras3"),
    )
    for variables in ((v, w), (v,), (w,)):
        opt.apply_gradients([(F([1.0]), x) for x in variables])
    assert (v.numpy().tolist(), w.numpy().tolist()) == ([-1.0], [-1.0])


def test_aggregator_and_transformers() -> None:
    def times(k: float) -> Any:
        return lambda pairs: [(k * g, v) for g, v in pairs]

    v = gl.Variable([0.0])
    opt = SGD(1.0, gradient_aggregator=times(F(3)), gradient_transformers=[times(F(2))])
    opt.apply_gradients([(F([1.0]), v)])
    assert v.numpy().tolist() == [-6.0]
    opt.apply_gradients([(F([1.0]), v)], experimental_aggregate_gradients=False)
    assert v.numpy().tolist() == [-8.0]


def test_jax_variables_stay_jax() -> None:
    v, opt = gl.Variable(jnp.ones(2), name="v"), Adagrad(0.5, 3.0, clipnorm=10.0)
    opt.apply_gradients([(jnp.ones(2), v)])
    assert type(v.value) is type(jnp.ones(2)) is type(opt.get_slot(v, "accumulator").value)
    np.testing.assert_allclose(v.numpy(), [0.75, 0.75])


def test_threads_lose_no_step() -> None:
    v, opt = gl.Variable([0.0], name="v"), SGD(1.0)
    work = [
        threading.Thread(target=lambda: [opt.apply_gradients([(F([1.0]), v)]) for _ in range(50)])
        for _ in range(4)
    ]
    for t in work:
        t.start()
    for t in work:
        t.join()
    assert (v.numpy().tolist(), opt.iterations.numpy()) == ([-200.0], 200)


def test_strict_makes_the_count_before_it_reads_a_rate_that_is_none() -> None:
    opt, v = Adagrad(None, strict="tf"), gl.Variable([1.0], name="v")
    with pytest.raises(TypeError, match="learning_rate"):
        opt.apply_gradients([(F([1.0]), v)])
    assert [w.name for w in opt.weights] == ["Adagrad/iter:0"]


# The pure form: the bits of the stateful one, inside jit and scan, and sums over the axis of a mesh

DEVICES = 8
RNG = np.random.default_rng(3)
W = {"a": RNG.normal(size=(4, 2)).astype(F), "b": RNG.normal(size=3).astype(F)}
STEPS = [
    {"a": RNG.normal(size=(4, 2)).astype(F), "b": RNG.normal(size=3).astype(F)},
    {"a": gl.IndexedSlices(F([[1, 2], [3, 4]]), np.int32([2, 0]), (4, 2)), "b": None},
    {"a": None, "b": RNG.normal(size=3).astype(F)},
]
MAKE: dict[str, Any] = {
    "adagrad": lambda version: Adagrad(0.1, semantics=version),
    "momentum": lambda version: SGD(
        0.1, momentum=0.9, nesterov=True, semantics=version, global_clipnorm=2.0
    ),
    "schedule": lambda version: SGD(
        gl.schedules.InverseTimeDecay(0.5, 2, 0.5), semantics=version, clipvalue=0.5
    ),
}


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("version", ["legacy", "rewrite"])
def test_the_pure_form_has_the_same_bits_and_jit_rounds_only(name: str, version: str) -> None:
    stateful, variables = MAKE[name](version), {k: gl.Variable(w, name=k) for k, w in W.items()}
    twin, jitted = MAKE[name](version), MAKE[name](version)
    compiled = jax.jit(jitted.step)
    values, state = W, twin.init(W)
    traced, traced_state = jax.tree.map(jnp.asarray, W), jitted.init(jax.tree.map(jnp.asarray, W))
    for grads in STEPS:
        stateful.apply_gradients([(grads[k], v) for k, v in variables.items()])
        values, state = twin.step(values, state, grads)
        traced, traced_state = compiled(traced, traced_state, jax.tree.map(jnp.asarray, grads))
    for k, v in variables.items():
        assert values[k].tolist() == v.numpy().tolist()
        np.testing.assert_allclose(traced[k], v.numpy(), rtol=3e-6, atol=1e-7)
    assert (int(state["step"]), int(traced_state["step"])) == (3, 3)


def test_keras_3_squares_one_by_one_under_jit_too() -> None:
    g = gl.IndexedSlices(jnp.ones((2, 1)), jnp.array([1, 1]), (3, 1))
    opt, w = Adagrad(1.0, 1.0, semantics="keras3"), jnp.zeros((3, 1))
    _, state = jax.jit(opt.step)(w, opt.init(w), g)
    assert state["slots"][0][0].ravel().tolist() == [1, 3, 1]


def test_in_a_scan() -> None:
    opt, w = SGD(gl.schedules.PiecewiseConstantDecay([0], [1.0, 0.5])), jnp.zeros(2)

    def body(carry: Any, g: Any) -> Any:
        values, state = opt.step(carry[0], carry[1], g)
        return (values, state), None

    (values, _), _ = jax.lax.scan(body, (w, opt.init(w)), jnp.ones((3, 2)))
    assert values.tolist() == [-2.0, -2.0]


def _on_mesh(opt: SGD, w: Any, grads: Any) -> Any:
    """One step where every device brings its own row of `grads`."""
    mesh = jax.make_mesh(
        (DEVICES,), ("data",), axis_types=(AxisType.Auto,), devices=jax.devices("cpu")[:DEVICES]
    )
    all_of, own = PartitionSpec(), PartitionSpec("data")

    @partial(jax.shard_map, mesh=mesh, in_specs=(all_of, own), out_specs=all_of)
    def step(w: Any, g: Any) -> Any:
        return opt.step(w, opt.init(w), jax.tree.map(lambda x: x[0], g), axis_name="data")[0]

    return jax.jit(step)(w, grads)


@pytest.mark.parametrize("version", ["legacy", "rewrite", "keras3"])
@pytest.mark.parametrize(
    "limits", [{}, {"clipnorm": 1.0}, {"global_clipnorm": 1.0}, {"clipvalue": 0.25}]
)
def test_a_mesh_steps_like_replicas(version: Any, limits: dict[str, float]) -> None:
    grads = {k: RNG.normal(size=(DEVICES, *w.shape)).astype(F) for k, w in W.items()}
    got = _on_mesh(SGD(0.5, semantics=version, **limits), jax.tree.map(jnp.asarray, W), grads)
    eight = replicas(DEVICES)
    with eight.scope():
        opt, variables = (
            SGD(0.5, semantics=version, **limits),
            {k: gl.Variable(w) for k, w in W.items()},
        )
    eight.apply_gradients(
        opt, [[(grads[k][d], v) for k, v in variables.items()] for d in range(DEVICES)]
    )
    for k, v in variables.items():
        np.testing.assert_allclose(got[k], v.numpy(), rtol=2e-6, atol=2e-6)


def test_slices_of_all_devices_are_joined_and_summed_by_row() -> None:
    opt, w = Adagrad(1.0, 1.0), jnp.zeros((3, 1))

    def step(values: Any) -> Any:
        g = gl.IndexedSlices(values, jnp.array([1]), (3, 1))
        return opt.step(w, opt.init(w), g, axis_name="data")[1]["slots"][0][0]

    got = jax.vmap(step, axis_name="data")(jnp.ones((4, 1, 1)))
    assert got[:, :, 0].tolist() == [[1, 17, 1]] * 4


def test_tf_2_3_refuses_limits_on_a_mesh_and_ignores_them_elsewhere() -> None:
    opt, w = SGD(1.0, clipnorm=1.0, semantics="tf2.3"), jnp.zeros(2)
    with pytest.raises(ValueError, match="refuses clipnorm for replicas"):
        jax.vmap(lambda g: opt.step(w, opt.init(w), g, axis_name="data")[0], axis_name="data")(
            jnp.ones((2, 2))
        )
    with pytest.warns(KerasWarning, match="does nothing here"):
        assert opt.step(w, opt.init(w), jnp.array([3.0, 4.0]))[0].tolist() == [-3.0, -4.0]


def test_what_all_weights_share_advances() -> None:
    rule = gl.rules.Adam()

    class Adam(Adagrad):
        """Adagrad with the rule of Adam."""

        _declaration = Declaration(choose_rule=lambda version, arguments: gl.rules.Adam, fields={})

    opt = Adam(0.1)
    (values, state), (expected, other) = (W, opt.init(W)), (W, pure.init(rule, W))
    for grads in (STEPS[0], STEPS[2]):
        values, state = opt.step(values, state, grads)
        expected, other = pure.update(rule, F(0.1), other, expected, grads)
    assert {k: w.tolist() for k, w in values.items()} == {
        k: w.tolist() for k, w in expected.items()
    }
    assert state["shared"] == other["shared"] != opt.init(W)["shared"]


def test_shapes_are_checked() -> None:
    opt = SGD()
    with pytest.raises(gl.errors.InvalidArgumentError):
        opt.step(W, opt.init(W), {"a": F([1.0]), "b": None})


def test_transformers_come_last() -> None:
    opt = SGD(1.0, gradient_transformers=[lambda pairs: [(2 * g, w) for g, w in pairs]])
    assert opt.step(jnp.zeros(1), opt.init(jnp.zeros(1)), jnp.ones(1))[0].tolist() == [-2.0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_copy_has_the_same_lock_in_a_forked_child() -> None:
    opt = SGD()
    again = copy.copy(opt)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX warns of any fork
        child = os.fork()
    if child == 0:
        os._exit(0 if opt._engine.lock is again._engine.lock else 1)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("before", ["a schedule", "a function"])
def test_a_number_in_the_place_of_a_schedule_is_saved(before: str) -> None:
    schedule = gl.schedules.ExponentialDecay(1.0, 1, 0.5)
    v = gl.Variable([1.0], name="v")
    opt = SGD(schedule if before == "a schedule" else lambda: 1.0)
    opt.apply_gradients([(F([1.0]), v)])
    opt.learning_rate = 0.5
    state = opt.state_dict()
    opt.learning_rate = 0.25
    opt.load_state_dict(state)

    assert float(opt.learning_rate) == 0.5
    opt.apply_gradients([(F([1.0]), v)])
    assert v.numpy().tolist() == [-0.5]
