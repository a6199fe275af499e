"""The recorder: what it keeps, eager and traced, and what it refuses."""

import copy
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.record import merge, step_totals


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, jnp.bfloat16])
def test_every_float_dtype_is_recorded_as_float32(dtype: Any) -> None:
    rec = gl.Recorder(1)
    rec.record([np.array([3, 4], dtype)])
    assert rec["norm"].dtype == np.float32 and rec["norm"][0, 0] == 5


def grads(step: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(step)
    return {
        "b": rng.normal(size=(3, 2)).astype(np.float32),
        "a": np.float32(10.0**step) * np.ones(4, np.float32),
    }


def test_a_traced_run_records_what_an_eager_one_does() -> None:
    eager, traced = gl.Recorder(4, sample_every=2), gl.Recorder(4, sample_every=2)
    state = traced.init(grads(0), loss=0.0)
    update = jax.jit(lambda state, g, loss: traced.update(state, g, loss=loss), donate_argnums=0)
    for step in range(6):  # two more than there are buckets
        eager.record(grads(step), loss=float(step))
        state = update(state, grads(step), np.float32(step))
    got = traced.absorb(state)
    assert (
        got.names == eager.names == ("a", "b")
        and len(got) == len(eager) == 3
        and got.seen == eager.seen == 6
    )
    for column in ("norm", "norm_low", "global_norm", "square"):
        np.testing.assert_allclose(got[column], eager[column], rtol=1e-6)
    for column in ("largest", "nonfinite", "histogram", "loss", "entry", "peak"):
        np.testing.assert_array_equal(got[column], eager[column])
    assert len(traced) == 0, "absorb leaves the recorder ready for another run"


def test_names_come_from_variables_dict_keys_trees_or_positions() -> None:
    v = gl.Variable([1.0], name="v")
    for given_grads, names in (
        ([(np.ones(1, np.float32), v), (None, v)], ("v:0",)),
        ({"x": np.ones(1), "y": None}, ("x",)),
        ([np.ones(1), None, np.ones(2)], ("0", "2")),
        ({"layer": {"w": np.ones(1), "b": np.ones(2)}}, ("layer/b", "layer/w")),
        (gl.IndexedSlices(np.ones((2, 3)), np.array([0, 0]), (4, 3)), ("0",)),
    ):
        rec = gl.Recorder(1)
        rec.record(given_grads)
        assert rec.names == names


def test_bad_steps_are_refused_and_leave_the_recording_alone() -> None:
    with pytest.raises(ValueError, match="steps must be >= 1, got 0"):
        gl.Recorder(0)
    rec = gl.Recorder(4)
    with pytest.raises(ValueError, match="no gradient to record"):
        rec.record([None])
    rec.record({"a": np.ones(2)}, loss=1.0)
    for bad, scalars in (
        ({"b": np.ones(2)}, {}),
        ({"a": np.ones(3)}, {}),
        ({"a": np.ones(2)}, {"accuracy": 1.0}),
    ):
        with pytest.raises(ValueError, match=r"this recorder holds tensors \('a',\)"):
            rec.record(bad, **scalars)
    assert len(rec) == 1
    with pytest.raises(KeyError, match="no column 'nrom'"):
        rec["nrom"]


def test_a_scalar_may_not_take_the_name_of_a_column() -> None:
    rec = gl.Recorder(3)
    with pytest.raises(ValueError, match="norm cannot be the name of a scalar"):
        rec.record([np.ones(2)], norm=1.0)
    rec.record([np.ones(2)], loss=1.0)
    assert len(rec) == 1


@pytest.mark.parametrize(
    ("loss", "error", "message"),
    [
        (
            np.float32([1, 2]),
            ValueError,
            r"loss must be one number for each step, got shape \(2,\)",
        ),
        ("low", TypeError, "loss must be numbers, got 'low'"),
        (None, ValueError, "loss is None"),
    ],
)
def test_a_scalar_is_one_number(loss: Any, error: type[Exception], message: str) -> None:
    rec = gl.Recorder(3)
    for record in (rec.record, rec.init):
        with pytest.raises(error, match=message):
            record([np.ones(2)], loss=loss)
    assert (rec.names, len(rec)) == ((), 0)


def test_an_empty_recorder_says_so() -> None:
    for ask in (
        lambda r: r.global_norm,
        lambda r: r.what_if(clip_norm=1.0),
        lambda r: r["loss"],
        gl.Recorder.summary,
    ):
        with pytest.raises(ValueError, match="nothing is recorded yet"):
            ask(gl.Recorder(2))


@pytest.mark.parametrize("kind", ["clip_norm", "clip_value", "clip_global_norm"])
def test_a_recorder_whose_records_went_into_another_says_so(kind: str) -> None:
    rec = gl.Recorder(2)
    state = jax.jit(rec.update)(rec.init([np.ones(2)]), [np.ones(2)])
    rec.absorb(state)
    with pytest.raises(ValueError, match=r"nothing is recorded yet.*rec = rec.absorb\(state\)"):
        rec.what_if(**{kind: 1.0})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"rec = rec.absorb\(state\)"):
        rec.summary()


def test_a_recorder_says_what_it_holds() -> None:
    rec = gl.Recorder(2)
    for _ in range(5):
        rec.record({"w": np.ones(2)}, loss=1.0)
    assert repr(rec) == "<gradlab.Recorder: 5 steps in 2 buckets of w and loss>"
    assert "each of the 2 buckets kept stands for 4 steps" in rec.summary().reason


