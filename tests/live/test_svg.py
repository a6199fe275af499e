"""Clips in an SVG: their names say nothing of the last bits of a number."""

import io

from matplotlib.figure import Figure

from gradlab.live.svg import numbered


def svg_of(shift: float) -> str:
    """Two panels with a line each, clipped to them."""
    figure = Figure(figsize=(4, 2))
    for left in (0.1, 0.6):
        figure.add_axes((left + shift, 0.1, 0.3, 0.8)).plot([0, 1])
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def test_names_do_not_depend_on_the_last_bits() -> None:
    one, other = svg_of(0.0), svg_of(1e-12)
    assert one != other and numbered(one).count("<clipPath") == 2
    pick = [line for line in numbered(one).splitlines() if "clip" in line]
    assert pick == [line for line in numbered(other).splitlines() if "clip" in line]


def test_every_clip_that_is_used_is_there() -> None:
    svg = numbered(svg_of(0.0))
    used = {part.split(")")[0] for part in svg.split("url(#")[1:]}
    assert used == {"clip0", "clip1"} and all(f'<clipPath id="{name}">' in svg for name in used)
