"""Keras's LossScaleOptimizer, beside what the originals' scenarios show."""

import copy
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import KerasWarning
from gradlab.keras import SGD, Adam, LossScaleOptimizer
from tests.differences import differs

F = np.float32
VERSIONS = ["legacy", "rewrite", "keras3"]


def _make(version: Any, **settings: Any) -> Any:
    return LossScaleOptimizer(SGD(0.5, semantics=version), **{"initial_scale": 8.0, **settings})


@pytest.mark.parametrize("version", VERSIONS)
def test_minimize_scales_and_unscales(version: Any) -> None:
    v = gl.Variable([1.0, -2.0], name="v")
    opt = _make(version)
    losses = []
    opt.minimize(lambda: losses.append(v.value) or (v * v).sum(), [v])

    assert v.numpy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fixed_or_growing_scale_steps_as_the_optimizer_alone(version: Any) -> None:
    rng = np.random.default_rng(0)
    v = gl.Variable(np.ones(4, F), name="v")
    w = gl.Variable(np.ones(4, F), name="w")
    opt = LossScaleOptimizer(
        Adam(0.1, semantics=version), initial_scale=4.0, dynamic_growth_steps=2
    )
    alone = Adam(0.1, semantics=version)
    for _ in range(5):
        g = rng.normal(size=4).astype(F)
        scaled = g * F(opt.loss_scale) if version == "keras3" else g
        opt.apply_gradients([(scaled, v)])
        alone.apply_gradients([(g, w)])

    np.testing.assert_array_equal(v.numpy(), w.numpy())
    assert float(opt.loss_scale) == 16.0


