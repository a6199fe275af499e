"""A guess comes first and stays; the result comes from the library, and is nowhere before it is
revealed.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

import gradlab as gl
from gradlab.exercises import Prediction, predict, predictions
from gradlab.exercises.prediction_picture import Quantity

every_prediction = pytest.mark.parametrize("name", predictions())


def guessed(name: str, at: float = 0.25) -> Prediction:
    """A prediction with all handles moved to one place."""
    prediction = predict(name)
    prediction.set(**{c.name: c.at(round(c.count * at)) for c in prediction._handles()})
    return prediction


class Square(Prediction):
    """The smallest prediction."""

    name, label, question = "square", "Predict a square", "What is the square?"
    x, y, at = Quantity("side", "m", 0.0, 2.0), Quantity("area", "m2", 0.0, 4.0), (0.0, 1.0, 2.0)

    def truth(self, x: np.ndarray) -> np.ndarray:
        return x**2

    def said(self, guess: np.ndarray, truth: np.ndarray) -> str:
        return "Squares grow."


@pytest.mark.exhaustive
@every_prediction
def test_the_result_is_not_computed_before_it_is_revealed(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(self: Any, x: Any) -> None:
        raise AssertionError("too early")

    prediction = predict(name)
    monkeypatch.setattr(type(prediction), "truth", refuse)
    sent: list[Any] = []
    prediction.live.send = lambda content, buffers=None: sent.append((content, buffers))
    prediction.live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
    prediction.set(guess_1=prediction.controls[0].maximum)  # type: ignore[union-attr]
    assert {content["kind"] for content, _ in sent} == {"setup", "frame"}
    assert "not shown yet" in prediction.description.alt
    assert "result" not in f"{prediction.description.table}{prediction.description.summary}".lower()
    assert "then press Reveal" in prediction._repr_mimebundle_()[0]["text/html"]
    for ending in (
        "csv",
        ("png", "svg", "html")[predictions().index(name) // 3 % 3],
    ):  # every kind of file, often enough
        prediction.save(tmp_path / f"guess.{ending}")
    assert "result" not in (tmp_path / "guess.csv").read_text()


@every_prediction
def test_the_first_guess_stays_when_the_guess_moves_on(name: str) -> None:
    prediction = guessed(name)
    first = list(prediction.params.values())
    prediction.reveal()
    shown = prediction.compute(prediction.params)
    np.testing.assert_array_equal(shown.first, first)
    assert "Now" not in prediction.description.summary
    prediction.set(guess_1=prediction.controls[0].maximum)  # type: ignore[union-attr]
    prediction.reveal()  # pressing again changes nothing
    shown = prediction.compute(prediction.params)
    np.testing.assert_array_equal(shown.first, first)
    assert shown.moved
    assert " Now it is " in prediction.description.summary
    assert "moved to" in prediction.description.table[0][1]


@every_prediction
def test_the_words_state_the_distance_in_the_unit_of_the_axis(name: str) -> None:
    prediction = guessed(name)
    prediction.reveal()
    _, _, first, result, _ = prediction.compute(prediction.params)
    words = prediction.description
    unit = "percentage points" if prediction.y.unit == "%" else prediction.y.unit
    off = f"{np.abs(first - result).mean():.3g} {unit} off"
    assert (
        f"{max(first / result, result / first)[0]:.3g} times too" if unit == "times" else off
    ) in words.summary
    assert all("guess " in value and "result " in value for _, value in words.table)
    assert words.alt.startswith(prediction.question)
    assert len(words.table) == len(prediction.params)
    assert words.summary.endswith(".")


@every_prediction
def test_revealing_changes_the_picture_and_every_view_hears_of_it(name: str) -> None:
    prediction = guessed(name)
    sent: list[Any] = []
    prediction.live.send = lambda content, buffers=None: sent.append(content)
    prediction.live._inbox.receive({"kind": "open", "view": "a", "ratio": 1})
    before = prediction.live.frame()
    prediction.reveal()
    assert prediction.live.frame() != before
    assert sent[-1]["kind"] == "frame"
    # So that the browser forgets pictures without the result.
    assert sent[-1]["edition"] > sent[0]["edition"]
    assert sent[-1]["summary"] == prediction.description.summary


@every_prediction
def test_a_guess_has_to_be_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prediction, said = predict(name), []
    monkeypatch.setattr(prediction.live, "say", said.append)
    prediction.reveal()
    assert said == [
        "A prediction is worth something only if it is made before: move your guess first."
    ]
    assert prediction.compute(prediction.params).first is None


@every_prediction
def test_every_handle_has_a_name_a_place_and_starts_in_the_middle(name: str) -> None:
    prediction = predict(name)
    drags, handles = prediction.drags(prediction.make_view()), prediction._handles()
    assert [drag.y or drag.x for drag in drags] == [handle.name for handle in handles]
    assert len({handle.label for handle in handles}) == len(handles)
    assert all(handle.hidden and handle.label.startswith("Guess") for handle in handles)
    middle = prediction.y.middle
    assert all(
        abs(handle.position(middle) - handle.position(handle.value)) <= 1 for handle in handles
    )


@every_prediction
def test_a_question_is_one_and_a_guess_is_one_line_of_code(name: str) -> None:
    prediction = guessed(name)
    assert prediction.question.endswith("?")
    again = eval(prediction.code(), {"gl": gl})
    assert again.params == prediction.params
    assert predict(name).code() == f"gl.exercises.predict({name!r})"


@every_prediction
def test_its_question_is_not_cut_off(name: str) -> None:
    figure = predict(name).figure()
    (title,) = (text for text in figure.findobj(Text) if text.get_text() == predict(name).question)
    assert title.get_window_extent().x1 <= figure.bbox.x1


def test_unknown_predictions_and_handles_are_refused() -> None:
    with pytest.raises(ValueError, match=r"unknown prediction 'x'; choose one of: start.reader"):
        predict("x")
    with pytest.raises(ValueError, match="has no control 'guess_2'"):
        predict("clipping.spikes", guess_2=3)


def test_a_prediction_needs_a_question_a_truth_and_a_sentence() -> None:
    square = Square(guess_2=3.0)
    square.reveal()
    shown = square.compute(square.params)
    assert (
        square.description.summary
        == "Your guess is on average 2 m2 off, most at side 0 m (2). Squares grow."
    )
    assert shown.result is not None
    assert shown.result.tolist() == [0, 1, 4]
    np.testing.assert_array_equal(shown.curve[:, 1], shown.curve[:, 0] ** 2)  # type: ignore[index]
