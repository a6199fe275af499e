"""What an experiment refuses, and that it can be written down and read again."""

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import gradlab as gl
from gradlab.workers import (
    CHECK,
    JOIN,
    LEAVE,
    READ,
    RECORD,
    UPDATE,
    Bowl,
    Crash,
    Digits,
    Experiment,
    FromLoss,
    Speeds,
)
from gradlab.workers.experiment import worker_pieces
from tests.workers.experiments import experiments


class Nothing:
    """A problem without a loss."""

    def start(self) -> dict[str, Any]:
        return {}

    def gradient(self, weights: Any, rng: Any) -> dict[str, Any]:
        return {}


THERE = "there are 0 to 3: slow or crash one of these, such as 0, or have more workers"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"policy": "hope"},
            ValueError,
            "policy must be one of apply, drop, wait, damp, compensate, backup; got 'hope'",
        ),
        ({"workers": 0}, ValueError, "workers must be a whole number of at least 1, got 0"),
        ({"workers": 2.0}, ValueError, "workers must be a whole number of at least 1, got 2.0"),
        ({"workers": True}, ValueError, "workers must be a whole number of at least 1, got True"),
        ({"gradients": -1}, ValueError, "gradients must be a whole number of at least 0, got -1"),
        ({"aggregate": 0}, ValueError, "aggregate must be a whole number of at least 1, got 0"),
        ({"seed": -1}, ValueError, "seed must be a whole number of at least 0, got -1"),
        ({"seed": None}, ValueError, "seed must be a whole number of at least 0, got None"),
        ({"staleness": 0.5}, ValueError, "staleness must be a whole number of at least 0, got 0.5"),
        (
            {"policy": "wait", "staleness": -1},
            ValueError,
            "staleness must be a whole number of at least 0, got -1",
        ),
        (
            {"policy": "drop", "staleness": -1},
            ValueError,
            "staleness must be a whole number of at least 0, got -1",
        ),
        (
            {"policy": "backup", "aggregate": 5},
            ValueError,
            "4 workers cannot hand in 5 gradients of one step",
        ),
        ({"learning_rate": "fast"}, TypeError, "learning_rate must be a number, got 'fast'"),
        ({"learning_rate": float("nan")}, ValueError, "learning_rate must be finite, got nan"),
        ({"strength": float("inf")}, ValueError, "strength must be finite, got inf"),
        ({"mean_square_decay": 1.5}, ValueError, "mean_square_decay is from 0 to 1, got 1.5"),
        (
            {"mean_square_decay": -1},
            ValueError,
            "mean_square_decay must be finite and at least 0, got -1",
        ),
        ({"atomic": 1}, TypeError, "atomic must be True or False, got 1"),
        ({"step_first": None}, TypeError, "step_first must be True or False, got None"),
        ({"optimizer": "adam"}, TypeError, "optimizer must be a rule of gl.rules, got str"),
        ({"speeds": 3}, TypeError, "speeds must be Speeds(...), got int"),
        ({"speeds": Speeds(slow={4: 2})}, ValueError, f"speeds name workers [4]; {THERE}"),
        (
            {"speeds": Speeds(crashes=(Crash(9, 0),))},
            ValueError,
            f"speeds name workers [9]; {THERE}",
        ),
    ],
)
def test_invalid_arguments_are_refused(
    given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        Experiment(Bowl(), **given)


def test_a_problem_has_three_methods() -> None:
    with pytest.raises(
        TypeError, match=r"has methods start, gradient and loss; .*Nothing object.* lacks loss"
    ):
        Experiment(Nothing())  # type: ignore[arg-type]


def test_a_problem_is_not_a_class() -> None:
    with pytest.raises(TypeError, match=r"^problem is the class Bowl: give one of it, Bowl\(\)$"):
        Experiment(Bowl)  # type: ignore[arg-type]


@given(experiments())
def test_json_restores_an_experiment(e: Experiment) -> None:
    assert Experiment.from_json(e.to_json()) == e


def test_all_problems_and_rules_that_ship_can_be_written() -> None:
    e = Experiment(
        Digits(hidden=(8, 4), batch=3),
        gl.rules.Adam(beta1=0.8),
        mean_square_decay=0.5,
        policy="compensate",
    )
    assert Experiment.from_json(e.to_json()) == e
    assert json.loads(e.to_json())["problem"]["hidden"] == [8, 4]


def test_numbers_of_numpy_are_numbers() -> None:
    speeds = Speeds(
        np.int64(10),
        np.float32(0.5),
        {np.int64(1): np.float32(2)},
        crashes=(Crash(np.int8(0), np.int8(1)),),
    )
    e = Experiment(
        Bowl(condition=np.float32(3)),
        gl.rules.Momentum(np.float32(0.5)),
        np.float32(0.1),
        workers=np.int64(2),
        speeds=speeds,
        gradients=np.int32(9),
        seed=np.uint8(3),
        atomic=np.bool_(False),
    )
    assert Experiment.from_json(e.to_json()) == e


def test_an_experiment_can_be_a_key() -> None:
    one, same = (Experiment(Bowl(), speeds=Speeds(slow={1: 2.0})) for _ in range(2))
    assert {one: 1}[same] == 1 and one.with_(seed=1) not in {one}


def test_a_problem_of_your_own_has_to_be_given_again() -> None:
    own = FromLoss(lambda w, x: w["a"] * x, {"a": np.float32(1)}, lambda rng: 1.0, 1.0)
    e = Experiment(own, workers=2)
    with pytest.raises(ValueError, match="not one that ships: give it as problem="):
        Experiment.from_json(e.to_json())
    assert Experiment.from_json(e.to_json(), own) == e


def test_fields_that_older_files_lack_have_their_defaults() -> None:
    config = json.loads(Experiment(Bowl(), workers=3).to_json())
    del config["mean_square_decay"]
    assert Experiment.from_json(json.dumps(config)) == Experiment(Bowl(), workers=3)


def test_changes_are_checked_too() -> None:
    e = Experiment(Bowl(), workers=4)
    assert e.with_(workers=2).workers == 2 and e.workers == 4
    with pytest.raises(ValueError, match="workers must be"):
        e.with_(workers=0)


def test_other_weights_to_start_from() -> None:
    e = Experiment(Bowl(), weights={"w": np.float32([5, 6])})
    assert e.start()["w"].tolist() == [5, 6] and Experiment(Bowl()).start()["w"].tolist() == [1, 1]
    listed = Experiment(Bowl(), weights={"w": [5.0, 6.0]}, policy="apply", gradients=3)
    assert listed.start()["w"].dtype == np.float32 and gl.workers.run(listed).updates == 3
    with pytest.raises(ValueError, match="the weight w is None"):
        Experiment(Bowl(), weights={"w": None})


def test_a_batch_depends_on_seed_worker_and_number_only() -> None:
    e = Experiment(Bowl(noise=1.0))
    g = lambda *which, seed=0: tuple(e.with_(seed=seed).gradient(e.start(), *which)["w"])  # noqa: E731
    assert g(0, 0) == g(0, 0)
    assert len({g(0, 0), g(0, 1), g(1, 0), g(0, 0, seed=1)}) == 4


def life(
    count: int = 1, crashes: tuple[Crash, ...] = (), **settings: Any
) -> list[tuple[int, tuple[int, ...]]]:
    e = Experiment(Bowl(), workers=2, speeds=Speeds(gap=5, crashes=crashes), **settings)
    return [tuple(piece) for piece in worker_pieces(e, 1, [100, 7][:count])]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [(0, (READ, RECORD)), (100, (CHECK, UPDATE))]),
        ({"atomic": False}, [(0, (READ, RECORD)), (100, (CHECK,)), (5, (UPDATE,))]),
        ({"step_first": False}, [(0, (READ,)), (5, (RECORD,)), (95, (CHECK, UPDATE))]),
        (
            {"atomic": False, "step_first": False},
            [(0, (READ,)), (5, (RECORD,)), (95, (CHECK,)), (5, (UPDATE,))],
        ),
    ],
)
def test_the_pieces_of_one_gradient(settings: dict[str, Any], expected: Any) -> None:
    assert life(**settings) == expected


