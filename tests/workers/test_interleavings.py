"""All interleavings: counted by formulas and by walking each one, and the races that TensorFlow
has.
"""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
from gradlab.workers import (
    READ,
    Bowl,
    Crash,
    Experiment,
    Outcomes,
    Round,
    Server,
    Speeds,
    Trace,
    explore,
    replay,
)
from gradlab.workers.experiment import worker_pieces
from gradlab.workers.interleavings import End, History, bits
from gradlab.workers.replays import replay_move
from tests.workers.experiments import POLICIES


def every_way(e: Experiment, rounds: int) -> list[tuple[Server, bool]]:
    """Each interleaving walked by itself: the server at its end, and whether a worker is left
    waiting.
    """
    lives = [
        [piece.moves for piece in worker_pieces(e, k, [100] * rounds)] for k in range(e.workers)
    ]
    found: list[tuple[Server, bool]] = []

    def walk(server: Server, places: list[int]) -> None:
        left = [k for k in range(e.workers) if places[k] < len(lives[k])]
        able = [k for k in left if lives[k][places[k]][0] != READ or server.ledger.may_read(k)]
        for k in able:
            after = server.copy()
            for move in lives[k][places[k]]:
                replay_move(after, move, k, 0)
            walk(after, [place + (j == k) for j, place in enumerate(places)])
        if not able:
            found.append((server, bool(left)))

    walk(Server(e), [0] * e.workers)
    return found


@settings(max_examples=25)
@given(
    st.sampled_from(list(POLICIES.values())),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(2, 1), (2, 2), (3, 1)]),
    st.sampled_from([(), (Crash(0, 0, 5),), (Crash(1, 0),)]),
)
@pytest.mark.exhaustive
def test_counting_states_is_walking_every_way(
    policy: dict[str, Any],
    atomic: bool,
    step_first: bool,
    size: tuple[int, int],
    crashes: tuple[Crash, ...],
) -> None:
    workers, rounds = size
    e = Experiment(
        Bowl(noise=0.3),
        workers=workers,
        atomic=atomic,
        step_first=step_first,
        speeds=Speeds(crashes=crashes),
        **policy,
    )
    if workers * rounds > 2 and not step_first:
        e = e.with_(atomic=True)  # else there are too many to walk
    ways = every_way(e, rounds)
    found = explore(e, rounds)
    assert found.interleavings == len(ways)
    assert Counter({o.weights["w"].tobytes(): o.interleavings for o in found.outcomes}) == Counter(
        server.weights["w"].tobytes() for server, _ in ways
    )
    ends = [[r for r in server.ledger.rounds if r.accepted] for server, _ in ways]
    assert found.accepted == Counter(map(len, ends))
    assert found.understated == sum(
        any(r.applied_to - r.read > r.checked - r.recorded for r in end) for end in ends
    )
    limit = {"drop": e.staleness, "backup": 0}.get(e.policy, math.inf)
    assert found.too_stale == sum(any(r.applied_to - r.read > limit for r in end) for end in ends)
    assert found.stuck == sum(stuck for _, stuck in ways)
    assert found.starved == tuple(
        sum(all(r.worker != k for r in end) for end in ends) for k in range(workers)
    )


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize("step_first", [True, False])
def test_the_number_is_the_multinomial_one(workers: int, atomic: bool, step_first: bool) -> None:
    pieces = 4 - atomic - step_first
    e = Experiment(Bowl(), workers=workers, atomic=atomic, step_first=step_first)
    expected = math.factorial(pieces * workers) // math.factorial(pieces) ** workers
    assert explore(e).interleavings == expected


def by_accepted(found: Outcomes) -> list[tuple[int, Trace]]:
    return [(int(o.example.accepted.sum()), o.example) for o in found.outcomes]


def test_two_pass_with_limit_0_only_if_check_and_update_are_apart() -> None:
    e = Experiment(Bowl(), workers=2, staleness=0)
    assert explore(e).too_stale == 0
    apart = explore(e.with_(atomic=False))
    # Both read at step 0 and check before either updates: 2 orders of each of the three.
    assert apart.too_stale == 12 and apart.accepted == {1: 6, 2: 14}
    both = [t for n, t in by_accepted(apart) if n == 2 and t.rounds["read"].tolist() == [0, 0]]
    assert (
        both and both[0].staleness.tolist() == [0, 0] and both[0].true_staleness.tolist() == [0, 1]
    )


