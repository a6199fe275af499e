"""Feedback shows itself as plain text and counts as its verdict."""

from gradlab.exercises import Feedback


def test_feedback_reads_as_a_sentence() -> None:
    assert repr(Feedback(True, "Because.")) == "Right. Because."
    assert repr(Feedback(False, "Look.")) == "Not yet. Look."
    assert Feedback(True, "")
    assert not Feedback(False, "")
