"""Variables updated in place by the shells: the bits of the pure form, whoever looks on, whatever
raises.
"""

import threading
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import PrecisionWarning
from gradlab.rules import dense_and_sparse, pure
from gradlab.rules.blocks import BLOCK
from gradlab.train import update

RNG = np.random.default_rng(5)
SHAPE = (BLOCK // 8, 20)  # several blocks
LR = np.float32(0.1)
OPTIMIZERS: dict[str, Any] = {
    "adagrad": lambda: gl.train.AdagradOptimizer(0.1),
    "adam": lambda: gl.train.AdamOptimizer(0.1),  # not lazy: slices move every row
    "sgd": lambda: gl.train.GradientDescentOptimizer(0.1),  # one step for every slice
    "momentum": lambda: gl.train.MomentumOptimizer(0.1, 0.9),
}
every_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)


def _dense() -> np.ndarray:
    return RNG.normal(size=SHAPE).astype(np.float32)


def _slices() -> gl.IndexedSlices:
    return gl.IndexedSlices(
        RNG.normal(size=(50, SHAPE[1])).astype(np.float32), RNG.integers(0, 30, 50), SHAPE
    )


def _state(opt: Any, v: gl.Variable) -> list[np.ndarray]:
    return [v.numpy(), *(s.numpy() for s in opt.variables())]


def _run(opt: Any, w: Any, grads: list[Any], hold: bool = False) -> list[np.ndarray]:
    v, held = gl.Variable(w, name="v"), []
    for g in grads:
        opt.apply_gradients([(g, v)])
        if hold:
            held.append([(x.value, x.numpy()) for x in (v, *opt.variables())])
    assert all(np.array_equal(x, copy) for step in held for x, copy in step), (
        "what somebody holds has changed"
    )
    return _state(opt, v)


