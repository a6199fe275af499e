"""Cases that a grader draws: what is right passes them, what is wrong does not, nor what knows the
results by heart.
"""

import numpy as np
import pytest

from gradlab.exercises.catalog import EXERCISES, with_random_cases
from gradlab.exercises.key import value
from gradlab.exercises.questions import Choice, Coded, no_function

RANDOM = [name for name, e in EXERCISES.items() if not isinstance(e, Choice) and e.draw is not None]


def test_every_exercise_that_asks_for_a_function_is_drawn() -> None:
    functions = {
        name
        for name, e in EXERCISES.items()
        if not isinstance(e, Choice) and not no_function(value(name))
    }
    assert set(RANDOM) == functions


@pytest.mark.parametrize("name", RANDOM)
def test_only_what_is_right_passes_what_is_drawn(name: str) -> None:
    for seed in range(5):
        exercise = with_random_cases(name, np.random.default_rng(seed))
        assert exercise(value(name)).right, exercise(value(name))
        for wrong, hint in exercise.mistakes:
            assert hint in exercise(wrong).text


def test_results_learned_by_heart_do_not_pass() -> None:
    for name, exercise in EXERCISES.items():
        if isinstance(exercise, Coded):
            known = iter([exercise.right(*case.values()) for case in exercise.cases])
            assert not with_random_cases(name, np.random.default_rng(0))(
                lambda *case, known=known: next(known, 0.0)
            ).right
