"""Names and values of gradients in every container, the same for all who ask."""

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest

import gradlab as gl
from gradlab._base.named_leaves import named_leaves


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    w: Any
    b: Any


V = gl.Variable([1.0], name="v")


@pytest.mark.parametrize(
    ("grads", "names"),
    [
        (np.ones(2), ["0"]),
        ([np.ones(1), None, np.ones(2)], ["0", "2"]),
        ({"b": np.ones(1), "a": None, 3: np.ones(1)}, ["3", "b"]),
        ([(np.ones(1), V), (None, V)], ["v:0"]),
        ([(np.ones(1), V), (np.ones(1), V)], ["v:0", "v:0_1"]),
        (
            {"layer": {"w": np.ones(1), "b": [np.ones(2), np.ones(2)]}},
            ["layer/b/0", "layer/b/1", "layer/w"],
        ),
        ({"l": Layer(np.ones(1), {"x": np.ones(1)})}, ["l/b/x", "l/w"]),
        ({"a": {"e": gl.IndexedSlices(np.ones((2, 3)), np.array([0, 0]), (4, 3))}}, ["a/e"]),
        ([], []),
    ],
)
def test_names(grads: Any, names: list[str]) -> None:
    assert sorted(name for name, _ in named_leaves(grads)) == sorted(names)


def test_two_variables_of_one_name_are_both_counted() -> None:
    pairs = [(np.float32([3, 4]), gl.Variable([0.0, 0.0], name="w")) for _ in range(2)]
    rec = gl.Recorder(1)
    rec.record(pairs)
    assert rec.global_norm[0] == gl.global_norm([g for g, _ in pairs])
    assert len(gl.clip_report(pairs, pairs).tensors) == 2


def test_traced_leaves_stay_traced() -> None:
    assert jax.jit(lambda g: dict(named_leaves(g))["a/b"] * 2)(
        {"a": {"b": np.ones(2)}}
    ).tolist() == [2.0, 2.0]


def test_a_string_is_no_gradient() -> None:
    with pytest.raises(TypeError, match="the gradient of a must be numbers, got 'x'"):
        named_leaves({"a": "x"})
