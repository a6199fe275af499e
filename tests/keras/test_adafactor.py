"""Keras's Adafactor, beside what the originals' scenarios show: shapes of slots, and the size of steps."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import KerasWarning

F = np.float32
VERSIONS = ["rewrite", "keras3"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_step_is_as_large_as_the_weights_times_the_rate(version: Any) -> None:
    v = gl.Variable([[3.0, -4.0], [4.0, 3.0]], name="v")
    g = F([[1.0, 1.0], [1.0, 1.0]])
    gl.keras.Adafactor(0.5, semantics=version).apply_gradients([(g, v)])

    moved = v.numpy() - F([[3.0, -4.0], [4.0, 3.0]])
    np.testing.assert_allclose(moved, -0.5 * np.sqrt(12.5), rtol=1e-6)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_mean_square_of_a_matrix_is_kept_by_rows_and_columns(version: Any) -> None:
    v = gl.Variable(np.ones((4, 2, 3), F), name="v")
    opt = gl.keras.Adafactor(semantics=version)
    opt.build([v])

    shapes = {name: opt.get_slot(v, name).shape for name in opt.get_slot_names()}
    last = "velocity" if version == "keras3" else "v"
    assert shapes == {"r": (4, 2), "c": (4, 3), last: (4, 2, 3)}


def test_keras_3_makes_two_zeros_for_a_vector_and_never_uses_them() -> None:
    v = gl.Variable([1.0, 2.0], name="layer/v")
    opt = gl.keras.Adafactor(name="a")
    opt.apply_gradients([(F([1.0, 1.0]), v)])

    slots = opt.variables[2:]
    assert [w.name for w in slots] == ["a/v:0", "a/v:0", "a/layer_v_velocity:0"]
    assert [w.numpy().tolist() for w in slots[:2]] == [0, 0]
    assert {w.dtype for w in slots[:2]} == {np.dtype(np.int32)}


def test_relative_step_has_no_effect() -> None:
    steps = []
    for relative_step in (True, False):
        v = gl.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
        opt = gl.keras.Adafactor(10.0, relative_step=relative_step)
        for _ in range(3):
            opt.apply_gradients([(F([[1.0, -2.0], [0.5, 1.0]]), v)])
        steps.append(v.numpy().tolist())

    assert steps[0] == steps[1]


def test_slices_move_every_row_and_keras_3_squares_each_alone() -> None:
    g = gl.IndexedSlices(F([[3.0], [-3.0]]), [0, 0], (2, 1))
    v = gl.Variable(np.ones((2, 1), F), name="v")
    opt = gl.keras.Adafactor()
    with pytest.warns(KerasWarning, match="the sum of the sizes"):
        opt.apply_gradients([(g, v)])
    w = gl.Variable(np.ones((2, 1), F), name="w")
    other = gl.keras.Adafactor(semantics="rewrite")
    other.apply_gradients([(g, w)])

    assert opt.get_slot(v, "r").numpy().tolist() == [18.0, F(1e-30)]
    assert other.get_slot(w, "r").numpy().tolist() == [F(1e-30), F(1e-30)]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_pure_form_makes_the_same_steps(version: Any) -> None:
    starts = {"b": F([1.0, -2.0]), "k": F([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}
    gradients = {"b": F([0.5, 1.0]), "k": F([[1.0, -1.0, 2.0], [0.5, 3.0, -2.0]])}
    settings = {"weight_decay": 0.1, "use_ema": True, "ema_momentum": 0.5, "clipnorm": 1.0}
    opt = gl.keras.Adafactor(0.1, semantics=version, **settings)
    variables = {name: gl.Variable(w, name=name) for name, w in starts.items()}
    values = jax.tree.map(jnp.asarray, starts)
    state = opt.init(values)
    step = jax.jit(opt.step)
    for _ in range(3):
        values, state = step(values, state, gradients)
    for _ in range(3):
        opt.apply_gradients([(gradients[name], v) for name, v in variables.items()])

    for name, v in variables.items():
        np.testing.assert_allclose(values[name], v.numpy(), rtol=1e-5)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_saved_optimizer_goes_on(version: Any, tmp_path: Any) -> None:
    def make() -> tuple[Any, list[Any]]:
        variables = [gl.Variable([[1.0, 2.0]], name="k"), gl.Variable([3.0], name="b")]
        return gl.keras.Adafactor(0.1, semantics=version, use_ema=True), variables

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


def test_a_state_of_another_shape_is_refused() -> None:
    v = gl.Variable([[1.0, 2.0]], name="v")
    opt = gl.keras.Adafactor()
    opt.apply_gradients([(F([[1.0, 1.0]]), v)])
    state = opt.state_dict()
    state["slots"]["v:0"]["r"] = np.zeros(2, F)

    with pytest.raises(ValueError, match="slot r of v:0 is float32 of shape"):
        gl.keras.Adafactor().load_state_dict(state, [v])


def test_replicas_step_together() -> None:
    two = gl.keras.replicas(2)
    with two.scope():
        v = gl.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
        opt = gl.keras.Adafactor(0.5)
    w = gl.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    g = F([[1.0, -1.0], [2.0, 0.5]])
    for _ in range(2):
        two.apply_gradients(opt, [[(g, v)], [(2 * g, v)]])
    alone = gl.keras.Adafactor(0.5)
    for _ in range(2):
        alone.apply_gradients([(3 * g, w)])

    for value in two.values(v):
        np.testing.assert_array_equal(value, w.numpy())


@pytest.mark.parametrize("version", ["tf2.3", "legacy"])
def test_older_versions_have_none(version: Any) -> None:
    with pytest.raises(ValueError, match="Adafactor is of semantics 'rewrite', 'keras3'"):
        gl.keras.Adafactor(semantics=version)
