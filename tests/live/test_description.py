import numpy as np
import pytest
from matplotlib.figure import Figure

from gradlab.live import Description, Items


def test_items_are_as_many_as_their_columns() -> None:
    axes = Figure().add_subplot()
    items = Items("step", {axes: (np.arange(3), [1.0, 2.0, 3.0])}, {"norm": [1, 2, 3]})
    assert len(items) == 3
    assert len(Items("step", {})) == 0
    with pytest.raises(ValueError, match="columns of items must have one length, got 2, 3"):
        Items("step", {axes: (np.arange(3), np.arange(3))}, {"norm": [1, 2]})
    with pytest.raises(ValueError, match="columns of items must have one length, got 2, 3"):
        Items("word", {}, {"times": [1, 2, 3]}, names=("the", "a"))


def test_words_are_what_the_browser_reads() -> None:
    words = Description("The norm is 2.", "norm 2", (("norm", "2"),), goal="Target: 1.")
    assert words.words() == {
        "alt": "The norm is 2.",
        "summary": "norm 2",
        "table": (("norm", "2"),),
        "goal": "Target: 1.",
        "met": False,
        "idle": (),
    }
    assert words == Description(
        "The norm is 2.", "norm 2", (("norm", "2"),), "Target: 1.", Items("step", {})
    )