def test_steps_that_wait_are_there_for_whoever_looks_copies_or_pickles() -> None:
    looked, rec = gl.Recorder(4, sample_every=50), gl.Recorder(4, sample_every=50)
    g = {"small": np.zeros(3, np.float32), "large": np.ones(5000, np.float32)}
    for step in range(11):
        g["small"][:] = np.nan if step == 4 else step  # the memory of a gradient is used again
        for r in (looked, rec):
            r.record(g, loss=float(step))
        assert looked.seen == step + 1
    for other in (looked, copy.copy(rec), pickle.loads(pickle.dumps(rec)), rec):
        assert (other.seen, other.stride, len(other)) == (11, 4, 3)
        for column in ("norm", "norm_low", "largest", "nonfinite", "entry", "peak", "histogram"):
            np.testing.assert_array_equal(other[column], rec[column], err_msg=column)
    np.testing.assert_allclose(rec["norm_low"][:, 1], [0, 5 * 3**0.5, 8 * 3**0.5], rtol=1e-6)


def test_a_run_that_was_not_absorbed_is_not_saved_as_an_empty_file(tmp_path: Path) -> None:
    rec = gl.Recorder()
    rec.init({"w": np.ones(2)})
    with pytest.raises(ValueError, match=r"nothing is recorded yet.*absorb"):
        rec.save(tmp_path / "run.npz")
    assert not (tmp_path / "run.npz").exists()


def test_whoever_reads_while_another_thread_records_loses_no_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rec, steps, put = gl.Recorder(64), 60, merge.put
    rec.record([np.ones(2)], loss=0)

    def slow(*args: Any) -> None:
        time.sleep(0.001)  # and the other thread goes on
        put(*args)

    def train() -> None:
        for k in range(1, steps):
            rec.record([np.ones(2)], loss=k)
            time.sleep(0)

    monkeypatch.setattr(merge, "put", slow)
    training = threading.Thread(target=train)
    training.start()
    while training.is_alive():
        now = rec.snapshot()
        assert now.every_step("loss").tolist() == list(range(now.seen))
    assert rec.every_step("loss").tolist() == list(range(steps))


def deleted() -> jax.Array:
    x = jnp.ones(2)
    x.delete()
    return x


NOT_REAL = {
    "complex": (lambda: np.array([3 + 4j, 0]), "real, got complex128"),
    "complex of JAX": (lambda: jnp.array([3 + 4j, 0]), "real, got complex64"),
    "texts": (lambda: np.array(["a", "b"]), "numbers, got <U1"),
    "dates": (
        lambda: np.array(["2020-01-01", "2020-01-02"], "M8[D]"),
        r"numbers, got datetime64\[D\]",
    ),
    "objects": (lambda: np.array([None, 1.0], object), "numbers, got object"),
    "masked": (
        lambda: np.ma.array([1.0, 2.0], mask=[0, 1]),
        "masked array, whose mask would be lost",
    ),
    "deleted": (deleted, "JAX array that was deleted"),
}


@pytest.mark.parametrize("kind", NOT_REAL)
def test_what_is_not_an_array_of_real_numbers_is_refused_by_name(kind: str) -> None:
    make, words = NOT_REAL[kind]
    rec, fine = gl.Recorder(), {"w": np.ones(2)}
    with pytest.raises((TypeError, ValueError), match=rf"the gradient of layer/w .*{words}"):
        rec.record({"layer": {"w": make()}})
    with pytest.raises((TypeError, ValueError), match=rf"the gradient of w:0 .*{words}"):
        rec.record([(make(), gl.Variable(np.ones(2), name="w"))])
    with pytest.raises((TypeError, ValueError), match=rf"the weight of w .*{words}"):
        rec.record(fine, weights={"w": make()})
    assert rec.seen == 0
    with pytest.raises((TypeError, ValueError), match=rf"the gradient of w .*{words}"):
        rec.init({"w": make()})


def test_complex_gradients_are_refused_in_traced_code_too() -> None:
    rec = gl.Recorder()
    state = rec.init({"w": np.ones(2)})
    with pytest.raises(TypeError, match="the gradient of w must be real, got complex64"):
        jax.jit(rec.update)(state, {"w": jnp.array([3 + 4j, 0])})


@pytest.mark.parametrize("loss", [1j, np.complex64(1), "0.5", np.datetime64("2020-01-01")], ids=str)
def test_scalars_that_are_not_real_numbers_are_refused_by_name(loss: Any) -> None:
    rec = gl.Recorder()
    with pytest.raises(TypeError, match="loss must be"):
        rec.record({"w": np.ones(2)}, loss=loss)
    assert rec.seen == 0


def test_more_steps_than_can_be_counted_are_refused_and_nothing_changes() -> None:
    rec = gl.Recorder()
    rec.record([np.ones(2)])
    rec.store.seen = step_totals.MOST
    for more in (
        lambda: rec.record([np.ones(2)]),
        lambda: rec.extend(
            {name: [[1]] for name in ("norm", "largest", "nonfinite")} | {"entry": [[1, 1]]}
        ),
    ):
        with pytest.raises(ValueError, match="at most 2,147,483,647 steps"):
            more()
    assert rec.seen == step_totals.MOST


def test_a_traced_state_does_not_count_on_below_0() -> None:
    rec = gl.Recorder()
    state = rec.init({"w": np.ones(2)})
    state["at"] = state["at"].at[0].set(step_totals.MOST - 1).at[1].set(1 << 22)
    step = jax.jit(lambda state: rec.update(state, {"w": np.float32([3.0, 4.0])}))
    for _ in range(2):
        state = step(state)
        assert int(state["at"][0]) == step_totals.MOST
    with pytest.raises(ValueError, match="has counted 2,147,483,647 steps"):
        rec.absorb(state)
