"""What accumulators refuse, in which words, and that nothing is changed by it; what they read as
what.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import DTypeError, InvalidArgumentError, NotFoundError
from tests.differences import differs
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.usefixtures("in_a_graph")

STRICT = pytest.mark.parametrize("strict", [None, "tf"])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"dtype": None}, TypeError, "dtype must be one of .*, got None"),
        ({"dtype": "nonsense"}, TypeError, "got 'nonsense'"),
        ({"dtype": "int32"}, InvalidArgumentError, "no kernel for int32"),
        ({"dtype": "int32"}, NotFoundError, "use one of float16, bfloat16"),
        ({"dtype": bool}, TypeError, "no kernel for bool"),
        ({"dtype": np.dtype(str)}, InvalidArgumentError, "no kernel"),
        ({"shape": "abc"}, TypeError, "sequence of sizes, got 'abc'"),
        ({"shape": [1.5]}, TypeError, "must be integers or None"),
        ({"shape": [-1]}, ValueError, "at least 0"),
        ({"shape": [-2]}, InvalidArgumentError, r"got \[-2\]"),
        ({"reduction_type": "mean"}, ValueError, '"MEAN" or "SUM", exactly'),
        ({"reduction_type": ""}, InvalidArgumentError, "exactly"),
        ({"reduction_type": 3}, TypeError, "got 3"),
        ({"shared_name": 3}, TypeError, "shared_name must be a string or None"),
        ({"name": 3}, TypeError, "name must be"),
        ({"strict": "TF"}, ValueError, 'strict must be None or "tf"'),
        ({"sum_dtype": "int64"}, InvalidArgumentError, "no kernel for int64"),
    ],
)
@pytest.mark.parametrize("kind", [gl.ConditionalAccumulator, gl.SparseConditionalAccumulator])
def test_what_cannot_be_made(
    kind: Any, given: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        kind(**{"dtype": "float32", **given})


@differs(
    "accumulators of bfloat16",
    tensorflow="refused",
    gradlab="taken",
    strict="as TensorFlow",
)
def test_strict_has_no_bfloat16_and_sparse_no_third_mean() -> None:
    with pytest.raises(NotFoundError, match="no kernel for bfloat16"):
        gl.ConditionalAccumulator("bfloat16", strict="tf")
    with pytest.raises(ValueError, match='mean must be "row" or "gradient"'):
        gl.SparseConditionalAccumulator("float32", mean="column")


@pytest.mark.parametrize("shape", [None, 2, (2,), [None], np.array([2])])
def test_shapes(shape: Any) -> None:
    assert gl.ConditionalAccumulator(np.float32, shape).apply_grad([1.0, 2.0])


DENSE: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda a: a.apply_grad([1.0, 2.0]), ValueError, r"must have shape \(1,\), got \(2,\)"),
    # Although it would be dropped.
    (lambda a: a.apply_grad([1.0, 2.0], -9), ValueError, "must have shape"),
    (lambda a: a.apply_grad(1.0), InvalidArgumentError, r"got \(\)"),
    (lambda a: a.apply_grad(None), ValueError, "grad is None"),
    (lambda a: a.apply_grad(["a"]), TypeError, "grad must be real numbers"),
    (lambda a: a.apply_grad([1j]), TypeError, "grad must be real numbers"),
    (lambda a: a.apply_grad([[1.0], [1.0, 2.0]]), ValueError, "inhomogeneous"),
    (lambda a: a.apply_grad(object()), TypeError, "must be numbers"),
    (
        lambda a: a.apply_grad(jnp.ones(1, jnp.float16)),
        ValueError,
        "dtype float16, the accumulator float32",
    ),
    (lambda a: a.apply_grad(gl.Variable(np.ones(1))), ValueError, "dtype float64"),
    (lambda a: a.apply_grad(gl.IndexedSlices(np.ones(1, "f4"), [0])), ValueError, "no dense_shape"),
    (lambda a: a.apply_grad(gl.IndexedSlices(np.ones(1), [0], (1,))), DTypeError, "float64"),
    (lambda a: jax.jit(a.apply_grad)(jnp.ones(1)), TypeError, "computed by jit or grad"),
    (lambda a: jax.jit(lambda s: a.apply_grad([1.0], s))(0), TypeError, "computed by jit or grad"),
    (lambda a: a.apply_grad([1.0], None), ValueError, "local_step is None"),
    (lambda a: a.apply_grad([1.0], "a"), TypeError, "local_step must be an integer, got 'a'"),
    (lambda a: a.apply_grad([1.0], 1j), TypeError, "local_step must be real"),
    (lambda a: a.apply_grad([1.0], 2**63), ValueError, "64 bits"),
    (lambda a: a.apply_grad([1.0], np.uint64(2**63)), InvalidArgumentError, "64 bits"),
    (
        lambda a: a.apply_grad([1.0], [0, 0]),
        InvalidArgumentError,
        r"must be a scalar, got shape \(2,\)",
    ),
    (lambda a: a.apply_grad([1.0], []), InvalidArgumentError, "must be a scalar"),
    (lambda a: a.set_global_step(None), ValueError, "new_global_step is None"),
    (lambda a: a.set_global_step([1, 2]), InvalidArgumentError, "must be a scalar"),
    (lambda a: a.take_grad(0), InvalidArgumentError, "at least 1, got 0"),
    (lambda a: a.take_grad(-3), InvalidArgumentError, "at least 1, got -3"),
    (lambda a: a.take_grad(1.5), TypeError, "must be an integer, got 1.5"),
    (lambda a: a.take_grad("a"), TypeError, "must be an integer"),
    (lambda a: a.take_grad(None), ValueError, "num_required is None"),
    (lambda a: a.take_grad([1]), InvalidArgumentError, r"scalar, got shape \(1,\)"),
    (lambda a: a.take_grad(np.ones(2, int)), ValueError, "must be a scalar"),
    (lambda a: a.take_grad(2**31), InvalidArgumentError, "32 bits"),
    (lambda a: a.take_grad(1, timeout=-1.0), ValueError, "timeout must be"),
    (lambda a: a.take_grad(1, timeout=float("nan")), ValueError, "timeout must be"),
    (lambda a: a.take_grad(1, timeout="1 s"), TypeError, "timeout must be"),
    (lambda a: a.take_grad(2, 0.5), TypeError, "name must be a string or None, got 0.5"),
    (lambda a: a.try_take(0), InvalidArgumentError, "at least 1"),
    (lambda a: a.request(0), InvalidArgumentError, "at least 1"),
    (
        lambda a: a.accumulator_ref.apply(np.ones(1)),
        InvalidArgumentError,
        "dtype float32, got a gradient of dtype",
    ),
    (lambda a: a.accumulator_ref.apply(np.ones((1, 1), "f4")), InvalidArgumentError, "has shape"),
    (
        lambda a: a.accumulator_ref.take(1, dtype="float64"),
        InvalidArgumentError,
        "asks for float64$",
    ),
    (
        lambda a: a.accumulator_ref.take(1, dtype=np.float64),
        InvalidArgumentError,
        "asks for float64$",
    ),
]


@pytest.mark.every_case
@STRICT
@pytest.mark.parametrize(("call", "error", "words"), DENSE)
def test_a_dense_accumulator_refuses_and_stays_as_it_was(
    strict: str | None, call: Callable[[Any], Any], error: type[Exception], words: str
) -> None:
    acc = gl.ConditionalAccumulator("float32", (1,), strict=strict)
    acc.apply_grad([3.0])
    with pytest.raises(error, match=words):
        call(acc)
    assert acc.peek()[:2] == (0, 1)
    assert acc.take_grad(1).tolist() == [3.0]


SPARSE: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda a: a.apply_grad([[0]], [[1.0, 2.0]]), InvalidArgumentError, "one index for each row"),
    (lambda a: a.apply_grad([0], np.float32(1.0)), InvalidArgumentError, "one index for each row"),
    (lambda a: a.apply_grad([0, 1], [[1.0, 2.0]]), InvalidArgumentError, "one index for each row"),
    (
        lambda a: a.apply_grad([3], [[1.0, 2.0]]),
        InvalidArgumentError,
        r"in \[0, 3\), as the accumulator says; got 3",
    ),
    (
        lambda a: a.apply_grad([0], [[1.0, 2.0]], [4, 2]),
        InvalidArgumentError,
        r"shape \(3, 2\), got grad_shape \(4, 2",
    ),
    (lambda a: a.apply_grad([0], [[1.0, 2.0]], [3]), InvalidArgumentError, "grad_shape"),
    (lambda a: a.apply_grad([0], [[1.0, 2.0]], []), InvalidArgumentError, "grad_shape"),
    (
        lambda a: a.apply_grad([0], [[1.0, 2.0, 3.0]]),
        InvalidArgumentError,
        r"rows counted so far have shape \(2,\)",
    ),
    (lambda a: a.apply_grad([0], [1.0]), InvalidArgumentError, "rows counted so far"),
    (lambda a: a.apply_grad(None, [[1.0, 2.0]]), ValueError, "grad_indices is None"),
    (lambda a: a.apply_grad([0], None), ValueError, "grad_values is None"),
    (lambda a: a.apply_grad([0], jnp.ones((1, 2), jnp.float16)), InvalidArgumentError, "float16"),
    (lambda a: a.apply_grad([0], [["a", "b"]]), InvalidArgumentError, "grad_values|dtype"),
    (
        lambda a: a.apply_grad([0], [[1.0, 2.0]], None, [0, 0]),
        InvalidArgumentError,
        "local_step must be a scalar",
    ),
    (
        lambda a: a.apply_grad(gl.IndexedSlices([[1.0, 2.0]], [0]), None),
        TypeError,
        "apply_indexed_slices_grad",
    ),
    (
        lambda a: a.apply_grad(gl.IndexedSlices([[1.0, 2.0]], [0])),
        TypeError,
        "apply_indexed_slices_grad",
    ),
    (lambda a: a.apply_grad([0]), TypeError, "needs grad_indices and grad_values"),
    (lambda a: a.apply_indexed_slices_grad(3), AttributeError, "indices"),
    (
        lambda a: jax.jit(lambda v: a.apply_grad([0], v))(jnp.ones((1, 2))),
        TypeError,
        "grad_values is being computed",
    ),
    (
        lambda a: jax.jit(lambda i: a.apply_grad(i, [[1.0, 2.0]]))(jnp.ones(1, int)),
        TypeError,
        "grad_indices is being",
    ),
]


@pytest.mark.every_case
@STRICT
@pytest.mark.parametrize(("call", "error", "words"), SPARSE)
def test_a_sparse_accumulator_refuses_and_stays_as_it_was(
    strict: str | None, call: Callable[[Any], Any], error: type[Exception], words: str
) -> None:
    acc = gl.SparseConditionalAccumulator("float32", (3, 2), strict=strict)
    acc.apply_grad([1], [[1.0, 2.0]])
    with pytest.raises(error, match=words):
        call(acc)
    assert acc.peek()[:2] == (0, 1)
    assert acc.take_grad(1).values.tolist() == [[1.0, 2.0]]


TRAPS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda a: a.apply_grad([-1], np.ones((1, 2), "f4")), r"in \[0, 3\)"),
    (lambda a: a.apply_grad([1], np.ones((1, 2), "f4"), [3, 2, 9]), "do not fit grad_shape"),
    (lambda a: a.apply_grad([1.5], np.ones((1, 2), "f4")), "grad_indices must be integers"),
    (lambda a: a.apply_grad([1], np.ones((1, 2, 1), "f4")), r"do not fit the shape \(3, 2\)"),
]


@differs(
    "`SparseConditionalAccumulator`: negative indices, indices that aren't integers, a grad_shape "
    "that contradicts the rows, rows of more axes than a shape that is known",
    tensorflow="taken",
    gradlab="refused",
    strict="as TensorFlow",
)
@pytest.mark.parametrize(("call", "words"), TRAPS)
def test_what_tensorflow_lets_pass_is_refused_unless_strict(
    call: Callable[[Any], Any], words: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        call(gl.SparseConditionalAccumulator("float32", (3, 2)))
    assert call(gl.SparseConditionalAccumulator("float32", (3, 2), strict="tf"))


def test_a_dropped_gradient_is_not_looked_at() -> None:
    acc = gl.ConditionalAccumulator("float32")
    acc.apply_grad([1.0, 2.0])
    assert not acc.apply_grad([1.0, 2.0, 3.0], -1)
    sparse = gl.SparseConditionalAccumulator("float32")
    assert not sparse.apply_grad([[1]], 1.0, local_step=-1)


@pytest.mark.parametrize("step", [2.9, -0.5, np.float32(2.9), jnp.asarray(2.9), gl.Variable(2.9)])
def test_a_step_that_is_no_integer_is_refused_or_cut_as_in_tensorflow(step: Any) -> None:
    own, strict = (
        gl.ConditionalAccumulator("float32"),
        gl.ConditionalAccumulator("float32", strict="tf"),
    )
    for call, name in (
        (lambda: own.apply_grad([1.0], step), "local_step"),
        (lambda: own.set_global_step(step), "new"),
    ):
        with pytest.raises(DTypeError, match=f"{name}.* must be an integer, got ") as caught:
            call()
        assert isinstance(caught.value, TypeError)
    assert own.peek()[:2] == (0, 0)
    strict.set_global_step(step)
    assert strict.global_step == strict.apply_grad([1.0], step).local_step == int(step)


def test_a_sparse_step_that_is_no_integer_is_refused() -> None:
    with pytest.raises(DTypeError, match=r"local_step must be an integer, got 1\.5"):
        gl.SparseConditionalAccumulator("float32").apply_grad([0], [[1.0]], local_step=1.5)


@pytest.mark.parametrize(
    "step", [2.0, np.float32(2), np.int32(2), np.array(2), jnp.asarray(2), gl.Variable(2)]
)
def test_whole_numbers_are_steps(step: Any) -> None:
    acc = gl.ConditionalAccumulator("float32")
    acc.set_global_step(step)
    assert acc.global_step == 2
    assert acc.apply_grad([1.0], step).local_step == 2


@pytest.mark.parametrize("count", [1, True, np.int64(1), np.array(1), jnp.asarray(1)])
def test_numbers_of_gradients(count: Any) -> None:
    acc = gl.ConditionalAccumulator("float32")
    acc.apply_grad([1.0])
    assert acc.take_grad(count).tolist() == [1.0]


@pytest.mark.parametrize(
    "grad", [[1], [True], np.ones(1), np.ones(1, np.float16), (1.0,), gl.Variable(np.ones(1, "f4"))]
)
def test_gradients_are_cast(grad: Any) -> None:
    acc = gl.ConditionalAccumulator("float32", (1,))
    acc.apply_grad(grad)
    assert acc.take_grad(1).dtype == np.float32


def test_lists_keep_the_bits_of_float64() -> None:
    acc = gl.ConditionalAccumulator("float64", ())
    acc.apply_grad(0.1)
    assert acc.take_grad(1) == 0.1


def test_slices_are_made_dense() -> None:
    acc = gl.ConditionalAccumulator("float32", (3,))
    acc.apply_grad(gl.IndexedSlices(np.float32([1, 2]), [2, 2], (3,)))
    assert acc.take_grad(1).tolist() == [0, 0, 3]


@differs(
    "a local_step in a vector of one",
    tensorflow="raises, and is used all the same",
    gradlab="raises, and nothing has changed",
    strict="as TensorFlow",
)
@pytest.mark.parametrize(
    "call", [lambda a, x: a.apply_grad([7.0], x), lambda a, x: a.set_global_step(x)]
)
def test_a_step_in_a_vector_of_one_raises_and_counts_when_strict_and_not_known_before(
    call: Any,
) -> None:
    for strict, counts in ((None, False), ("tf", True)):
        with gl.variable_collection():
            acc = gl.ConditionalAccumulator("float32", strict=strict)
        before = acc.peek()
        with pytest.raises(InvalidArgumentError, match="must be a scalar"):
            call(acc, [3])
        assert (acc.peek()[:2] != before[:2]) == counts
    with gl.Graph().as_default():
        acc = gl.ConditionalAccumulator("float32", strict="tf")
    with pytest.raises(InvalidArgumentError, match="must be a scalar"):
        call(acc, [3])
    assert acc.peek() == before


def test_such_a_step_serves_a_taker_and_raises() -> None:
    acc = gl.ConditionalAccumulator("float32", strict="tf")
    taker = acc.request(1)
    with pytest.raises(InvalidArgumentError):
        acc.accumulator_ref.apply(np.float32([7]), [0])
    assert taker.result(0).tolist() == [7]


@differs(
    "a local_step that no int64 is near (NaN, infinity, 1e30)",
    tensorflow="becomes the lowest int64",
    gradlab="refused",
    strict="as TensorFlow",
)
@pytest.mark.parametrize("step", [1e30, -1e30, float("nan"), float("inf"), 2.0**63])
def test_a_step_that_no_integer_is_near_is_refused_or_becomes_the_lowest_as_in_tensorflow(
    step: float,
) -> None:
    strict, own = (
        gl.ConditionalAccumulator("float32", strict="tf"),
        gl.ConditionalAccumulator("float32"),
    )
    assert not strict.apply_grad([1.0], local_step=step).accepted
    strict.set_global_step(step)
    assert strict.global_step == -(2**63)
    with pytest.raises(InvalidArgumentError):
        own.apply_grad([1.0], local_step=step)
    assert own.num_accumulated() == 0


@pytest.mark.parametrize("strict", [None, "tf"])
@pytest.mark.parametrize(
    ("shape", "inner", "grad_shape", "taken"),
    [
        ((), (), [], [-1]),
        (None, (), [], [-1]),
        (None, (1,), (), [-1, 1]),
        ([2, None], (2, 3), None, [2, 2, 3]),
        ([2, None], (2, 3), [2, 2, 3], [2, 2, 3]),
        ([None, 2], (2, 3), None, [-1, 2, 3]),
    ],
)
def test_shapes_that_say_less_than_the_rows(
    strict: Any, shape: Any, inner: Any, grad_shape: Any, taken: Any
) -> None:
    with gl.Graph().as_default():
        acc = gl.SparseConditionalAccumulator("float32", shape, strict=strict)
        assert acc.apply_grad([0, 1], np.ones((2, *inner), "f4"), grad_shape).accepted
        assert acc.take_grad(1).shape.tolist() == taken


@pytest.mark.parametrize("strict", [None, "tf"])
@pytest.mark.parametrize(
    ("shape", "inner", "grad_shape"),
    [([2, None], (), None), ([2, None], (3,), []), ([2, 2], (2,), [2])],
)
def test_shapes_that_say_more_than_the_rows_are_refused(
    strict: Any, shape: Any, inner: Any, grad_shape: Any
) -> None:
    with gl.Graph().as_default():
        acc = gl.SparseConditionalAccumulator("float32", shape, strict=strict)
        with pytest.raises(InvalidArgumentError, match="shape"):
            acc.apply_grad([0, 1], np.ones((2, *inner), "f4"), grad_shape)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("shape", "inner", "grad_shape"),
    [
        ((), (), []),
        (None, (1,), []),
        ([2, None], (2, 3), None),
        ([2, None], (), None),
        ([2, None], (3,), []),
    ],
)
def test_shapes_as_in_tensorflow(shape: Any, inner: Any, grad_shape: Any) -> None:
    tf, rows = tensorflow(), np.ones((2, *inner), "f4")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        theirs = tf.compat.v1.SparseConditionalAccumulator(tf.float32, shape)
        mine = gl.SparseConditionalAccumulator("float32", shape)
        try:
            session.run(theirs.apply_grad([0, 1], rows, grad_shape))
        except tf.errors.InvalidArgumentError:
            with pytest.raises(InvalidArgumentError):
                mine.apply_grad([0, 1], rows, grad_shape)
            return
        mine.apply_grad([0, 1], rows, grad_shape)
        assert mine.take_grad(1).shape.tolist() == session.run(theirs.take_grad(1)).shape.tolist()
