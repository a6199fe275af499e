"""The adapter of accumulators notices what is wrong, and understands what is told in words."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.conformance import runner
from tests.conformance.scenarios import OWN_GOLDEN, Scenario, Unsupported, load_file

OWN = load_file(OWN_GOLDEN / "accumulators.json")


def changed(scenario: Scenario) -> Scenario:
    """With one outcome that TensorFlow did not give."""
    data = copy.deepcopy(scenario.data)
    (outcomes,) = data["expected"].values()
    last = next(o for o in reversed(outcomes) if o)
    if "error" in last:
        last["error"] = "KeyError"
    elif "completed" in last:
        last["completed"][0]["taker"] = "somebody else"
    elif "out" in last:
        last["out"] = (
            {"indices": [7], "values": [[7]], "shape": [7]}
            if isinstance(last["out"], dict)
            else 7.5
        )
    else:
        last["num_accumulated"] += 1
    return Scenario(scenario.file, scenario.group, scenario.id, data)


@pytest.mark.parametrize("scenario", OWN[::5], ids=lambda s: s.id)
def test_one_wrong_outcome_fails(scenario: Scenario) -> None:
    assert runner.differences(changed(scenario))


def told(*observations: dict[str, Any], title: str = "") -> list[str]:
    """Deviations of the last of some observations."""
    *earlier, last = observations
    data = {**last, "title": title, "earlier": earlier}
    return runner.differences(Scenario("f.json", "accumulator.observations", "X", data))


NAMED = 'a=CA(f32,[1],shared_name="s"); b=CA(f32,[2],SUM,shared_name="s")'
ROUND = {"do": "a=CA(f32,[1],SUM,shared_name='x'); a.apply_grad([1.]); t=a.take_grad(1).numpy()"}
SLICES = "a = ConditionalAccumulator(tf.float32, shape=[3, 1], shared_name=..), "
UNDERSTOOD: dict[str, list[dict[str, Any]]] = {
    "sharing": [{"do": NAMED}, {"do": "a.apply_grad([3.0])", "num_accumulated": {"a": 1, "b": 1}}],
    "mean of the first": [
        {"do": NAMED},
        {"do": "a.apply_grad([3]); a.apply_grad([5]), then a.take_grad(2)", "out": [4.0]},
    ],
    "its shape": [
        {"do": NAMED},
        {"do": "b.apply_grad([1., 2.])", "error": {"class": "InvalidArgumentError"}},
    ],
    "static shape": [{"do": NAMED}, {"do": "b.apply_grad([1.])", "error": {"class": "ValueError"}}],
    "a tuple": [
        {"do": NAMED},
        {"do": "a.apply_grad([3.])"},
        {"do": "a.num_accumulated(), b.num_accumulated()", "out": [1, 1]},
    ],
    "taken stays": [ROUND, {"do": "a.apply_grad([5.], 1)"}, {"do": "t", "out": [1.0]}],
    "constants": [
        {
            "do": "apply_grad(tf.constant([1])) on a float32 accumulator",
            "error": {"class": "ValueError"},
        }
    ],
    "float64": [
        {"do": "apply_grad(tf.constant([1.], tf.float64)) on a float64 accumulator", "out": None}
    ],
    "float16": [
        {"do": "apply_grad(np.ones([1], np.float64)) on a float16 accumulator", "out": None}
    ],
    "dense slices": [
        {
            "do": SLICES
            + "a.apply_grad(tf.IndexedSlices([[2.0]], [1], dense_shape=[3, 1])) and a.take_grad(1)"
        }
        | {"out": [[0.0], [2.0], [0.0]]}
    ],
    "no dense shape": [
        {
            "do": SLICES + "a.apply_grad(tf.IndexedSlices([[2.0]], [1]))",
            "error": {"class": "ValueError"},
        }
    ],
    "stale and wrong": [
        {
            "do": "stale, wrong shape: apply_grad([1., 2.], local_step=-1)",
            "error": {"class": "ValueError"},
        }
    ],
    "no attribute": [
        {"do": "apply_indexed_slices_grad(tf.constant([1.]))", "error": {"class": "AttributeError"}}
    ],
    "tape": [{"do": "GradientTape through apply_grad and take_grad", "out": None}],
    "graph": [
        {
            "do": "graph SparseConditionalAccumulator(tf.float32, []).name",
            "out": "sparse_conditional_accumulator",
        }
    ],
    "raw op": [
        {"do": "graph h = tf.raw_ops.ConditionalAccumulator(...)"},
        {"do": "tf.raw_ops.AccumulatorNumAccumulated(handle=h)", "out": 0},
    ],
    "class path": [
        {
            "do": "tf.compat.v1.ConditionalAccumulator(tf.float32, [1], shared_name=...)",
            "out": "constructed",
        }
    ],
}


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_words_are_understood(name: str) -> None:
    *earlier, last = UNDERSTOOD[name]
    assert told(*earlier, last) == []
    wrong = (
        {"error": {"class": "KeyError"}} if "error" in last else {"error": {"class": "ValueError"}}
    )
    assert told(*earlier, {**last, **wrong})


@pytest.mark.parametrize(
    "text", ["the accumulator of the king", "import os", "a.__class__", "3", "lambda: 3"]
)
def test_other_words_are_not(text: str) -> None:
    with pytest.raises(Unsupported):
        told({"do": text, "out": None})


ABORTS = [
    "eager raw op, num_required vector of one element",
    "eager raw op, num_required vector of two elements",
    "eager raw op, num_required of shape [2, 2]",
    "eager raw op, empty num_required",
    "eager raw op, set_global_step with a two-element vector",
    "graph apply_grad with a fed three-element local_step (public Python API)",
    (
        "graph SparseConditionalAccumulator.apply_grad with float64 values on a float32 "
        "accumulator (public Python API)"
    ),
    "sparse accumulator, fed local_step vector of two elements",
    "one shared_name with float32 and float64: apply through the second",
    "two accumulators of the same name with two dtypes",
    "sparse take with dtype float16 from a float32 accumulator",
    "eager raw op, float16 gradient into a float64 accumulator",
]


@pytest.mark.parametrize("title", ABORTS)
def test_what_kills_tensorflow_raises(title: str) -> None:
    assert (
        runner.differences(Scenario("f.json", "accumulator.process_aborts", "C", {"title": title}))
        == []
    )


def test_an_unknown_abort_is_unsupported() -> None:
    with pytest.raises(Unsupported):
        runner.differences(
            Scenario("f.json", "accumulator.process_aborts", "C", {"title": "a power cut"})
        )


@pytest.mark.parametrize(
    "changes",
    [
        {"accumulator": {"kind": "round"}},
        {"accumulator": {"luck": 1}},
        {"calls": [{"op": "juggle"}]},
        {"calls": [{"op": "take_grad", "num_required": 1, "luck": 1}]},
    ],
)
def test_what_the_adapter_does_not_know_is_unsupported(changes: dict[str, Any]) -> None:
    data = {
        "accumulator": {},
        "calls": [{"op": "set_global_step", "new_global_step": 1}],
        **changes,
    }
    with pytest.raises(Unsupported):
        runner.differences(Scenario("f.json", "accumulator", "D", data))
