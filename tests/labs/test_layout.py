"""Mosaics: which cells a panel gets, and how large they are."""

from matplotlib.figure import Figure

from gradlab.labs._layout import PanelLayout, place_panels


def test_a_letter_in_several_cells_is_one_panel() -> None:
    figure = Figure()
    curve, bars, table = (figure.add_subplot() for _ in range(3))
    layout = PanelLayout((6.0, 4.0), "CB/C./TT", width_ratios=(3, 1), height_ratios=(2, 1, 1))

    place_panels(figure, layout, C=curve, B=bars, T=table)

    assert figure.get_size_inches().tolist() == [6.0, 4.0]
    spans = {axes: axes.get_subplotspec() for axes in (curve, bars, table)}
    assert (spans[curve].rowspan, spans[curve].colspan) == (range(2), range(1))
    assert (spans[bars].rowspan, spans[bars].colspan) == (range(1), range(1, 2))
    assert (spans[table].rowspan, spans[table].colspan) == (range(2, 3), range(2))
    grid = spans[curve].get_gridspec()
    assert grid.get_width_ratios() == (3, 1) and grid.get_height_ratios() == (2, 1, 1)
