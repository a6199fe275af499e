"""Every cell stands in the color of what happened to it, and says so."""

from gradlab.labs._clip_libraries.picture import LOOKS, LibrariesView


def test_cells_move_between_the_colors_and_carry_their_text() -> None:
    view = LibrariesView(["gradient", "mine"], ["a", "b"])
    view.draw(1.0, [["1", "2"], ["NaN", "2\nkept"]], [["kept", "kept"], ["NaN", "kept"]])
    assert {
        look: len(patch.get_path().vertices) // 5 for look, patch in view._cells.items()
    } == dict.fromkeys(LOOKS, 0) | {
        "kept": 3,
        "NaN": 1,
    }
    assert view._texts[1][0].get_text() == "NaN"
    assert (view._title.get_text(), view._title.get_weight()) == (
        "Clipped by global norm, limit 1",
        "bold",
    )
