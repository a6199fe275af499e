import pytest
from matplotlib.figure import Figure

from gradlab.live import Button, Drag, Slider
from gradlab.live.controls import by_name
from gradlab.live.drags import check_drags


def test_a_drag_needs_a_slider() -> None:
    axes = Figure().add_subplot()
    with pytest.raises(ValueError, match="name of a slider"):
        Drag(axes, label="nothing")
    with pytest.raises(ValueError, match="no place of its own"):
        Drag(axes, x="a", y="b", at=1.0)


def test_a_drag_must_fit_the_figure_and_its_controls() -> None:
    figure = Figure()
    axes = figure.add_subplot()
    controls = by_name([Slider("k", "K", 0.0, 1.0, 0.5), Button("b", "B", print)])
    check_drags([Drag(axes, x="k")], controls, figure)
    for drag, message in (
        (Drag(axes, x="j"), "'j' is none of k"),
        (Drag(axes, x="b"), "'b' is none of k"),
        (Drag(Figure().add_subplot(), x="k"), "must belong to the figure"),
    ):
        with pytest.raises(ValueError, match=message):
            check_drags([drag], controls, figure)
    axes.set_xscale("symlog")
    with pytest.raises(ValueError, match="linear or log axis for 'k', got 'symlog'"):
        check_drags([Drag(axes, x="k")], controls, figure)
