"""The race: every number is a rule's, a rate of its own is one that stays and gets low, and targets
are earned.
"""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._optimizers.lab import (
    _NO_DESCENT,
    NOBODY,
    NOISE_SEEDS,
    PLACES,
    RATES,
    STEPS,
    OptimizersTrace,
    _lowest_under_noise,
    _own,
    _racer,
)
from gradlab.labs._optimizers.picture import Racer
from gradlab.models.surfaces import REACH, SURFACES, unturned, walk


def raced(**params: object) -> OptimizersTrace:
    lab = gl.labs.optimizers(**params)
    return lab.compute(lab.params)


@pytest.mark.parametrize("name", [name for name in gl.rules.catalog() if name not in _NO_DESCENT])
def test_every_rule_that_descends_can_race_and_gets_lower_somewhere(name: str) -> None:
    trace = raced(first=name, second=name, surface="bowl")
    first = trace.racers[0]
    assert first is not None
    alone, _ = walk(
        SURFACES["bowl"], gl.rules.catalog()[name](), trace.start, np.full(STEPS, first.rate)
    )
    np.testing.assert_array_equal(first.path, alone)
    assert first.loss[-1] < 0.05 * first.loss[0] == 0.05
    assert (np.abs(first.path) < 2 * REACH).all()


def test_rules_that_do_not_descend_are_not_offered() -> None:
    menus = {c.name: c.values() for c in gl.labs.optimizers().controls if c.name in PLACES}
    assert not set(_NO_DESCENT) & set(menus["first"])
    assert set(_NO_DESCENT) <= set(gl.rules.catalog())
    assert [NOBODY in menu for menu in menus.values()] == [False, False, True, True]


def test_the_factor_multiplies_each_ones_own_rate() -> None:
    rates = {
        factor: [r.rate for r in raced(factor=factor).racers if r] for factor in (0.1, 1.0, 10.0)
    }
    np.testing.assert_allclose(np.multiply(rates[0.1], 10), rates[1.0])
    np.testing.assert_allclose(np.divide(rates[10.0], 10), rates[1.0])
    assert raced(factor=10.0).order[-1].title == "Gradient descent"
    assert not np.isfinite(raced(factor=100.0).racers[0].loss[-1])  # type: ignore[union-attr]


def test_a_rate_beyond_all_is_capped_and_one_at_the_end_is_not() -> None:
    def racer(factor: float) -> Racer:
        return _racer("turned", "Adagrad", SURFACES["turned"].start, 0.0, factor, STEPS)

    own, end = racer(1.0).rate, RATES[-1]
    assert not racer(end / own).capped and racer(end / own).rate == end
    assert racer(2 * end / own).capped and racer(2 * end / own).rate == end


def test_ones_own_rate_is_soon_low_for_good_and_stays_in_the_picture() -> None:
    slow, swings, fast, leaves = (
        [1, 0.9, 0.8, 0.7],
        [1, 1e-9, 0.9, 0.9],
        [1, 0.1, 0.01, 0.01],
        [1, 50, 1e-9, 1e-9],
    )
    lost = [1, 3, np.inf, np.nan]
    losses, stays = (
        np.array([slow, swings, fast, leaves, lost], float).T,
        np.array([True, True, True, False, False]),
    )
    assert _own(losses, stays) == 2
    assert _own(losses[:, :2], stays[:2]) == 0
    assert _own(losses[:, 3:], stays[3:]) == 0  # neither stays


def test_losses_at_every_rate_are_those_of_their_own_races() -> None:
    trace = raced(step=40, surface="ravine")
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


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"surface": "ravine"}, "Here Adagrad ends lowest; Momentum, second, is over "),
        (
            {"surface": "ravine", "heavy": "first"},
            "Here Adagrad ends lowest; gradient descent, last, is over a ",
        ),
        (
            {"surface": "ravine", "fourth": NOBODY, "factor": 100.0},
            "At 100 times their own rates, Adagrad ends lowest; ",
        ),
        (
            {"surface": "saddle", "step": 100},
            "After 100 steps, gradient descent and Adagrad are lowest; ",
        ),
        (
            {"surface": "bowl", "third": NOBODY, "fourth": "Adam", "step": 20},
            "After 20 steps, gradient descent is lowest; ",
        ),
        ({"step": 0}, "All four rules start at (−1.7, −0.6)."),
        ({"step": 20}, "After 20 steps, turning the ravine takes Adagrad from first to "),
        ({"heavy": "fourth"}, "From this start, turning the ravine leaves Adam second of four."),
        (
            {"heavy": "first", "factor": 10.0},
            "At 10 times their own rates, Momentum ends lowest; gradient descent has ",
        ),
        (
            {"factor": 0.01},
            "At 0.01 times their own rates (at least 0.0001), turning the ravine ",
        ),  # that of one ends
        (
            {"first": "Momentum", "third": NOBODY, "fourth": NOBODY},
            "Here Momentum and Momentum end lowest.",
        ),
    ],
)
def test_the_sentence_says_what_is_seen(params: dict[str, object], said: str) -> None:
    start = dict(zip("xy", SURFACES[str(params.get("surface", "turned"))].start, strict=True))
    assert gl.labs.optimizers(**{**start, **params}).description.summary.startswith(said)


