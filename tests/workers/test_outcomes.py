"""Ends added up, by hand."""

import numpy as np

from gradlab.workers import Bowl, Experiment, Round, Trace
from gradlab.workers.outcomes import End, History, Outcomes, bits

EXPERIMENT = Experiment(Bowl(), workers=2)
TRACE = Trace.of(EXPERIMENT, "hand", "pieces", [], [], {})


def weights(*entries: float) -> dict[str, np.ndarray]:
    return {"w": np.float32(entries)}


def a_round(**changes: int) -> Round:
    return Round(1, 0, 0, 0, 2, 2, 2, 2, True)._replace(**changes)


def test_what_is_kept_of_a_way() -> None:
    start = History((0, 0))
    assert start.after(a_round(applied_to=-1), b"g", 0) == start
    fresh = start.after(a_round(), b"g", 0)
    assert fresh == History((0, 1), False, False, frozenset({(1, 0, b"g")}))
    assert fresh.after(a_round(checked=3, applied_to=3), b"h", 0)[:3] == ((0, 2), False, True)
    assert start.after(a_round(recorded=3, checked=3, applied_to=3), b"g", 1)[:3] == ((0, 1), True, False)
    assert start.after(a_round(applied_to=3), b"g", 0)[:3] == ((0, 1), True, True)


def test_ends_add_up() -> None:
    same = frozenset({(0, 0, b"a"), (1, 0, b"b")})
    ends = [
        End(History((1, 1), applied=same), 2, (), weights(1, 5), TRACE),
        End(History((1, 1), True, False, same), 3, (), weights(2, 4), TRACE),
        End(History((0, 1), True, True, frozenset({(1, 0, b"b")})), 4, (0,), weights(1, 5), TRACE),
    ]
    found = Outcomes.of(EXPERIMENT, 1, ends)
    assert [(o.weights["w"].tolist(), o.interleavings) for o in found.outcomes] == [([1, 5], 6), ([2, 4], 3)]
    assert found.accepted == {1: 4, 2: 5} and found.interleavings == 9 and len(found) == 2
    assert (found.understated, found.too_stale, found.stuck, found.starved) == (7, 4, 4, (4, 0))
    assert [[o.interleavings for o in group] for group in found.order_dependent] == [[6, 3]]
    low, high = found.ranges["w"]
    assert (low.tolist(), high.tolist()) == ([1, 4], [2, 5])


def test_bits_tell_zeros_of_two_signs_apart_and_not_a_number_from_nothing() -> None:
    assert bits(weights(0.0)) != bits(weights(-0.0))
    assert bits(weights(np.nan)) == bits(weights(np.nan))