def test_a_gradient_of_old_weights_passes_only_if_the_step_is_noted_later() -> None:
    e = Experiment(Bowl(), workers=2, staleness=0)
    assert explore(e).understated == 0
    late = explore(e.with_(step_first=False))
    assert late.understated == late.too_stale == 6
    (seen, *_) = [t for _, t in by_accepted(late) if (t.true_staleness > t.staleness).any()]
    assert (
        seen.accepted.all()
        and seen.staleness.tolist() == [0, 0]
        and seen.true_staleness.tolist() == [0, 1]
    )


def test_the_step_that_was_read_counts_even_if_the_weights_are_the_same() -> None:
    e = Experiment(Bowl(), workers=2, step_first=False)
    steep, flat = explore(e), explore(e.with_(problem=Bowl(first=0.0, second=0.0)))
    assert len(flat) == 1 < len(steep)
    assert (flat.accepted, flat.understated, flat.starved) == (
        steep.accepted,
        steep.understated,
        steep.starved,
    )


def test_a_worker_may_starve_at_limit_0_and_none_from_a_limit_of_all_others() -> None:
    e = Experiment(Bowl(), workers=2, staleness=0)
    # Worker 0's updates fall between the reads and checks of worker 1; its reads have 2 and 3
    # places to be at.
    assert explore(e, rounds=2).starved == (6, 6)
    assert explore(e.with_(staleness=2), rounds=2).starved == (0, 0)


def test_sums_depend_on_their_order() -> None:
    class Fixed(Bowl):
        def gradient(self, weights: Any, rng: np.random.Generator) -> Any:
            return {"w": rng.standard_normal(2, np.float32)}

    e = Experiment(Fixed(), gl.rules.StochasticGradientDescent(), workers=3, policy="apply")
    found = explore(e)
    (group,) = found.order_dependent
    assert set(map(id, group)) == set(map(id, found.outcomes)) and len(group) > 1
    low, high = found.ranges["w"]
    assert (high > low).any() and np.allclose(low, high, rtol=1e-6)


def test_three_of_them_mean_the_same_in_every_order_if_they_are_exact() -> None:
    class Whole(Bowl):
        def gradient(self, weights: Any, rng: np.random.Generator) -> Any:
            return {"w": rng.integers(0, 8, 2).astype(np.float32)}

    e = Experiment(Whole(), learning_rate=0.5, workers=3, policy="apply")
    assert len(explore(e)) == 1 and explore(e).order_dependent == ()


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_every_example_repeats(policy: dict[str, Any]) -> None:
    e = Experiment(Bowl(noise=0.3), gl.rules.Adam(), workers=2, atomic=False, **policy)
    found = explore(e)
    weights = [o.weights["w"] for o in found.outcomes]
    assert len({w.tobytes() for w in weights}) == len(found)
    for outcome in found.outcomes:
        assert (
            replay(outcome.example.experiment, outcome.example)["w"].tobytes()
            == outcome.weights["w"].tobytes()
        )
        assert outcome.example.weights["w"].tobytes() == outcome.weights["w"].tobytes()
    low, high = found.ranges["w"]
    np.testing.assert_array_equal(low, np.min(weights, axis=0))
    np.testing.assert_array_equal(high, np.max(weights, axis=0))
    counts = [o.interleavings for o in found.outcomes]
    assert counts == sorted(counts, reverse=True)


def test_who_cannot_go_on_is_stuck() -> None:
    e = Experiment(
        Bowl(), workers=2, policy="backup", aggregate=2, speeds=Speeds(crashes=(Crash(1, 0),))
    )
    found = explore(e, rounds=2)
    assert found.stuck == found.interleavings and "in 6 a worker waits forever" in repr(found)
    assert explore(e.with_(aggregate=1), rounds=2).stuck == 0


