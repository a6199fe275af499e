"""Rules and optimizers through optax: the same weights, in every kind of tree and under every
transform.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import AxisType, PartitionSpec

import gradlab as gl
from gradlab import rules
from gradlab.rules import pure
from tests import ways
from tests.differences import differs
from tests.optax.steps import equal, pure_run, pure_step, run, stepped, weights, widened
from tests.optax.trees import TREES, flax_like, gradients

RULES = {name: kind for name, kind in rules.catalog().items() if name != "UserDefined"}
SETTERS = {
    "AdagradDA",
    "Ftrl",
    "OnlineYogi",
    "FrequencyEstimator",
    "Assign",
    "ProximalYogi",
    "ScheduleFreeAdam",
    "ScheduleFreeSGD",
}
# So that the last bit has no reason to differ between shapes.
PLAINLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(RULES.keys() - SETTERS))
def test_a_rule_that_moves_weights_is_reached_bit_for_bit(name: str, dtype: str) -> None:
    with jax.enable_x64(True):
        w, rule = weights(dtype), RULES[name]()
        assert equal(run(gl.optax.from_rule(rule, 0.1), w), pure_run(rule, 0.1, w))


# Gradients whose signs do not change and whose sizes do: no rule's step is then a difference of
# nearly equal numbers.
STEADY = np.float32([1.0, -2.0, 0.3, 0.01, -0.001, 30.0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", sorted(RULES))
def test_updates_of_16_bit_weights_are_those_of_float32_rounded(name: str, dtype: str) -> None:
    narrow = jnp.asarray([0.5, -1.0, 2.0, 1.5, -0.25, 8.0]).astype(dtype)
    tx = gl.optax.from_rule(RULES[name](), 0.01)
    state, wide_state = tx.init(narrow), tx.init(narrow.astype("float32"))
    for k in range(5):
        g = jnp.asarray(STEADY * (k + 1)).astype(dtype)

        updates, state = tx.update(g, state, narrow)
        expected, wide_state = tx.update(g.astype("float32"), wide_state, narrow.astype("float32"))

        assert updates.dtype == narrow.dtype
        one_ulp = float(jnp.finfo(dtype).eps)
        size = jnp.maximum(abs(expected), abs(narrow.astype("float32")))
        assert (abs(updates.astype("float32") - expected) <= one_ulp * size).all()
        narrow = optax.apply_updates(narrow, updates)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
def test_adam_moves_16_bit_weights_by_its_rate(dtype: str, jit: bool) -> None:
    w, g = jnp.ones(4, dtype), jnp.asarray([1.0, -2.0, 0.3, 0.01], dtype)
    tx = gl.optax.from_rule(rules.Adam(), 0.01)
    update, state = (jax.jit(tx.update) if jit else tx.update), tx.init(w)
    for _ in range(3):
        updates, state = update(g, state, w)
        np.testing.assert_allclose(
            updates.astype("float32"), [-0.01, 0.01, -0.01, -0.01], rtol=2**-7
        )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_slots_and_powers_of_16_bit_weights_are_float32(dtype: str) -> None:
    state = gl.optax.from_rule(rules.Adam(), 0.01).init({"w": jnp.ones(3, dtype)})
    assert {x.dtype.name for x in jax.tree.leaves((state.slots, state.shared))} == {"float32"}


@pytest.mark.exhaustive
def test_slices_of_one_row_are_summed_in_float32() -> None:
    w = jnp.zeros((2, 1), "bfloat16")
    slices = gl.IndexedSlices(
        jnp.asarray([[256.0], [1.0], [1.0]], "bfloat16"), jnp.asarray([1, 1, 1]), (2, 1)
    )
    tx = gl.optax.from_rule(rules.StochasticGradientDescent(), 1.0)
    updates, _ = tx.update(slices, tx.init(w), w)
    assert updates.tolist() == [[0.0], [-258.0]]  # in bfloat16 256 + 1 is 256


def travel(tx: optax.GradientTransformation, sizes: list[float]) -> jax.Array:
    """Where a weight is after gradients of these sizes."""
    w = jnp.float32([5.0])
    state = tx.init(w)
    for size in sizes:
        w, state = stepped(tx, w, state, jnp.float32([size]))
    return w


@pytest.mark.exhaustive
@differs(
    "`AMSGrad` through `gl.optax.from_rule`, beside `optax.amsgrad`",
    tensorflow="the largest mean square is taken before the bias correction",
    gradlab="as TensorFlow; optax takes it after the correction, so its steps stay small after a "
    "large first gradient",
)
def test_amsgrad_is_tensorflows_and_not_optaxs() -> None:
    sizes, rate = [10.0, *[0.1] * 30], 0.1
    m = v = v_max = corrected_max = 0.0
    by_tensorflow = by_optax = 5.0
    for k, g in enumerate(sizes, start=1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        m_hat, v_hat = m / (1 - 0.9**k), v / (1 - 0.999**k)
        v_max, corrected_max = max(v_max, v), max(corrected_max, v_hat)
        by_tensorflow -= rate * m_hat / (np.sqrt(v_max / (1 - 0.999**k)) + 1e-8)
        by_optax -= rate * m_hat / (np.sqrt(corrected_max) + 1e-8)
    np.testing.assert_allclose(
        travel(gl.optax.from_rule(rules.AMSGrad(), rate), sizes), by_tensorflow, rtol=1e-4
    )
    np.testing.assert_allclose(travel(optax.amsgrad(rate), sizes), by_optax, rtol=1e-4)
    assert 5 - by_tensorflow > 1.5 * (5 - by_optax)


@differs(
    "`RMSProp` through `gl.optax.from_rule`, beside `optax.rmsprop`",
    tensorflow="the mean square begins at 1, epsilon is 1e-10",
    gradlab="as TensorFlow; `RMSProp(initial_rms=0.0, epsilon=1e-8)` is optax's",
)
def test_rms_prop_begins_at_1_and_that_of_optax_at_0() -> None:
    sizes, rate = [0.5, 0.3, 0.4], 0.1
    optaxs = travel(optax.rmsprop(rate), sizes)
    same = travel(gl.optax.from_rule(rules.RMSProp(initial_rms=0.0, epsilon=1e-8), rate), sizes)
    np.testing.assert_allclose(same, optaxs, rtol=1e-6)
    default = travel(gl.optax.from_rule(rules.RMSProp(), rate), sizes)
    assert 5 - float(default[0]) < 0.5 * (5 - float(optaxs[0]))


@differs(
    "`Adam` through `gl.optax.from_rule`, beside `optax.adam`",
    tensorflow="epsilon is added before the bias correction",
    gradlab="as TensorFlow; optax adds it after the correction, so its first steps are longer where "
    "gradients are as small as epsilon",
)
def test_adam_adds_epsilon_before_the_correction_and_optax_after_it() -> None:
    rate, g, epsilon = 0.1, 0.01, 1e-3
    ours = 5 - travel(gl.optax.from_rule(rules.Adam(epsilon=epsilon), rate), [g])
    optaxs = 5 - travel(optax.adam(rate, eps=epsilon), [g])
    np.testing.assert_allclose(ours, rate * g / (g + epsilon / np.sqrt(0.001)), rtol=1e-4)
    np.testing.assert_allclose(optaxs, rate * g / (g + epsilon), rtol=1e-4)


@differs(
    "`Adagrad` through `gl.optax.from_rule`, beside `optax.adagrad`",
    tensorflow="epsilon is added to the root, in Keras 3 under the root",
    gradlab="to the root; `Adagrad(epsilon_place=\"inside\")` is Keras 3's and optax's",
)
def test_adagrad_adds_epsilon_to_the_root_and_optax_under_it() -> None:
    rate, sizes, epsilon = 0.1, [0.5, 0.3], 0.01
    inside = rules.Adagrad(epsilon=epsilon, epsilon_place="inside")
    optaxs = travel(optax.adagrad(rate, eps=epsilon), sizes)
    np.testing.assert_allclose(travel(gl.optax.from_rule(inside, rate), sizes), optaxs, rtol=1e-6)
    ours = 5 - travel(gl.optax.from_rule(rules.Adagrad(epsilon=epsilon), rate), [0.5])
    np.testing.assert_allclose(ours, rate * 0.5 / (np.sqrt(0.35) + epsilon), rtol=1e-4)


@differs(
    "`Nadam` through `gl.optax.from_rule`, beside `optax.nadam`",
    tensorflow="the momentum grows from step to step",
    gradlab="as TensorFlow; the momentum of optax is constant",
)
def test_the_momentum_of_nadam_grows_and_that_of_optax_does_not() -> None:
    rate = 0.1
    mu, mu_next = (0.9 * (1 - 0.5 * 0.96 ** (t * 0.004)) for t in (1, 2))
    ours = 5 - travel(gl.optax.from_rule(rules.Nadam(), rate), [1.0])
    optaxs = 5 - travel(optax.nadam(rate), [1.0])
    np.testing.assert_allclose(ours, rate * (1 + 0.1 * mu_next / (1 - mu * mu_next)), rtol=1e-4)
    np.testing.assert_allclose(optaxs, rate * (1 + 0.9 * 0.1 / (1 - 0.9**2)), rtol=1e-4)


@differs(
    "`AdaMax` through `gl.optax.from_rule`, beside `optax.adamax`",
    tensorflow="epsilon is added to the largest gradient",
    gradlab="as TensorFlow; optax adds it to each gradient, before it takes the largest",
)
def test_ada_max_adds_epsilon_to_the_largest_gradient_and_optax_to_each() -> None:
    rate, epsilon, beta2 = 0.1, 1.0, 0.5
    ours = travel(gl.optax.from_rule(rules.AdaMax(beta2=beta2, epsilon=epsilon), rate), [1.0, 0.0])
    optaxs = travel(optax.adamax(rate, b2=beta2, eps=epsilon), [1.0, 0.0])
    second_mean = 0.09 / (1 - 0.9**2)
    np.testing.assert_allclose(ours, 5 - rate * (1 / 2 + second_mean / 1.5), rtol=1e-5)
    np.testing.assert_allclose(optaxs, 5 - rate * (1 / 2 + second_mean / 1.0), rtol=1e-5)


@functools.cache
def compiled(dtype: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the weights after three jitted steps of every rule, through optax and by the pure
    form.
    """
    made = {name: gl.optax.from_rule(rule(), 0.1, replace=True) for name, rule in RULES.items()}

    @jax.jit
    def step(now: Any, grads: Any) -> Any:
        return {name: stepped(made[name], *now[name], grads) for name in made}

    @jax.jit
    def by_the_pure_form(now: Any, grads: Any) -> Any:
        return {
            name: pure_step(RULES[name](), 0.1, w, state, grads) for name, (w, state) in now.items()
        }

    w = weights(dtype)
    got: Any = {name: (w, tx.init(w)) for name, tx in made.items()}
    want: Any = {name: (w, pure.init(RULES[name](), widened(w))) for name in made}
    for k in range(3):
        got, want = step(got, gradients(w, k)), by_the_pure_form(want, gradients(w, k))
    return tuple({name: new for name, (new, _) in found.items()} for found in (got, want))


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", RULES)
def test_with_replacements_every_rule_is_reached_bit_for_bit(
    name: str, jit: bool, dtype: str
) -> None:
    with jax.enable_x64(True):
        if jit:
            got, want = compiled(dtype)
            assert equal(got[name], want[name])
        else:
            w, rule = weights(dtype), RULES[name]()
            assert equal(
                run(gl.optax.from_rule(rule, 0.1, replace=True), w), pure_run(rule, 0.1, w)
            )