def test_the_sentence_counts_ranks_in_both_ravines() -> None:
    turned, straight = (
        raced(),
        raced(surface="ravine", **dict(zip("xy", unturned(-1.7, -0.6), strict=True))),
    )
    ranks = [
        [racer.title for racer in trace.order].index("Adagrad") for trace in (straight, turned)
    ]
    assert ranks == [0, 3]
    said = gl.labs.optimizers().description.summary
    assert said == "From this start, turning the ravine takes Adagrad from first to last of four."


def test_one_draw_of_the_noise_makes_no_winner() -> None:
    lab = gl.labs.optimizers(**gl.labs.optimizers().presets["Noise"])
    trace = lab.compute(lab.params)
    assert trace.draws is not None
    ends = trace.draws
    assert {len(losses) for losses in ends.values()} == {len(NOISE_SEEDS)} == {10}
    assert 0 not in NOISE_SEEDS, "rates are chosen on the draw that is shown"
    means = {name: np.log10(losses).mean() for name, losses in ends.items()}
    spread = max(np.log10(losses).std(ddof=1) for losses in ends.values())
    assert max(means.values()) - min(means.values()) < spread
    assert lab.description.summary == "In 10 draws of the noise these rules can't be told apart."


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ({"A": 1.0, "B": 1.0}, "in 10 draws of the noise these rules can't be told apart."),
        ({"A": 1.0, "B": 30.0}, "in 10 draws of the noise A ends lowest."),
        (
            {"A": 1.0, "B": 1.0, "Gradient descent": 30.0},
            (
                "in 10 draws of the noise A and B can't be told apart; gradient descent ends "
                "higher than "
            ),
        ),
        (
            {"A": 1.0, "B": np.inf},
            "in 10 draws of the noise fewer than two rules keep a finite loss.",
        ),
    ],
)
def test_noise_is_judged_by_what_its_draws_tell_apart(losses: dict[str, float], said: str) -> None:
    rng = np.random.default_rng(0)
    draws = {name: loss * np.exp(rng.normal(0, 0.3, 10)) for name, loss in losses.items()}
    assert _lowest_under_noise(draws).startswith(said)


def test_values_and_alternative_text_name_every_racer() -> None:
    lab = gl.labs.optimizers(fourth=NOBODY)
    table = dict(lab.description.table)
    assert table["first rule"].startswith("Gradient descent, learning rate ")
    assert "fourth rule" not in table
    assert float(table["third: distance to the nearest minimum"]) < 0.1
    alt = lab.description.alt
    assert all(
        f"{name} {loss}" in alt for name, loss in (("Momentum", "2.1e-08"), ("Adagrad", "2.3e-05"))
    )


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


VALLEY = {
    "surface": "rosenbrock",
    "first": "FrequencyAwareAdagrad",
    "x": -1.2,
    "y": 1.0,
    "step": 100,
}
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
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, object], missed: dict[str, object]
) -> None:
    lab = gl.labs.optimizers(target=target)
    assert lab.description.goal.endswith("not yet.")
    lab.set(**reached)
    assert lab.description.goal.endswith("reached."), lab.description.goal
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "Now gradient descent is 110 times as high as Adam, on another surface: not yet."),
        (
            {"surface": "bowl", "step": 80},
            "Now gradient descent is lower than Adam, on another surface, after 80 steps: not yet.",
        ),
        (
            {"factor": 100.0},
            (
                "Now gradient descent has no finite loss, on another surface, not at their own "
                "rates: not yet."
            ),
        ),
        ({"fourth": NOBODY}, "Now they do not both race: not yet."),
    ],
)
def test_the_goal_says_how_far_descent_is(params: dict[str, object], said: str) -> None:
    assert gl.labs.optimizers(target="descent_wins", **params).description.goal.endswith(said)


def test_the_turned_ravine_is_compared_with_the_same_race_in_the_straight_one() -> None:
    trace = raced()
    straight, turned = (
        raced(surface="ravine", x=unturned(-1.7, -0.6)[0], y=unturned(-1.7, -0.6)[1]),
        trace.racers[0],
    )
    for one, other in zip(trace.straight or (), straight.racers, strict=True):
        np.testing.assert_array_equal(one.loss, other.loss)  # type: ignore[union-attr]
    np.testing.assert_allclose(straight.racers[0].loss[:20], turned.loss[:20], rtol=1e-3)  # type: ignore[union-attr]
    assert straight.straight is None
    lab = gl.labs.optimizers(heavy="fourth", fourth=NOBODY)
    lab.draw(view := lab.make_view(), lab.compute(lab.params))
    assert not view._reference.get_visible()
