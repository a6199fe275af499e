"""What the rewrite and Keras 3 do around the rule; some numbers are those of Keras 3.15's own
tests.
"""

import copy
import itertools
import pickle
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.keras import SGD, Adagrad, replicas
from gradlab.keras.keras3 import (
    add_gradient,
    average,
    decay_weights,
    shares_of_keras3,
    shares_of_rewrite,
    take_mean,
    unscale,
)
from tests.differences import differs
from tests.golden.tensorflow_values import tensorflow

F = np.float32
ONES = np.ones((2, 2), F)
EVERYTHING: dict[str, Any] = {
    "rewrite": {
        "weight_decay": 0.1,
        "use_ema": True,
        "ema_momentum": 0.5,
        "ema_overwrite_frequency": 2,
    },
    "keras3": {
        "weight_decay": 0.1,
        "use_ema": True,
        "ema_momentum": 0.5,
        "ema_overwrite_frequency": 2,
    }
    | {"gradient_accumulation_steps": 2, "loss_scale_factor": 4.0},
}


def _v(value: Any = ((1.0, 2.0), (3.0, 4.0)), name: str = "v", **kwargs: Any) -> gl.Variable:
    return gl.Variable(F(value), name=name, **kwargs)


def test_averages_as_in_keras_3s_test() -> None:
    v, opt = (
        _v([[3, 4], [5, 6]]),
        SGD(1.0, semantics="keras3", use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=3),
    )
    seen = []
    for _ in range(3):
        opt.apply_gradients([(ONES, v)])
        seen.append((v.numpy()[0, 0], opt.get_slot(v, "average").numpy()[0, 0]))
    np.testing.assert_allclose(seen, [(2, 2), (1, 1.9), (1.71, 1.71)], rtol=1e-6)


def test_averages_of_the_rewrite_start_at_the_weights_and_leave_variables_without_gradients() -> (
    None
):
    v, w = _v([2.0]), _v([2.0], "w")
    opt = SGD(1.0, semantics="rewrite", use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=3)
    for g in (F([1.0]), F([1.0]), F([1.0])):
        opt.apply_gradients([(g, v), (None, w)])
    # The number in tf_keras's docstring.
    assert (v.numpy().tolist(), w.numpy().tolist()) == ([-0.125], [2.0])
    assert [x.name for x in opt.variables] == [
        "iteration:0", "SGD/average/v:0", "SGD/average/w:0", "SGD/m/v:0", "SGD/m/w:0"
    ]  # fmt: skip


def test_the_scale_of_the_loss_as_in_keras_3s_test() -> None:
    v, opt = _v(), SGD(1.0, semantics="keras3", loss_scale_factor=1024.0)
    opt.apply_gradients([(v.numpy() * 1024, v)])
    assert opt.scale_loss(1.0) == 1024.0 and v.numpy().tolist() == [[0, 0], [0, 0]]
    v.assign(ONES)
    opt.minimize(lambda: (v * v).sum() / 2, [v])  # scales by itself
    assert v.numpy().tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ValueError, match="loss_scale_factor must scale the loss on the tape"):
        opt.minimize(F(1.0), [v], tape=object())
    report = SGD(semantics="keras3", clipnorm=1.0, loss_scale_factor=2.0).clip_report(
        [([[6.0, 8.0], [0.0, 0.0]], v)]
    )
    assert report.norm_before == 5


def test_accumulation_as_in_keras_3s_test() -> None:
    v, opt = _v(), SGD(1.0, semantics="keras3", gradient_accumulation_steps=3)
    seen = []
    for _ in range(4):
        count = opt.apply_gradients([(ONES, v)])
        seen.append(
            (v.numpy()[0, 0], opt.get_slot(v, "gradient_accumulator").numpy()[0, 0], opt.iterations)
        )
    assert seen == [(1, 1, 0), (1, 2, 0), (0, 0, 1), (0, 1, 1)]
    assert opt.weights[0].numpy() == 4 and count == 1  # the variable counts calls


