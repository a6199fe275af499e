"""The picture of a placement: bars as long as what devices hold and send, said in words as well."""

import pytest

import gradlab as gl
from gradlab.labs.placement_picture import KIB, MIB, PlacementPicture
from gradlab.tpu import plan_placement
from tests.labs.language import broken

TABLES = tuple(
    gl.tpu.Table(f"t{k}", rows, 16) for k, rows in enumerate((40_000, *range(700, 1800, 100)))
)
PLAN = gl.tpu.Plan(TABLES, tuple(gl.tpu.Feature(f"f{k}", k, (64,)) for k in range(12)), cores=4)
PLACED = plan_placement(PLAN, 4, budget=2 << 20, layouts={"t0": "rows", "t1": "copies"})


@pytest.mark.exhaustive
def test_bars_are_as_long_as_what_devices_hold_and_send_and_words_say_so() -> None:
    picture = PlacementPicture(PLACED)
    held, sent = picture.figure.axes
    widths = {(bar.get_y() + 0.4, bar.get_x()): bar.get_width() for bar in held.patches}
    for device, size in enumerate(PLACED.held):
        own = [width for (y, _), width in widths.items() if round(y) == device]
        assert abs(sum(own) * MIB - PLACED.memory) < 1 and size <= PLACED.memory
    assert sum(bar.get_width() for bar in sent.patches) * KIB == PLACED.traffic
    assert [t.get_text() for t in sent.get_yticklabels()][-1] == "3 others"
    assert not broken(picture, [held, sent])
    html = picture._repr_html_()
    assert (
        picture.alt.startswith("12 tables on 4 devices: each has room for ")
        and " of 2 MiB and sends " in picture.alt
    )
    assert "t2 whole on device " in picture.alt and f'<img alt="{picture.alt}"' in html
    assert html.count("<tr>") == 1 + len(TABLES) and repr(picture) == repr(PLACED)
