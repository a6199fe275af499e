"""The three steps, stateful and pure."""

import functools
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from tests import ways
from tests.differences import differs

pytestmark = pytest.mark.filterwarnings("ignore::gradlab.errors.PrecisionWarning")

OPTIMIZERS: dict[str, Any] = {
    "sgd": lambda: gl.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: gl.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: gl.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: gl.train.AdagradOptimizer(0.1),
    "adadelta": lambda: gl.train.AdadeltaOptimizer(0.1, epsilon=1e-3),
    "adam": lambda: gl.train.AdamOptimizer(0.1, epsilon=1e-3),
    "rms": lambda: gl.train.RMSPropOptimizer(0.1, momentum=0.5, epsilon=1e-3),
    "centered": lambda: gl.train.RMSPropOptimizer(0.1, epsilon=0.1, centered=True),
    "ftrl": lambda: gl.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, beta=1.0),
    "proximal descent": lambda: gl.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.1),
    "proximal adagrad": lambda: gl.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.1),
}
every_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)
RNG = np.random.default_rng(7)
W = {"a": RNG.normal(size=(4, 2)).astype(np.float32), "b": RNG.normal(size=3).astype(np.float32)}
STEPS = [
    {"a": RNG.normal(size=(4, 2)).astype(np.float32), "b": RNG.normal(size=3).astype(np.float32)},
    {
        "a": gl.IndexedSlices(np.float32([[1, 2], [3, 4], [5, 6]]), np.int32([2, 0, 2]), (4, 2)),
        "b": None,
    },
    {"a": None, "b": RNG.normal(size=3).astype(np.float32)},
]


def _stateful(optimizer: Any) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    variables = {k: gl.Variable(w, name=k) for k, w in W.items()}
    for grads in STEPS:
        optimizer.apply_gradients([(grads[k], v) for k, v in variables.items()])
    return {k: v.numpy() for k, v in variables.items()}, [
        s.numpy() for s in _slots(optimizer, *variables.values())
    ]


def _slots(optimizer: Any, *variables: gl.Variable) -> list[gl.Variable]:
    """The slots of these variables in the order of the rule, which is that of the pure form."""
    return [optimizer.get_slot(v, name) for v in variables for name in optimizer._rule.slots]


def _pure(optimizer: Any, step: Any, module: Any) -> tuple[Any, list[Any]]:
    values = jax.tree.map(module.asarray, W)
    state = optimizer.init(values)
    for grads in STEPS:
        values, state = step(values, state, jax.tree.map(module.asarray, grads))
    return values, jax.tree.leaves(state["slots"])


def test_compute_process_apply() -> None:
    v, step = gl.Variable([3.0, 4.0], name="v"), gl.get_or_create_global_step()
    opt = gl.train.GradientDescentOptimizer(1.0)
    pairs = opt.compute_gradients(lambda: (v * v).sum() / 2)
    assert [(g.tolist(), x) for g, x in pairs] == [([3, 4], v)]
    assert (
        opt.apply_gradients([(gl.clip_by_norm(g, 2.5), x) for g, x in pairs], global_step=step)
        is None
    )
    assert (v.numpy().tolist(), int(step)) == ([1.5, 2.0], 1)


def test_only_variables_the_loss_reads_are_trained_by_default() -> None:
    v, w = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w")
    fixed = gl.Variable([2.0], trainable=False)
    opt = gl.train.GradientDescentOptimizer(1.0)
    assert [x for _, x in opt.compute_gradients(lambda: v * fixed)] == [v]
    assert [
        g if g is None else g.tolist() for g, _ in opt.compute_gradients(lambda: v * fixed, [v, w])
    ] == [[2], None]
    assert opt.compute_gradients(lambda: v * fixed, v)[0][1] is v
    assert opt.compute_gradients(lambda: v * v, [v], grad_loss=[10.0])[0][0].tolist() == [20]


@every_optimizer
def test_the_pure_form_has_the_same_bits(name: str) -> None:
    values, slots = _stateful(OPTIMIZERS[name]())
    opt = OPTIMIZERS[name]()
    assert ways.ulps(_pure(opt, opt.step, np), (values, slots)) == 0


@functools.cache
def _compiled() -> dict[str, tuple[Any, list[Any]]]:
    """What `_pure` gives with every optimizer, all of them jitted as one."""
    optimizers = {name: make() for name, make in OPTIMIZERS.items()}
    states = {name: opt.init(jax.tree.map(jnp.asarray, W)) for name, opt in optimizers.items()}
    now: Any = {name: (jax.tree.map(jnp.asarray, W), state) for name, state in states.items()}

    @jax.jit
    def update(now: Any, grads: Any) -> Any:
        return {
            name: opt.step(now[name][0], now[name][1], grads) for name, opt in optimizers.items()
        }

    for grads in STEPS:
        now = update(now, jax.tree.map(jnp.asarray, grads))
    return {
        name: (values, jax.tree.leaves(state["slots"])) for name, (values, state) in now.items()
    }