def test_speeds_do_not_matter() -> None:
    e = Experiment(Bowl(), workers=2, step_first=False)
    fast = e.with_(speeds=Speeds(median=1, gap=0))
    for a, b in itertools.pairwise([explore(e), explore(fast)]):
        assert (a.accepted, a.understated, len(a)) == (b.accepted, b.understated, len(b))


@pytest.mark.parametrize(
    ("settings", "rounds", "message"),
    [
        (
            {"workers": 4},
            2,
            "4 workers with 2 gradients each have 63,063,000 interleavings; the limit is 100,000",
        ),
        ({"workers": 3, "policy": "wait"}, 3, "have up to 17,153,136 interleavings"),
        (
            {"workers": 50},
            50,
            r"50 workers with 50 gradients each have about 10\^\d+ interleavings",
        ),
    ],
)
def test_what_is_too_large_is_refused_with_its_size(
    settings: dict[str, Any], rounds: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        explore(Experiment(Bowl(), **settings), rounds)


@pytest.mark.exhaustive
def test_the_limit_can_be_moved() -> None:
    e = Experiment(Bowl(), workers=4, atomic=False)
    with pytest.raises(ValueError, match="have 369,600 interleavings; the limit is 100,000"):
        explore(e)
    assert explore(e, limit=400_000).interleavings == 369_600
    with pytest.raises(ValueError, match="rounds must be a whole number of at least 1, got 0"):
        explore(e, 0)


EXPERIMENT = Experiment(Bowl(), workers=2)
TRACE = Trace.of(EXPERIMENT, "hand", "pieces", [], [], {})


def weights(*entries: float) -> dict[str, np.ndarray]:
    return {"w": np.float32(entries)}


def a_round(**changes: int) -> Round:
    return Round(1, 0, 0, 0, 2, 2, 2, 2, True)._replace(**changes)


def test_what_is_kept_of_a_way() -> None:
    start = History((0, 0))
    assert start.after(a_round(applied_to=-1), b"g", 0) == start
    once = start.after(a_round(), b"g", 0)
    assert once == History((0, 1), False, False, frozenset({(1, 0, b"g")}))
    assert once.after(a_round(checked=3, applied_to=3), b"h", 0)[:3] == ((0, 2), False, True)
    assert start.after(a_round(recorded=3, checked=3, applied_to=3), b"g", 1)[:3] == (
        (0, 1),
        True,
        False,
    )
    assert start.after(a_round(applied_to=3), b"g", 0)[:3] == ((0, 1), True, True)


def test_ends_add_up() -> None:
    same = frozenset({(0, 0, b"a"), (1, 0, b"b")})
    ends = [
        End(History((1, 1), applied=same), 2, (), weights(1, 5), TRACE),
        End(History((1, 1), True, False, same), 3, (), weights(2, 4), TRACE),
        End(History((0, 1), True, True, frozenset({(1, 0, b"b")})), 4, (0,), weights(1, 5), TRACE),
    ]
    found = Outcomes.of(EXPERIMENT, 1, ends)
    assert [(o.weights["w"].tolist(), o.interleavings) for o in found.outcomes] == [
        ([1, 5], 6),
        ([2, 4], 3),
    ]
    assert found.accepted == {1: 4, 2: 5} and found.interleavings == 9 and len(found) == 2
    assert (found.understated, found.too_stale, found.stuck, found.starved) == (7, 4, 4, (4, 0))
    assert [[o.interleavings for o in group] for group in found.order_dependent] == [[6, 3]]
    low, high = found.ranges["w"]
    assert (low.tolist(), high.tolist()) == ([1, 4], [2, 5])


def test_bits_tell_zeros_of_two_signs_apart_and_not_a_number_from_nothing() -> None:
    assert bits(weights(0.0)) != bits(weights(-0.0))
    assert bits(weights(np.nan)) == bits(weights(np.nan))


def test_outcomes_are_told_in_a_sentence() -> None:
    apart = explore(Experiment(Bowl(), workers=2, atomic=False))
    assert repr(apart) == (
        "20 orders, 3 different results; 1 to 2 of 2 gradients accepted; 12 orders accept one "
        "that is too stale"
    )
    repaired = explore(Experiment(Bowl(), workers=2))
    assert repr(repaired).endswith("; no order accepts one that is too stale")
