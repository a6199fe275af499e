"""No more than a share of the time, whatever it takes each time."""

import pytest

from gradlab._base.time_share import Pace


@pytest.mark.parametrize(("share", "burst"), [(0.01, 0.0), (0.02, 1.0), (0.5, 0.3)])
def test_of_all_the_time_at_most_the_share_is_spent(share: float, burst: float) -> None:
    now = 0.0
    pace = Pace(share, 0.25, burst, lambda: now)
    costs, rest, done = iter([0.1, 2.0, 0.0, 0.3] * 1000), 1000.0, 0.0
    for start in (0.0, rest):  # a rest earns no more than the burst
        now, before = start, pace.spent
        while now < start + 300:
            if pace.due:
                assert now >= done + 0.25 or not done
                # But for the next one.
                assert pace.spent - before <= share * (now - start) + burst + 1e-9
                with pace.spending():
                    now += next(costs)
                done = now
            now += 0.01
        assert pace.spent - before > 0.5 * share * 300  # and it is used


def test_what_raises_has_cost_its_time() -> None:
    now = 0.0
    pace = Pace(0.1, 0.0, clock=lambda: now)

    def fail() -> None:
        nonlocal now
        with pace.spending():
            now = 1.0
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert pace.spent == 1.0 and not pace.due
    now = 10.0
    assert pace.due


def test_all_of_the_time_is_always_due() -> None:
    now = 0.0
    pace = Pace(1.0, 0.0, clock=lambda: now)
    for _ in range(3):
        assert pace.due
        with pace.spending():
            now += 1.0
    assert pace.spent == 3.0
