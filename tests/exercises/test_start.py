"""What the answers of the first notebook claim is so."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises import check


def test_the_librarys_own_functions_are_right_answers() -> None:
    def step(weights: list[np.ndarray], grads: list[np.ndarray | None], lr: float) -> list[np.ndarray]:
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


def test_a_hint_for_what_has_no_name() -> None:
    assert check("start.descent", lambda w, g, lr: [x + 7 for x in w]).text.endswith("against it.")
    assert check("start.norm", lambda grads: 7.0).text.endswith("one root in the end.")
    assert "None" in check("start.descent", lambda w, g, lr: [x - lr * y for x, y in zip(w, g, strict=True)]).text
