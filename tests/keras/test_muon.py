"""Keras's Muon, beside what the originals' scenarios show: which rule steps which variable."""

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import gradlab as gl
from tests.differences import differs

F = np.float32


def _slots(opt: Any, *variables: gl.Variable) -> list[list[str]]:
    """Return the slots of each variable after it was built."""
    opt.build(variables)
    names = ("momentum", "velocity")
    return [[n for n in names if n in opt._engine.weights.slots_of(v)] for v in variables]


@pytest.mark.parametrize(
    ("name", "shape", "settings", "is_adam"),
    [
        ("dense/kernel", (2, 3), {}, False),
        ("dense/bias", (3,), {}, True),
        ("conv/kernel", (2, 2, 3), {}, True),
        ("scale", (), {}, True),
        ("my_Embedding/w", (4, 2), {}, True),
        ("my_Embedding/w", (4, 2), {"exclude_embeddings": False}, False),
        ("out/kernel", (2, 3), {"exclude_layers": ["out"]}, True),
        ("out/kernel", (2, 3), {"exclude_layers": ["^kernel"]}, False),
        ("out/kernel", (2, 3), {"exclude_layers": ["no", "o.t/"]}, True),
    ],
)
def test_which_variables_are_adams(
    name: str, shape: Any, settings: dict[str, Any], is_adam: bool
) -> None:
    v = gl.Variable(np.ones(shape, F), name=name)

    (slots,) = _slots(gl.keras.Muon(**settings), v)

    assert slots == (["momentum", "velocity"] if is_adam else ["momentum"])


def test_entries_of_a_step_are_as_large_as_rms_rate_says() -> None:
    rng = np.random.default_rng(0)
    v = gl.Variable(np.zeros((8, 8), F), name="v")
    opt = gl.keras.Muon(1.0, rms_rate=0.2, adam_weight_decay=None, weight_decay=None)
    opt.apply_gradients([(rng.normal(size=(8, 8)).astype(F), v)])

    assert 0.1 < np.sqrt(np.mean(v.numpy() ** 2)) < 0.3


def test_adams_variables_have_a_rate_and_a_weight_decay_of_their_own() -> None:
    v = gl.Variable([1.0], name="v")
    opt = gl.keras.Muon(0.5, adam_lr_ratio=0.5, adam_weight_decay=0.5, weight_decay=None)
    opt.apply_gradients([(F([4.0]), v)])

    # 1 - 1 * 0.5 * 0.5 by the decay, then 0.25 by the step.
    np.testing.assert_allclose(v.numpy(), [0.5], rtol=1e-5)


def test_a_matrix_decays_by_weight_decay() -> None:
    v = gl.Variable([[2.0, 0.0], [0.0, 2.0]], name="v")
    opt = gl.keras.Muon(0.5, weight_decay=0.5, adam_weight_decay=None)
    opt.apply_gradients([(np.zeros((2, 2), F), v)])

    assert v.numpy().tolist() == [[1.5, 0.0], [0.0, 1.5]]


@pytest.mark.parametrize(
    ("dtype", "settings"),
    [
        ("float64", {}),
        ("float64", {"rms_rate": None, "learning_rate": lambda: 0.1}),
        ("float16", {"learning_rate": lambda: 0.1}),
        ("float16", {"learning_rate": gl.schedules.ExponentialDecay(0.1, 2, 0.5)}),
    ],
)
def test_matrices_that_tensorflow_cannot_multiply_are_refused_and_nothing_changes(
    dtype: Any, settings: Any
) -> None:
    v = gl.Variable(np.ones((2, 2), dtype), name="v")
    w = gl.Variable(np.ones(2, dtype), name="w")
    opt = gl.keras.Muon(**settings)
    pairs = [(np.ones(2, dtype), w), (np.ones((2, 2), dtype), v)]
    with pytest.raises(gl.errors.InvalidArgumentError, match="cannot compute Mul"):
        opt.apply_gradients(pairs)

    assert w.numpy().tolist() == [1.0, 1.0] and opt.iterations.numpy() == 0
    opt.apply_gradients(pairs[:1])