@pytest.mark.parametrize(("version", "counted"), [("legacy", 1), ("rewrite", 1), ("keras3", 0)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_step_that_overflows_is_left_out(version: Any, counted: int, bad: float) -> None:
    v = gl.Variable([1.0, 2.0], name="v")
    opt = _make(version)
    opt.apply_gradients([(F([bad, 1.0]), v)])

    assert v.numpy().tolist() == [1.0, 2.0]
    assert float(opt.loss_scale) == 4.0
    assert opt.iterations.numpy() == counted


@pytest.mark.parametrize(
    ("version", "least"), [("legacy", 1.0), ("rewrite", 1.0), ("keras3", 0.25)]
)
def test_the_least_scale(version: Any, least: float) -> None:
    v = gl.Variable([1.0], name="v")
    opt = _make(version, initial_scale=1.0)
    for _ in range(2):
        opt.apply_gradients([(F([np.nan]), v)])

    assert float(opt.loss_scale) == least


@pytest.mark.parametrize(("version", "largest"), [("legacy", 2.0**127), ("keras3", np.inf)])
def test_the_largest_scale(version: Any, largest: float) -> None:
    v = gl.Variable([1.0], name="v")
    opt = _make(version, initial_scale=2.0**127, dynamic_growth_steps=1)
    opt.apply_gradients([(F([1.0]), v)])

    assert float(opt.loss_scale) == largest


@pytest.mark.parametrize("version", ["legacy", "rewrite"])
def test_a_fixed_scale_steps_in_any_case(version: Any) -> None:
    v = gl.Variable([1.0], name="v")
    opt = _make(version, dynamic=False)
    opt.apply_gradients([(F([np.inf]), v)])

    assert v.numpy().tolist() == [-np.inf]
    assert (float(opt.loss_scale), opt.dynamic_counter) == (8.0, None)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_step_that_raises_changes_nothing(version: Any) -> None:
    v = gl.Variable([1.0], name="v")
    w = gl.Variable([1.0], name="w")
    opt = _make(version, dynamic_growth_steps=1)
    with pytest.raises(ValueError, match="shape"):
        opt.apply_gradients([(F([1.0]), v), (F([1.0, 2.0]), w)])

    assert v.numpy().tolist() == [1.0] and float(opt.loss_scale) == 8.0


def test_what_only_some_versions_have() -> None:
    assert not hasattr(_make("legacy"), "scale_loss")
    assert not hasattr(_make("rewrite"), "dynamic_scale")
    with pytest.raises(AttributeError, match="use scale_loss"):
        _make("keras3").get_scaled_loss(F(1.0))
    assert _make("keras3").scale_loss(F(2.0)) == 16.0
    assert _make("rewrite").get_scaled_loss(lambda: F(2.0))() == 16.0


def test_settings_are_those_of_the_inner_optimizer() -> None:
    opt = LossScaleOptimizer(Adam(0.5))
    opt.learning_rate = 0.25
    opt.beta_1 = 0.75
    opt.clipnorm = 2.0

    inner = opt.inner_optimizer
    assert (inner.lr.numpy(), inner.beta_1.numpy(), inner.clipnorm) == (0.25, 0.75, 2.0)
    assert opt.beta_1.numpy() == 0.75
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        opt.nonsense  # noqa: B018


def test_keras_3_takes_the_scale_of_the_inner_optimizer_away() -> None:
    inner = SGD(semantics="keras3", loss_scale_factor=4.0)
    LossScaleOptimizer(inner)

    assert inner.loss_scale_factor is None


@pytest.mark.parametrize(
    ("version", "settings", "error", "words"),
    [
        ("legacy", {"dynamic": 1}, TypeError, "must be a bool"),
        ("rewrite", {"dynamic": False, "initial_scale": None}, ValueError, "must be specified"),
        ("legacy", {"dynamic": False, "dynamic_growth_steps": 2}, ValueError, "must be None"),
        ("legacy", {"name": "a"}, TypeError, "no argument 'name'"),
        ("rewrite", {"clipnorm": 1.0}, TypeError, "no argument 'clipnorm'"),
        ("keras3", {"dynamic": False}, ValueError, "no longer supports"),
        ("keras3", {"clipnorm": 1.0}, ValueError, "does not support `clipnorm`"),
        ("keras3", {"foo": 1}, ValueError, "does not support arguments: `foo`"),
        ("keras3", {"semantics": "legacy"}, ValueError, "of semantics 'keras3'"),
    ],
)
def test_arguments_that_are_refused(
    version: Any, settings: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        _make(version, **settings)


def test_inner_optimizers_that_are_refused() -> None:
    with pytest.raises(TypeError, match="must be an optimizer of"):
        LossScaleOptimizer("sgd")
    with pytest.raises(ValueError, match="is of semantics 'rewrite', got 'legacy'"):
        LossScaleOptimizer(SGD(semantics="rewrite"), semantics="legacy")
    with pytest.raises(TypeError, match="cannot wrap another LossScaleOptimizer"):
        LossScaleOptimizer(_make("legacy"))
    with pytest.raises(ValueError, match=r"of 'tf2\.3'"):
        LossScaleOptimizer(SGD(semantics="tf2.3"))
    inner = SGD()
    LossScaleOptimizer(inner)
    with pytest.raises(ValueError, match="already wrapped"):
        LossScaleOptimizer(inner)


def test_keras_3_takes_the_settings_of_its_old_configs() -> None:
    old = {"weight_decay": None, "use_ema": False, "ema_momentum": 0.99}

    assert _make("keras3", **old).initial_scale == 8.0


@pytest.mark.parametrize("version", VERSIONS)
def test_a_config_makes_the_same_optimizer(version: Any) -> None:
    opt = _make(version, dynamic_growth_steps=3)
    again = gl.keras.deserialize(gl.keras.serialize(opt))

    assert again.get_config() == opt.get_config()
    assert (again.initial_scale, again.dynamic_growth_steps) == (8.0, 3)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_go_on_by_themselves(version: Any, duplicate: Any) -> None:
    v = gl.Variable([1.0], name="v")
    opt = _make(version, dynamic_growth_steps=1)
    opt.apply_gradients([(F([1.0]), v)])
    again, w = duplicate((opt, v))
    again.apply_gradients([(F([np.nan]), w)])

    assert (float(opt.loss_scale), float(again.loss_scale)) == (16.0, 8.0)
    assert again._engine is again.inner_optimizer._engine
    assert again._engine is not opt._engine


@pytest.mark.parametrize("version", VERSIONS)
def test_a_saved_optimizer_goes_on(version: Any, tmp_path: Any) -> None:
    v = gl.Variable([1.0], name="v")
    opt = LossScaleOptimizer(Adam(0.5, semantics=version), initial_scale=8.0)
    opt.apply_gradients([(F([2.0]), v)])
    opt.apply_gradients([(F([np.inf]), v)])
    gl.save(tmp_path / "state", optimizer=opt, v=v)
    w = gl.Variable([0.0], name="v")
    again = LossScaleOptimizer(Adam(0.5, semantics=version), initial_scale=8.0)
    gl.load(tmp_path / "state", optimizer=again, v=w)
    for one, variable in ((opt, v), (again, w)):
        one.apply_gradients([(F([1.0]), variable)])

    assert float(again.loss_scale) == 4.0
    assert (v.numpy(), opt.iterations.numpy()) == (w.numpy(), again.iterations.numpy())


def test_weights_may_be_set() -> None:
    v = gl.Variable([1.0], name="v")
    opt = LossScaleOptimizer(SGD(0.5, momentum=0.5, semantics="keras3"), initial_scale=8.0)
    opt.apply_gradients([(F([8.0]), v)])
    weights = opt.get_weights()
    opt.apply_gradients([(F([np.inf]), v)])
    opt.set_weights(weights)

    for now, before in zip(opt.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(now, before)
    with pytest.raises(ValueError, match="with 1 weights, but the optimizer was expecting 7"):
        opt.set_weights([1])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_pure_form_makes_the_same_steps(version: Any) -> None:
    opt = LossScaleOptimizer(
        Adam(0.5, semantics=version), initial_scale=8.0, dynamic_growth_steps=2
    )
    v = gl.Variable([1.0, 2.0], name="v")
    values = {"v": jnp.float32([1.0, 2.0])}
    state = opt.init(values)
    step = jax.jit(opt.step)
    for g in ([2.0, 1.0], [np.inf, 1.0], [1.0, -3.0], [0.5, 0.5]):
        values, state = step(values, state, {"v": jnp.float32(g)})
        opt.apply_gradients([(F(g), v)])

        np.testing.assert_allclose(values["v"], v.numpy(), rtol=1e-4)
        assert float(state["loss_scale"]) == float(opt.loss_scale)
        assert int(state["inner"]["step"]) == int(opt.iterations.numpy())


def test_the_pure_form_looks_at_the_gradients_of_all_devices() -> None:
    opt = _make("rewrite")
    w = {"v": jnp.float32([1.0])}
    step = jax.vmap(lambda g: opt.step(w, opt.init(w), {"v": g}, "devices"), axis_name="devices")

    values, state = step(jnp.float32([[1.0], [np.nan]]))

    assert values["v"].ravel().tolist() == [1.0, 1.0]
    assert state["loss_scale"].tolist() == [4.0, 4.0]


@differs(
    "`gl.keras.LossScaleOptimizer` on replicas",
    tensorflow="each replica calls `apply_gradients`; Keras 3 looks at the first one's gradients only",
    gradlab="one call is given the gradients of all; with Keras 3 a warning where it matters",
)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("bad", [0, 1])
def test_replicas_step_together_or_not_at_all(version: Any, bad: int) -> None:
    two = gl.keras.replicas(2)
    with two.scope():
        v = gl.Variable([10.0], name="v")
        opt = _make(version)
    grads = [F([8.0]), F([16.0])]
    grads[bad] = F([np.inf])
    pairs = [[(g, v)] for g in grads]
    if version == "keras3" and bad == 1:
        with pytest.warns(KerasWarning, match="the first replica only"):
            two.apply_gradients(opt, pairs)
        assert [x.tolist() for x in two.values(v)] == [[-np.inf], [-np.inf]]
        return
    two.apply_gradients(opt, pairs)
    assert [x.tolist() for x in two.values(v)] == [[10.0], [10.0]]
    two.apply_gradients(opt, [[(F([4.0]), v)], [(F([4.0]), v)]])
    after = 9.0 if version == "keras3" else 6.0
    assert [x.tolist() for x in two.values(v)] == [[after], [after]]


def test_it_is_at_tensorflows_path() -> None:
    assert gl.keras.mixed_precision.LossScaleOptimizer is LossScaleOptimizer


def test_what_an_aggregator_makes_of_gradients_counts() -> None:
    def fail(pairs: Any) -> Any:
        return [(g * np.nan, v) for g, v in pairs]

    v = gl.Variable([1.0, 2.0])
    opt = LossScaleOptimizer(SGD(1.0, gradient_aggregator=fail), initial_scale=2.0)

    opt.minimize(lambda: v * 2, [v])

    assert v.numpy().tolist() == [1.0, 2.0]
    assert opt.loss_scale == 1


@pytest.mark.parametrize(
    ("scale", "arguments"),
    [
        (
            {"class_name": "FixedLossScale", "config": {"loss_scale_value": 2.0}},
            {"dynamic": False, "initial_scale": 2.0, "dynamic_growth_steps": None},
        ),
        (
            {
                "class_name": "DynamicLossScale",
                "config": {"initial_loss_scale": 2.0, "increment_period": 3, "multiplier": 2.0},
            },
            {"dynamic": True, "initial_scale": 2.0, "dynamic_growth_steps": 3},
        ),
    ],
)
def test_a_config_of_tensorflow_2_3_is_read(scale: Any, arguments: Any) -> None:
    inner = {"class_name": "SGD", "config": {"learning_rate": 0.5, "decay": 0.0}}

    opt = LossScaleOptimizer.from_config({"optimizer": inner, "loss_scale": scale})

    assert {**opt.get_config(), **arguments} == opt.get_config()


def test_another_multiplier_than_2_is_refused() -> None:
    numbers = {"initial_loss_scale": 2.0, "increment_period": 3, "multiplier": 4.0}
    config = {
        "optimizer": {"class_name": "SGD", "config": {}},
        "loss_scale": {"class_name": "DynamicLossScale", "config": numbers},
    }
    with pytest.raises(ValueError, match="whose multiplier is not 2"):
        LossScaleOptimizer.from_config(config)


def test_in_a_graph_weights_are_set_at_once() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0], name="v")
        opt = _make("keras3")
        opt.build([v])
        weights = opt.get_weights()
        opt.set_weights([x + 1 for x in weights])

    for now, before in zip(opt.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(now, before + 1)


def test_weights_of_another_shape_change_nothing() -> None:
    v = gl.Variable([1.0], name="v")
    opt = LossScaleOptimizer(SGD(0.5, momentum=0.5, semantics="keras3"), initial_scale=8.0)
    opt.build([v])
    before = opt.get_weights()
    names = [w.name for w in opt.weights]
    weights = [x + 1 for x in before]
    weights[names.index("loss_scale_optimizer/dynamic_scale:0")] = F([1.0, 2.0])
    with pytest.raises(ValueError, match="shape"):
        opt.set_weights(weights)

    for now, then in zip(opt.get_weights(), before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("version", ["rewrite", "keras3"])
def test_a_first_step_that_raises_builds_nothing(version: Any) -> None:
    v = gl.Variable([1.0], name="v", constraint=lambda w: w[:0])
    w = gl.Variable([1.0], name="w")
    opt = _make(version)
    with pytest.raises(ValueError, match="shape"):
        opt.apply_gradients([(F([8.0]), v)])

    assert not opt.built
    opt.apply_gradients([(F([8.0]), w)])
    assert w.numpy().tolist() == ([0.5] if version == "keras3" else [-3.0])


@pytest.mark.parametrize("version", VERSIONS)
def test_gradients_on_replicas_may_be_lists(version: Any) -> None:
    two = gl.keras.replicas(2)
    with two.scope():
        v = gl.Variable([10.0], name="v")
        opt = _make(version)
    two.apply_gradients(opt, [[([4.0], v)], [([4.0], v)]])

    after = 9.5 if version == "keras3" else 6.0
    assert [x.tolist() for x in two.values(v)] == [[after], [after]]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("limits", [{}, {"clipnorm": 1.0}, {"clipvalue": 0.5}])
def test_jax_in_double_precision(version: Any, limits: dict[str, float]) -> None:
    def step(value: Any, g: Any) -> np.ndarray:
        v = gl.Variable(value, name="v")
        opt = LossScaleOptimizer(SGD(0.5, semantics=version, **limits), initial_scale=3.0)
        grads = [g] if version == "keras3" else opt.get_unscaled_gradients([g])
        opt.apply_gradients(zip(grads, [v], strict=True))
        return v.numpy()

    value, g = np.float64([1.0, 1 / 3]), np.float64([0.1, 0.7])
    with jax.enable_x64(True):
        on_jax = jnp.asarray(value), jnp.asarray(g)
    of_jax = step(*on_jax)

    assert of_jax.dtype == np.float64
    np.testing.assert_allclose(of_jax, step(value, g), rtol=1e-14)


def test_the_scaled_loss_of_jax_in_double_precision() -> None:
    with jax.enable_x64(True):
        loss = jnp.asarray(np.float64(0.1))
    scaled = LossScaleOptimizer(SGD(), initial_scale=3.0).get_scaled_loss(loss)

    assert scaled.dtype == np.float64
    assert float(scaled) == pytest.approx(0.1 * 3.0, rel=1e-15)
