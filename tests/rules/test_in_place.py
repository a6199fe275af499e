"""The ways of `apply` on buffers that may be used up: the same bits, and nothing left half done."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.rules import apply, in_place
from tests import ways

# Rules with their usual constants, some of which 16 bits cannot hold; what is said of that is in test_rule.py.
pytestmark = pytest.mark.filterwarnings("ignore::gradlab.errors.PrecisionWarning")

RULES = gl.rules.catalog()
RNG = np.random.default_rng(11)
_START = RNG.bit_generator.state
LR = np.float32(0.1)
SHAPES = [(0,), (1,), (0, 3), (300_000,), (9000, 40), (290_000, 1), (2, 3, 4), (3, 150_000)]  # some are several blocks


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """A test draws the same numbers, whichever were run before."""
    RNG.bit_generator.state = _START


def _case(rule: Any, shape: tuple[int, ...], dtype: str = "float32") -> tuple[Any, Any, Any]:
    w, g = (RNG.normal(size=shape).astype(dtype) for _ in range(2))
    g[::7] = 1e-41  # denormal in float32
    return w, tuple(np.abs(RNG.normal(size=rule.slot_shape(s, shape))).astype(dtype) for s in rule.slots), g


def _slices(shape: tuple[int, ...], dtype: str = "float32", length: int = 50) -> gl.IndexedSlices:
    values = RNG.normal(size=(length, *shape[1:])).astype(dtype)
    return gl.IndexedSlices(values, RNG.integers(0, shape[0], length).astype(np.int32), shape)


def _copied(tree: Any) -> Any:
    return jax.tree.map(np.array, tree)


def _same_bits(a: Any, b: Any) -> None:
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        assert np.ascontiguousarray(x).tobytes() == np.ascontiguousarray(y).tobytes()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", RULES)
def test_numpy_has_the_bits_of_apply(name: str, dtype: str) -> None:
    rule = RULES[name]()
    w, slots, g = _case(rule, (9000, 40), dtype)
    expected = apply.dense(rule, w, slots, g, LR)
    _same_bits(in_place.dense(rule, *_copied((w, slots)), g, LR), expected)
    sparse = _slices(w.shape, dtype)
    _same_bits(in_place.rows(rule, *_copied((w, slots)), sparse, LR), apply.rows(rule, w, slots, sparse, LR))
    _same_bits(in_place.each(rule, *_copied((w, slots)), sparse, LR), apply.each(rule, w, slots, sparse, LR))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_shape_has_the_bits_of_apply(shape: tuple[int, ...]) -> None:
    rule = gl.rules.Adagrad()
    w, slots, g = _case(rule, shape)
    _same_bits(in_place.dense(rule, *_copied((w, slots)), g, LR), apply.dense(rule, w, slots, g, LR))
    sparse = _slices(shape, length=20 if shape[0] else 0)
    _same_bits(in_place.rows(rule, *_copied((w, slots)), sparse, LR), apply.rows(rule, w, slots, sparse, LR))


def test_a_scalar_is_stepped_too() -> None:
    w = np.array(1.0)
    assert in_place.dense(gl.rules.StochasticGradientDescent(), w, (), np.array(2.0), 0.25)[0] is w
    assert w == 0.5


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::-1]], ids=["T", "strided", "back"])
def test_arrays_in_another_order_have_the_bits_of_apply(view: Callable[[Any], Any]) -> None:
    rule = gl.rules.Adagrad()
    w, (slot,), g = _case(rule, (400, 400))
    expected = apply.dense(rule, view(w).copy(), (view(slot).copy(),), view(g).copy(), LR)
    _same_bits(in_place.dense(rule, view(w), (view(slot),), view(g), LR), expected)
    _same_bits(view(w), expected[0])


def test_a_read_only_gradient_is_not_written_to() -> None:
    rule = gl.rules.Assign()
    w, slots, g = _case(rule, (300,))
    before, g.flags.writeable = g.copy(), False
    in_place.dense(rule, w, slots, g, LR)
    _same_bits(g, before)


class Shift(gl.rules.Rule):
    """Hands inputs on as other outputs."""

    slots = {"last": 0.0, "before_last": 0.0}  # noqa: RUF012

    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        return g, (w, slots[0])


def test_a_rule_may_hand_its_inputs_on() -> None:
    w, slots, g = np.ones(3), (np.full(3, 2.0), np.full(3, 3.0)), np.zeros(3)
    in_place.dense(Shift(), w, slots, g, 1.0)
    assert [x[0] for x in (w, *slots)] == [0, 1, 2]


@pytest.mark.sampled(11)
@pytest.mark.parametrize("name", RULES)
def test_jax_agrees_and_uses_its_arguments_up(name: str) -> None:
    rule = RULES[name]()
    w, slots, g = _case(rule, (30, 4))
    sparse = _slices(w.shape)
    with_slices = ("rows", "each")[[*RULES].index(name) % 2]  # test_apply.py has both, of every rule
    for way, grad in (("dense", g), (with_slices, sparse)):
        given = jax.tree.map(lambda x: jnp.array(x, copy=True), (w, slots, grad))
        got = getattr(in_place, way)(rule, *given, LR)
        expected = getattr(apply, way)(rule, w, slots, grad, LR)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
        assert all(x.is_deleted() for x in jax.tree.leaves(given[:2]))
        assert not any(x.is_deleted() for x in jax.tree.leaves(given[2]))


@pytest.mark.parametrize("module", [np, jnp])
def test_indices_may_have_any_integer_dtype(module: Any) -> None:
    for dtype in ("int8", "uint16", "int32"):
        g = gl.IndexedSlices(module.ones((2, 1)), module.asarray([1, 1], dtype), (3, 1))
        w, _ = in_place.rows(gl.rules.StochasticGradientDescent(), module.zeros((3, 1)), (), g, 1.0)
        assert w.ravel().tolist() == [0, -2, 0]


def test_float64_stays_float64_in_jax() -> None:
    with jax.enable_x64(True):
        w, (slot,) = in_place.dense(gl.rules.Adagrad(), jnp.ones(3), (jnp.ones(3),), jnp.ones(3), 0.5)
        assert w.dtype == slot.dtype == np.float64
        assert ways.ulps(w, np.full(3, 1 - 0.5 / (np.sqrt(2) + 1e-7))) <= 1


READ_ONLY = np.zeros(2)
READ_ONLY.flags.writeable = False
SAME = np.zeros(2)
BAD: dict[str, tuple[Any, ...]] = {
    "read-only": (READ_ONLY, (np.ones(2),), np.ones(2), 0.1, "w is read-only"),
    "read-only slot": (np.ones(2), (READ_ONLY,), np.ones(2), 0.1, "slot 0 is read-only"),
    "shape": (np.ones(2), (np.ones(2),), np.ones(3), 0.1, r"shape \(2,\) but its gradient has shape \(3,\)"),
    "slot shape": (np.ones(2), (np.ones(3),), np.ones(2), 0.1, r"slot 0 has shape \(3,\), but w has \(2,\)"),
    "rate": (np.ones(2), (np.ones(2),), np.ones(2), np.ones(2), r"lr must be a scalar, got shape \(2,\)"),
    "overlap": (SAME, (SAME,), np.ones(2), 0.1, "must not overlap"),
    "overlapping gradient": (SAME, (np.ones(2),), SAME[::-1], 0.1, "must not overlap"),
    "mixed": (np.ones(2), (jnp.ones(2),), np.ones(2), 0.1, "slot 0 must come from the library of w"),
    "outside": (np.ones(2), (np.ones(2),), gl.IndexedSlices(np.ones(1), np.array([2])), 0.1, r"in \[0, 2\), got 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_refused_and_nothing_changes(case: str) -> None:
    w, slots, g, lr, message = BAD[case]
    before = _copied((w, slots))
    way = in_place.rows if isinstance(g, gl.IndexedSlices) else in_place.dense
    with pytest.raises(ValueError, match=message):
        way(gl.rules.Adagrad(), w, slots, g, lr)
    _same_bits(before, _copied((w, slots)))


def test_inside_jit_it_says_what_to_use() -> None:
    with pytest.raises(TypeError, match=r"inside jit use gradlab\.apply"):
        jax.jit(lambda w, g: in_place.dense(gl.rules.StochasticGradientDescent(), w, (), g, 0.1))(
            jnp.ones(2), jnp.ones(2)
        )
