"""The global step: made once, checked, read."""

import numpy as np
import pytest

import gradlab as gl


def test_it_is_made_once() -> None:
    with gl.variable_collection():
        assert gl.train.get_global_step() is None
        step = gl.train.create_global_step()
        assert (step.name, step.dtype, step.trainable) == ("global_step:0", np.int64, False)
        assert gl.train.get_global_step() is step
        assert gl.train.get_or_create_global_step() is step
        with pytest.raises(ValueError, match=r'"global_step" already exists'):
            gl.train.create_global_step()


def test_a_graph_has_its_own() -> None:
    graph = gl.Graph()

    step = gl.train.create_global_step(graph)

    assert gl.train.get_global_step(graph) is step
    assert graph.get_collection("variables") == [step]
    assert gl.train.get_or_create_global_step(graph) is step
    assert gl.train.get_global_step() is not step


def test_it_is_read_as_a_number() -> None:
    with gl.Graph().as_default():
        step = gl.train.create_global_step()
        gl.Session().run(step.assign(7))
        value = gl.train.global_step(gl.Session(), step)
        assert gl.train.global_step(None, step * 2) == 14
    assert (value, type(value)) == (7, int)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (3, "must be a Variable or Tensor"),
        (gl.Variable(1.0), "does not have integer type"),
        (gl.Variable([1]), "is not scalar"),
    ],
)
def test_something_else_is_refused(step: object, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        gl.train.assert_global_step(step)
    gl.train.assert_global_step(gl.Variable(1))


def test_in_a_graph_a_variable_of_its_name_is_the_step() -> None:
    with gl.Graph().as_default():
        step = gl.Variable(0, trainable=False, name="global_step")
        assert gl.train.get_global_step() is step
        assert gl.train.get_or_create_global_step() is step
        with pytest.raises(ValueError, match="already exists"):
            gl.train.create_global_step()


def test_a_variable_of_its_name_that_is_no_step_is_refused() -> None:
    with gl.Graph().as_default():
        step = gl.Variable(0.0, trainable=False, name="global_step")
        with pytest.raises(TypeError, match="does not have integer type"):
            gl.train.get_global_step()
    assert step.numpy() == 0
