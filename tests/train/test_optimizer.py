"""The interface of `gl.train`'s optimizers: which classes have it, and which names they take."""

from typing import Any

import pytest

import gradlab as gl

DESCENT = gl.train.GradientDescentOptimizer(0.1)
WRAPPERS = {
    "drop_stale": lambda **name: gl.train.DropStaleGradientOptimizer(DESCENT, 0, **name),
    "sync_replicas": lambda **name: gl.train.SyncReplicasOptimizer(DESCENT, 1, **name),
}
MAKERS = {**WRAPPERS, "rule": lambda **name: gl.train.MomentumOptimizer(0.1, 0.9, **name)}
# What TensorFlow 2.21 says of a name when an operation of a graph is named after it.
MALFORMED = ["a b!", "_x", "-a", "/x", "é", "a b"]
WELL_FORMED = ["a/b", ".x", "A.x", "a/", "a>b", "a\\b", "9"]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_every_optimizer_is_one_of_gl_train(make: Any) -> None:
    """TensorFlow documents it: "Inherits From: Optimizer"."""
    assert isinstance(make(), gl.train.Optimizer)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("name", [3, 3.5, ("a",), True])
def test_a_name_that_is_no_string_is_refused(make: Any, name: Any) -> None:
    with pytest.raises(TypeError, match="name must be a non-empty string, got"):
        make(name=name)


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_name_is_refused_in_a_graph_and_changes_nothing(name: str) -> None:
    with gl.Graph().as_default() as graph:
        v, opt = gl.Variable([1.0]), gl.train.MomentumOptimizer(0.1, 0.9, name=name)
        with pytest.raises(ValueError, match="name must be a scope name"):
            opt.apply_gradients([([1.0], v)])
        with pytest.raises(ValueError, match="name must be a scope name"):
            opt.minimize(lambda: (v * v).sum(), var_list=[v])
        assert (opt.get_slot_names(), graph.get_collection("train_op")) == ([], [])


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_name_of_one_call_is_refused_in_a_graph(name: str) -> None:
    with gl.Graph().as_default():
        v, step = gl.Variable([1.0]), gl.get_or_create_global_step()
        with pytest.raises(ValueError, match="name must be a scope name"):
            DESCENT.apply_gradients([([1.0], v)], name=name)
        drop = WRAPPERS["drop_stale"]()
        pairs = drop.compute_gradients(lambda: (v * v).sum(), [v])
        with pytest.raises(ValueError, match="name must be a scope name"):
            drop.apply_gradients(pairs, step, name=name)
        sync = WRAPPERS["sync_replicas"]()
        with pytest.raises(ValueError, match="name must be a scope name"):
            sync.apply_gradients(pairs, step, name=name)


@pytest.mark.parametrize("name", WELL_FORMED)
def test_names_that_tensorflow_takes_are_taken(name: str) -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0])
        gl.train.GradientDescentOptimizer(0.5, name=name).apply_gradients([([1.0], v)]).run()
        assert v.numpy().tolist() == [0.5]


@pytest.mark.parametrize("name", MALFORMED)
def test_outside_a_graph_no_operation_is_named_as_in_tensorflow(name: str) -> None:
    v = gl.Variable([1.0])
    gl.train.GradientDescentOptimizer(0.5, name=name).apply_gradients([([1.0], v)])
    assert v.numpy().tolist() == [0.5]
