"""Large variables are updated in place: bits of the pure form, all warnings, and a call works or
changes nothing.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import InvalidArgumentError, KerasWarning
from gradlab.keras import SGD, Adagrad
from gradlab.rules.blocks import BLOCK
from gradlab.train import update

RNG = np.random.default_rng(7)
SHAPE = (BLOCK // 8, 20)  # several blocks
OPTIMIZERS: dict[str, Any] = {
    "adagrad": lambda **kwargs: Adagrad(0.1, **kwargs),
    "sgd": lambda **kwargs: SGD(0.1, **kwargs),
    "momentum": lambda **kwargs: SGD(0.1, momentum=0.9, nesterov=True, **kwargs),
}
every_optimizer = pytest.mark.parametrize("name", OPTIMIZERS)
every_version = pytest.mark.parametrize("version", ["tf2.3", "legacy", "rewrite", "keras3"])
summed = pytest.mark.filterwarnings("ignore:Keras 3 does not sum slices")


def _dense(dtype: Any = np.float32) -> np.ndarray:
    x = RNG.normal(size=SHAPE)
    return (x + 1j * RNG.normal(size=SHAPE) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def _slices(dtype: Any = np.float32, rows: Any = None) -> gl.IndexedSlices:
    rows = RNG.integers(0, 30, 50) if rows is None else np.asarray(rows)
    return gl.IndexedSlices(_dense(dtype)[: rows.size], rows, SHAPE)


def _state(opt: Any, v: gl.Variable) -> list[np.ndarray]:
    return [v.numpy(), *opt.get_weights()]


def _run(opt: Any, w: Any, grads: list[Any], hold: bool = False) -> list[np.ndarray]:
    v, held = gl.Variable(w, name="v"), []
    for g in grads:
        opt.apply_gradients([(g, v)])
        if hold:
            held.append([(x.value, x.numpy()) for x in (v, *opt.weights)])
    assert all(np.array_equal(x, copy) for step in held for x, copy in step), (
        "what somebody holds has changed"
    )
    return _state(opt, v)


@summed
@every_optimizer
@every_version
@pytest.mark.parametrize("strict", [None, "tf"])
def test_numpy_has_the_bits_of_the_pure_form(
    name: str, version: Any, strict: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    w, grads = _dense(), [_dense(), _slices(), _slices(), _dense(), _slices(rows=[]), _slices()]
    kwargs = {"semantics": version, "strict": strict}
    free, held = (_run(OPTIMIZERS[name](**kwargs), w, grads, hold) for hold in (False, True))
    monkeypatch.setattr(update, "prepare", lambda *args: None)
    for a, b, c in zip(free, held, _run(OPTIMIZERS[name](**kwargs), w, grads), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


@summed
@every_optimizer
@every_version
def test_jax_has_the_same_bits_whoever_looks_on(name: str, version: Any) -> None:
    w, grads = _dense(), [_dense(), _slices(), _dense(), _slices()]
    made = [OPTIMIZERS[name](semantics=version) for _ in range(3)]
    held, free = (
        _run(opt, jnp.array(w), grads, hold) for opt, hold in zip(made, (True, False), strict=False)
    )
    for a, b, c in zip(held, free, _run(made[2], w, grads), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-5, atol=1e-6)


def _places(opt: Any, v: gl.Variable) -> list[int]:
    values: list[Any] = [x._value for x in (v, *opt.weights) if x.shape]
    return [
        x.ctypes.data if isinstance(x, np.ndarray) else x.unsafe_buffer_pointer() for x in values
    ]


@summed
@pytest.mark.parametrize("module", [np, jnp])
@every_version
@pytest.mark.parametrize("strict", [None, "tf"])
def test_a_sparse_step_copies_no_table(module: Any, version: Any, strict: Any) -> None:
    moves_every_row = {
        "tf2.3": (),
        "legacy": (),
        "rewrite": ("sgd", "momentum"),
        "keras3": ("momentum",),
    }[version]
    for make in (OPTIMIZERS[name] for name in OPTIMIZERS.keys() - moves_every_row):
        opt, v = (
            make(semantics=version, strict=strict),
            gl.Variable(module.asarray(_dense()), name="v"),
        )
        for _ in range(2):  # the first step makes the slots
            opt.apply_gradients([(_slices(), v)])
        places = _places(opt, v)
        for _ in range(3):
            opt.apply_gradients([(_slices(), v)])
            assert _places(opt, v) == places


def _fails(strict: Any, last: Any, g: Any) -> tuple[bool, bool, list[str]]:
    """Whether two variables moved in a call whose last update fails, and the names of the slots."""
    v, w = gl.Variable(_dense(), name="v"), gl.Variable(_dense(), name="w", constraint=last)
    opt, before = Adagrad(strict=strict), (v.numpy(), w.numpy())
    with pytest.raises(ArithmeticError):
        opt.apply_gradients([(g, v), (_dense(), w)])
    moved = tuple(not np.array_equal(x, old) for x, old in zip((v, w), before, strict=True))
    return *moved, [x.name for x in opt.weights[1:]]


@pytest.mark.parametrize("sparse", [False, True])
def test_all_or_nothing_unless_strict(sparse: bool) -> None:
    def refuse(w: np.ndarray) -> np.ndarray:
        raise ArithmeticError

    g = _slices() if sparse else _dense()
    assert _fails(None, refuse, g) == (False, False, [])
    assert _fails("tf", refuse, g) == (
        True,
        False,
        ["Adagrad/v/accumulator:0", "Adagrad/w/accumulator:0"],
    )


def test_an_index_outside_leaves_other_tables_alone() -> None:
    v, w, opt = gl.Variable(_dense(), name="v"), gl.Variable(_dense(), name="w"), Adagrad()
    opt.apply_gradients([(_slices(), v), (_slices(), w)])
    before = [x.numpy() for x in (v, w, *opt.weights)]
    with pytest.raises(InvalidArgumentError, match="indices of w:0"):
        opt.apply_gradients([(_slices(), v), (_slices(rows=[0, SHAPE[0]]), w)])
    for x, old in zip((v, w, *opt.weights), before, strict=True):
        np.testing.assert_array_equal(x, old)


@pytest.mark.parametrize("sparse", [False, True])
def test_entries_that_freeze_are_said_once_and_before_anything_is_stored(sparse: bool) -> None:
    v, opt = gl.Variable(_dense(), name="v"), Adagrad()
    opt.apply_gradients([(_dense(), v)])
    g = _slices(rows=RNG.permutation(SHAPE[0])[:500]) if sparse else _dense()
    (g.values if sparse else g)[:2, 5] = 1e20
    before = _state(opt, v)
    with pytest.raises(KerasWarning, match="2 entries of the accumulator of v:0 became infinite"):
        opt.apply_gradients([(g, v)])
    for old, now in zip(before, _state(opt, v), strict=True):
        np.testing.assert_array_equal(old, now)
    with pytest.warns(KerasWarning, match="2 entries"):
        opt.apply_gradients([(g, v)])
    opt.apply_gradients([(g, v)])  # frozen already


def test_slots_stand_in_the_order_of_the_pairs_whatever_their_size() -> None:
    small, large, opt = (
        gl.Variable([1.0], name="small"),
        gl.Variable(_dense(), name="large"),
        Adagrad(),
    )
    opt.apply_gradients([(np.float32([1]), small), (_slices(), large)])
    assert [x.name for x in opt.weights[1:]] == [
        "Adagrad/small/accumulator:0",
        "Adagrad/large/accumulator:0",
    ]


def test_constraints_and_mixed_libraries_work_as_ever() -> None:
    v = gl.Variable(np.ones(SHAPE, np.float32), name="v", constraint=lambda w: np.maximum(w, 0.75))
    w = gl.Variable(np.ones(SHAPE, np.float32), name="w")
    SGD(0.5).apply_gradients([(np.ones(SHAPE, np.float32), v), (jnp.ones(SHAPE), w)])
    assert (v.numpy()[0, 0], w.numpy()[0, 0], type(w.value)) == (0.75, 0.5, np.ndarray)


def test_a_slot_of_another_shape_is_refused_and_nothing_changes() -> None:
    v, opt = gl.Variable(np.ones(SHAPE, np.float32), name="v"), Adagrad()
    slot = opt.add_slot(v, "accumulator", "ones", (1, SHAPE[1]))
    with pytest.raises(InvalidArgumentError, match="accumulator"):
        opt.apply_gradients([(_dense(), v)])
    assert slot.numpy().tolist() == [[1.0] * SHAPE[1]]
