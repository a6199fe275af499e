"""Five Adagrads: the numbers are those of the libraries themselves, and what is marked is where
they part.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import gradlab as gl
from gradlab.labs._adagrad_libraries.lab import (
    CASES,
    RATE,
    STEPS,
    _differs,
    _digits,
    _gradients,
    _paths,
    _rules,
)
from gradlab.rules.adagrad import LIBRARIES
from tests.golden.tensorflow_values import tensorflow

every_case = pytest.mark.parametrize("case", CASES)


def stepped(optimizer: Any, w: Any, case: str) -> np.ndarray:
    """The weights after each step of a Keras or TensorFlow 1 optimizer."""
    path = []
    for g in _gradients(case):
        optimizer.apply_gradients([(g, w)])
        path.append(w.numpy())
    return np.array(path)


@pytest.mark.tensorflow
@every_case
def test_tensorflow_and_keras_give_these_very_bits(case: str) -> None:
    tf = tensorflow()
    from tf_keras.optimizers import legacy

    paths, given = _paths(case), CASES[case]
    start = {
        "learning_rate": RATE,
        "initial_accumulator_value": 0.1 if given.accumulator is None else given.accumulator,
    }
    epsilon = {} if given.epsilon is None else {"epsilon": given.epsilon}
    w = tf.Variable(np.ones(3, given.dtype))
    np.testing.assert_array_equal(
        stepped(legacy.Adagrad(**start, **epsilon), w, case), paths["Keras legacy"][1:]
    )
    if paths["TensorFlow 1"] is None:
        with pytest.raises(ValueError, match="initial_accumulator_value must be positive"):
            tf.compat.v1.train.AdagradOptimizer(**start)
    else:
        w = tf.Variable(np.ones(3, given.dtype))
        optimizer = tf.compat.v1.train.AdagradOptimizer(**start)
        np.testing.assert_array_equal(stepped(optimizer, w, case), paths["TensorFlow 1"][1:])


@every_case
def test_optax_gives_these_numbers(case: str) -> None:
    rule, path = _rules(case)["optax"], _paths(case)["optax"]
    optimizer = optax.adagrad(RATE, rule.initial_accumulator_value, rule.epsilon)
    w = jnp.ones(3, CASES[case].dtype)
    state = optimizer.init(w)
    assert path is not None
    for g, expected in zip(_gradients(case), path[1:], strict=True):
        delta, state = optimizer.update(jnp.asarray(g), state, w)
        w = optax.apply_updates(w, delta)
        # XLA compiles the root and its reciprocal its own way.
        np.testing.assert_allclose(
            w, expected, rtol=2e-6, atol=1e-6 if CASES[case].dtype == np.float32 else 2e-3
        )


@pytest.mark.parametrize(
    ("text", "other", "place", "alike"),
    [
        ("0.70412350", "0.70412362", 8, 6),
        ("1.00143290", "1.00143290", None, 9),
        ("−0.5000", "0.5000", 0, 0),
        ("0.0012", "0.0013", 5, 1),
        ("NaN", "0.5000", 0, 0),
        ("10.0000", "1.0000", 1, 1),
    ],
)
def test_a_number_parts_at_its_first_other_character(
    text: str, other: str, place: int | None, alike: int
) -> None:
    assert _differs(text, other) == place
    assert _digits(text[:place]) == alike


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "PyTorch parts from TensorFlow 1 at digit 1, the other three at digit 7."),
        ({"step": 0}, "Before the first step all five libraries have the same weights."),
        (
            {"case": "matched", "step": 1},
            "optax parts from TensorFlow 1 at digit 7, the other three agree.",
        ),
        (
            {"case": "zero", "step": 7},
            (
                "TensorFlow 1 refuses accumulator 0; Keras 3 and optax part "
                "from Keras legacy at digit 3."
            ),
        ),
        (
            {"case": "nothing", "step": 1},
            "Keras 3 and PyTorch give NaN; TensorFlow 1 refuses accumulator 0.",
        ),
        (
            {"case": "nothing", "step": 1, "reference": "PyTorch"},
            "Keras 3 and PyTorch give NaN; TensorFlow 1 refuses accumulator 0.",
        ),
        ({"case": "huge", "step": 4}, "The other four part from TensorFlow 1 at digit 5."),
        (
            {"case": "huge", "step": 6},
            "After 6 steps the first weight no longer moves in any library.",
        ),
    ],
)
def test_the_sentence_names_those_that_differ_most(params: dict[str, Any], said: str) -> None:
    assert gl.labs.adagrad_libraries(**params).description.summary == said


@every_case
def test_the_words_the_marks_and_the_numbers_say_the_same(case: str) -> None:
    lab = gl.labs.adagrad_libraries(case=case, step=7, reference="optax")
    shown, view = lab.compute(lab.params), lab.make_view()
    lab.draw(view, shown)
    said = lab.description.alt
    for row, name in zip(view._cells[1:], LIBRARIES, strict=True):
        weights = shown.weights[name]
        texts = ["".join(part.get_text() for part in (c.kept, c.first, c.rest)) for c in row]
        marked = [c for c in row if c.first.get_text()]
        if weights is None:
            assert texts == ["ValueError"] * 3 and f"{name} ValueError" in said
            continue
        np.testing.assert_allclose([float(t.replace("−", "-")) for t in texts], weights, atol=6e-5)
        if name == "optax":
            assert not marked
        elif np.isnan(weights).any():
            assert f"{name} NaN" in said
        elif marked:
            earliest = min(_digits(c.kept.get_text()) for c in marked)
            assert f"{name} digit {earliest + 1}" in said
        else:
            assert f"{name} none" in said


def test_a_library_that_refuses_cannot_be_compared_with() -> None:
    lab = gl.labs.adagrad_libraries(case="zero", reference="TensorFlow 1")
    assert lab.compute(lab.params).reference == "Keras legacy"
    assert (
        "differs from Keras legacy (TensorFlow 1 refuses accumulator 0): TensorFlow 1 ValueError,"
        in lab.description.alt
    )


def test_each_case_gives_what_it_says() -> None:
    for case, (_, _, accumulator, epsilon, dtype, _) in CASES.items():
        for name, rule in _rules(case).items():
            own = LIBRARIES[name]
            assert rule.initial_accumulator_value == (
                own.initial_accumulator_value if accumulator is None else accumulator
            )
            assert rule.epsilon_place == own.epsilon_place and rule.order == own.order
            if name not in ("TensorFlow 1", "Keras legacy"):
                assert rule.epsilon == (own.epsilon if epsilon is None else epsilon)
        assert all(path is None or path.dtype == dtype for path in _paths(case).values())
    assert _rules("nothing")["Keras legacy"].epsilon == 1e-7
    assert _rules("epsilon")["TensorFlow 1"].epsilon == 0


def test_presets_show_what_their_names_say() -> None:
    lab = gl.labs.adagrad_libraries()
    said = {}
    for label, values in lab.presets.items():
        lab.set(**values)
        said[label] = lab.description.alt
    assert "PyTorch digit 1" in said["As they come"]
    same = said["Same settings, different digits"]
    assert "PyTorch none" in same and "TensorFlow 1 digit 7" in same
    assert (
        "optax none" in said["Epsilon in and out"]
        and "PyTorch digit 3" in said["Epsilon in and out"]
    )
    assert said["NaN from nothing"].count("NaN") == 2
    frozen = [path[5:, 0] for path in _paths("huge").values() if path is not None]
    assert all((path == path[0]).all() for path in frozen) and len(frozen) == 5


def test_a_stand_in_is_named_in_the_picture_too() -> None:
    for case, title in (
        ("zero", "beside Keras legacy, as TensorFlow 1 refuses accumulator 0"),
        ("matched", "TensorFlow 1"),
    ):
        lab = gl.labs.adagrad_libraries(case=case, reference="TensorFlow 1")
        view = lab.make_view()
        lab.draw(view, lab.compute(lab.params))
        assert view._title.get_text().endswith(title)


def test_columns_hold_every_step_and_weight() -> None:
    lab = gl.labs.adagrad_libraries(case="zero", step=3)
    columns = lab.columns(lab.compute(lab.params))
    assert {len(column) for column in columns.values()} == {(STEPS + 1) * 3}
    assert not any(" " in name for name in columns)
    here = (columns["step"] == 3) & (columns["weight"] == 2)
    shown = lab.compute(lab.params)
    assert columns["gradient"][here] == shown.gradient[1]
    assert columns["Keras_legacy"][here] == shown.weights["Keras legacy"][1]
    assert np.isnan(columns["TensorFlow_1"]).all()
