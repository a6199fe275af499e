"""How long workers take: what is drawn, and what is refused."""

import re
from typing import Any

import numpy as np
import pytest

from gradlab.workers import Bowl, Crash, Experiment, Speeds
from gradlab.workers.speeds import LONGEST


def test_without_spread_all_take_the_median_and_a_straggler_its_factor() -> None:
    ticks = Speeds(median=10, spread=0.0, slow={1: 2.5}).ticks(seed=0, workers=3, count=2)
    assert ticks.tolist() == [[10, 10], [25, 25], [10, 10]] and ticks.dtype == np.int64


def test_the_formula_of_the_docstring() -> None:
    z = np.random.default_rng([7, 2]).standard_normal(50)
    expected = np.maximum(1, np.round(20 * 3 * np.exp(0.5 * z)))
    np.testing.assert_array_equal(
        Speeds(20, 0.5, {2: 3}).ticks(seed=7, workers=3, count=50)[2], expected
    )


@pytest.mark.parametrize("stall", [0.0, 0.3])
def test_draws_of_a_worker_do_not_depend_on_others_or_on_their_number(stall: float) -> None:
    speeds = Speeds(stall=stall)
    many = speeds.ticks(seed=1, workers=5, count=100)
    np.testing.assert_array_equal(speeds.ticks(seed=1, workers=2, count=30), many[:2, :30])
    assert (speeds.ticks(seed=2, workers=5, count=100) != many).any(axis=1).all()


def test_stalls_come_as_often_as_asked_and_take_the_factor() -> None:
    even = Speeds(median=10, spread=0.0, stall=0.25, stall_factor=7).ticks(
        seed=0, workers=4, count=2000
    )
    assert set(np.unique(even)) == {10, 70}
    assert (even == 70).mean() == pytest.approx(0.25, abs=0.02)


def test_no_gradient_takes_less_than_a_tick_or_more_than_fits() -> None:
    wild = Speeds(median=1, spread=1000.0).ticks(seed=0, workers=2, count=100)
    assert wild.min() == 1 and wild.max() == LONGEST


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"median": 0}, ValueError, "median must be a whole number of at least 1, got 0"),
        ({"median": 1.5}, ValueError, "median must be a whole number of at least 1, got 1.5"),
        ({"median": True}, ValueError, "median must be a whole number of at least 1, got True"),
        ({"gap": -1}, ValueError, "gap must be a whole number of at least 0, got -1"),
        ({"spread": -0.1}, ValueError, "spread must be finite and at least 0, got -0.1"),
        ({"spread": float("nan")}, ValueError, "spread must be finite and at least 0, got nan"),
        ({"spread": "wide"}, TypeError, "spread must be a number, got 'wide'"),
        ({"stall": 1.5}, ValueError, "stall is a chance from 0 to 1, got 1.5"),
        (
            {"stall_factor": float("inf")},
            ValueError,
            "stall_factor must be finite and at least 0, got inf",
        ),
        ({"slow": {0: -1}}, ValueError, "slow[0] must be finite and at least 0, got -1"),
        (
            {"slow": [1.0, 2.0]},
            TypeError,
            "slow maps workers to factors, as {3: 2.5}; got [1.0, 2.0]",
        ),
        ({"crashes": ((0, 1),)}, TypeError, "crashes are Crash(worker, number, after), got (0, 1)"),
        (
            {"crashes": (Crash(0, 1), Crash(2, 4), Crash(2, 4, 5))},
            ValueError,
            "worker 2 crashes twice at its gradient 4; it can once",
        ),
        (
            {"slow": {-1: 2}},
            ValueError,
            "a worker in slow must be a whole number of at least 0, got -1",
        ),
    ],
)
def test_invalid_arguments_are_refused(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        Speeds(**given)


def test_a_list_of_crashes_will_do() -> None:
    assert Speeds(crashes=[Crash(0, 1)]) == Speeds(crashes=(Crash(0, 1),))  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [(-1, 0), (0, -1), (0, 0, -5), (0, 0.5), ("a", 0)])
def test_crashes_are_of_whole_numbers(given: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="of a crash must be a whole number of at least 0, got"):
        Crash(*given)


def test_measured_durations_come_alike_often_over_their_median() -> None:
    measured = (0.01, 0.01, 0.01, 0.02, 0.3)  # the median is one hundredth of a second
    ticks = Speeds(median=10, spread=9.0, slow={1: 2.0}, measured=measured).ticks(
        seed=0, workers=2, count=5000
    )
    assert set(np.unique(ticks[0])) == {10, 20, 300}
    assert set(np.unique(ticks[1])) == {20, 40, 600}
    shares = [(ticks[0] == length).mean() for length in (10, 20, 300)]
    assert shares == pytest.approx([0.6, 0.2, 0.2], abs=0.02)


def test_measured_durations_are_kept_by_an_experiment_that_is_written_down() -> None:
    experiment = Experiment(Bowl(), speeds=Speeds(measured=np.float32([0.5, 1.0, 4.0])))
    again = Experiment.from_json(experiment.to_json())
    assert again.speeds == experiment.speeds and hash(again.speeds) == hash(experiment.speeds)
    np.testing.assert_array_equal(again.ticks(), experiment.ticks())


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf")])
def test_a_measured_duration_is_positive_and_finite(wrong: float) -> None:
    with pytest.raises(
        ValueError, match="measured must hold positive, finite durations; omit unknown ones"
    ):
        Speeds(measured=(1.0, wrong))
