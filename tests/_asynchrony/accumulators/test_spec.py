"""Which accumulators are one: by name in one collection; with strict, TensorFlow's surprises."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import InvalidArgumentError, NotFoundError

ACC = gl.ConditionalAccumulator


def test_distinct_objects_are_distinct() -> None:
    a, b = ACC("float32", [1]), ACC("float32", [1])
    a.apply_grad([3.0])
    assert (a.num_accumulated(), b.num_accumulated()) == (1, 0)


@pytest.mark.parametrize("strict", [None, "tf"])
def test_one_shared_name_is_one_accumulator_in_its_collection(strict: str | None) -> None:
    a, b = ACC("float32", [1], "x", strict=strict), ACC("float32", [1], "x", strict=strict)
    a.apply_grad([3.0])
    assert b.take_grad(1).tolist() == [3]
    assert a.global_step == 1
    with gl.variable_collection():
        assert ACC("float32", [1], "x", strict=strict).global_step == 0
    with gl.Graph().as_default():
        assert ACC("float32", [1], "x", strict=strict).global_step == 0


@pytest.mark.parametrize(
    "other", [{"shape": [2]}, {"dtype": "float64"}, {"reduction_type": "SUM"}, {"sum_dtype": "float64"}]
)
def test_the_same_name_for_something_else(other: dict) -> None:
    a = ACC("float32", [1], "x")
    with pytest.raises(
        InvalidArgumentError, match=r"shared_name 'x' belongs to a MEAN of float32, shape .*, this is a"
    ):
        ACC(**{"dtype": "float32", "shape": [1], "shared_name": "x", **other})
    del a
    ACC(**{"dtype": "float32", "shape": [1], "shared_name": "x", **other})


def test_strict_looks_at_nothing_and_the_first_decides() -> None:
    with gl.Graph().as_default():
        a, b = ACC("float32", [1], "x", strict="tf"), ACC("float32", [2], "x", None, "SUM", strict="tf")
        a.apply_grad([2.0])
        a.apply_grad([4.0])
        assert b.take_grad(2).tolist() == [3]
        with pytest.raises(InvalidArgumentError, match="has shape"):
            b.apply_grad([1.0, 2.0], 9)
        c = ACC("float64", [1], "x", strict="tf")
        with pytest.raises(InvalidArgumentError, match="has dtype float32, got a gradient of dtype float64"):
            c.apply_grad([1.0], 9)
        assert a.num_accumulated() == 0


def test_strict_without_a_graph_accumulators_without_a_name_are_one_and_die_with_the_first() -> None:
    a, b = ACC("float32", [1], strict="tf"), ACC("float32", [1], name="other", strict="tf")
    c, d = ACC("float32", [2], strict="tf"), ACC("float32", [1], reduction_type="SUM", strict="tf")
    a.apply_grad([3.0])
    assert [x.num_accumulated() for x in (a, b, c, d)] == [1, 1, 0, 0]
    b.apply_grad([5.0])
    assert a.take_grad(1).tolist() == [4]
    assert (a.name, b.name) == ("", "")
    del a
    with pytest.raises(NotFoundError, match="was deleted"):
        b.num_accumulated()
    e = ACC("float32", [1], strict="tf")
    for use in (e.num_accumulated, lambda: e.apply_grad([1.0], 9), lambda: e.take_grad(1), e.peek):
        with pytest.raises(NotFoundError, match="give each a shared_name"):
            use()
    assert c.num_accumulated() == 0


def test_in_a_graph_each_is_its_own_and_has_a_name_of_its_own() -> None:
    with gl.Graph().as_default():
        a, b = ACC("float32", [1], strict="tf"), ACC("float32", [1], strict="tf")
        c = ACC("float32", name="scope/inner")
    a.apply_grad(np.ones(1))
    assert b.num_accumulated() == 0
    assert [x.name for x in (a, b, c)] == ["conditional_accumulator", "conditional_accumulator_1", "inner"]
    del a
    assert b.apply_grad([1.0])
    assert repr(b) == "<gradlab.ConditionalAccumulator 'conditional_accumulator_1' dtype=float32 shape=(1,)>"
