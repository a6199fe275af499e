"""A recommender of two towers on ratings that are made: tables of users and movies, two dense layers above each.

The ratings are as those of MovieLens are in kind: a few movies have most of them, users differ in
how many they give, and a user's taste is a point in a space of which the model knows nothing but
ids and what the user liked before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.extras import need
from ..._base.jax import jax, jnp
from ...rules import Adagrad
from ...tpu.batch import Batch, PlacedBatch
from ...tpu.ids import Ids
from ...tpu.make_batch import make_batch
from ...tpu.plan import Feature, Plan, Table
from ...tpu.row_owners import Placement
from ...tpu.sharding import create_placed, place_batch
from ...tpu.state import create
from ...tpu.training import Training, TrainState

WIDTH, HIDDEN, BATCH, HISTORY = 16, 32, 512, 5
# Gradients of means are small, so the slots start small.
TABLES_RATE, TOWER_RATE, START, PASSES = 0.1, 2e-3, 1e-6, 6
HELD_OUT = 0.1  # the last tenth is for measuring
TASTE, SHARPNESS = 4, 2.5  # the axes of tastes, and how much a taste decides


@dataclass(frozen=True)
class Ratings:
    """Ratings in the order of time.

    Attributes:
        users, movies: (ratings,) who rated what.
        liked: (ratings,) 1 or 0.
        history: (ratings, 5) what the user had liked last before, -1 for none.
        chance: (ratings,) the probability with which `liked` was drawn: nobody can know more.
    """

    users: np.ndarray
    movies: np.ndarray
    liked: np.ndarray
    history: np.ndarray
    chance: np.ndarray


def ratings(users: int = 1_000, movies: int = 500, count: int = 60_000, seed: int = 0) -> Ratings:
    """Make ratings; the same seed gives the same.

        P(u rates) ~ lognormal(0, 1);   P(m is rated) ~ 1 / (rank + 10)
        P(liked) = sigmoid(2.5 * taste[u] . kind[m] / sqrt(4) + quality[m]);   taste, kind ~ N(0, 1) on 4 axes,
        quality ~ N(0, 0.5)

    >>> r = ratings(users=20, movies=10, count=100)
    >>> r.history.shape, bool(0 < r.liked.mean() < 1)
    ((100, 5), True)
    """
    numbers = np.random.default_rng([seed, users, movies])
    often = numbers.lognormal(size=users)
    wanted = 1 / (numbers.permutation(movies) + 10)
    who = numbers.choice(users, count, p=often / often.sum())
    what = numbers.choice(movies, count, p=wanted / wanted.sum())
    taste, kind = numbers.normal(size=(users, TASTE)), numbers.normal(size=(movies, TASTE))
    logit = (
        SHARPNESS * (taste[who] * kind[what]).sum(1) / np.sqrt(TASTE)
        + numbers.normal(0, 0.5, movies)[what]
    )
    chance = 1 / (1 + np.exp(-logit))
    liked = (numbers.random(count) < chance).astype(np.float32)
    return Ratings(who, what, liked, _histories(who, what, liked, users), chance)


def _histories(who: np.ndarray, what: np.ndarray, liked: np.ndarray, users: int) -> np.ndarray:
    last, found = np.full((users, HISTORY), -1), np.empty((who.size, HISTORY), int)
    for k, (user, movie, good) in enumerate(zip(who, what, liked, strict=True)):
        found[k] = last[user]
        if good:
            last[user] = [movie, *last[user, :-1]]
    return found


def plan_of(users: int, movies: int, cores: int = 1) -> Plan:
    """Two tables; movies are read as such and as what a user liked before."""
    tables = (
        Table(
            "users", users, WIDTH, Adagrad(START, epsilon_place="none"), TABLES_RATE, combiner="sum"
        ),
        Table(
            "movies",
            movies,
            WIDTH,
            Adagrad(START, epsilon_place="none"),
            TABLES_RATE,
            combiner="mean",
        ),
    )
    each = (BATCH // cores,)
    return Plan(
        tables,
        (Feature("user", 0, each), Feature("history", 1, each), Feature("movie", 1, each)),
        cores,
    )


def tower(seed: int = 0) -> dict[str, np.ndarray]:
    """The weights of both towers: (32, 32) and (32, 16) above users, (16, 32) and (32, 16) above movies."""
    numbers = np.random.default_rng([seed, 3])
    sizes = {"user": (2 * WIDTH, HIDDEN), "user out": (HIDDEN, WIDTH), "movie": (WIDTH, HIDDEN)}
    sizes["movie out"] = (HIDDEN, WIDTH)
    return {
        name: numbers.normal(0, size[0] ** -0.5, size).astype(np.float32)
        for name, size in sizes.items()
    }


def scores_of(activations: Any, params: Any, data: Any = None) -> Any:
    """(samples,) the logit of a like."""
    user, history, movie = activations
    left = (
        jax.nn.relu(jnp.concatenate([user, history], axis=-1) @ params["user"]) @ params["user out"]
    )
    right = jax.nn.relu(movie @ params["movie"]) @ params["movie out"]
    return (left * right).sum(-1)


def loss_of(activations: Any, params: Any, liked: Any) -> Any:
    """The mean cross-entropy of likes, in nats."""
    scores = scores_of(activations, params)
    return (jnp.logaddexp(0.0, scores) - liked * scores).mean()


def start_of(table: Table, seed: int = 0) -> Any:
    """An initializer that knows nothing but ids: the same rows on any mesh."""

    def rows(ids: np.ndarray) -> np.ndarray:
        whole = np.random.default_rng([seed, table.rows]).normal(
            0, WIDTH**-0.5, (table.rows, WIDTH)
        )
        found: np.ndarray = whole[ids].astype(np.float32)
        return found

    return rows


@dataclass(frozen=True, eq=False)
class Recommender:
    """The result of a run: the loss of each step, the area under the ROC curve on ratings held out, and the state."""

    loss: np.ndarray
    auc: float
    state: TrainState


def train(
    data: Ratings | None = None, passes: int = PASSES, seed: int = 0, mesh: Any = None
) -> Recommender:
    """Some passes over nine tenths of the ratings, and the area under the curve for the rest.

    Not in TensorFlow. Source: Harper and Konstan, "The MovieLens Datasets" (2015), for what such
    ratings look like.
    """
    data = ratings() if data is None else data
    users, movies = int(data.users.max()) + 1, int(data.movies.max()) + 1
    plan = plan_of(users, movies, 1 if mesh is None else mesh.size)
    starts = [start_of(t, seed) for t in plan.tables]
    if mesh is None:
        tables = create(
            plan, [start(np.arange(t.rows)) for start, t in zip(starts, plan.tables, strict=True)]
        )
    else:
        tables = create_placed(plan, mesh, starts)
    training = Training(loss_of, need("optax", "the recommender", "optax").adam(TOWER_RATE))
    state, losses = training.init(tables, tower(seed)), []
    for some in parts_of(data, passes, seed):
        value, state = training.step(
            state, batch_of(plan, state.tables.placement, data, some), data.liked[some]
        )
        losses.append(value)
    held, scores = held_out(data), []
    for some in held:
        batch = batch_of(plan, state.tables.placement, data, some)
        scores.append(np.asarray(training.evaluate(state, batch, data.liked[some], scores_of)))
    return Recommender(
        np.array(losses, np.float32), auc(data.liked[held.ravel()], np.concatenate(scores)), state
    )


def parts_of(data: Ratings, passes: int, seed: int = 0) -> Iterator[np.ndarray]:
    """The ratings of each step, shuffled again in every pass."""
    count = int(data.liked.size * (1 - HELD_OUT))
    for number in range(passes):
        order = np.random.default_rng([seed, 2, number]).permutation(count)
        yield from order[: count // BATCH * BATCH].reshape(-1, BATCH)


def held_out(data: Ratings) -> np.ndarray:
    """(batches, samples) of ratings that are for measuring."""
    rest = np.arange(int(data.liked.size * (1 - HELD_OUT)), data.liked.size)
    return rest[: rest.size // BATCH * BATCH].reshape(-1, BATCH)


def batch_of(
    plan: Plan, placement: Placement, data: Ratings, some: np.ndarray
) -> Batch | PlacedBatch:
    """The ids of some ratings, by core."""
    cores = []
    for own in some.reshape(plan.cores, -1):
        every, history = np.arange(own.size), data.history[own]
        at, place = np.nonzero(history >= 0)
        cores.append(
            {
                "user": Ids(every, data.users[own]),
                "history": Ids(at, history[at, place]),
                "movie": Ids(every, data.movies[own]),
            }
        )
    return place_batch(plan, placement, make_batch(plan, cores))


def auc(liked: np.ndarray, scores: np.ndarray) -> float:
    """The area under the ROC curve: how often a like has the higher score of a pair, ties counting half.

    >>> auc(np.array([0, 1, 1]), np.array([0.1, 0.1, 0.2]))
    0.75
    """
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    good = liked > 0
    n, m = int(good.sum()), int((~good).sum())
    return float((ranks[good].sum() - n * (n + 1) / 2) / (n * m))