def test_weights_come_from_build_and_set_weights_needs_it() -> None:
    v, first, second = _v(), SGD(0.1, 0.9, semantics="keras3"), SGD(0.1, 0.9, semantics="keras3")
    first.apply_gradients([(ONES, v)])
    with pytest.raises(ValueError, match="You are calling `set_weights"):
        second.set_weights(first.get_weights())
    second.build([v])
    second.set_weights(first.get_weights())
    assert [x.tolist() for x in second.get_weights()] == [x.tolist() for x in first.get_weights()]
    second.build([_v()])  # nothing
    with pytest.raises(ValueError, match="was not among the variables"):
        second.apply([ONES], [_v()])


def test_a_variable_that_comes_twice_has_one_average_and_decays_twice() -> None:
    v, opt = (
        _v([2.0]),
        SGD(1.0, semantics="keras3", weight_decay=0.5, use_ema=True, ema_momentum=0.5),
    )
    for _ in range(2):
        opt.apply([[1.0], [1.0]], [v, v])
    assert len(opt.variables) == 3
    assert (v.numpy().tolist(), opt.get_slot(v, "average").numpy().tolist()) == (
        [-2.375],
        [-1.9375],
    )


def test_apply() -> None:
    v, opt = _v(), SGD(1.0, semantics="keras3")
    with pytest.raises(ValueError, match="needs an optimizer that is built"):
        opt.apply([ONES])
    opt.apply([])
    assert opt.iterations.numpy() == 0
    opt.apply([ONES], [v])
    with pytest.raises(ValueError, match="one gradient for each of 1 variables, got 2"):
        opt.apply([ONES, ONES])
    opt.apply([ONES])
    assert v.numpy()[0].tolist() == [-1, 0] and opt.iterations.numpy() == 2


def test_a_schedule_takes_the_place_of_the_rate_among_the_variables() -> None:
    opt = SGD(0.1, semantics="keras3")
    assert len(opt.variables) == 2
    opt.learning_rate = gl.schedules.PolynomialDecay(0.1, 4)
    assert [x.name for x in opt.variables] == ["SGD/iteration:0"]
    opt.learning_rate = lambda: 0.5
    v = _v([1.0])
    opt.apply([[1.0]], [v])
    assert v.numpy() == 0.5


def test_excluded_variables_do_not_decay() -> None:
    for version in ("rewrite", "keras3"):
        v, w, bias = (_v([1.0], name) for name in ("v", "w", "layer/bias"))
        opt = SGD(0.5, semantics=version, weight_decay=0.5)
        opt.exclude_from_weight_decay([w], ["bias"])
        opt.apply_gradients([(F([0.0]), x) for x in (v, w, bias)])
        assert [x.numpy().item() for x in (v, w, bias)] == [0.75, 1, 1]
    opt.exclude_from_weight_decay([v])  # Keras 3 takes it at any time, and it replaces the other
    opt.apply_gradients([(F([0.0]), x) for x in (v, w, bias)])
    assert [x.numpy().item() for x in (v, w, bias)] == [0.75, 0.75, 0.75]
    late = SGD(semantics="rewrite")
    late.build([v])
    with pytest.raises(ValueError, match="before the first step"):
        late.exclude_from_weight_decay([v])
    with pytest.raises(ValueError, match="knows weights, not variables"):
        opt.step(v.value, opt.init(v.value), v.value)


@differs(
    "`finalize_variable_values` of Keras 3 with variables in another order",
    tensorflow="averages go by their places in the list",
    gradlab="each variable gets its own",
)
def test_each_variable_gets_its_own_average() -> None:
    v, w, opt = (
        _v([4.0]),
        _v([8.0], "w"),
        SGD(1.0, semantics="keras3", use_ema=True, ema_momentum=0.5),
    )
    for _ in range(2):
        opt.apply([[1.0], [1.0]], [v, w])
    opt.finalize_variable_values([w, v])
    assert (v.numpy().item(), w.numpy().item()) == (2.5, 6.5)