@pytest.mark.exhaustive
@every_optimizer
def test_under_jit_it_differs_by_rounding_only(name: str) -> None:
    values, slots = _stateful(OPTIMIZERS[name]())
    got = jax.tree.leaves(_compiled()[name])
    for a, b in zip(jax.tree.leaves((values, slots)), got, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-7, atol=2e-7)


@every_optimizer
def test_update_keeps_the_type_of_the_state_and_compiles_once(name: str) -> None:
    opt, traced = OPTIMIZERS[name](), []

    @jax.jit
    def update(state: Any, w: Any, g: Any) -> Any:
        traced.append(1)
        return opt.step(w, state, g)

    w = jax.tree.map(jnp.asarray, W)
    state = opt.init(w)
    before = jax.tree.map(jax.typeof, (w, state))
    for _ in range(3):
        w, state = update(state, w, STEPS[0] | {"a": w["a"]})
    assert jax.tree.map(jax.typeof, (w, state)) == before
    assert (len(traced), int(state["step"])) == (1, 3)


def _changing_momentum() -> Any:
    numbers = iter(np.linspace(0.1, 0.9, 50).tolist())
    return gl.train.MomentumOptimizer(lambda: next(numbers), lambda: next(numbers))


@pytest.mark.parametrize(
    "make",
    [_changing_momentum, lambda: gl.train.AdagradDAOptimizer(0.1, gl.get_or_create_global_step())],
    ids=["functions", "step count"],
)
def test_hyperparameters_that_change_need_no_new_program(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gl.variable_collection():
        v, opt, traced, counts = gl.Variable(jnp.ones(3)), make(), [], []
        kind = type(opt._fixed)
        step = kind.step
        monkeypatch.setattr(kind, "step", lambda *args: (traced.append(1), step(*args))[1])
        for _ in range(4):
            opt.apply_gradients([(jnp.ones(3), v)], global_step=gl.get_or_create_global_step())
            counts.append(len(traced))
    assert 0 < counts[1] == counts[3]


@every_optimizer
def test_it_runs_in_scan_and_vmap(name: str) -> None:
    opt, w = OPTIMIZERS[name](), jnp.asarray(W["b"])
    grads = jnp.asarray(RNG.normal(size=(5, 3)).astype(np.float32))

    def train(w: Any) -> Any:
        return jax.lax.scan(lambda c, g: (opt.step(c[0], c[1], g), None), (w, opt.init(w)), grads)[
            0
        ][0]

    v = gl.Variable(W["b"])
    shell = OPTIMIZERS[name]()
    for g in grads:
        shell.apply_gradients([(np.asarray(g), v)])
    np.testing.assert_allclose(train(w), v.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        jax.vmap(train)(jnp.stack([w, w + 1]))[0], v.numpy(), rtol=1e-5, atol=1e-6
    )


@differs(
    "`ProximalGradientDescentOptimizer` and `ProximalAdagradOptimizer` with a Python number as "
    "rate and variables that are not float32",
    tensorflow="refused for dense gradients",
    gradlab="the number is cast",
)
@every_optimizer
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("module", [np, jnp])
def test_variables_keep_dtype_and_kind(name: str, dtype: str, module: Any) -> None:
    with jax.enable_x64(dtype == "float64"):
        v = gl.Variable(module.asarray([1.0, -2.0], jnp.dtype(dtype)), name="v")
    opt, kind = OPTIMIZERS[name](), type(v.value)
    for _ in range(2):
        opt.minimize(lambda: (v * v).sum())
    assert {x.dtype for x in (v, *_slots(opt, v))} == {np.dtype(dtype)}
    assert {type(x.value) for x in (v, *_slots(opt, v))} == {kind}
    assert float(v.numpy()[0]) < 1


def test_rates_are_rounded_to_float32_first() -> None:
    v = gl.Variable(np.array([0.0]), name="v")
    gl.train.GradientDescentOptimizer(0.1).apply_gradients([(np.array([1.0]), v)])
    assert v.numpy()[0] == -np.float64(np.float32(0.1))


@pytest.mark.parametrize(
    "rate", [np.float64(0.5) * np.ones(()), jnp.float32(0.5), gl.Variable(0.5), lambda: 0.5]
)
def test_rates_of_other_kinds(rate: Any) -> None:
    v = gl.Variable([1.0])
    gl.train.GradientDescentOptimizer(rate).apply_gradients([([1.0], v)])
    assert v.numpy().tolist() == [0.5]


def test_a_rate_that_is_a_function_is_called_once_a_step() -> None:
    rates = iter([1.0, 0.5])
    v, w = gl.Variable([0.0]), gl.Variable([0.0])
    opt = gl.train.GradientDescentOptimizer(lambda: next(rates))
    for _ in range(2):
        opt.apply_gradients([([1.0], v), ([1.0], w)])
    assert v.numpy().tolist() == w.numpy().tolist() == [-1.5]


def test_slots() -> None:
    v, w = gl.Variable([1.0], name="v"), gl.Variable([1.0], name="w")
    opt = gl.train.MomentumOptimizer(0.5, 0.9)
    assert (opt.get_slot_names(), opt.variables(), opt.get_slot(v, "momentum")) == ([], [], None)
    opt.apply_gradients([([2.0], w), ([1.0], v)])
    assert opt.get_slot_names() == ["momentum"]
    assert [s.name for s in opt.variables()] == ["v/Momentum:0", "w/Momentum:0"]
    assert opt.get_slot(w, "momentum").numpy().tolist() == [2]
    assert opt.get_slot(v, "other") is None
    other = gl.train.MomentumOptimizer(0.5, 0.9)
    other.apply_gradients([([1.0], v)])
    assert other.get_slot(v, "momentum").name == "v/Momentum_1:0"
    assert opt.get_slot(v, "momentum") not in gl.trainable_variables()
    assert (opt.get_name(), gl.train.GradientDescentOptimizer(0.1, name="mine").get_name()) == (
        "Momentum",
        "mine",
    )


def test_a_constraint_runs_after_the_update() -> None:
    v = gl.Variable([1.0, 1.0], constraint=lambda w: np.maximum(w, 0))
    gl.train.GradientDescentOptimizer(1.0).apply_gradients([([5.0, 0.5], v)])
    assert v.numpy().tolist() == [0.0, 0.5]


def test_the_same_variable_twice_is_two_updates() -> None:
    v = gl.Variable([0.0])
    gl.train.MomentumOptimizer(1.0, 0.5).apply_gradients([([1.0], v), ([1.0], v)])
    assert v.numpy().tolist() == [-2.5]


def test_threads_minimize_together_and_lose_nothing() -> None:
    v, w = gl.Variable([0.0], name="v"), gl.Variable([0.0], name="w")
    opt, step, start = (
        gl.train.GradientDescentOptimizer(1.0),
        gl.get_or_create_global_step(),
        threading.Barrier(8),
    )

    def work(k: int) -> None:
        start.wait()
        for _ in range(5):
            opt.minimize(lambda: (v + 2 * w).sum(), step, [v, w] if k % 2 else [w, v])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert (v.numpy().tolist(), w.numpy().tolist(), int(step)) == ([-40], [-80], 40)


def test_an_assignment_during_an_update_is_not_lost() -> None:
    done = threading.Event()

    def slow(w: np.ndarray) -> np.ndarray:
        other.start()
        done.wait(0.3)  # in vain: the other thread waits for this update to end
        return w

    v = gl.Variable([0.0], constraint=slow)
    other = threading.Thread(target=lambda: (v.assign_add([10.0]), done.set()))
    gl.train.GradientDescentOptimizer(1.0).apply_gradients([([1.0], v)])
    other.join()
    assert v.numpy().tolist() == [9]


@pytest.mark.parametrize("rate", [lambda: 1 / 0, lambda: np.ones(2, np.float32)])
def test_an_update_that_fails_leaves_no_slots_and_no_name_behind(rate: Any) -> None:
    v = gl.Variable([1.0], name="v")
    opt = gl.train.MomentumOptimizer(rate, 0.9)
    with pytest.raises((ZeroDivisionError, ValueError)):
        opt.apply_gradients([([1.0], v)])
    assert (opt.get_slot_names(), opt.variables(), v.numpy().tolist()) == ([], [], [1.0])
    good = gl.train.MomentumOptimizer(0.1, 0.9)
    good.apply_gradients([([1.0], v)])
    assert [s.name for s in good.variables()] == ["v/Momentum:0"]


@pytest.mark.parametrize(
    ("gradient", "message"),
    [
        (np.ones((3, 2), np.float32), r"has shape \(2,\) but its gradient has shape \(3, 2\)"),
        (np.ones((), np.float32), r"has shape \(2,\) but its gradient has shape \(\)"),
        (gl.IndexedSlices(np.ones(1, np.float32), np.array([-1])), r"must be in \[0, 2\), got -1"),
        (gl.IndexedSlices(np.ones((1, 4), np.float32), np.array([0])), "rows of shape"),
    ],
)
def test_the_pure_form_refuses_what_does_not_fit(gradient: Any, message: str) -> None:
    opt, w = gl.train.GradientDescentOptimizer(0.1), [np.zeros(2, np.float32)]
    with pytest.raises(ValueError, match=message):
        opt.step(w, opt.init(w), [gradient])


def test_an_optimizer_shows_its_name_and_its_hyperparameters() -> None:
    adam = repr(gl.train.AdamOptimizer(beta2=0.99, name="mine"))
    assert adam.startswith(
        "AdamOptimizer('mine', learning_rate=0.001, beta1=0.9, beta2=0.99, epsilon=1e-08, "
    )
    assert "power" not in adam and adam.endswith(", lazy=False, order='dense')")
    rate, momentum = gl.Variable(0.5, name="rate"), lambda: 1 / 0
    shown = repr(gl.train.MomentumOptimizer(rate, momentum))
    assert f"learning_rate={rate!r}, momentum={momentum!r}, use_nesterov=False" in shown


@every_optimizer
def test_every_optimizer_has_a_repr(name: str) -> None:
    opt = OPTIMIZERS[name]()
    assert repr(opt).startswith(f"{type(opt).__name__}({opt.get_name()!r}, learning_rate=0.1")
    assert " at 0x" not in repr(opt)
