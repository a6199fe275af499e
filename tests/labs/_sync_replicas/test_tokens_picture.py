"""The picture of tokens: bars with local steps, updates with their numbers, boxes for gradients,
circles for tokens.
"""

import numpy as np

from gradlab.labs._sync_replicas.tokens_picture import DrawnRounds, TokensView
from gradlab.live.drawing.style import BLACK, ORANGE_TEXT

ROUNDS = DrawnRounds(
    workers=2,
    now=150,
    event="worker 1 pushes, accepted",
    worker=np.array([0, 1, 0]),
    began=np.array([0, 0, 110]),
    ended=np.array([100, 140, 150]),
    local_step=np.array([0, 0, 1]),
    pushed=np.array([True, True, False]),
    accepted=np.array([True, False, False]),
    waits=np.array([[0, 100, 110]]),
    updates=np.array([[110, 1]]),
    count=1,
    aggregate=3,
    tokens=(1, 1),
    waiting=(1,),
    handed_in=np.array([1, 1]),
    accepted_of=np.array([1, 0]),
    straggler=2.0,
)


def drawn(narrow: bool = False, **changes: object) -> TokensView:
    view = TokensView()
    view.arrange(narrow)
    view.draw(ROUNDS._replace(**changes))
    return view


def boxes(shape) -> int:  # type: ignore[no-untyped-def]
    return int(np.isfinite(shape.get_path().vertices[:, 0]).sum()) // 5


def said(texts) -> list[str]:  # type: ignore[no-untyped-def]
    return [words.get_text() for words in texts if words.get_visible()]


def test_bars_are_accepted_dropped_or_in_hand() -> None:
    lanes = drawn().lanes
    assert [artist.get_path().vertices[:, 0].max() for artist in lanes.bars] == [100, 140, 150]
    assert said(lanes.steps) == ["0", "0", "1"]
    assert [words.get_color() for words in lanes.steps[:2]] == [BLACK, ORANGE_TEXT]
    assert lanes.waits.dots.get_xdata()[:2].tolist() == [100, 110]


def test_a_long_wait_has_a_word_in_the_middle() -> None:
    assert not drawn().lanes.waits.word.get_visible()  # no room
    word = drawn(waits=np.array([[0, 100, 110], [1, 20, 140]])).lanes.waits.word
    assert word.get_visible() and word.get_position()[0] == 80


def test_updates_stand_with_the_number_of_their_gradients() -> None:
    lanes = drawn().lanes
    assert lanes.updates.get_xdata()[:2].tolist() == [110, 110]
    assert said(lanes.means) == ["1"] and lanes._mean_of.get_visible()
    assert not drawn(updates=np.empty((0, 2), int)).lanes._mean_of.get_visible()


def test_the_title_is_the_event_and_the_slow_worker_is_named_so() -> None:
    lanes = drawn().lanes
    assert lanes.title.get_text() == "At 150 ticks: worker 1 pushes, accepted"
    assert drawn(narrow=True).lanes.title.get_text() == "Worker 1 pushes, accepted"
    assert lanes._names._note.get_text() == "2× as slow" and said(lanes._names._names) == [
        "worker 2"
    ]


def test_gradients_are_boxes_tokens_circles_and_those_who_wait_have_numbers() -> None:
    queue = drawn().queue
    assert [boxes(shape) for shape in (queue.there, queue.missing, queue.waiting)] == [1, 2, 1]
    assert len(queue.tokens.get_xdata()) == 2
    assert [said(numbers) for numbers in queue.numbers] == [["1", "1"], ["2"]]
    assert said(queue.heads) == ["For update 2", "Tokens", "Waiting for a token"]
    empty = drawn(tokens=(), waiting=(), count=0).queue
    assert said(empty.words) == ["0 of 3 gradients", "none", "nobody"]
    assert boxes(drawn(count=4).queue.there) == 4  # more than needed


def test_more_tokens_than_there_is_room_for_are_a_number() -> None:
    queue = drawn(tokens=(1,) * 9).queue
    assert len(queue.tokens.get_xdata()) == 6 and said(queue.words)[1] == "and 3 more"


def test_tallies_are_beside_their_lanes_and_have_names_on_a_narrow_page() -> None:
    assert not said(drawn().workers._names._names)
    assert said(drawn(narrow=True).workers._names._names) == ["worker 1", "worker 2"]


def test_the_window_follows_the_time() -> None:
    lanes = drawn(now=2000, ended=np.array([100, 140, 2000])).lanes
    assert lanes.times[0].get_text() == "1,100"
    assert lanes.bars[0].get_path().vertices[:, 0].max() < 0
