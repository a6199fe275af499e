"""No more than a share of the time, whatever it takes each time."""

import pytest

from gradlab._base.pace import Pace


@pytest.mark.parametrize("share", [0.01, 0.5, 1.0])
def test_of_all_the_time_at_most_the_share_is_spent(share: float) -> None:
    now = 0.0
    pace = Pace(share, 0.25, lambda: now)
    costs = iter([0.1, 2.0, 0.0, 0.3] * 1000)
    while now < 300:
        if pace.due:
            start = now
            with pace.spending():
                now += next(costs)
            assert pace.spent - (now - start) <= share * start + 1e-9  # but for the last one
        now += 0.01


def test_what_raises_has_cost_its_time() -> None:
    now = 0.0
    pace = Pace(0.1, 0.0, lambda: now)

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
