"""A recommender of two towers: the same ratings, batches and starts in gradlab, in plain JAX, and
in PyTorch.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradlab.models.tpu_runs import recommender as model
from tests.benchmarks.table import Row

WHAT = "recommender, 60,000 ratings, 6 passes: AUC on the last tenth"


def rows() -> Iterator[Row]:
    """One line each: the time of all passes, compiling included, and the area under the curve."""
    data = model.ratings()
    held = model.held_out(data)
    best = model.auc(data.liked[held.ravel()], data.chance[held.ravel()])
    ours = None
    for who, run in {
        "gradlab": _ours,
        "plain JAX, dense gradients": _plain,
        "PyTorch, EmbeddingBag": _torch,
    }.items():
        if run is _torch and importlib.util.find_spec("torch") is None:
            yield Row(WHAT, who, note="not installed")
            continue
        start = time.perf_counter()
        area = run(data)
        spent = 1000 * (time.perf_counter() - start)
        ours = ours or spent
        yield Row(
            WHAT,
            who,
            spent,
            ratio=spent / ours,
            note=f"AUC {area:.4f}; who knows the tastes has {best:.4f}",
        )


def _ours(data: model.Ratings) -> float:
    return model.train(data).auc


def _start(data: model.Ratings) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    plan = model.plan_of(int(data.users.max()) + 1, int(data.movies.max()) + 1)
    return [model.start_of(t)(np.arange(t.rows)) for t in plan.tables], model.tower()


def _area(data: model.Ratings, scores: Any) -> float:
    held = model.held_out(data)
    return model.auc(
        data.liked[held.ravel()], np.concatenate([np.asarray(scores(some)) for some in held])
    )


def _plain(data: model.Ratings) -> float:
    import jax
    import jax.numpy as jnp
    import optax

    tables, params = jax.tree.map(jnp.asarray, _start(data))
    slots, tx = [jnp.full_like(t, model.START) for t in tables], optax.adam(model.TOWER_RATE)
    carried = tx.init(params)

    def activations(tables: Any, users: Any, movies: Any, history: Any) -> Any:
        there = (history >= 0)[..., None]
        mean = (tables[1][history] * there).sum(1) / jnp.maximum(there.sum(1), 1)
        return tables[0][users], mean, tables[1][movies]

    def loss(tables: Any, params: Any, liked: Any, *ids: Any) -> Any:
        return model.loss_of(activations(tables, *ids), params, liked)

    @jax.jit
    def step(tables: Any, slots: Any, params: Any, carried: Any, *data: Any) -> Any:
        rows, dense = jax.grad(loss, (0, 1))(tables, params, *data)
        slots = [s + g * g for s, g in zip(slots, rows, strict=True)]
        moves = (model.TABLES_RATE * g / jnp.sqrt(s) for g, s in zip(rows, slots, strict=True))
        updates, carried = tx.update(dense, carried, params)
        return (
            [w - m for w, m in zip(tables, moves, strict=True)],
            slots,
            optax.apply_updates(params, updates),
            carried,
        )

    for some in model.parts_of(data, model.PASSES):
        ids = data.users[some], data.movies[some], data.history[some]
        tables, slots, params, carried = step(
            tables, slots, params, carried, data.liked[some], *ids
        )
    score = jax.jit(lambda *ids: model.scores_of(activations(tables, *ids), params))
    return _area(data, lambda some: score(data.users[some], data.movies[some], data.history[some]))


def _torch(data: model.Ratings) -> float:
    import torch

    torch.set_num_threads(1)  # for tensors as small as these, more only wait for one another
    tables, start = _start(data)
    users, movies = (
        torch.nn.EmbeddingBag.from_pretrained(torch.tensor(t), freeze=False, sparse=True)
        for t in tables
    )
    users.mode = movies.mode = "mean"
    params = {name: torch.tensor(w, requires_grad=True) for name, w in start.items()}
    sparse = torch.optim.Adagrad(
        [users.weight, movies.weight],
        model.TABLES_RATE,
        initial_accumulator_value=model.START,
        eps=0.0,
    )
    dense = torch.optim.Adam(params.values(), model.TOWER_RATE)

    def scores(some: np.ndarray) -> Any:
        history = data.history[some]
        at, place = np.nonzero(history >= 0)
        offsets = torch.tensor(np.searchsorted(at, np.arange(some.size)))
        liked_before = movies(torch.tensor(history[at, place]), offsets)
        left = torch.cat([users(torch.tensor(data.users[some])[:, None]), liked_before], 1)
        left = torch.relu(left @ params["user"]) @ params["user out"]
        right = (
            torch.relu(movies(torch.tensor(data.movies[some])[:, None]) @ params["movie"])
            @ params["movie out"]
        )
        return (left * right).sum(1)

    for some in model.parts_of(data, model.PASSES):
        sparse.zero_grad(), dense.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            scores(some), torch.tensor(data.liked[some])
        )
        loss.backward()
        sparse.step(), dense.step()
    with torch.no_grad():
        return _area(data, scores)