@every_optimizer
@pytest.mark.parametrize("hold", [False, True])
def test_numpy_has_the_bits_of_the_pure_form(
    name: str, hold: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    w, grads = _dense(), [_dense(), _slices(), _dense(), _slices(), _slices(), _dense()]
    got = _run(OPTIMIZERS[name](), w, grads, hold)
    monkeypatch.setattr(update, "prepare", lambda *args: None)
    for a, b in zip(got, _run(OPTIMIZERS[name](), w, grads), strict=True):
        np.testing.assert_array_equal(a, b)


@every_optimizer
def test_jax_has_the_same_bits_whoever_looks_on(name: str) -> None:
    w, grads = _dense(), [_dense(), _slices(), _dense(), _slices()]
    held, free = (_run(OPTIMIZERS[name](), jnp.array(w), grads, hold) for hold in (True, False))
    for a, b, c in zip(held, free, _run(OPTIMIZERS[name](), w, grads), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-5, atol=1e-6)


def test_a_value_that_somebody_holds_stays_as_it_is() -> None:
    for module in (np, jnp):
        w = _dense()
        opt, v = gl.train.AdagradOptimizer(0.1), gl.Variable(module.asarray(w), name="v")
        first, view = v.value, np.asarray(v.value)[:1]
        for g in (_slices(), module.asarray(_dense()), _slices()):
            opt.apply_gradients([(g, v)])
        np.testing.assert_array_equal(first, w)
        np.testing.assert_array_equal(view, w[:1])


class Fragile(gl.rules.StochasticGradientDescent):
    """Raises where the gradient is 7, as late as it can."""

    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        if isinstance(g, np.ndarray) and (g == 7).any():
            raise ArithmeticError("seven")
        if isinstance(g, jax.Array) and g.shape[0] == 7:
            raise ArithmeticError("seven")
        return super().step(w, slots, g, lr)


class FragileOptimizer(gl.train.RuleOptimizer):
    def __init__(self) -> None:
        super().__init__(Fragile(), 0.1, False, "Fragile")


@pytest.mark.parametrize("sparse", [False, True])
def test_a_rule_that_raises_halfway_changes_nothing(sparse: bool) -> None:
    v, w = gl.Variable(_dense(), name="v"), gl.Variable(_dense(), name="w")
    bad = _dense()
    bad[-1, -1] = 7
    g = _slices() if sparse else _dense()
    g_bad = gl.IndexedSlices(bad[-2:], [3, 4], SHAPE) if sparse else bad
    opt, before = FragileOptimizer(), (v.numpy(), w.numpy())
    with pytest.raises(ArithmeticError, match="seven"):
        opt.apply_gradients([(g, v), (g_bad, w)])
    np.testing.assert_array_equal((v, w), before)
    opt.apply_gradients([(g, v), (g, w)])
    assert (v.numpy() != before[0]).any()


def _fragile(w: Any, slots: Any, g: Any, lr: Any) -> Any:
    if (g == 7).any():
        raise ArithmeticError("seven")
    return w - g * lr, slots


def test_a_function_that_raises_halfway_changes_nothing() -> None:
    v, g = gl.Variable(_dense(), name="v"), _dense()
    g[-1, -1] = 7
    opt, before = gl.train.RuleOptimizer(gl.rules.UserDefined(_fragile), 0.1, False, "F"), v.numpy()
    with pytest.raises(ArithmeticError, match="seven"):
        opt.apply_gradients([(g, v)])
    np.testing.assert_array_equal(v, before)


def test_a_warning_that_is_an_error_changes_nothing() -> None:
    v = gl.Variable(_dense(), name="v")
    w = gl.Variable(_dense().astype(np.float16), name="w")
    opt, before = gl.train.AdamOptimizer(0.1, epsilon=1.25e-9), (v.numpy(), w.numpy())
    pairs = [(_dense(), v), (_dense().astype(np.float16), w)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrecisionWarning)
        with pytest.raises(PrecisionWarning, match="epsilon"):
            opt.apply_gradients(pairs)
    for x, copy in zip((v, w), before, strict=True):
        np.testing.assert_array_equal(x, copy)


def test_a_rule_that_does_not_compile_changes_nothing() -> None:
    v, w = gl.Variable(jnp.ones(5)), gl.Variable(jnp.ones(7))
    with pytest.raises(ArithmeticError, match="seven"):
        FragileOptimizer().apply_gradients([(jnp.ones(5), v), (jnp.ones(7), w)])
    assert v.numpy().tolist() == [1] * 5
    assert w.numpy().tolist() == [1] * 7


def _keep_slot(w: Any, slots: Any, g: Any, lr: Any) -> Any:
    return w - g * lr, slots


@pytest.mark.parametrize("rows", [50, 50_000])  # below and above the size from which JAX donates
def test_a_held_slot_stays_though_the_rule_hands_it_on(rows: int) -> None:
    v = gl.Variable(jnp.ones((rows, 2)))
    opt = gl.train.RuleOptimizer(gl.rules.UserDefined(_keep_slot, {"s": 1.0}), 0.1, False, "K")
    dense = jnp.ones((rows, 2))
    slices = gl.IndexedSlices(dense[:3], jnp.arange(3), (rows, 2))
    opt.apply_gradients([(dense, v)])
    slot = opt.get_slot(v, "s")
    assert slot is not None
    held = slot.value

    for g in (dense, slices, dense, dense, slices):
        opt.apply_gradients([(g, v)])

    assert held[0].tolist() == [1, 1]


def test_a_gradient_may_be_the_value_itself() -> None:
    for module in (np, jnp):
        v = gl.Variable(module.ones(SHAPE, np.float32))
        for _ in range(3):
            gl.train.GradientDescentOptimizer(0.5).apply_gradients([(v.value, v)])
        assert v.numpy()[0, 0] == 0.125


def test_what_cannot_be_done_in_place_is_left_to_the_pure_form() -> None:
    big, rule = np.ones(SHAPE, np.float32), gl.rules.StochasticGradientDescent()

    def is_prepared(v: gl.Variable, g: Any, sparse: Any = dense_and_sparse.rows) -> bool:
        return update.prepare(update.Job(rule, v, g, LR, sparse), ()) is not None

    assert is_prepared(gl.Variable(big), big)
    assert is_prepared(gl.Variable(big), _slices())
    assert is_prepared(gl.Variable(jnp.ones(3)), np.ones(3, np.float32))
    assert not is_prepared(gl.Variable(big[:2]), big[:2])
    assert not is_prepared(gl.Variable(big, constraint=abs), big)
    assert not is_prepared(gl.Variable(big), jnp.asarray(big))
    assert not is_prepared(gl.Variable(big), _slices(), lambda *args: dense_and_sparse.rows(*args))


def test_a_constraint_and_two_gradients_for_one_variable_work_as_ever() -> None:
    g = np.ones(SHAPE, np.float32)
    v = gl.Variable(g, name="v", constraint=lambda w: np.maximum(w, 0.75))
    w = gl.Variable(g, name="w")
    gl.train.GradientDescentOptimizer(0.5).apply_gradients([(g, v), (g, w), (g, w)])
    assert (v.numpy()[0, 0], w.numpy()[0, 0]) == (0.75, 0)


@pytest.mark.parametrize(
    "look", [lambda v: v.value, lambda v: v.numpy(), lambda v: v[np.array([0, -1])]]
)
@pytest.mark.parametrize("module", [np, jnp])
def test_readers_see_whole_values_only(module: Any, look: Any) -> None:
    v, stop, torn = gl.Variable(module.zeros(SHAPE, np.float32)), threading.Event(), []
    everywhere = gl.IndexedSlices(np.ones(SHAPE, np.float32), np.arange(SHAPE[0]), SHAPE)

    def read() -> None:
        while not stop.is_set():
            seen = np.asarray(look(v))
            torn.extend([float(seen[0, 0])] if seen[0, 0] != seen[-1, -1] else [])

    reader = threading.Thread(target=read)
    reader.start()
    opt = gl.train.MomentumOptimizer(-1.0, 0.0)
    for k in range(40):
        opt.apply_gradients([(everywhere if k % 2 else module.ones(SHAPE, np.float32), v)])
    stop.set()
    reader.join()
    assert torn == []
    assert v.numpy()[0, 0] == 40


def test_commits_are_the_pure_steps() -> None:
    rule, w, g = gl.rules.Adagrad(), _dense(), _dense()
    v, kept = gl.Variable(w), {}
    slots = [update.UnownedSlotBuffer(s) for s in rule.init(w)]
    for commit in update.prepare_commits(
        [update.Job(rule, v, g, LR, dense_and_sparse.rows)], lambda _: slots, kept.__setitem__
    ):
        assert (v.numpy() == w).all()
        commit()
    expected, (accumulator,) = pure.stepped(rule, w, rule.init(w), g, LR, dense_and_sparse.rows)
    np.testing.assert_array_equal(v, expected)
    np.testing.assert_array_equal(kept[v][0], accumulator)