def test_what_is_missing_is_refused() -> None:
    v, w, opt = _v(), _v(name="w"), SGD(semantics="keras3", use_ema=True)
    with pytest.raises(ValueError, match="no moving average of v:0"):
        opt.finalize_variable_values([v])
    opt.build([v, w])
    with pytest.raises(ValueError, match="must be the 2 variables of build"):
        opt.finalize_variable_values([v])
    with pytest.raises(KeyError, match="no moving average"):
        SGD(semantics="rewrite", use_ema=True).finalize_variable_values([v])
    SGD(semantics="rewrite").finalize_variable_values([v])
    late = SGD(semantics="keras3")
    late.build([v])
    late.use_ema = True
    with pytest.raises(
        RuntimeError, match="use_ema and gradient_accumulation_steps cannot be set after"
    ):
        late.apply([ONES])


@differs(
    "a call that raises, with weight decay, averages, or accumulated gradients",
    tensorflow="everything ahead of the bad gradient is done",
    gradlab="nothing has changed",
    strict="gradlab's behavior",
)
@pytest.mark.parametrize("version", EVERYTHING)
def test_a_step_that_raises_changes_nothing(version: Any) -> None:
    def refuse(x: Any) -> Any:
        raise ArithmeticError

    v, w, late = _v(), _v(name="w"), _v(name="c", constraint=refuse)
    late_ones = [[(ONES, v), ([1.0], w)], [(ONES, v), (ONES, late)]]
    for strict, bad in itertools.product((None, "tf"), late_ones):
        opt = Adagrad(semantics=version, strict=strict, **EVERYTHING[version])
        with pytest.raises((ValueError, ArithmeticError)):
            opt.apply_gradients(bad)
        assert not opt.built and opt.get_slot_names() == [] and opt.weights[0].numpy() == 0
        assert v.numpy().tolist() == w.numpy().tolist() == [[1, 2], [3, 4]]


def _train(variables: list[gl.Variable], opt: Any, steps: int) -> list[Any]:
    rng = np.random.default_rng(int(opt.weights[0].numpy()))
    for _ in range(steps):
        opt.apply_gradients([(rng.normal(size=v.shape).astype(F), v) for v in variables])
    return [x.numpy().tolist() for x in (*variables, *opt.variables)]


@pytest.mark.parametrize("version", EVERYTHING)
def test_saved_copied_and_in_a_graph_it_goes_on_with_the_same_bits(
    version: Any, tmp_path: Path
) -> None:
    def fresh() -> tuple[list[gl.Variable], Any]:
        return [_v([1.0, 2.0]), _v([[3.0]], "w")], SGD(
            0.25, 0.5, semantics=version, **EVERYTHING[version]
        )

    (variables, opt), (later, other) = fresh(), fresh()
    _train(variables, opt, 3)
    gl.save(tmp_path / "run.npz", v=variables, opt=opt)
    pairs = [
        copy.deepcopy((variables, opt)),
        pickle.loads(pickle.dumps((variables, opt))),
        (later, other),
    ]
    gl.load(tmp_path / "run.npz", v=later, opt=other)
    expected = _train(variables, opt, 4)
    assert [_train(*pair, 4) for pair in pairs] == [expected] * 3
    assert [x.name for x in other.variables] == [x.name for x in opt.variables]
    bare = SGD(0.25, 0.5, semantics=version)
    bare.build(later)
    with pytest.raises(gl.errors.InvalidArgumentError, match="no average"):
        fresh()[1].load_state_dict(bare.state_dict(), later)
    with gl.Graph().as_default():
        variables, opt = fresh()
        operation = opt.apply_gradients([(np.ones(v.shape, F), v) for v in variables])
        assert opt.built and variables[0].numpy().tolist() == [1, 2]
        operation.run(), operation.run()
    eagerly, other = fresh()
    for _ in range(2):
        other.apply_gradients([(np.ones(v.shape, F), v) for v in eagerly])
    assert [v.numpy().tolist() for v in variables] == [v.numpy().tolist() for v in eagerly]


