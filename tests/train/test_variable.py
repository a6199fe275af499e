"""Variables and the collections that know them."""

import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import InvalidArgumentError
from tests.differences import differs


@differs(
    "`trainable_variables` and variables that nothing else refers to",
    tensorflow="keeps them",
    gradlab="forgets them",
)
def test_a_collection_forgets_variables_that_nobody_holds() -> None:
    a, b = gl.Variable(1.0, name="a"), gl.Variable(1.0, name="b")
    assert gl.trainable_variables() == [a, b]
    del a
    assert gl.trainable_variables() == [b]


def test_collections_do_not_see_one_another() -> None:
    outer = gl.Variable(1.0, name="outer")
    with gl.variable_collection():
        assert gl.trainable_variables() == []
        inner = gl.Variable(1.0)
        gl.get_or_create_global_step()
    assert gl.trainable_variables() == [outer]
    assert gl.get_global_step() is None
    assert inner.name == "Variable:0"


def test_a_thread_has_the_outermost_collection() -> None:
    seen: list[Any] = []
    v = gl.Variable(1.0, name="mine")
    thread = threading.Thread(target=lambda: seen.append(v in gl.trainable_variables()))
    thread.start()
    thread.join()
    assert seen == [False]


def test_names_are_numbered_when_they_are_not_given() -> None:
    names = [
        v.name
        for v in [
            gl.Variable(1.0),
            gl.Variable(1.0),
            gl.Variable(1.0, name="w"),
            gl.Variable(1.0, name="w"),
        ]
    ]
    assert names == ["Variable:0", "Variable_1:0", "w:0", "w:0"]


@pytest.mark.parametrize(
    ("scope", "names"),
    [
        (None, "a/x b/x b/y"),
        ("", "a/x b/x b/y"),
        ("b", "b/x b/y"),
        (".*x", "a/x b/x"),
        ("x", ""),
        ("b/.$|b", "b/x b/y"),
    ],
)
def test_a_scope_is_a_pattern_at_the_start_of_the_name(scope: str | None, names: str) -> None:
    made = [gl.Variable(1.0, name=n) for n in ("a/x", "b/x", "b/y")]
    fixed = gl.Variable(1.0, name="b/fixed", trainable=False)
    assert " ".join(v.name.removesuffix(":0") for v in gl.trainable_variables(scope)) == names
    assert fixed not in gl.trainable_variables()
    assert len(made) == 3


def test_the_global_step_is_one_int64_that_is_not_trained() -> None:
    assert gl.get_global_step() is None
    step = gl.get_or_create_global_step()
    assert gl.get_or_create_global_step() is step is gl.get_global_step()
    assert gl.train.get_or_create_global_step() is step is gl.train.get_global_step()
    assert (step.name, step.dtype, step.shape, step.trainable, int(step)) == (
        "global_step:0",
        np.int64,
        (),
        False,
        0,
    )


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (1.0, None, "float32"),
        ([1, 2], None, "int32"),
        (np.ones(2), None, "float64"),
        (1.0, "float16", "float16"),
        (lambda: [1.0], None, "float32"),
        (jnp.ones(2, "bfloat16"), None, "bfloat16"),
    ],
)
def test_dtypes(value: Any, dtype: Any, expected: str) -> None:
    assert gl.Variable(value, dtype=dtype).dtype == np.dtype(expected)


def test_the_initial_value_is_copied() -> None:
    start = np.zeros(2)
    v = gl.Variable(start)
    start += 1
    assert v.numpy().tolist() == [0, 0]
    v.numpy()[0] = 7
    assert v.numpy().tolist() == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        v.value[0] = 7


def test_assignments_keep_dtype_kind_and_name() -> None:
    for start in (np.float16([1, 2]), jnp.float16([1, 2])):
        v = gl.Variable(start, name="v")
        assert v.assign([3.0, 4.0]) is v
        assert v.assign_add(np.float64([1, 1])).assign_sub(jnp.ones(2)) is v
        assert (v.numpy().tolist(), v.dtype, type(v.value)) == ([3, 4], np.float16, type(start))


def test_float64_on_jax_stays() -> None:
    with jax.enable_x64(True):
        v = gl.Variable(jnp.array([1.0], jnp.float64))
    v.assign_add(np.array([1e-12]))
    assert v.numpy()[0] == 1 + 1e-12


