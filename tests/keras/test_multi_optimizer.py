"""Keras 3's MultiOptimizer and OptimizerMap."""

import copy
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import KerasWarning
from gradlab.keras import SGD, Adam, LossScaleOptimizer, MultiOptimizer, OptimizerMap
from tests.differences import differs

F = np.float32


def _sgd(rate: float = 0.5, **settings: Any) -> SGD:
    return SGD(rate, semantics="keras3", name=None, **settings)


def _adam(rate: float = 0.5, **settings: Any) -> Adam:
    return Adam(rate, semantics="keras3", name=None, **settings)


def _variables() -> list[gl.Variable]:
    return [gl.Variable([1.0, 2.0], name=name) for name in ("encoder/w", "encoder/b", "head")]


GRADIENTS = [F([1.0, -1.0]), F([2.0, 0.5]), F([-1.0, 4.0])]


def _step(opt: Any, variables: Any, gradients: Any = GRADIENTS) -> None:
    opt.apply_gradients(zip(gradients, variables, strict=True))


# The map


def test_a_map_finds_names_and_patterns_of_whole_names() -> None:
    default, one, two = _sgd(), _sgd(), _adam()
    chosen = OptimizerMap(default, {"encoder/w": one, "encoder/.*": two})

    assert chosen["encoder/w"] is one
    assert chosen["encoder/b"] is two
    assert chosen["my_encoder/b"] is default
    assert chosen(gl.Variable([1.0], name="encoder/b")) is two
    assert (len(chosen), list(chosen)) == (2, ["encoder/w", "encoder/.*"])


def test_a_name_that_matches_two_patterns_is_refused() -> None:
    chosen = OptimizerMap(_sgd(), {"encoder/.*": _sgd(), ".*/w": _sgd()})
    with pytest.raises(ValueError, match="Multiple optimizers assigned to variable encoder/w"):
        chosen["encoder/w"]


def test_what_a_map_refuses() -> None:
    with pytest.raises(TypeError, match="default_optimizer must be"):
        OptimizerMap("sgd")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="optimizer_map must be a dictionary"):
        OptimizerMap(_sgd(), [1])  # type: ignore[arg-type]
    chosen = OptimizerMap(_sgd(), {"a": _sgd()})
    with pytest.raises(ValueError, match="already exists"):
        chosen["a"] = _sgd()
    with pytest.raises(ValueError, match="key must be a string"):
        chosen[1] = _sgd()  # type: ignore[index]
    for wrong in ("sgd", LossScaleOptimizer(_sgd()), MultiOptimizer(chosen), SGD()):
        with pytest.raises(ValueError, match="ptimizer"):
            chosen["b"] = wrong  # type: ignore[assignment]
    del chosen["a"]
    assert len(chosen) == 0


# Steps


def test_each_variable_is_stepped_by_its_own_optimizer() -> None:
    variables = _variables()
    alone = _variables()
    opt = MultiOptimizer(OptimizerMap(_sgd(0.25), {"encoder/.*": _adam()}))
    for _ in range(2):
        _step(opt, variables)
    adam, sgd = _adam(), _sgd(0.25)
    for _ in range(2):
        _step(adam, alone[:2], GRADIENTS[:2])
        _step(sgd, alone[2:], GRADIENTS[2:])

    for mine, other in zip(variables, alone, strict=True):
        np.testing.assert_array_equal(mine.numpy(), other.numpy())
    assert [o.iterations.numpy() for o in (opt, *opt.optimizers)] == [2, 2, 2]


def test_a_function_chooses_by_variable() -> None:
    fast, slow = _sgd(1.0), _sgd(0.25)
    variables = _variables()
    opt = MultiOptimizer(lambda v: fast if v.name.startswith("head") else slow)
    _step(opt, variables)

    assert opt.optimizers == [slow, fast]
    assert variables[2].numpy().tolist() == [2.0, -2.0]
    assert variables[0].numpy().tolist() == [0.75, 2.25]


def test_the_names_of_weights() -> None:
    opt = MultiOptimizer(OptimizerMap(_sgd(), {"head": _adam()}), name="multi")
    opt.build(_variables())

    names = [w.name.removesuffix(":0").split("/", 1)[1] for w in opt.variables]
    assert names == [
        *("iteration", "learning_rate"),
        *("iteration", "learning_rate", "head_momentum", "head_velocity"),
        *("iteration", "learning_rate"),
    ]