@pytest.mark.parametrize(("dtype", "settings"), [("float16", {}), ("float64", {"rms_rate": None})])
def test_other_matrices_are_stepped(dtype: Any, settings: Any) -> None:
    v = gl.Variable(np.ones((2, 2), dtype), name="v")
    opt = gl.keras.Muon(0.1, **settings)
    opt.apply_gradients([(np.eye(2, dtype=dtype), v)])

    assert v.numpy()[0, 0] < 0.99


@differs(
    "`gl.keras.Muon` in the pure form",
    tensorflow="has no names of weights there",
    gradlab="the name of a weight is its path in the tree",
)
def test_the_pure_form_makes_the_same_steps() -> None:
    rng = np.random.default_rng(1)
    shapes = {"bias": (3,), "embedding": (4, 2), "kernel": (3, 2), "last": (2, 2)}
    starts = {name: rng.normal(size=shape).astype(F) for name, shape in shapes.items()}
    gradients = {name: rng.normal(size=shape).astype(F) for name, shape in shapes.items()}
    opt = gl.keras.Muon(0.1, exclude_layers=["last"], weight_decay=0.2, use_ema=True)
    variables = {name: gl.Variable(w, name=name) for name, w in starts.items()}
    values = jax.tree.map(jnp.asarray, starts)
    state = opt.init(values)
    assert [len(slots) for slots in state["slots"]] == [2, 2, 1, 2]
    step = jax.jit(opt.step)
    for _ in range(3):
        values, state = step(values, state, gradients)
    for _ in range(3):
        opt.apply_gradients([(gradients[name], v) for name, v in variables.items()])

    for name, v in variables.items():
        np.testing.assert_allclose(values[name], v.numpy(), rtol=1e-4, atol=1e-6)


def test_a_saved_optimizer_goes_on(tmp_path: Any) -> None:
    def make() -> tuple[Any, list[Any]]:
        variables = [gl.Variable([[1.0, 2.0]], name="k"), gl.Variable([3.0], name="b")]
        return gl.keras.Muon(0.1, use_ema=True), variables

    gradients = [F([[1.0, -2.0]]), F([0.5])]
    opt, variables = make()
    opt.apply_gradients(zip(gradients, variables, strict=True))
    gl.save(tmp_path / "state", optimizer=opt, variables=variables)
    opt.apply_gradients(zip(gradients, variables, strict=True))
    again, others = make()
    gl.load(tmp_path / "state", optimizer=again, variables=others)
    again.apply_gradients(zip(gradients, others, strict=True))

    for mine, theirs in zip([*variables, *opt.variables], [*others, *again.variables], strict=True):
        np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_slices_are_summed_into_a_whole_gradient() -> None:
    slices = gl.IndexedSlices(F([[1.0, 2.0], [3.0, 4.0]]), [1, 1], (3, 2))
    sparse = gl.Variable(np.ones((3, 2), F), name="s")
    dense = gl.Variable(np.ones((3, 2), F), name="d")
    gl.keras.Muon(0.5).apply_gradients([(slices, sparse)])
    gl.keras.Muon(0.5).apply_gradients([(F([[0, 0], [4, 6], [0, 0]]), dense)])

    np.testing.assert_array_equal(sparse.numpy(), dense.numpy())


def test_replicas_step_together() -> None:
    two = gl.keras.replicas(2)
    with two.scope():
        v = gl.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
        opt = gl.keras.Muon(0.5)
    w = gl.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    g = F([[1.0, -1.0], [2.0, 0.5]])
    two.apply_gradients(opt, [[(g, v)], [(2 * g, v)]])
    gl.keras.Muon(0.5).apply_gradients([(3 * g, w)])

    for value in two.values(v):
        np.testing.assert_array_equal(value, w.numpy())


def test_in_16_bits_the_rate_of_entries_is_not_rounded() -> None:
    rule = gl.rules.Muon(rms_rate=0.3)

    assert rule._in(np.dtype(ml_dtypes.bfloat16)).rms_rate == 0.3
