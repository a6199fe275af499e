"""The timeline: bars where gradients are, numbers where there is room, marks beyond color, all of
it on any page.
"""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from gradlab.labs._staleness.picture import Lanes, TimelineView
from gradlab.live.drawing.style import ORANGE_TEXT

LANES = Lanes(
    workers=2,
    now=1000,
    worker=np.array([0, 1, 1, 0]),
    began=np.array([0, 0, 700, 300]),
    ended=np.array([300, 700, 760, 1000]),
    read=np.array([0, 0, 2, 1]),
    recorded=np.array([0, 1, 0, -1]),
    true=np.array([0, 1, 3, -1]),
    accepted=np.array([True, False, True, True]),
    updates=np.array([300, 760]),
    waits=np.array([[1, 760, 1000]]),
    limit=0,
    straggler=2.0,
    handed_in=np.array([1, 2]),
    accepted_of=np.array([1, 0]),
    starving=np.array([False, True]),
)


def drawn(lanes: Lanes = LANES, narrow: bool = False) -> TimelineView:
    view = TimelineView()
    view.arrange(narrow)
    FigureCanvasAgg(view.figure).draw()
    view.draw(lanes)
    return view


def spans(path: object) -> list[tuple[float, float]]:
    """Left and right of every bar of a path."""
    x = path.vertices[:, 0].reshape(-1, 5) if len(path.vertices) > 1 else np.empty((0, 5))  # type: ignore[attr-defined]
    return [(side.min(), side.max()) for side in x]


def written(texts: list) -> list[str]:  # type: ignore[type-arg]
    return [text.get_text() for text in texts if text.get_visible()]


def test_every_gradient_is_a_bar_that_says_what_became_of_it() -> None:
    timeline = drawn()._lanes
    found = {name: spans(bar.get_path()) for name, bar in timeline._bars.items()}
    assert found == {
        "accepted": [(0, 300), (700, 760)],
        "dropped": [(0, 700)],
        "in hand": [(300, 1000)],
    }
    hatch = timeline._hatching.get_xdata()
    assert np.nanmin(hatch) >= 0 and np.nanmax(hatch) <= 700 and len(hatch) > 20
    assert timeline._waits.dots.get_xdata()[:2].tolist() == [760, 1000]
    assert timeline._updates.get_xdata().tolist() == [300, 760]
    assert timeline._version.get_text() == "2 updates"


def test_bars_carry_the_staleness_and_what_was_recorded_where_it_differs() -> None:
    assert written(drawn()._lanes._ages) == ["0", "1"]  # 3≠0 would not fit
    wider = drawn(LANES._replace(ended=np.array([300, 700, 790, 1000])))._lanes
    assert written(wider._ages) == ["0", "1", "3≠0"]


def test_words_stand_at_what_is_drawn_and_nothing_else() -> None:
    def words(view: TimelineView) -> list[str]:
        lanes, workers, ages = view._lanes, view._workers, view._ages
        return written(
            [workers._accepted, workers._dropped, lanes._waits.word, lanes._wrong, ages._noted]
        )

    everything = ["■ accepted", "▨ dropped", "waits", "5≠2: recorded as 2", "◆ as recorded"]
    assert words(drawn()) == everything
    true = LANES._replace(recorded=LANES.true, waits=LANES.waits[:0])
    assert words(drawn(true)) == ["■ accepted", "▨ dropped"]
    assert words(drawn(true._replace(accepted_of=LANES.handed_in))) == ["■ accepted"]


def test_the_slow_worker_is_named_so() -> None:
    names = drawn()._lanes._names
    assert written([*names._names, names._slow, names._note]) == [
        "worker 1",
        "worker 2",
        "2× as slow",
    ]
    equal = drawn(LANES._replace(straggler=1.0))._lanes._names
    assert written([*equal._names, equal._slow, equal._note]) == ["worker 1", "worker 2"]


def test_a_narrow_page_shows_the_whole_run_from_its_start() -> None:
    timeline = drawn(narrow=True)._lanes
    assert timeline.axes.get_xlim() == (0, 1200)
    assert spans(timeline._bars["accepted"].get_path()) == [(0, 300), (700, 760)]
    assert [(t.get_position()[0], t.get_text()) for t in timeline._times if t.get_visible()] == [
        (0, "0"), (400, "400"), (800, "800"), (1200, "1,200")
    ]  # fmt: skip


def test_as_many_bars_as_the_tallies_count_are_seen_on_any_page() -> None:
    for narrow in (False, True):
        view = drawn(narrow=narrow)
        start, end = view.lanes.get_xlim()
        bars = [
            span
            for name in ("accepted", "dropped")
            for span in spans(view._lanes._bars[name].get_path())
        ]
        in_sight = [span for span in bars if start <= span[0] and span[1] <= end]
        assert len(in_sight) == LANES.handed_in.sum()


def test_items_lie_in_the_middle_of_their_bars() -> None:
    x, y = drawn().places(LANES)
    assert x.tolist() == [150, 350, 730, 650]
    assert y[0] == y[3] < y[1] == y[2]


def test_who_starves_is_told_in_words() -> None:
    counts = written(drawn()._workers._counts)
    assert counts == ["1 of 1", "0 of 2, starves"]


def test_all_ages_are_stacked_and_counted_and_what_was_recorded_is_marked() -> None:
    ages = drawn()._ages
    assert spans(ages._taken.get_path()) == pytest.approx(np.array([(-0.4, 0.4), (2.6, 3.4)]))
    assert spans(ages._lost.get_path()) == pytest.approx(np.array([(0.6, 1.4)]))
    # Of the highest.
    assert ages._recorded.get_xydata() == pytest.approx(np.array([(0, 1), (1, 0.5)]))
    assert [words.get_text() for words in ages._counts[:4]] == ["1", "1", "", "1"]
    assert ages._counts[1].get_color() == ORANGE_TEXT != ages._counts[0].get_color()
    assert ages._limit.get_xdata() == [0.5, 0.5]
    assert drawn(LANES._replace(limit=None))._ages._limit.get_xdata() == []