def test_a_life_lasts_until_its_ticks_are_used_up() -> None:
    assert life(2) == [
        (0, (READ, RECORD)),
        (100, (CHECK, UPDATE)),
        (0, (READ, RECORD)),
        (7, (CHECK, UPDATE)),
    ]


def test_a_crash_comes_half_way_through_and_loses_the_gradient() -> None:
    back = life(2, (Crash(1, 0, after=30),))
    assert back == [
        (0, (READ, RECORD)),
        (50, (LEAVE,)),
        (30, (JOIN,)),
        (0, (READ, RECORD)),
        (7, (CHECK, UPDATE)),
    ]
    assert life(2, (Crash(1, 0),)) == [(0, (READ, RECORD)), (50, (LEAVE,))]
    assert life(1, (Crash(0, 0),)) == life(1), "a different worker's crash"


def test_a_life_can_begin_with_a_later_gradient() -> None:
    e = Experiment(Bowl(), workers=2)
    assert [piece.ticks for piece in worker_pieces(e, 0, [100, 7, 9], first=2)] == [0, 9]


def test_a_late_note_of_the_step_is_never_later_than_the_gradient() -> None:
    e = Experiment(Bowl(), step_first=False, speeds=Speeds(gap=50))
    assert [piece.ticks for piece in worker_pieces(e, 0, [20])] == [0, 20, 0]