@differs(
    "`gl.keras.MultiOptimizer`",
    tensorflow="an error of one optimizer leaves the steps of those before it",
    gradlab="nothing has changed",
)
def test_a_step_that_raises_changes_nothing() -> None:
    variables = _variables()
    opt = MultiOptimizer(OptimizerMap(_sgd(), {"encoder/.*": _adam()}))
    with pytest.raises(ValueError, match="shape"):
        _step(opt, variables, [*GRADIENTS[:2], F([1.0])])

    assert [v.numpy().tolist() for v in variables] == [[1.0, 2.0]] * 3
    assert [o.iterations.numpy() for o in (opt, *opt.optimizers)] == [0, 0, 0]
    assert [o.built for o in (opt, *opt.optimizers)] == [False, False, False]
    _step(opt, _variables())  # others than those of the call that raised
    assert opt.iterations.numpy() == 1


def test_gradients_that_are_refused() -> None:
    variables = _variables()
    opt = MultiOptimizer(OptimizerMap(_sgd(), {"head": _adam()}))
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        _step(opt, variables, [*GRADIENTS[:2], None])
    with pytest.warns(KerasWarning, match="Gradients do not exist for variables"):
        _step(opt, variables, [None, *GRADIENTS[1:]])
    with pytest.raises(ValueError, match="Received 2 gradients and 3 variables"):
        _step(opt, variables[:2], GRADIENTS[:2])


def test_what_cannot_be_chosen() -> None:
    with pytest.raises(ValueError, match="must be an optimizer of"):
        MultiOptimizer(lambda v: "sgd").build(_variables())
    with pytest.raises(ValueError, match='takes "keras3" only'):
        MultiOptimizer(lambda v: SGD()).build(_variables())
    with pytest.raises(ValueError, match="is of semantics 'keras3'"):
        MultiOptimizer(OptimizerMap(_sgd()), semantics="legacy")
    for version in ("legacy", "rewrite"):
        with pytest.raises(ValueError, match='takes "keras3" only'):
            MultiOptimizer(OptimizerMap(SGD(semantics=version)))
    with pytest.raises(ValueError, match="LossScaleOptimizer cannot be used inside"):
        MultiOptimizer(OptimizerMap(LossScaleOptimizer(_sgd())))


def test_the_learning_rate_is_that_of_the_inner_optimizers() -> None:
    opt = MultiOptimizer(OptimizerMap(_sgd()))
    with pytest.raises(AttributeError, match="cannot be accessed"):
        opt.learning_rate  # noqa: B018
    with pytest.raises(AttributeError, match="cannot be set"):
        opt.learning_rate = 0.5


def test_the_scale_of_the_loss_is_that_of_all() -> None:
    inner = _sgd(1.0, loss_scale_factor=2.0)
    opt = MultiOptimizer(OptimizerMap(inner), loss_scale_factor=4.0)
    v = gl.Variable([1.0], name="v")
    opt.minimize(lambda: (v * v).sum(), [v])

    assert inner.loss_scale_factor == 4.0
    assert v.numpy().tolist() == [-1.0]
    opt.loss_scale_factor = None
    assert inner.loss_scale_factor is None


def test_averages_are_finalized_by_their_optimizer() -> None:
    v, w = gl.Variable([4.0], name="v"), gl.Variable([4.0], name="w")
    averaged = _sgd(1.0, use_ema=True, ema_momentum=0.5)
    opt = MultiOptimizer(OptimizerMap(_sgd(1.0), {"v": averaged}))
    for _ in range(2):
        opt.apply_gradients([(F([1.0]), v), (F([1.0]), w)])
    opt.finalize_variable_values([v, w])

    assert (v.numpy().tolist(), w.numpy().tolist()) == ([2.5], [2.0])


# Configs, copies, states


def test_a_config_makes_the_same_optimizer() -> None:
    opt = MultiOptimizer(OptimizerMap(_sgd(0.25), {"a": _adam(0.5)}), loss_scale_factor=2.0)
    again = gl.keras.deserialize(gl.keras.serialize(opt))

    assert again.get_config() == opt.get_config()
    assert [type(one) for one in again.optimizers] == [Adam, SGD]


