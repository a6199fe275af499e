"""`gl.rules.dense`, `rows` and `each` with `out=` and `donate=True`: the same bits, and nothing
left half done.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from tests import ways

# Rules with their usual constants, some of which 16 bits cannot hold; what is said of that is in
# test_rule.py.
pytestmark = pytest.mark.filterwarnings("ignore::gradlab.errors.PrecisionWarning")

RULES = gl.rules.catalog()
RNG = np.random.default_rng(11)
_START = RNG.bit_generator.state
LR = np.float32(0.1)
# Some are several blocks.
SHAPES = [(0,), (1,), (0, 3), (300_000,), (9000, 40), (290_000, 1), (2, 3, 4), (3, 150_000)]


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """A test draws the same numbers, whichever were run before."""
    RNG.bit_generator.state = _START


def _case(rule: Any, shape: tuple[int, ...], dtype: str = "float32") -> tuple[Any, Any, Any]:
    w, g = (RNG.normal(size=shape).astype(dtype) for _ in range(2))
    g[::7] = 1e-41  # denormal in float32
    return (
        w,
        tuple(np.abs(RNG.normal(size=rule.slot_shape(s, shape))).astype(dtype) for s in rule.slots),
        g,
    )


def _slices(shape: tuple[int, ...], dtype: str = "float32", length: int = 50) -> gl.IndexedSlices:
    values = RNG.normal(size=(length, *shape[1:])).astype(dtype)
    return gl.IndexedSlices(values, RNG.integers(0, shape[0], length).astype(np.int32), shape)


def _copied(tree: Any) -> Any:
    return jax.tree.map(np.array, tree)


def _in_place(way: str, rule: Any, w: Any, slots: Any, g: Any) -> Any:
    """Take a step of copies, in their own memory."""
    w, slots = _copied((w, slots))
    new_w, new_slots = getattr(gl.rules, way)(rule, w, slots, g, LR, out=(w, slots))
    assert new_w is w
    assert all(new is slot for new, slot in zip(new_slots, slots, strict=True))
    return w, slots


def _same_bits(a: Any, b: Any) -> None:
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        assert np.ascontiguousarray(x).tobytes() == np.ascontiguousarray(y).tobytes()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", RULES)
def test_numpy_has_the_bits_of_apply(name: str, dtype: str) -> None:
    rule = RULES[name]()
    w, slots, g = _case(rule, (9000, 40), dtype)
    expected = gl.rules.dense(rule, w, slots, g, LR)
    _same_bits(_in_place("dense", rule, w, slots, g), expected)
    sparse = _slices(w.shape, dtype)
    _same_bits(_in_place("rows", rule, w, slots, sparse), gl.rules.rows(rule, w, slots, sparse, LR))
    _same_bits(_in_place("each", rule, w, slots, sparse), gl.rules.each(rule, w, slots, sparse, LR))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_any_shape_has_the_bits_of_apply(shape: tuple[int, ...]) -> None:
    rule = gl.rules.Adagrad()
    w, slots, g = _case(rule, shape)
    _same_bits(_in_place("dense", rule, w, slots, g), gl.rules.dense(rule, w, slots, g, LR))
    sparse = _slices(shape, length=20 if shape[0] else 0)
    _same_bits(_in_place("rows", rule, w, slots, sparse), gl.rules.rows(rule, w, slots, sparse, LR))


def test_a_scalar_is_stepped_too() -> None:
    w = np.array(1.0)
    gl.rules.dense(gl.rules.StochasticGradientDescent(), w, (), np.array(2.0), 0.25, out=(w, ()))
    assert w == 0.5


@pytest.mark.parametrize("way", ["dense", "rows"])
def test_out_may_be_other_arrays(way: str) -> None:
    rule = gl.rules.Adagrad()
    w, slots, g = _case(rule, (30, 4))
    gradient = g if way == "dense" else _slices(w.shape)
    before = _copied((w, slots))
    out = np.empty_like(w), (np.empty_like(w),)

    assert getattr(gl.rules, way)(rule, w, slots, gradient, LR, out=out) is out

    _same_bits(out, getattr(gl.rules, way)(rule, w, slots, gradient, LR))
    _same_bits((w, slots), before)


@pytest.mark.parametrize(
    "view", [lambda x: x.T, lambda x: x[:, ::2], lambda x: x[::-1]], ids=["T", "strided", "back"]
)
def test_arrays_in_another_order_have_the_bits_of_apply(view: Callable[[Any], Any]) -> None:
    rule = gl.rules.Adagrad()
    w, (slot,), g = _case(rule, (400, 400))
    expected = gl.rules.dense(rule, view(w).copy(), (view(slot).copy(),), view(g).copy(), LR)
    own = view(w), (view(slot),)
    gl.rules.dense(rule, *own, view(g), LR, out=own)
    _same_bits(own, expected)


def test_a_read_only_gradient_is_not_written_to() -> None:
    rule = gl.rules.Assign()
    w, slots, g = _case(rule, (300,))
    before, g.flags.writeable = g.copy(), False
    gl.rules.dense(rule, w, slots, g, LR, out=(w, slots))
    _same_bits(g, before)


class Shift(gl.rules.Rule):
    """Hands inputs on as other outputs."""

    slots = {"last": 0.0, "before_last": 0.0}  # noqa: RUF012

    def step(self, w: Any, slots: Any, g: Any, lr: Any) -> Any:
        return g, (w, slots[0])


@pytest.mark.parametrize("shape", [(3,), ()])
def test_a_rule_may_hand_its_inputs_on(shape: tuple[int, ...]) -> None:
    w, slots, g = np.ones(shape), (np.full(shape, 2.0), np.full(shape, 3.0)), np.zeros(shape)
    gl.rules.dense(Shift(), w, slots, g, 1.0, out=(w, slots))
    assert [x.flat[0] for x in (w, *slots)] == [0, 1, 2]


@pytest.mark.parametrize("name", RULES)
def test_jax_agrees_and_uses_its_arguments_up(name: str) -> None:
    rule = RULES[name]()
    w, slots, g = _case(rule, (30, 4))
    sparse = _slices(w.shape)
    # test_dense_and_sparse.py has both, of every rule.
    with_slices = ("rows", "each")[[*RULES].index(name) % 2]
    for way, grad in (("dense", g), (with_slices, sparse)):
        given = jax.tree.map(lambda x: jnp.array(x, copy=True), (w, slots, grad))
        got = getattr(gl.rules, way)(rule, *given, LR, donate=True)
        expected = getattr(gl.rules, way)(rule, w, slots, grad, LR)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
        assert all(x.is_deleted() for x in jax.tree.leaves(given[:2]))
        assert not any(x.is_deleted() for x in jax.tree.leaves(given[2]))


@pytest.mark.parametrize("module", [np, jnp])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32"])
def test_indices_may_have_any_integer_dtype(module: Any, dtype: str) -> None:
    g = gl.IndexedSlices(module.ones((2, 1)), module.asarray([1, 1], dtype), (3, 1))
    w = module.zeros((3, 1))
    option: Any = {"out": (w, ())} if module is np else {"donate": True}
    w, _ = gl.rules.rows(gl.rules.StochasticGradientDescent(), w, (), g, 1.0, **option)
    assert w.ravel().tolist() == [0, -2, 0]


def test_float64_stays_float64_in_jax() -> None:
    with jax.enable_x64(True):
        w, (slot,) = gl.rules.dense(
            gl.rules.Adagrad(), jnp.ones(3), (jnp.ones(3),), jnp.ones(3), 0.5, donate=True
        )
        assert w.dtype == slot.dtype == np.float64
        assert ways.ulps(w, np.full(3, 1 - 0.5 / (np.sqrt(2) + 1e-7))) <= 1


READ_ONLY = np.zeros(2)
READ_ONLY.flags.writeable = False
SAME = np.zeros(2)
OUTSIDE = gl.IndexedSlices(np.ones(1), np.array([2]))
BAD: dict[str, tuple[Any, ...]] = {
    "read-only": (READ_ONLY, (np.ones(2),), np.ones(2), 0.1, "an array of out is read-only"),
    "read-only slot": (np.ones(2), (READ_ONLY,), np.ones(2), 0.1, "an array of out is read-only"),
    "shape": (
        np.ones(2),
        (np.ones(2),),
        np.ones(3),
        0.1,
        r"shape \(2,\) but its gradient has shape \(3,\)",
    ),
    "slot shape": (
        np.ones(2),
        (np.ones(3),),
        np.ones(2),
        0.1,
        r"slot 0 has shape \(3,\), but w has \(2,\)",
    ),
    "no slot": (np.ones(2), (), np.ones(2), 0.1, "Adagrad has 1 slots, got 0"),
    "rate": (
        np.ones(2),
        (np.ones(2),),
        np.ones(2),
        np.ones(2),
        r"lr must be a scalar, got shape \(2,\)",
    ),
    "overlap": (SAME, (SAME,), np.ones(2), 0.1, "must not overlap"),
    "overlapping gradient": (SAME, (np.ones(2),), SAME[::-1], 0.1, "must not overlap"),
    "mixed": (
        np.ones(2),
        (jnp.ones(2),),
        np.ones(2),
        0.1,
        "slot 0 must come from the library of w",
    ),
    "outside": (np.ones(2), (np.ones(2),), OUTSIDE, 0.1, r"in \[0, 2\), got 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_refused_and_nothing_changes(case: str) -> None:
    w, slots, g, lr, message = BAD[case]
    before = _copied((w, slots))
    way = gl.rules.rows if isinstance(g, gl.IndexedSlices) else gl.rules.dense
    with pytest.raises(ValueError, match=message):
        way(gl.rules.Adagrad(), w, slots, g, lr, out=(w, slots))
    _same_bits(before, _copied((w, slots)))


def test_out_that_overlaps_another_input_is_refused() -> None:
    w, slot = np.ones(2), np.ones(2)
    with pytest.raises(ValueError, match="must not overlap"):
        gl.rules.dense(gl.rules.Adagrad(), w, (slot,), np.ones(2), 0.1, out=(slot, (w,)))


def test_out_is_for_numpy_and_donate_for_jax() -> None:
    rule = gl.rules.StochasticGradientDescent()
    with pytest.raises(ValueError, match="out is for NumPy arrays"):
        gl.rules.dense(rule, jnp.ones(2), (), jnp.ones(2), 0.1, out=(np.ones(2), ()))
    with pytest.raises(ValueError, match="donate is for JAX arrays"):
        gl.rules.dense(rule, np.ones(2), (), np.ones(2), 0.1, donate=True)


def test_inside_jit_it_says_what_to_do() -> None:
    rule = gl.rules.StochasticGradientDescent()
    with pytest.raises(TypeError, match="inside jit leave them out"):
        jax.jit(lambda w, g: gl.rules.dense(rule, w, (), g, 0.1, donate=True))(
            jnp.ones(2), jnp.ones(2)
        )
