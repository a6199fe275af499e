"""AGN, elastic averaging and model averaging with several workers of one process."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.contrib import opt as contrib
from tests.differences import differs

SGD = gl.train.GradientDescentOptimizer


def make_workers(getter_class: Any, count: int = 2) -> tuple[list[Any], list[gl.Variable]]:
    """Return getters that share a center, and the variable "w" of each worker."""
    first = getter_class("worker:0")
    others = [getter_class(f"worker:{k}", center_of=first) for k in range(1, count)]
    getters = [first, *others]
    return getters, [getter(gl.Variable, "w", initial_value=[8.0]) for getter in getters]


def values(variables: list[gl.Variable]) -> list[float]:
    return [float(v.numpy()[0]) for v in variables]


# Getters.


def test_a_getter_makes_a_center_for_trainable_variables_only() -> None:
    getter = contrib.ModelAverageCustomGetter("worker:0")
    v = getter(gl.Variable, "v", initial_value=[1.0])
    count = getter(gl.Variable, "count", trainable=False, initial_value=0)
    assert list(getter.centers) == [v]
    assert (v.trainable, getter.centers[v].trainable, count.trainable) == (True, False, False)


def test_workers_start_from_the_center_that_they_share() -> None:
    first = contrib.ElasticAverageCustomGetter("worker:0")
    v = first(gl.Variable, "w", initial_value=[8.0])
    second = contrib.ElasticAverageCustomGetter("worker:1", center_of=first)
    w = second(gl.Variable, "w", initial_value=[3.0])
    assert second.centers[w] is first.centers[v]
    assert w.numpy().tolist() == [8.0]
    assert second.seconds[w] is not first.seconds[v]


@pytest.mark.parametrize(
    "make",
    [
        lambda getter: contrib.AGNOptimizer(SGD(1.0), 1, getter),
        lambda getter: contrib.ElasticAverageOptimizer(SGD(1.0), 1, getter),
        lambda getter: contrib.ModelAverageOptimizer(SGD(1.0), 1, True, getter),
    ],
    ids=["AGN", "elastic", "model"],
)
def test_a_center_is_needed(make: Any) -> None:
    with pytest.raises(gl.errors.NoGetterError, match="is needed"):
        make(None)
    getters = (
        contrib.AGNCustomGetter("a"),
        contrib.ElasticAverageCustomGetter("b"),
        contrib.ModelAverageCustomGetter("c"),
    )
    opts = []
    for getter in getters:
        try:
            opts.append(make(getter))
        except gl.errors.NoGetterError:
            continue
    (opt,) = opts
    v = gl.Variable([1.0], name="alone")
    step = gl.Variable(0, trainable=False)
    with pytest.raises(gl.errors.NoCenterError, match="alone:0 has no variable at the center"):
        opt.apply_gradients([([1.0], v)], step)
    assert v.numpy().tolist() == [1.0]


# Workers in turns.


def test_agn_workers_bring_the_center_their_mean_gradients() -> None:
    getters, (v, w) = make_workers(contrib.AGNCustomGetter)
    center = getters[0].centers[v]
    opts = [contrib.AGNOptimizer(SGD(1.0), 2, getter, 2) for getter in getters]
    for g in (1.0, 3.0):
        opts[0].apply_gradients([([g], v)])
    assert values([v, w, center]) == [6.0, 8.0, 6.0]
    for g in (2.0, 2.0):
        opts[1].apply_gradients([([g], w)])
    assert values([v, w, center]) == [6.0, 4.0, 4.0]


def test_elastic_workers_pull_at_the_center_and_it_at_them() -> None:
    getters, (v, w) = make_workers(contrib.ElasticAverageCustomGetter)
    center = getters[0].centers[v]
    opts = [
        contrib.ElasticAverageOptimizer(SGD(1.0), 2, getter, 1, moving_rate=0.5)
        for getter in getters
    ]
    opts[0].apply_gradients([([4.0], v)])
    assert values([v, w, center]) == [6.0, 8.0, 6.0]
    opts[1].apply_gradients([([0.0], w)])
    assert values([v, w, center]) == [6.0, 7.0, 7.0]


@differs(
    "variables of `AGNOptimizer`, `ElasticAverageOptimizer` and `ModelAverageOptimizer`",
    tensorflow="start from the center when a hook of the session runs",
    gradlab="start from it when they are made, or when a worker joins by `get_init_op`",
)
def test_a_worker_that_joins_starts_from_the_center() -> None:
    with gl.variable_collection():
        getters, (v, w) = make_workers(contrib.AGNCustomGetter)
        opt = contrib.AGNOptimizer(SGD(1.0), 2, getters[0], 1)
        opt.apply_gradients([([4.0], v)])
        assert values([v, w]) == [4.0, 8.0]
        contrib.AGNOptimizer(SGD(1.0), 2, getters[1], 1).get_init_op(1)
        assert values([v, w]) == [4.0, 4.0]


def test_there_is_nothing_to_join_without_variables() -> None:
    with gl.variable_collection():
        opt = contrib.AGNOptimizer(SGD(1.0), 1, contrib.AGNCustomGetter("a"))
        with pytest.raises(ValueError, match="made by the custom getter"):
            opt.get_init_op(0)


# Workers in threads.


@differs(
    "a fast worker of `ModelAverageOptimizer`",
    tensorflow="may take the token of a slow one, which then waits forever",
    gradlab="waits for the next mean",
)
def test_model_averaging_waits_for_all_workers_and_goes_on_from_their_mean() -> None:
    getters, variables = make_workers(contrib.ModelAverageCustomGetter, 3)
    step = gl.Variable(0, trainable=False)
    seen: dict[int, list[float]] = {}

    def work(k: int) -> None:
        opt = contrib.ModelAverageOptimizer(SGD(1.0), 3, k == 0, getters[k], interval_steps=2)
        for _ in range(4):
            opt.apply_gradients([([float(k)], variables[k])], step)
            seen.setdefault(k, []).append(float(variables[k].numpy()[0]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    # Alone a worker moves by k a step; after two steps all are at the mean.
    assert seen == {k: [8.0 - k, 6.0, 6.0 - k, 4.0] for k in range(3)}
    assert int(step) == 2


# Arguments.


def test_elastic_averaging_needs_rho_beside_adam() -> None:
    getter = contrib.ElasticAverageCustomGetter("a")
    with pytest.raises(gl.errors.NoRateError, match="pass rho"):
        contrib.ElasticAverageOptimizer(gl.train.AdamOptimizer(), 1, getter)
    with pytest.raises(TypeError, match="pass rho"):
        contrib.ElasticAverageOptimizer(SGD(lambda: 0.1), 1, getter)
    contrib.ElasticAverageOptimizer(gl.train.AdamOptimizer(), 1, getter, rho=0.1)


def test_elastic_averaging_is_of_float32() -> None:
    getter = contrib.ElasticAverageCustomGetter("a")
    v = getter(gl.Variable, "w", initial_value=np.float64([1.0]))
    opt = contrib.ElasticAverageOptimizer(SGD(1.0), 1, getter)
    with pytest.raises(gl.errors.DTypeError, match="float64"):
        opt.apply_gradients([(np.float64([1.0]), v)])


def test_a_center_saves_under_the_names_of_the_variables() -> None:
    with gl.variable_collection():
        getter = contrib.ElasticAverageCustomGetter("a")
        v = getter(gl.Variable, "w", initial_value=[8.0])
        opt = contrib.ElasticAverageOptimizer(SGD(1.0), 1, getter)
        assert opt.swapping_saver() == {"w": getter.centers[v]}


# State.


def test_a_state_holds_the_count_of_local_steps() -> None:
    getter = contrib.AGNCustomGetter("a")
    v = getter(gl.Variable, "w", initial_value=[8.0])
    opt = contrib.AGNOptimizer(gl.train.MomentumOptimizer(1.0, 0.5), 1, getter, 3)
    opt.apply_gradients([([1.0], v)])
    later = contrib.AGNOptimizer(gl.train.MomentumOptimizer(1.0, 0.5), 1, getter, 3)

    later.load_state_dict(opt.state_dict(), [v])

    assert int(later.local_step) == 1
    assert later._opt.get_slot(v, "momentum").numpy().tolist() == [1.0]


@pytest.mark.parametrize("copied", [copy.deepcopy, pickle.dumps])
def test_an_optimizer_that_shares_a_center_is_not_copied(copied: Any) -> None:
    opt = contrib.AGNOptimizer(SGD(1.0), 1, contrib.AGNCustomGetter("a"))
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copied(opt)