def test_a_function_is_in_a_config_by_name() -> None:
    inner = _sgd()

    def choose(v: Any) -> SGD:
        return inner

    config = gl.keras.serialize(MultiOptimizer(choose))
    assert config["config"]["optimizer_map"]["config"] == "choose"
    again = gl.keras.deserialize(config, {"choose": choose})
    assert again._optimizer_map is choose


def test_a_saved_optimizer_goes_on(tmp_path: Any) -> None:
    def make() -> Any:
        return MultiOptimizer(OptimizerMap(_sgd(momentum=0.5), {"encoder/.*": _adam()}))

    variables, others = _variables(), _variables()
    opt, again = make(), make()
    _step(opt, variables)
    gl.save(tmp_path / "state", optimizer=opt, variables=variables)
    gl.load(tmp_path / "state", optimizer=again, variables=others)
    _step(opt, variables)
    _step(again, others)

    for mine, other in zip([*variables, *opt.variables], [*others, *again.variables], strict=True):
        np.testing.assert_array_equal(mine.numpy(), other.numpy())


def test_a_deep_copy_goes_on_by_itself() -> None:
    variables = _variables()
    opt = MultiOptimizer(OptimizerMap(_sgd(), {"encoder/.*": _adam()}))
    _step(opt, variables)
    again, others = copy.deepcopy((opt, variables))
    _step(again, others)

    assert (opt.iterations.numpy(), again.iterations.numpy()) == (1, 2)
    assert [o.iterations.numpy() for o in again.optimizers] == [2, 2]


