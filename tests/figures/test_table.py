"""The table as colors: its own scale, one for each slot, and marks on rows."""

import numpy as np

from gradlab.figures._style import new_figure
from gradlab.figures.table import LARGEST, TablePanel


def drawn(slots: dict[str, np.ndarray]) -> tuple:  # type: ignore[type-arg]
    axes = new_figure(4, 5).add_subplot()
    panel = TablePanel(axes, 6, 2, 3)
    panel.draw(np.full((6, 2), LARGEST), slots, np.array([1, 4]), 4)
    return axes, panel


def test_colors_run_over_the_scale_that_is_written() -> None:
    axes, _ = drawn({"m": np.linspace(-2.0, 4.0, 12).reshape(6, 2)})
    images = [image for image in axes.images if image.get_visible() and image.get_array().shape == (6, 2)]
    assert images[0].get_array().min() == 1
    assert images[1].get_array().ravel()[[0, -1]].tolist() == [0, 1]
    words = [text.get_text() for text in axes.texts if text.get_visible()]
    assert words == ["device 0", "device 1", "device 2", "table", "−1.5", "1.5", "m", "−2", "4"]


def test_a_slot_of_one_number_has_one_color() -> None:
    axes, _ = drawn({"m": np.ones((6, 2))})
    assert np.ptp(axes.images[2].get_array()) == 0


def test_marks_stand_at_the_touched_rows_and_the_frame_around_one() -> None:
    _, panel = drawn({})
    assert panel._touched.get_ydata().tolist() == [1, 4]
    y = panel._chosen.get_path().vertices[:, 1]
    assert (y.min(), y.max()) == (3.5, 4.5)