OPERATIONS: dict[str, Any] = {
    "v + 1": lambda v: v + 1,
    "2 - v": lambda v: 2 - v,
    "v * v": lambda v: v * v,
    "v @ v": lambda v: v @ v,
    "-v": lambda v: -v,
    "v ** 2": lambda v: v**2,
    "v < 2": lambda v: v < 2,
    "v[0]": lambda v: v[0],
    "np": lambda v: np.sqrt(v) + np.ones(2, np.float32) * v,
    "jnp operator": lambda v: jnp.ones(2) * v - v * jnp.ones(2),
    "jnp.sum": lambda v: jnp.sum(v),
    "jnp.dot": lambda v: jnp.dot(v, v),
    "jnp.exp": lambda v: jnp.exp(v),
    "jit": lambda v: jax.jit(lambda x: x * 2)(v),
    "tree": lambda v: jax.tree.leaves({"v": v})[0],
    "list": lambda v: np.array(list(v)),
    "asarray": lambda v: np.asarray(v, np.float64) + jnp.asarray(v),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("module", [np, jnp])
def test_a_variable_computes_like_its_array(operation: str, module: Any) -> None:
    x = module.array([1.0, 4.0], np.float32)
    result = OPERATIONS[operation](gl.Variable(x))
    np.testing.assert_array_equal(result, OPERATIONS[operation](x))
    assert not isinstance(result, gl.Variable)


def test_scalars_convert() -> None:
    v = gl.Variable(2.5)
    assert (float(v), int(v), bool(v), len(gl.Variable([1.0, 2.0]))) == (2.5, 2, True, 2)


def test_variables_are_keys() -> None:
    v, w = gl.Variable(1.0), gl.Variable(1.0)
    assert {v: "v", w: "w"}[w] == "w"
    assert v == v
    assert v != w


def test_it_says_what_it_is() -> None:
    assert repr(gl.Variable([1.0], name="v")) == "<gradlab.Variable 'v:0' shape=(1,) dtype=float32>"


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "None": (lambda v: gl.Variable(None), ValueError, "initial_value is None"),
    "a string": (lambda v: gl.Variable("a"), TypeError, "initial_value must be numbers, got 'a'"),
    "ragged": (lambda v: gl.Variable([[1.0], [1.0, 2.0]]), ValueError, "rows of different lengths"),
    "a dict": (lambda v: gl.Variable({}), TypeError, "must be numbers, got dict"),
    "assign a shape": (
        lambda v: v.assign([1.0]),
        InvalidArgumentError,
        r"v:0 has shape \(2,\), got .* \(1,\)",
    ),
    "add a shape": (
        lambda v: v.assign_add(1.0),
        InvalidArgumentError,
        r"v:0 has shape \(2,\), got .* \(\)",
    ),
    "subtract a string": (
        lambda v: v.assign_sub("a"),
        TypeError,
        "the value for v:0 must be numbers, got 'a'",
    ),
    "in place": (lambda v: v.__iadd__(1.0), RuntimeError, r"use v.assign_add\(x\)"),
    "as out": (lambda v: np.add(1.0, 1.0, out=v), RuntimeError, "cannot be changed in place"),
    "truth of many": (bool, ValueError, "ambiguous"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_values_are_refused_and_change_nothing(case: str) -> None:
    v = gl.Variable([1.0, 2.0], name="v")
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call(v)
    assert v.numpy().tolist() == [1, 2]


@pytest.mark.parametrize("module", [np, jnp])
def test_eight_threads_lose_no_addition(module: Any) -> None:
    v, start = gl.Variable(module.zeros(2, np.float32)), threading.Barrier(8)

    def add() -> None:
        start.wait()
        for _ in range(50):
            v.assign_add([1.0, 2.0])

    threads = [threading.Thread(target=add) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert v.numpy().tolist() == [400, 800]


def test_numpy_knows_the_shape_while_a_loss_is_traced() -> None:
    v = gl.Variable([[1.0, 2.0]])

    def loss() -> object:
        assert (np.shape(v), np.ndim(v), np.size(v)) == ((1, 2), 2, 2)
        return v * v

    assert gl.gradients(loss, [v])[0].tolist() == [[2, 4]]
    with gl.Graph().as_default():
        w = gl.Variable([[1.0, 2.0]])
        assert [np.shape(w), np.shape(w * 2), np.size(w * 2)] == [(1, 2), (1, 2), 2]


def test_rows_of_a_graph_are_tensors() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0, 2.0])
        first, last = v
        v.load([3.0, 4.0])
        assert (first.eval(), last.eval()) == (3, 4)
