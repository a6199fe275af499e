"""What the answers of the first notebook claim is so."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import check
from gradlab.exercises.start import Reader
from gradlab.models import word_topics


def test_the_librarys_own_functions_are_right_answers() -> None:
    def step(
        weights: list[np.ndarray], grads: list[np.ndarray | None], lr: float
    ) -> list[np.ndarray]:
        values = [gl.Variable(w) for w in weights]
        gl.train.GradientDescentOptimizer(lr).apply_gradients(list(zip(grads, values, strict=True)))
        return [v.numpy() for v in values]

    assert check("start.descent", step).right
    assert check("start.norm", gl.global_norm).right


@pytest.mark.parametrize(("name", "letter"), [("sign", "b"), ("units", "b")])
def test_right_letters(name: str, letter: str) -> None:
    assert check(f"start.{name}", letter).right


def test_a_positive_gradient_moves_a_weight_down_and_its_unit_moves_it_further() -> None:
    rule, w = gl.rules.StochasticGradientDescent(), np.array([1.0])
    moved = [float(rule(w, (), factor * np.array([2.0]), 0.1)[0][0] - w[0]) for factor in (1, 10)]
    assert moved == pytest.approx([-0.2, -2.0])


@pytest.mark.parametrize(("size", "is_same"), [(1.0, False), (1e3, True)])
def test_adagrads_step_ignores_the_unit_of_the_loss_once_gradients_are_large(
    size: float, is_same: bool
) -> None:
    reader = gl.workers.Reader()
    start = reader.start()
    gradient = reader.gradient(start, np.random.default_rng(0))
    rule = gl.rules.Adagrad()
    for name, w in start.items():
        seen = gradient[name][np.abs(gradient[name]) > 1e-2]
        w = np.zeros_like(seen)
        once, ten_times = (
            np.linalg.norm(rule(w, rule.init(w), size * x * seen, 1.0)[0]) for x in (1, 10)
        )
        assert (ten_times / once < 1.01) == is_same, name


def test_a_hint_for_what_has_no_name() -> None:
    assert check("start.descent", lambda w, g, lr: [x + 7 for x in w]).text.endswith(
        "by 0.5 times it."
    )
    assert check("start.norm", lambda grads: 7.0).text.endswith(
        "How do further entries count, and arrays?"
    )
    assert (
        "None"
        in check(
            "start.descent", lambda w, g, lr: [x - lr * y for x, y in zip(w, g, strict=True)]
        ).text
    )


TRUTH = Reader().truth(np.array(Reader.at))


def test_the_reader_learns_as_in_the_loop_of_the_notebook() -> None:
    assert (np.diff(TRUTH) > 0).all()
    assert 57 < TRUTH[-1] < 61  # the loop goes on to 61%, so four in ten stay wrong
    # It stalls between 4 and 16 steps, then climbs.
    assert TRUTH[2] - TRUTH[1] < 2 < 13 < TRUTH[3] - TRUTH[2]
    topics = word_topics.shipped().held_out.topics
    # Whoever says the commonest topic: one in four.
    assert 100 * np.bincount(topics).max() / len(topics) > 25


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ([60, 50, 40, 30, 20], "so the curve rises"),
        ([5, 20, 40, 60, 65], "one line in eight"),
        ([20, 50, 70, 90, 98], "Four lines in ten are still wrong"),
        ([20, 50, 70, 75, 80], "Not that soon"),
        ([25, 35, 45, 55, 65], "It stalls between 4 and 16 steps"),
    ],
)
def test_what_is_said_depends_on_the_guess(guess: list[float], said: str) -> None:
    assert said in Reader().said(np.array(guess, float), TRUTH)
