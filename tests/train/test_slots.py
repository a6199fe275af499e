"""What variables share: each graph has its own, and keeps it through states and copies."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.golden.tensorflow_values import tensorflow

F32 = np.float32
NAMES = ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]


class Two:
    """One Adam in two graphs, a variable in each; and how many steps each takes."""

    def __init__(self, *steps: int) -> None:
        self.opt, self.graphs, self.weights = (
            gl.train.AdamOptimizer(0.1),
            [gl.Graph(), gl.Graph()],
            [],
        )
        for k, graph in enumerate(self.graphs):
            with graph.as_default():
                self.weights.append(gl.Variable([1.0 + k], name="v"))
        self.train(*steps)

    def train(self, *steps: int) -> None:
        for graph, v, count in zip(self.graphs, self.weights, steps, strict=False):
            with graph.as_default():
                for _ in range(count):
                    self.opt.apply_gradients([([1.0], v)]).run()

    @property
    def bits(self) -> list[Any]:
        found = []
        for graph, v in zip(self.graphs, self.weights, strict=True):
            with graph.as_default():
                found.append(
                    [v.numpy().tobytes(), *(x.numpy().tobytes() for x in self.opt.variables())]
                )
        return found


def test_each_graph_has_powers_of_its_own() -> None:
    two = Two(2, 2)
    assert [float(v[0]) for v in two.weights] == [F32(0.80000037), F32(1.8000004)]
    for graph, v in zip(two.graphs, two.weights, strict=True):
        with graph.as_default():
            assert [x.name for x in two.opt.variables()] == NAMES
            assert two.opt.get_slot(v, "m") is two.opt.variables()[2]
    assert two.opt.variables() == []


def test_a_call_may_step_variables_of_several_graphs() -> None:
    two, apart = Two(3, 1), Two(4, 2)
    two.opt.apply_gradients([([1.0], v) for v in two.weights])
    assert two.bits == apart.bits


def test_all_that_is_outside_of_graphs_is_one() -> None:
    opt, weights = gl.train.AdamOptimizer(0.1), []
    for _ in range(2):
        with gl.variable_collection():
            weights.append(gl.Variable([1.0], name="v"))
            opt.apply_gradients([([1.0], weights[-1])])
    assert len(opt.variables()) == 6 and len({x.name for x in opt.variables()}) == 4


@pytest.mark.tensorflow
def test_two_graphs_in_tensorflow() -> None:
    tf, two = tensorflow(), Two(2, 3)
    v1 = tf.compat.v1
    opt = v1.train.AdamOptimizer(0.1)
    for graph, mine, start, steps in zip(two.graphs, two.weights, (1.0, 2.0), (2, 3), strict=True):
        with tf.Graph().as_default(), graph.as_default():
            v = v1.get_variable("v", initializer=F32([start]), use_resource=True)
            op = opt.apply_gradients([(tf.constant([1.0]), v)])
            assert [x.name for x in opt.variables()] == [x.name for x in two.opt.variables()]
            with v1.Session() as session:
                session.run(v1.global_variables_initializer())
                for _ in range(steps):
                    session.run(op)
                np.testing.assert_array_equal(session.run(v), mine.numpy())
                for theirs, x in zip(
                    session.run(opt.variables()), two.opt.variables(), strict=True
                ):
                    np.testing.assert_array_equal(theirs, x.numpy())
    assert opt.variables() == [] == two.opt.variables()


def test_a_file_keeps_what_each_graph_shares(tmp_path: Path) -> None:
    whole, run, other = Two(3, 5), Two(2, 4), Two()
    gl.save(tmp_path / "run", weights=run.weights, opt=run.opt)
    gl.load(tmp_path / "run", weights=other.weights, opt=other.opt)
    assert [x[:1] for x in other.bits] == [x[:1] for x in run.bits]
    other.train(1, 1)
    assert [sorted(x) for x in other.bits] == [sorted(x) for x in whole.bits]


def test_the_state_of_two_graphs_does_not_fit_one() -> None:
    run, v, w = Two(2, 4), gl.Variable([1.0]), gl.Variable([2.0])
    state = run.opt.state_dict(dict(zip("ab", run.weights, strict=True)))
    assert [group["variables"] for group in state["graphs"]] == [["a"], ["b"]]
    opt = gl.train.AdamOptimizer(0.1)
    with pytest.raises(
        ValueError, match="of several graphs, the variables given are of one; nothing was loaded"
    ):
        opt.load_state_dict(state, {"a": v, "b": w})
    assert opt.variables() == []


def test_a_state_of_one_graph_fits_variables_of_any() -> None:
    run, v = Two(2), gl.Variable([1.0])
    v.assign(run.weights[0].value)
    opt = gl.train.AdamOptimizer(0.1)
    opt.load_state_dict(run.opt.state_dict({"v": run.weights[0]}), {"v": v})
    opt.apply_gradients([([1.0], v)])
    run.train(1)
    assert v.numpy().tobytes() == run.weights[0].numpy().tobytes()


@pytest.mark.parametrize("order", ["ow", "wo"])
@pytest.mark.parametrize("how", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_is_of_the_graph_in_which_it_is_made(how: Any, order: str) -> None:
    run = Two(2)
    things = {"o": run.opt, "w": run.weights[0]}
    new = how({key: things[key] for key in order})
    new["o"].apply_gradients([([1.0], new["w"])])
    assert len(new["o"].variables()) == 4
    assert float(run.weights[0][0]) == F32(0.80000037)
    run.train(1)
    assert new["w"].numpy().tobytes() == run.weights[0].numpy().tobytes()


def test_a_copy_of_one_of_two_graphs_leaves_the_other() -> None:
    run, whole = Two(2, 3), Two(3, 4)
    opt, v = copy.deepcopy((run.opt, run.weights[0]))
    opt.apply_gradients([([1.0], v)])
    with run.graphs[1].as_default():
        opt.apply_gradients([([1.0], run.weights[1])]).run()
    assert [v.numpy().tobytes(), run.weights[1].numpy().tobytes()] == [
        bits[0] for bits in whole.bits
    ]


@pytest.mark.parametrize("how", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_two_graphs_cannot_become_one(how: Any) -> None:
    run = Two(2, 3)
    with pytest.raises(ValueError, match="of several graphs cannot become those of one"):
        how((run.opt, run.weights))


def test_powers_stay_when_all_variables_are_gone() -> None:
    opt, v = gl.train.AdamOptimizer(0.1), gl.Variable([1.0], name="v")
    opt.apply_gradients([([1.0], v)])
    del v
    for other in (copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))):
        assert [x.numpy() for x in other.variables()] == [
            F32(0.9) * F32(0.9),
            F32(0.999) * F32(0.999),
        ]


class RowWise(gl.train.RuleOptimizer):
    def __init__(self) -> None:
        super().__init__(gl.rules.RowWiseAdagrad(0.1), 0.1, False, "RowWise")


def test_a_slot_kept_by_row_is_stepped_in_place_and_loaded() -> None:
    rng, rows = np.random.default_rng(0), np.arange(5)
    w, g = (rng.normal(size=(3000, 20)).astype(np.float32) for _ in range(2))
    v, optimizer, rule, rate = (
        gl.Variable(w, name="v"),
        RowWise(),
        gl.rules.RowWiseAdagrad(0.1),
        np.float32(0.1),
    )
    slices, slots = gl.IndexedSlices(g[:5], rows, w.shape), rule.init(w)
    for _ in range(2):
        optimizer.apply_gradients([(g, v)])
        optimizer.apply_gradients([(slices, v)])
        w, slots = gl.rules.rows(rule, *rule(w, slots, g, rate), slices, rate)
    np.testing.assert_array_equal(v.numpy(), w)
    again = RowWise()
    again.load_state_dict(optimizer.state_dict([v]), [v])
    np.testing.assert_array_equal(again.get_slot(v, "row_accumulator").numpy(), slots[0])
