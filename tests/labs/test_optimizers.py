"""The race: every number is a rule's, a rate of its own is one that stays and gets low, and targets are earned."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._optimizers import _NO_DESCENT, NOBODY, PLACES, RATES, STEPS, Race, _own
from gradlab.models.surfaces import REACH, SURFACES, unturned, walk


def raced(**params: object) -> Race:
    lab = gl.labs.optimizers(**params)
    return lab.compute(lab.params)


@pytest.mark.parametrize("name", [name for name in gl.rules.catalogue() if name not in _NO_DESCENT])
def test_every_rule_that_descends_can_race_and_gets_lower_somewhere(name: str) -> None:
    trace = raced(first=name, second=name, surface="bowl")
    first = trace.racers[0]
    assert first is not None
    alone, _ = walk(SURFACES["bowl"], gl.rules.catalogue()[name](), trace.start, np.full(STEPS, first.rate))
    np.testing.assert_array_equal(first.path, alone)
    assert first.loss[-1] < 0.05 * first.loss[0] == 0.05
    assert (np.abs(first.path) < 2 * REACH).all()


def test_rules_that_do_not_descend_are_not_offered() -> None:
    menus = {c.name: c.values() for c in gl.labs.optimizers().controls if c.name in PLACES}
    assert not set(_NO_DESCENT) & set(menus["first"])
    assert set(_NO_DESCENT) <= set(gl.rules.catalogue())
    assert [NOBODY in menu for menu in menus.values()] == [False, False, True, True]


def test_the_factor_multiplies_each_ones_own_rate() -> None:
    rates = {factor: [r.rate for r in raced(factor=factor).racers if r] for factor in (0.1, 1.0, 10.0)}
    np.testing.assert_allclose(np.multiply(rates[0.1], 10), rates[1.0])
    np.testing.assert_allclose(np.divide(rates[10.0], 10), rates[1.0])
    assert raced(factor=10.0).order[-1].title == "Gradient descent"
    assert not np.isfinite(raced(factor=100.0).racers[0].loss[-1])  # type: ignore[union-attr]


def test_ones_own_rate_is_soon_low_for_good_and_stays_in_the_picture() -> None:
    slow, swings, fast, leaves = [1, 0.9, 0.8, 0.7], [1, 1e-9, 0.9, 0.9], [1, 0.1, 0.01, 0.01], [1, 50, 1e-9, 1e-9]
    lost = [1, 3, np.inf, np.nan]
    losses, stays = np.array([slow, swings, fast, leaves, lost], float).T, np.array([True, True, True, False, False])
    assert _own(losses, stays) == 2
    assert _own(losses[:, :2], stays[:2]) == 0
    assert _own(losses[:, 3:], stays[3:]) == 0  # neither stays


def test_losses_at_every_rate_are_those_of_their_own_races() -> None:
    trace = raced(step=40)
    racer = trace.racers[3]
    assert racer is not None and racer.title == "Adam"
    surface, k = SURFACES["ravine"], 20
    path, _ = walk(surface, gl.rules.Adam(), trace.start, np.full(40, RATES[k]))
    share = surface.above(path[-1]) / surface.above(path[0])
    assert racer.by_rate[k] == pytest.approx(share)
    assert racer.loss[-1] == racer.by_rate[RATES.index(racer.rate)]


def test_a_step_is_a_part_of_the_whole_race() -> None:
    whole, part = raced(), raced(step=50)
    for one, other in zip(whole.racers, part.racers, strict=True):
        np.testing.assert_array_equal(one.path[:51], other.path)  # type: ignore[union-attr]
        np.testing.assert_array_equal(one.loss[:51], other.loss)  # type: ignore[union-attr]


def test_words_name_the_racers_lowest_first() -> None:
    lab = gl.labs.optimizers(fourth=NOBODY, factor=100.0)
    summary = lab.description.summary
    assert summary.startswith("After 160 steps Adagrad is 1st of 3, with a loss below 1e-12 of that at the start; ")
    assert summary.endswith("Momentum without a number.")
    table = dict(lab.description.table)
    assert table["first rule"].startswith("Gradient descent, learning rate ")
    assert "fourth rule" not in table
    assert float(table["third: distance to the nearest minimum"]) < 1e-3
    assert gl.labs.optimizers(step=1).description.summary.startswith("After 1 step Adagrad is ")


def test_columns_hold_every_racer() -> None:
    lab = gl.labs.optimizers(third=NOBODY, step=30)
    columns = lab.columns(lab.compute(lab.params))
    assert len(columns) == 1 + 3 * 3
    assert {len(column) for column in columns.values()} == {31}
    assert columns["fourth_first_weight"][0] == np.float32(lab.params["x"])


def test_the_start_is_dragged_in_the_picture() -> None:
    lab = gl.labs.optimizers()
    (drag,) = lab.drags(lab.make_view())
    assert (drag.x, drag.y) == ("x", "y")
    moved = raced(x=1.0, y=-1.5)
    assert all((r.path[0] == np.float32([1.0, -1.5])).all() for r in moved.racers if r)


def test_a_start_at_the_minimum_is_no_accident() -> None:
    assert np.isfinite(raced(surface="rosenbrock", x=1.0, y=1.0).order[0].loss).all()


def test_presets_show_what_their_names_say() -> None:
    lab = gl.labs.optimizers()
    ends = {}
    for label, values in lab.presets.items():
        assert set(values) == set(lab.params)
        trace = lab.compute({**lab.params, **values})
        ends[label] = {r.title: r.loss[-1] for r in trace.order}
    assert ends["Ravine"]["Adagrad"] < 1e-3 * ends["Ravine"]["Gradient descent"]
    assert ends["The same, turned"]["Adagrad"] > ends["The same, turned"]["Gradient descent"]
    assert max(ends["Saddle"].values()) < 1e-6
    assert ends["Plateau"]["Lion"] > 1e-4 > ends["Plateau"]["Adam"]
    assert min(ends["Noise"].values()) > 1e-3


VALLEY = {"surface": "rosenbrock", "first": "FrequencyAwareAdagrad", "x": -1.2, "y": 1.0, "step": 100}
BENT = {"surface": "beale", "x": -0.38, "y": -1.21}


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("descent_wins", BENT, {"noise": 0.5}),
        ("descent_wins", BENT, {"first": "Momentum"}),
        ("descent_wins", BENT, {"surface": "bowl"}),
        ("descent_wins", BENT, {"factor": 0.1}),
        ("descent_wins", BENT, {"step": 20}),
        ("valley", VALLEY, {"x": 0.5}),
        ("valley", VALLEY, {"step": 98}),
        ("valley", VALLEY, {"first": "Adagrad"}),
    ],
)
def test_targets_can_be_reached_and_missed(target: str, reached: dict[str, object], missed: dict[str, object]) -> None:
    lab = gl.labs.optimizers(target=target)
    assert lab.description.goal.endswith("not yet.")
    lab.set(**reached)
    assert lab.description.goal.endswith("reached."), lab.description.goal
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")


def test_the_goal_says_whose_loss_is_which() -> None:
    goal = gl.labs.optimizers(target="descent_wins", surface="bowl", step=80).description.goal
    assert ". Now the loss of gradient descent is below 1e-12 of that at the start, that of Adam 3" in goal
    assert goal.endswith(", on another surface, after 80 steps: not yet.")
    lost = gl.labs.optimizers(target="descent_wins", factor=100.0).description.goal
    assert "Now the loss of gradient descent is without a number, that of Adam " in lost


def test_the_turned_ravine_is_compared_with_the_same_race_in_the_straight_one() -> None:
    trace = raced(surface="turned", x=-1.7, y=-0.6)
    straight, turned = raced(surface="ravine", x=unturned(-1.7, -0.6)[0], y=unturned(-1.7, -0.6)[1]), trace.racers[0]
    np.testing.assert_array_equal(trace.reference, straight.racers[2].loss)  # type: ignore[union-attr]
    np.testing.assert_allclose(straight.racers[0].loss[:20], turned.loss[:20], rtol=1e-3)  # type: ignore[union-attr]
    assert raced().reference is None
    assert raced(surface="turned", heavy="fourth", fourth=NOBODY).reference is None
