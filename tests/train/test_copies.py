"""Copies by `copy.deepcopy` and by pickle: they go on with the same bits, and leave the original
alone.
"""

import copy
import pickle
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.train.variable import enter_collection
from tests.train.runs import TRAIN, Run

pytestmark = pytest.mark.filterwarnings("ignore::gradlab.errors.KerasWarning")
COPIED = [n for n in TRAIN if n != "sync replicas"]
PICKLED = [n for n in COPIED if "scheduled" not in n or "keras" in n]  # a lambda has no name
MODULES = {"numpy": np, "jax": jnp}


def _copied(run: Run, how: Any, order: str = "ows") -> Run:
    """The run with copies of its things; copies made in one go, in different orders."""
    other, things = copy.copy(run), {"o": run.opt, "w": run.weights, "s": (run.step, run.rate)}
    other.collection = type(run.collection)()
    with enter_collection(other.collection):
        new = how({key: things[key] for key in order})
    other.opt, other.weights, (other.step, other.rate) = new["o"], new["w"], new["s"]
    other.collection.global_step = other.step
    return other


def _bits(run: Run) -> list[Any]:
    return [x[1:] for x in run.bits()]


@pytest.mark.parametrize("order", ["ows", "wso"])
@pytest.mark.parametrize(
    "name", [n for n in COPIED if n not in ("sgd, scheduled", "adam, scheduled")]
)
def test_a_deep_copy_with_its_variables_goes_on_by_itself(name: str, order: str) -> None:
    run, whole = Run(name), Run(name)
    whole.train(0, 6)
    run.train(0, 3)
    other = _copied(run, copy.deepcopy, order)
    before = run.bits()
    other.train(3, 6)
    assert run.bits() == before
    assert _bits(other) == _bits(whole)
    run.train(3, 6)
    assert _bits(run) == _bits(whole)


@pytest.mark.parametrize("name", COPIED)
def test_a_deep_copy_alone_is_for_the_same_variables(name: str) -> None:
    run, whole = Run(name), Run(name)
    whole.train(0, 5)
    run.train(0, 3)
    kept, run.opt = run.opt, copy.deepcopy(run.opt)
    slots = [v.numpy().tobytes() for v in kept.variables()]
    run.train(3, 5)
    assert _bits(run) == _bits(whole)
    assert [v.numpy().tobytes() for v in kept.variables()] == slots


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("name", PICKLED)
def test_a_pickle_with_its_variables_goes_on(name: str, module: str) -> None:
    run, whole = Run(name, MODULES[module]), Run(name, MODULES[module])
    whole.train(0, 6)
    run.train(0, 3)
    other = _copied(run, lambda things: pickle.loads(pickle.dumps(things)))
    other.train(3, 6)
    assert _bits(other) == _bits(whole)


@pytest.mark.parametrize("name", ["adam", "keras adagrad, legacy", "keras sgd, momentum, keras3"])
def test_a_pickle_without_its_variables_says_so_and_changes_nothing(name: str) -> None:
    run = Run(name)
    run.train(0, 1)
    run.opt = pickle.loads(pickle.dumps(run.opt))
    before = [v.numpy().tolist() for v in run.weights]
    for _ in range(2):
        with pytest.raises(ValueError, match=r"pickled without|was not among the variables"):
            run.train(1, 2)
    assert [v.numpy().tolist() for v in run.weights] == before


@pytest.mark.parametrize("how", [copy.deepcopy, copy.copy, lambda v: pickle.loads(pickle.dumps(v))])
@pytest.mark.parametrize("module", MODULES)
def test_a_copied_variable_is_one_of_its_own(how: Any, module: str) -> None:
    with gl.variable_collection():
        v = gl.Variable(MODULES[module].ones(3), name="v", trainable=True, constraint=abs)
        w = how(v)
        w.assign_add(np.ones(3, np.float32))
        assert (w.name, w.trainable, w.constraint, type(w.value)) == (
            v.name,
            True,
            abs,
            type(v.value),
        )
        assert (v.numpy().tolist(), w.numpy().tolist()) == ([1] * 3, [2] * 3)
        assert gl.trainable_variables() == [v, w]
        assert module == "jax" or not w.value.flags.writeable


def test_in_a_graph_names_stay_unique() -> None:
    with gl.Graph().as_default():
        v = gl.Variable([1.0], name="v")
        assert copy.deepcopy(v).name == "v_1:0"


@pytest.mark.parametrize("how", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_plain_things_are_copied_whole(how: Any) -> None:
    slices = how(gl.IndexedSlices(np.ones((2, 1)), [0, 1], (3, 1)))
    assert (slices.values.tolist(), slices.indices.tolist(), slices.dense_shape) == (
        [[1], [1]],
        [0, 1],
        (3, 1),
    )
    for name, rule in gl.rules.catalog().items():
        assert how(rule()) == rule(), name
    schedule = gl.schedules.CosineDecay(0.1, 10)
    assert how(schedule).get_config() == schedule.get_config()
    rec = gl.Recorder(4)
    for k in range(9):
        rec.record([np.full(3, k)], loss=k)
    other = how(rec)
    other.record([np.ones(3)], loss=1.0)
    assert (rec.seen, other.seen) == (9, 10)
    np.testing.assert_array_equal(other.global_norm[:4], rec.global_norm[:4])


def test_what_others_wait_at_is_refused_with_what_to_do() -> None:
    sync = gl.train.SyncReplicasOptimizer(gl.train.AdamOptimizer(), 2)
    for x, words in (
        (gl.ConditionalAccumulator("float32"), "set_global_step"),
        (gl.SparseConditionalAccumulator("float32"), "set_global_step"),
        (sync, "state_dict"),
    ):
        for how in (copy.deepcopy, copy.copy, pickle.dumps):
            with pytest.raises(TypeError, match=words):
                how(x)
