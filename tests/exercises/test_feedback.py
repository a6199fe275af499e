"""Feedback shows itself as plain text and counts as its verdict."""

from gradlab.exercises import Feedback


def test_feedback_reads_as_a_sentence() -> None:
    assert repr(Feedback(True, "Because.")) == "Right. Because."
    assert repr(Feedback(False, "Look.")) == "Not yet. Look."
    assert Feedback(True, "Because.", standing="1 of 2")._repr_html_() == "<p>Right. Because. (1 of 2)</p>"
    assert Feedback(False, "0 < 1")._repr_html_() == "<p>Not yet. 0 &lt; 1</p>"
    assert Feedback(True, "")
    assert not Feedback(False, "")