@pytest.mark.parametrize("version", EVERYTHING)
@pytest.mark.parametrize("xp", ["numpy", "jit"])
def test_the_pure_form_has_the_same_numbers(version: Any, xp: str) -> None:
    rng, more = np.random.default_rng(5), EVERYTHING[version]
    opt, other = (Adagrad(0.1, semantics=version, clipnorm=1.0, **more) for _ in range(2))
    variables = [_v([1.0, 2.0]), _v([[3.0]], "w")]
    values: Any = [v.numpy() for v in variables]
    values = values if xp == "numpy" else jax.tree.map(jax.numpy.asarray, values)
    step = other.step if xp == "numpy" else jax.jit(other.step)
    state = other.init(values)
    for k in range(6):
        grads = [rng.normal(size=v.shape).astype(F) * 8 for v in variables]
        grads = [grads[0], None if k == 4 else grads[1]]
        with pytest.warns(gl.errors.KerasWarning) if k == 4 and version == "keras3" else _nothing():
            opt.apply_gradients(list(zip(grads, variables, strict=True)))
        values, state = step(values, state, grads)
    slots = [
        [opt.get_slot(v, "average").numpy() for v in variables],
        [v.numpy() for v in variables],
    ]
    for mine, theirs in zip([state["average"], values], slots, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(a, b) if xp == "numpy" else np.testing.assert_allclose(
                a, b, rtol=1e-5
            )
    assert {type(x) for x in values} == {np.ndarray} or xp == "jit"


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


# Weights of replica 0 after each of 4 steps, then the slot, from Keras 3.15 under MirroredStrategy.
KERAS_3 = {
    "weight_decay": (
        [[-1.05, -0.1], [-2.9975, -2.095], [-4.8476248, -3.99025], [-6.6052437, -5.7907376]],
        None,
    ),
    "loss_scale_factor": ([[0.45, 1.6], [-0.1, 1.2], [-0.65, 0.8], [-1.2, 0.4]], None),
    "use_ema": ([[-1, 0], [-2, -1], [-4, -3], [-4.5, -3.5]], [-4.5, -3.5]),
    "gradient_accumulation_steps": ([[1, 2], [0.2, 1.6], [0.2, 1.6], [-0.6, 1.2]], [0, 0]),
}


@pytest.mark.parametrize("what", KERAS_3)
def test_replicas(what: str) -> None:
    more: dict[str, Any] = {
        "weight_decay": {"weight_decay": 0.1},
        "loss_scale_factor": {"loss_scale_factor": 2.0, "clipnorm": 1.0},
        "use_ema": {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2},
        "gradient_accumulation_steps": {"gradient_accumulation_steps": 2, "clipnorm": 1.0},
    }[what]
    two, v, seen = replicas(2), _v([1.0, 2.0]), []
    with two.scope():
        opt = SGD(0.5, semantics="keras3", **more)
    for _ in range(4):
        two.apply_gradients(opt, [[([3.0, 4.0], v)], [([1.0, 0.0], v)]])
        first, second = two.values(v)
        assert first.tolist() == second.tolist()
        seen.append(first)
    weights, slot = KERAS_3[what]
    if slot:
        with pytest.raises(RuntimeError, match="cannot make slots for replicas outside"):
            two.apply_gradients(SGD(semantics="keras3", **more), [[([3.0, 4.0], v)]] * 2)
    np.testing.assert_allclose(seen, weights, rtol=1e-6, atol=1e-7)
    if slot:
        for x in two.slots(opt, v, opt.get_slot_names()[0]):
            np.testing.assert_allclose(x, slot)


@pytest.mark.tensorflow
def test_names_constraints_and_order_as_in_keras_3() -> None:
    tf = tensorflow()
    import keras

    more = {"weight_decay": 0.1, "use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2}
    grow = lambda x: x + 1.0  # noqa: E731  # shows when it is called
    theirs = [keras.Variable(F([1.0, 2.0]), name="a"), keras.Variable(F([[3.0]]), name="b")]
    theirs[0].constraint = grow
    original = keras.optimizers.SGD(
        0.5, momentum=0.5, gradient_accumulation_steps=2, name="SGD", **more
    )
    mine = [_v([1.0, 2.0], "a", constraint=grow), _v([[3.0]], "b")]
    opt = SGD(0.5, momentum=0.5, gradient_accumulation_steps=2, semantics="keras3", **more)
    for k in range(7):
        g = F([k, -1.0]), None if k in (1, 4) else F([[k]])
        with (
            pytest.warns(UserWarning, match="Gradients do not exist")
            if g[1] is None
            else _nothing()
        ):
            original.apply_gradients(
                [(None if x is None else tf.constant(x), v) for x, v in zip(g, theirs, strict=True)]
            )
        with pytest.warns(gl.errors.KerasWarning) if g[1] is None else _nothing():
            opt.apply_gradients(list(zip(g, mine, strict=True)))
    assert [f"{x.path}:0" for x in original.variables] == [x.name for x in opt.variables]
    for a, b in zip([*theirs, *original.variables], [*mine, *opt.variables], strict=True):
        np.testing.assert_array_equal(np.asarray(a), b.numpy())
    assert original.get_config().items() <= {**opt.get_config()}.items()
    original.finalize_variable_values(theirs)
    opt.finalize_variable_values(mine)
    assert [v.numpy().tolist() for v in mine] == [np.asarray(v).tolist() for v in theirs]


# Formulas


@pytest.mark.parametrize("xp", [np, jnp])
def test_every_number_is_rounded_to_the_dtype_of_the_weight(xp: Any) -> None:
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        with jax.enable_x64(True):
            w, rate = xp.asarray([1.0, -3.0], dtype), np.dtype(jnp.dtype(dtype)).type(0.1)
            keep, take = shares_of_keras3(np.int64(3), 0.99, w.dtype)
            results = [
                decay_weights(w, 0.1, rate),
                average(w, w, keep, take),
                add_gradient(w, w),
                take_mean(w, w, 3),
                unscale(w, 3.0),
            ]
            assert {x.dtype for x in results} == {w.dtype} and {type(x) for x in results} == {
                type(w)
            }
            assert (keep, take) == (w.dtype.type(0.99), w.dtype.type(1) - w.dtype.type(0.99))
    decay, rate = np.float64(np.float32(0.1)), np.float64(0.5)
    # float32 on the way, as in TensorFlow.
    assert decay_weights(np.ones(1), 0.1, rate).tolist() == [1 - decay * 0.5]
    assert (
        shares_of_rewrite(0.99, np.float32)[1] != shares_of_keras3(np.int64(3), 0.99, np.float32)[1]
    )  # as the two Kerases do it


def test_slices_in_the_formulas() -> None:
    g = gl.IndexedSlices(np.float32([1.0, 2.0]), np.array([1, 1]), (3,))
    assert add_gradient(np.float32([1, 1, 1]), g).tolist() == [1, 4, 1]
    with pytest.raises(TypeError, match="loss_scale_factor cannot divide IndexedSlices"):
        unscale(g, 2.0)
    assert unscale(None, 2.0) is None and unscale(g, None) is g


@pytest.mark.parametrize("version", EVERYTHING)
def test_a_state_notes_which_variables_do_not_decay(version: Any) -> None:
    v = _v()
    saved, other = (SGD(weight_decay=0.1, semantics=version) for _ in range(2))
    saved.exclude_from_weight_decay([v], ["bias"])
    saved.build([v])

    with pytest.warns(
        gl.errors.StateWarning, match="without weight decay was 'bias, 1 variables', is ''"
    ):
        other.load_state_dict(saved.state_dict(), [v])


def test_in_a_graph_averages_are_taken_at_once() -> None:
    with gl.Graph().as_default():
        v = _v([4.0])
        opt = SGD(1.0, semantics="keras3", use_ema=True, ema_momentum=0.5)
        step = opt.apply_gradients([(F([1.0]), v)])
        step.run(), step.run()
        opt.finalize_variable_values([v])

    assert v.numpy().tolist() == [2.5]
