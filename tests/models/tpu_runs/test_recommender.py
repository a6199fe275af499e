"""A recommender learns from ratings that are made; `python -m tests.benchmarks recommender` has its
peers.
"""

import numpy as np
import pytest

from gradlab.models.tpu_runs import recommender


def test_ratings_are_what_their_formula_says() -> None:
    made = recommender.ratings(users=200, movies=100, count=4000)
    again = recommender.ratings(users=200, movies=100, count=4000)
    assert all(
        np.array_equal(a, b) for a, b in zip(vars(made).values(), vars(again).values(), strict=True)
    )
    assert abs(made.liked.mean() - made.chance.mean()) < 0.03
    user = made.users[-1]
    before = [
        m
        for u, m, good in zip(made.users[:-1], made.movies, made.liked, strict=False)
        if u == user and good
    ]
    assert made.history[-1][: len(before)].tolist() == before[::-1][: recommender.HISTORY]


@pytest.mark.exhaustive
def test_it_learns_tastes() -> None:
    """On a mesh: tests/tpu/training, and the guide's recommender in tests/test_readme.py."""
    made = recommender.train(recommender.ratings(users=150, movies=80, count=12_000), passes=5)
    assert made.auc > 0.72
