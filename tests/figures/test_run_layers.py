"""Norms of tensors: merged buckets show their range, what fires is marked apart."""

import numpy as np

from gradlab.figures.run_layers import Layers, LayersView


def test_a_merged_row_is_a_line_from_its_smallest_to_its_largest_norm() -> None:
    view = LayersView(2, np.array([0, 4, 8]), 12, (0.1, 100.0), "every bucket of 4 steps")
    low, high = np.array([1.0, 2.0, 3.0]), np.array([1.0, 20.0, 30.0])
    marks = np.array([[1.0, 0.0], [2.0, 0.0], [10.0, 0.0], [30.0, 0.0]])
    view.draw(Layers(["a", "b"], marks, np.ones(2), ["", ""], "", 0, "a", low, high, high > 25, 25.0))
    assert np.unique(view._range.get_xdata()[~np.isnan(view._range.get_xdata())]).tolist() == [4, 8]
    assert view._fired.get_xdata().tolist() == [8] and view._calm.get_xdata().tolist() == [0, 4]
    assert np.isnan(view._marks[0].get_xdata()).tolist() == [False, True], "a tensor without a gradient has no mark"
    assert view.story.get_title(loc="left") == "Norm at every bucket of 4 steps"