def test_weights_may_be_set() -> None:
    variables = _variables()
    opt = MultiOptimizer(OptimizerMap(_sgd(), {"encoder/.*": _adam()}))
    _step(opt, variables)
    weights = opt.get_weights()
    _step(opt, variables)
    opt.set_weights(weights)

    for now, before in zip(opt.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(now, before)


def test_the_pure_form_makes_the_same_steps() -> None:
    variables = _variables()
    opt = MultiOptimizer(OptimizerMap(_sgd(0.25), {"encoder/.*": _adam()}))
    values: Any = {
        "encoder": {"b": jnp.float32([1.0, 2.0]), "w": jnp.float32([1.0, 2.0])},
        "head": jnp.float32([1.0, 2.0]),
    }
    gradients = {"encoder": {"b": GRADIENTS[1], "w": GRADIENTS[0]}, "head": GRADIENTS[2]}
    state = opt.init(values)
    step = jax.jit(opt.step)
    for _ in range(2):
        values, state = step(values, state, gradients)
        _step(opt, variables)

    for mine, v in zip(
        (values["encoder"]["w"], values["encoder"]["b"], values["head"]), variables, strict=True
    ):
        np.testing.assert_allclose(mine, v.numpy(), rtol=1e-6)


def test_replicas_step_together() -> None:
    two = gl.keras.replicas(2)
    with two.scope():
        variables = _variables()
        opt = MultiOptimizer(OptimizerMap(_sgd(), {"encoder/.*": _adam()}))
    alone = _variables()
    pairs = list(zip(GRADIENTS, variables, strict=True))
    two.apply_gradients(opt, [pairs, pairs])
    other = MultiOptimizer(OptimizerMap(_sgd(), {"encoder/.*": _adam()}))
    _step(other, alone, [2 * g for g in GRADIENTS])

    for v, w in zip(variables, alone, strict=True):
        for value in two.values(v):
            np.testing.assert_array_equal(value, w.numpy())


def test_a_loss_scale_optimizer_goes_around_it() -> None:
    variables = _variables()
    inner = MultiOptimizer(OptimizerMap(_sgd(1.0), {"head": _sgd(0.5)}))
    opt = LossScaleOptimizer(inner, initial_scale=4.0)
    _step(opt, variables, [4 * g for g in GRADIENTS])
    _step(opt, variables, [F([np.nan, 0.0]), *GRADIENTS[1:]])

    assert variables[0].numpy().tolist() == [0.0, 3.0]
    assert variables[2].numpy().tolist() == [1.5, 0.0]
    assert float(opt.loss_scale) == 2.0


def test_changes_of_a_config_are_of_all_optimizers() -> None:
    config = OptimizerMap(_sgd(0.25), {"head": _adam(0.25)}).get_config()
    changed = OptimizerMap.from_config(config, learning_rate=0.5)

    rates = [float(changed[name].learning_rate) for name in ("w", "head")]
    assert rates == [0.5, 0.5]


def test_an_unbuilt_copy_chooses_among_its_own_optimizers() -> None:
    variables = _variables()
    opt = MultiOptimizer(OptimizerMap(_sgd(), {"encoder/.*": _adam()}))
    again = copy.copy(opt)
    again.optimizers[1].clipnorm = 2.0
    again.build(variables)

    assert len(again.optimizers) == len(opt.optimizers) == 2
    assert again.get_config()["optimizer_map"]["config"]["default_optimizer"]["config"]["clipnorm"]
    assert opt.optimizers[1].clipnorm is None


@pytest.mark.parametrize("choices", [[], [0, 1, 2], [0, 1, -1], [0, 1, "1"]])
def test_a_state_with_other_choices_is_refused(choices: Any) -> None:
    variables = _variables()
    opt = MultiOptimizer(OptimizerMap(_sgd(), {"encoder/.*": _adam()}))
    _step(opt, variables)
    state = opt.state_dict()
    state["choices"] = choices
    with pytest.raises(ValueError, match="choices"):
        opt.load_state_dict(state)
    _step(opt, variables)

    assert opt.iterations.numpy() == 2


def test_a_state_that_is_refused_chooses_nothing() -> None:
    variables = _variables()
    a, b = _sgd(loss_scale_factor=2.0), _adam()
    opt = MultiOptimizer(lambda v: a if v.path == "head" else b)
    _step(opt, variables)
    state = opt.state_dict()
    c, d = _sgd(loss_scale_factor=2.0), _adam()
    again = MultiOptimizer(lambda v: c if v.path == "head" else d)
    with pytest.raises(ValueError, match="nothing was loaded"):
        again.load_state_dict({**state, "optimizers": state["optimizers"][:1]}, variables)
    assert again.optimizers == [] and c.loss_scale_factor == 2.0

    again.load_state_dict(state, variables)
    assert len(again.optimizers) == 2 and c.loss_scale_factor is None
    _step(again, variables)
    assert again.iterations.numpy() == 2


def test_weights_of_another_shape_change_nothing() -> None:
    variables = _variables()
    opt = MultiOptimizer(OptimizerMap(_sgd(), {"encoder/.*": _adam()}))
    opt.build(variables)
    before = opt.get_weights()
    with pytest.raises(ValueError, match="shape"):
        opt.set_weights([*(x + 1 for x in before[:-1]), F([1.0, 2.0, 3.0])])

    for now, then in zip(opt.get_weights(), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_no_deadlock_beside_an_optimizer_of_the_same_variables() -> None:
    variables = sorted(_variables(), key=id)
    last, first = variables[-1], variables[0]
    opt = MultiOptimizer(lambda v: chosen[v])
    chosen = {last: _sgd(0.0), first: _sgd(0.0)}  # parts against the order of the variables
    other = _sgd(0.0)
    opt.build([last, first])
    zeros = [(F([0.0, 0.0]), v) for v in (last, first)]

    def repeat(optimizer: Any) -> None:
        for _ in range(300):
            optimizer.apply_gradients(zeros)

    threads = [
        threading.Thread(target=repeat, args=(optimizer,), daemon=True)
        for optimizer in (opt, other)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert not any(thread.is_alive() for thread in threads)
    assert (opt.iterations.numpy(), other.iterations.numpy()) == (300, 300)


def test_a_loss_scale_optimizer_holds_the_inner_optimizers_first() -> None:
    v = gl.Variable([1.0, 2.0], name="v")
    sgd = _sgd(0.0)
    opt = LossScaleOptimizer(MultiOptimizer(OptimizerMap(sgd)))
    zeros = [(F([0.0, 0.0]), v)]

    def repeat(optimizer: Any) -> None:
        for _ in range(300):
            optimizer.apply_gradients(zeros)

    threads = [
        threading.Thread(target=repeat, args=(optimizer,), daemon=True) for optimizer in (opt, sgd)
    ]
    opt.build([v])
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert not any(thread.is_alive() for thread in threads)
    assert sgd.iterations.numpy() == 600