@functools.cache
def first_steps() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the weights after one jitted step of every rule by updates, through optax and by the
    pure form.
    """
    rules_ = {name: rule() for name, rule in RULES.items()}

    @jax.jit
    def through_optax(w: Any, g: Any) -> Any:
        made = {name: gl.optax.from_rule(rule, 0.1) for name, rule in rules_.items()}
        return {name: stepped(tx, w, tx.init(w), g)[0] for name, tx in made.items()}

    @jax.jit
    def by_the_pure_form(w: Any, g: Any) -> Any:
        return {
            name: pure.update(rule, 0.1, pure.init(rule, w), w, g)[0]
            for name, rule in rules_.items()
        }

    w = weights("float32")
    return through_optax(w, gradients(w)), by_the_pure_form(w, gradients(w))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", RULES)
def test_under_jit_an_array_is_off_by_no_more_than_epsilon(name: str) -> None:
    w = weights("float32")
    got, want = (found[name] for found in first_steps())
    assert (
        jnp.abs(got - want) <= jnp.finfo("float32").eps * jnp.maximum(jnp.abs(w), jnp.abs(want))
    ).all()


@functools.cache
def trained_trees() -> tuple[Any, Any, Any]:
    """Return all trees of weights, and each after three jitted steps through optax and by the pure
    form.
    """
    params, rule = {tree: make() for tree, make in TREES.items()}, rules.Adagrad()
    made = {replace: gl.optax.from_rule(rule, 0.1, replace=replace) for replace in (False, True)}

    @jax.jit
    def step(now: Any, grads: Any) -> Any:
        return {
            (tree, replace): stepped(made[replace], *x, grads[tree])
            for (tree, replace), x in now.items()
        }

    @jax.jit
    def pure_step(now: Any, grads: Any) -> Any:
        return {
            tree: pure.update(rule, 0.1, state, w, grads[tree]) for tree, (w, state) in now.items()
        }

    got: Any = {
        (tree, replace): (w, tx.init(w))
        for tree, w in params.items()
        for replace, tx in made.items()
    }
    want: Any = {tree: (w, pure.init(rule, w)) for tree, w in params.items()}
    for k in range(3):
        grads = {tree: gradients(w, k) for tree, w in params.items()}
        got, want = step(got, grads), pure_step(want, grads)
    return params, got, want


@pytest.mark.exhaustive
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("replace", [False, True])
def test_any_tree_of_weights_keeps_its_shape(tree: str, replace: bool) -> None:
    params, got, want = trained_trees()
    new, _ = got[tree, replace]
    assert jax.tree.structure(new) == jax.tree.structure(params[tree])
    assert equal(new, want[tree][0])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "rule", [rules.Adam(), rules.Momentum(), rules.StochasticGradientDescent()], ids=repr
)
def test_vmap_trains_many_at_once(rule: rules.Rule) -> None:
    params = jax.tree.map(lambda w: jnp.stack([w, 2 * w]), flax_like())
    tx = gl.optax.from_rule(rule, 0.1)
    states = jax.vmap(tx.init)(params)
    step, grads_of_both = functools.partial(stepped, tx), gradients(params)
    both, _ = jax.jit(jax.vmap(step), compiler_options=PLAINLY)(params, states, grads_of_both)
    alone_of = jax.jit(step, compiler_options=PLAINLY)
    for k in range(2):
        one, grads = (jax.tree.map(lambda x, k=k: x[k], t) for t in (params, grads_of_both))
        alone, _ = alone_of(one, tx.init(one), grads)
        assert ways.ulps(jax.tree.map(lambda x, k=k: x[k], both), alone) <= 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("rule", [rules.Adam(), rules.Adagrad()], ids=repr)
def test_shard_map_gives_what_one_device_gives(rule: rules.Rule) -> None:
    mesh = jax.make_mesh(
        (8,), ("rows",), axis_types=(AxisType.Auto,), devices=jax.devices("cpu")[:8]
    )
    w, tx, rows = (
        weights("float32", 64).reshape(16, 4),
        gl.optax.from_rule(rule, 0.1),
        PartitionSpec("rows"),
    )
    state, g = tx.init(w), gradients(w)
    split = jax.tree.map(lambda x: rows if x.ndim else PartitionSpec(), state)
    step = jax.shard_map(
        lambda *a: stepped(tx, *a), mesh=mesh, in_specs=(rows, split, rows), out_specs=(rows, split)
    )
    got, _ = jax.jit(step)(w, state, g)
    assert ways.ulps(got, jax.jit(lambda *a: stepped(tx, *a))(w, state, g)[0]) <= 1


def gradients_of_five(params: Any) -> Any:
    return jax.tree.map(lambda *g: jnp.stack(g), *(gradients(params, k) for k in range(5)))


def test_scan_and_a_second_step_compile_once() -> None:
    traces, params = [], flax_like()
    tx = gl.optax.from_rule(rules.Adam(), optax.linear_schedule(0.1, 0.0, 5))

    @jax.jit
    def step(params: Any, state: Any, grads: Any) -> Any:
        traces.append(0)
        return stepped(tx, params, state, grads)

    state = tx.init(params)
    for k in range(3):
        params, state = step(params, state, gradients(params, k))
    assert len(traces) == 1
    (last, _), _ = jax.lax.scan(
        lambda c, g: (stepped(tx, *c, g), None), (params, state), gradients_of_five(params)
    )
    assert jax.tree.structure(last) == jax.tree.structure(params)


LEARNED = {
    "sgd": rules.StochasticGradientDescent(),
    "momentum": rules.Momentum(0.9, use_nesterov=True),
    "adagrad": rules.Adagrad(0.1),
    "adam": rules.Adam(),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LEARNED)
@pytest.mark.parametrize("way", [lambda f: f, jax.jit])
def test_a_learning_rate_can_be_learned(name: str, way: Any) -> None:
    rule, start = LEARNED[name], jnp.float32([1.0, -2.0, 0.5])

    def loss(w: Any) -> Any:
        return (w**4).sum() / 4

    def by_updates(rate: Any, w: Any) -> Any:
        tx = gl.optax.from_rule(rule, lambda count: rate / (1 + count))
        state = tx.init(w)
        for _ in range(3):
            updates, state = tx.update(jax.grad(loss)(w), state, w)
            w = optax.apply_updates(w, updates)
        return loss(w)

    def by_hand(rate: Any, w: Any) -> Any:
        slots, shared = rule.init(w), rule.start()
        for count in range(3):
            w, slots = rule.at(shared)(w, slots, jax.grad(loss)(w), rate / (1 + count))
            shared = rule.advance(shared)
        return loss(w)

    got, want = (way(jax.grad(f, (0, 1)))(jnp.float32(0.05), start) for f in (by_updates, by_hand))
    assert abs(want[0]) > 0.01
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    forward = way(jax.jacfwd(by_updates))(jnp.float32(0.05), start)
    np.testing.assert_allclose(forward, want[0], rtol=1e-5)


def test_derivatives_of_an_update_to_themselves_and_over_a_batch() -> None:
    tx = gl.optax.from_rule(rules.StochasticGradientDescent(), 0.5)

    def moved(w: Any) -> Any:
        return optax.apply_updates(w, tx.update(w**3, tx.init(w), w)[0])

    w = jnp.float32([0.3, 2.0])
    np.testing.assert_allclose(jax.vmap(jax.grad(jax.grad(moved)))(w), -3 * w, rtol=1e-6)
