"""Stale gradients dropped: the check, workers, both races, wrappers in wrappers, a Graph; against a
model of it.
"""

from __future__ import annotations

import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab.errors import MissingStepError, StalenessWarning
from gradlab.train import DropStaleGradientOptimizer
from gradlab.train.drop_stale import update_lock
from gradlab.train.variable import current_collection
from tests.differences import differs
from tests.train.stale_models import START, Event, Run, model, schedules


def test_one_turn_for_each_step() -> None:
    one, other = (gl.Variable(np.int64(0), trainable=False) for _ in range(2))
    assert update_lock(one) is update_lock(one)
    assert update_lock(one) is not update_lock(other)
    with update_lock(one), update_lock(one):  # a wrapper in a wrapper takes it twice
        pass


TIMEOUT = 30.0
INNERS = {
    "sgd": lambda: gl.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: gl.train.MomentumOptimizer(0.1, 0.9),
    "adagrad": lambda: gl.train.AdagradOptimizer(0.1),
    "adam": lambda: gl.train.AdamOptimizer(0.1),
    "rmsprop": lambda: gl.train.RMSPropOptimizer(0.1),
    "ftrl": lambda: gl.train.FtrlOptimizer(0.1),
}


def everything(run: Run) -> list[Any]:
    return [
        run.w.numpy().tobytes(),
        int(run.step),
        [(v.name, v.numpy().tobytes()) for v in run.opt._opt.variables()],
    ]


@given(events=schedules(), limit=st.integers(-2, 3))
def test_any_schedule_is_as_the_model_says(events: list[Event], limit: int) -> None:
    with gl.variable_collection():
        run = Run(limit)
        for event in events:
            run.do(event)
        assert run.state() == model(events, limit)


@given(events=schedules(), limit=st.integers(-2, 3))
def test_a_graph_gives_the_same(events: list[Event], limit: int) -> None:
    with gl.Graph().as_default():
        run = Run(limit)
        for event in events:
            run.do(event)
        assert run.state() == model(events, limit)


@pytest.mark.parametrize("inner", INNERS)
def test_a_drop_changes_nothing_but_the_counter(inner: str) -> None:
    run = Run(0, INNERS[inner]())
    run.compute("a")
    run.compute("b")
    assert run.apply("a") == 0
    before = everything(run)
    assert [run.apply("b"), run.apply("b")] == [1, 2]
    assert everything(run) == before


@pytest.mark.parametrize("inner", INNERS)
def test_accepted_gradients_alone_make_the_result(inner: str) -> None:
    run, plain = Run(0, INNERS[inner]()), gl.Variable(START, name="plain")
    alone = INNERS[inner]()
    for worker in "ab":
        run.compute(worker)
    for worker in "abba":
        run.apply(worker)
        if run.opt.verdict(worker).accepted:
            alone.apply_gradients([(run.pairs[worker][0][0], plain)])
        run.compute(worker)
    assert run.w.numpy().tobytes() == plain.numpy().tobytes()
    assert int(run.step) + int(run.opt.stale_counter) == 4


def test_the_counter_comes_back_as_float32() -> None:
    run = Run(0)
    run.compute()
    assert [x.dtype for x in (run.apply(), run.apply())] == [np.float32] * 2
    assert float(run.opt.stale_counter) == 1.0


def test_the_verdict_tells_the_comparison() -> None:
    run = Run(1)
    assert run.opt.verdict() is None
    for worker in "abc":
        run.compute(worker)
    for worker in "abc":
        run.apply(worker)
    assert [run.opt.verdict(w).comparison for w in "abc"] == ["0 <= 1", "1 <= 1", "2 > 1"]
    assert [run.opt.verdict(w).accepted for w in "abc"] == [True, True, False]


def test_all_variables_stand_or_fall_together() -> None:
    a, b, step = (
        gl.Variable([1.0], name="a"),
        gl.Variable([[2.0]], name="b"),
        gl.get_or_create_global_step(),
    )
    opt = DropStaleGradientOptimizer(gl.train.GradientDescentOptimizer(1.0), 0)
    loss = lambda: a.value.sum() + b.value.sum()  # noqa: E731
    late, first = (opt.compute_gradients(loss, worker=w) for w in ("late", "first"))
    opt.apply_gradients(first, step, worker="first")
    opt.apply_gradients(late, step, worker="late")
    assert (a.numpy().tolist(), b.numpy().tolist()) == ([0.0], [[1.0]])


def test_slices_and_missing_gradients_go_through() -> None:
    table, other, step = (
        gl.Variable(np.ones((3, 2), np.float32)),
        gl.Variable(5.0),
        gl.get_or_create_global_step(),
    )
    opt = DropStaleGradientOptimizer(gl.train.GradientDescentOptimizer(1.0), 0)
    pairs = opt.compute_gradients(lambda: gl.gather(table, [1, 1]).sum(), [table, other])
    assert isinstance(pairs[0][0], gl.IndexedSlices)
    assert pairs[1][0] is None
    assert [float(opt.apply_gradients(iter(pairs), step)) for _ in range(2)] == [0.0, 1.0]
    assert table.numpy().tolist() == [[1, 1], [-1, -1], [1, 1]]
    assert (float(other), int(step)) == (5.0, 1)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("form", ["int", "scalar", "array", "small", "variable", "bool", "np.bool"])
def test_forms_of_the_threshold(dtype: Any, form: str) -> None:
    step = gl.Variable(dtype(0), trainable=False, name="global_step")
    current_collection().global_step = step
    forms = {
        "int": 1,
        "bool": True,
        "np.bool": np.bool_(True),
        "scalar": dtype(1),
        "array": np.array(1, dtype),
    }
    limit = {**forms, "small": np.int8(1), "variable": gl.Variable(dtype(1), trainable=False)}[form]
    run = Run(limit)
    for worker in "abc":
        run.compute(worker)
    assert [run.apply(worker) for worker in "abc"] == [0, 0, 1]
    assert run.step.dtype == dtype


def test_a_variable_as_threshold_is_read_at_each_update() -> None:
    limit = gl.Variable(np.int64(0), trainable=False, name="limit")
    run = Run(limit)
    run.compute()
    run.apply()
    assert run.apply() == 1
    limit.assign(np.int64(5))
    assert run.apply() == 1


@pytest.mark.parametrize(
    ("limits", "late", "counter"), [((0, 5), 1, 1), ((5, 0), 1, 1), ((5, 5), 1, 0), ((0, 0), 1, 1)]
)
def test_a_wrapper_in_a_wrapper_adds_to_one_counter(
    limits: tuple[int, int], late: int, counter: int
) -> None:
    inner = DropStaleGradientOptimizer(gl.train.GradientDescentOptimizer(0.5), limits[0])
    run = Run(limits[1], inner)
    assert run.opt.stale_counter is inner.stale_counter
    run.compute("a")
    run.compute("b")
    assert [run.apply("a"), run.apply("b")] == [0, counter]
    assert int(run.step) == 2 - counter


def test_slots_names_and_variables_are_the_wrapped_optimizers() -> None:
    inner = gl.train.MomentumOptimizer(0.1, 0.9)
    run = Run(0, inner, use_locking=True, name="Mine")
    run.compute()
    run.apply()
    assert (run.opt.get_name(), inner.get_name(), run.opt.use_locking) == ("Mine", "Momentum", True)
    assert run.opt.get_slot(run.w, "momentum") is inner.get_slot(run.w, "momentum") is not None
    assert run.opt.get_slot(run.w, "other") is None
    assert run.opt.get_slot_names() == ["momentum"]
    assert [v.name for v in run.opt.variables()] == ["stale_counter:0", "w/Momentum:0"]
    assert run.opt.stale_counter not in gl.trainable_variables()
    assert repr(run.opt) == f"DropStaleGradientOptimizer('Mine', opt={inner!r}, staleness=0)"


def test_the_summary_counts_drops_for_each_update_and_one() -> None:
    run = Run(-1)
    assert run.opt.summaries() == {"Gradient_staleness_percentage": 0.0}
    run.compute()
    for _ in range(3):
        run.apply()
    ((tag, value),) = run.opt.summaries().items()
    assert (tag, float(value), value.dtype) == ("Gradient_staleness_percentage", 3.0, np.float32)
    run.step.assign(5)
    assert run.opt.summaries()[tag] == np.float32(3) / np.float32(6)


def test_minimize_returns_the_counter() -> None:
    run = Run(0)
    assert [float(run.opt.minimize(run.loss, run.step)) for _ in range(3)] == [0, 0, 0]
    assert run.state() == ([1.0, -0.5], 3, 0.0)


def test_minimize_in_a_graph_computes_at_every_run() -> None:
    with gl.Graph().as_default() as graph:
        run = Run(0, gl.train.MomentumOptimizer(0.5, 0.9), name="Mine")
        op = run.opt.minimize(run.loss, run.step, [run.w])
        assert run.opt.get_slot(run.w, "momentum") is not None
        assert run.state() == (START.tolist(), 0, 0.0)
        assert not [o for o in [op, *graph.get_collection("train_op")] if "Mine" in o.name]
    assert [float(op.run()) for _ in range(2)] == [0.0, 0.0]
    np.testing.assert_allclose(run.w.numpy(), [-1.6, 0.8], rtol=1e-6)
    assert int(run.step) == 2
    run.step.assign(7)
    assert op.run() == 0  # the step is noted at every run too


def test_an_operation_run_again_finds_its_gradient_stale() -> None:
    with gl.Graph().as_default():
        run = Run(0)
        run.compute()
        op = run.opt.apply_gradients(run.pairs[None], run.step)
        run.compute()  # a later step of the same worker is not the operation's
        assert [float(op.run()) for _ in range(3)] == [0.0, 1.0, 2.0]


def test_jax_variables_stay_on_jax() -> None:
    v, step = gl.Variable(jnp.float32([8.0])), gl.get_or_create_global_step()
    opt = DropStaleGradientOptimizer(gl.train.MomentumOptimizer(0.25, 0.9), 0)
    pairs = opt.compute_gradients(lambda: (v.value**2).sum(), [v])
    assert [float(opt.apply_gradients(pairs, step)) for _ in range(2)] == [0.0, 1.0]
    assert isinstance(v.value, jax.Array)
    assert v.numpy().tolist() == [4.0]


def test_the_arguments_are_tensorflows_and_more() -> None:
    parameters = list(inspect.signature(DropStaleGradientOptimizer).parameters.values())
    assert [(p.name, p.default) for p in parameters[:4]] == [
        ("opt", inspect.Parameter.empty),
        ("staleness", inspect.Parameter.empty),
        ("use_locking", False),
        ("name", "DropStaleGradient"),
    ]
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters[4:])


# The two races, forced and prevented.


@differs(
    "two workers at one check",
    tensorflow="both may pass it before either updates",
    gradlab="check and update are one piece; `atomic=False` is as TensorFlow",
    strict="as by default",
)
@pytest.mark.parametrize(("atomic", "expected"), [(False, (2, 0)), (True, (1, 1))])
def test_two_workers_pass_the_check_before_either_updates(
    atomic: bool, expected: tuple[int, int]
) -> None:
    run = Run(0, atomic=atomic)
    for worker in "ab":
        run.compute(worker)
    passed = {w: run.opt.check(run.step, worker=w) for w in "ab"}
    assert [verdict.comparison for verdict in passed.values()] == ["0 <= 0", "0 <= 0"]
    for worker in "ab":
        run.opt.update(passed[worker], run.pairs[worker], run.step, worker=worker)
    assert run.state()[1:] == expected
    assert run.opt.verdict("b").accepted is not atomic


@differs(
    "when the step of a gradient is noted",
    tensorflow="possibly after the weights are read, so that it looks newer",
    gradlab="before; `step_first=False` is as TensorFlow",
    strict="as by default",
)
@pytest.mark.parametrize(("step_first", "seen", "counter"), [(False, 1, 0), (True, 0, 1)])
def test_a_step_noted_after_the_forward_pass_makes_an_old_gradient_look_new(
    step_first: bool, seen: int, counter: int
) -> None:
    run = Run(0, step_first=step_first)
    run.pairs["old"] = run.opt.forward(run.loss, worker="old")
    run.compute("new")
    run.apply("new")
    assert run.opt.note_step("old") == run.opt.local_step("old") == seen
    assert run.apply("old") == counter
    assert int(run.step) == 2 - counter


def test_a_forward_pass_without_its_step_cannot_be_applied() -> None:
    run = Run(0, step_first=False)
    run.compute()
    run.pairs[None] = run.opt.forward(run.loss)
    with pytest.raises(MissingStepError, match="no step was noted for this thread"):
        run.apply()


@pytest.mark.parametrize("step_first", [True, False])
def test_the_loss_sees_the_step_noted_or_not(step_first: bool) -> None:
    """An update while the loss runs: noted before it the step is old, noted after it is not."""
    run = Run(9, step_first=step_first)

    def loss() -> Any:
        run.step.assign(4)
        return run.loss()

    run.opt.compute_gradients(loss, [run.w])
    assert run.opt.local_step() == (0 if step_first else 4)


class Paused(gl.train.GradientDescentOptimizer):
    """Tells that it was reached, and updates when it may."""

    def __init__(self, rate: float) -> None:
        super().__init__(rate)
        self.reached, self.may = threading.Semaphore(0), threading.Event()

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        self.reached.release()
        assert self.may.wait(TIMEOUT)
        return super().apply_gradients(*args, **kwargs)


def test_threads_race_between_check_and_update_if_it_is_not_atomic() -> None:
    inner = Paused(0.5)
    run = Run(0, inner, atomic=False)
    for worker in "ab":
        run.compute(worker)
    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(run.apply, worker) for worker in "ab"]
        assert inner.reached.acquire(timeout=TIMEOUT)
        assert inner.reached.acquire(timeout=TIMEOUT)  # both have passed the check
        inner.may.set()
        assert [float(f.result(TIMEOUT)) for f in done] == [0.0, 0.0]
    assert int(run.step) == 2


def test_atomic_updates_of_threads_are_counted_to_the_last() -> None:
    """Every application is either an update or a drop, and every update was accepted."""
    workers, rounds = 6, 20
    run = Run(2)
    start = threading.Barrier(workers)

    def work(_: int) -> list[bool]:
        start.wait(TIMEOUT)
        kept = []
        for _ in range(rounds):
            pairs = run.opt.compute_gradients(run.loss, [run.w])
            run.opt.apply_gradients(pairs, run.step)
            kept.append(run.opt.verdict().accepted)
            assert run.opt.verdict().staleness <= 2 or not kept[-1]
        return kept

    with ThreadPoolExecutor(workers) as pool:
        kept = [x for part in pool.map(work, range(workers)) for x in part]
    assert (int(run.step), int(run.opt.stale_counter)) == (sum(kept), kept.count(False))
    assert len(kept) == workers * rounds


def test_wrappers_of_one_step_take_turns() -> None:
    """As on a cluster, where each worker has a wrapper of its own."""
    inner = Paused(0.5)
    run = Run(0, inner)
    other = DropStaleGradientOptimizer(gl.train.GradientDescentOptimizer(0.5), 0)
    run.compute("a")
    pairs = other.compute_gradients(run.loss, worker="b")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(run.apply, "a")
        # The first is at its update, and the turn is not free.
        assert inner.reached.acquire(timeout=TIMEOUT)
        assert not update_lock(run.step).acquire(blocking=False)
        second = pool.submit(other.apply_gradients, pairs, run.step, worker="b")
        inner.may.set()
        assert float(first.result(TIMEOUT)) == 0.0
        assert float(second.result(TIMEOUT)) == 1.0
    assert int(run.step) == 1


def test_an_update_that_waits_for_other_workers_is_not_in_one_piece_with_the_check() -> None:
    sync = gl.train.SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 2)
    with pytest.raises(ValueError, match="atomic=False"):
        gl.train.DropStaleGradientOptimizer(sync, 0)
    run = Run(0, sync, atomic=False)
    with pytest.raises(ValueError, match="atomic=False"):
        gl.train.DropStaleGradientOptimizer(run.opt, 0)

    def work(worker: str) -> None:
        with sync.worker(worker):
            for _ in range(3):
                run.opt.minimize(run.loss, run.step, worker=worker)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in "ab"]
    with sync.chief(num_tokens=0):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert run.state() == ([0.0, 0.0], 3, 0.0)


def test_threads_are_workers_of_their_own() -> None:
    run = Run(5)
    run.compute()
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(MissingStepError, match="no step was noted for this thread"),
    ):
        pool.submit(run.apply).result(TIMEOUT)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(run.opt.minimize, run.loss, run.step).result(TIMEOUT)
        assert pool.submit(run.opt.local_step).result(TIMEOUT) == 0
    run.compute()
    assert run.opt.local_step() == 1


# What is refused.


@pytest.mark.parametrize(
    ("limit", "error", "message"),
    [
        (0.5, TypeError, "staleness must be an integer, or int64 as the global step, got float32"),
        (None, ValueError, "staleness is None; give an integer"),
        ("1", TypeError, "staleness must be numbers, got '1'"),
        (
            np.float32(1),
            TypeError,
            "staleness must be an integer, or int64 as the global step, got float32",
        ),
        (
            jnp.int32(1),
            TypeError,
            "staleness must be an integer, or int64 as the global step, got int32",
        ),
        ([0, 1], ValueError, r"staleness must be a scalar, got shape \(2,\)"),
        (np.zeros(2, np.int64), ValueError, r"staleness must be a scalar, got shape \(2,\)"),
    ],
)
@pytest.mark.parametrize("strict", [None, "tf"])
def test_thresholds_that_are_refused(limit: Any, error: type, message: str, strict: Any) -> None:
    def use() -> None:
        run = Run(limit, strict=strict)
        run.compute()
        run.apply()

    with gl.Graph().as_default(), pytest.raises(error, match=message):
        use()


def test_a_graph_refuses_a_threshold_before_anything_runs() -> None:
    with gl.Graph().as_default():
        run = Run(jnp.int32(1))
        run.compute()
        with pytest.raises(TypeError, match="staleness must be an integer, or int64"):
            run.opt.apply_gradients(run.pairs[None], run.step)


@pytest.mark.parametrize("opt", ["not an optimizer", None, gl.train.AdamOptimizer])
def test_what_is_no_optimizer(opt: Any) -> None:
    with pytest.raises(TypeError, match="opt must be an optimizer such as"):
        DropStaleGradientOptimizer(opt, 0)
    assert DropStaleGradientOptimizer(opt, 0, strict="tf").get_name() == "DropStaleGradient"


@pytest.mark.parametrize("name", [None, ""])
def test_a_name_is_needed(name: Any) -> None:
    with pytest.raises(ValueError, match="name must be a non-empty string"):
        DropStaleGradientOptimizer(gl.train.GradientDescentOptimizer(0.1), 0, name=name)


def test_what_is_missing() -> None:
    run = Run(0)
    pairs = gl.train.GradientDescentOptimizer(0.1).compute_gradients(run.loss)
    for error in (AttributeError, RuntimeError):
        with pytest.raises(
            error, match="no step was noted for worker 'a': call compute_gradients with the same"
        ):
            run.opt.apply_gradients(pairs, run.step, worker="a")
    run.compute()
    with pytest.raises(ValueError, match="global_step is needed"):
        run.opt.apply_gradients(pairs)
    with pytest.raises(ValueError, match="global_step is needed"):
        run.opt.minimize(run.loss)
    with (
        gl.variable_collection(),
        pytest.raises(AttributeError, match=r"call gl.get_or_create_global_step\(\) first"),
    ):
        run.opt.compute_gradients(run.loss, [run.w])


@pytest.mark.parametrize(
    "given", [[], [(None, "w")], [(np.zeros(3, np.float32), "w")], [(np.zeros(2), "w")], [3]]
)
def test_bad_gradients_are_refused_even_if_they_would_be_dropped(given: list[Any]) -> None:
    run = Run(-9)
    run.compute()
    pairs = [pair if pair == 3 else (pair[0], run.w) for pair in given]
    with pytest.raises((ValueError, TypeError)):
        run.opt.apply_gradients(pairs, run.step)
    assert run.state() == (START.tolist(), 0, 0.0)


def test_a_loss_that_fails_leaves_the_noted_step() -> None:
    run = Run(0)
    run.compute()
    run.step.assign(3)
    with pytest.raises(ZeroDivisionError):
        run.opt.compute_gradients(lambda: 1 / 0, [run.w])
    assert run.opt.local_step() == 0


def test_steps_of_two_variables_are_compared_with_a_warning() -> None:
    run = Run(2)
    other = gl.Variable(np.int64(3), trainable=False, name="other")
    run.compute()
    with pytest.warns(StalenessWarning, match="read from global_step:0, the step now from other:0"):
        counter = run.opt.apply_gradients(run.pairs[None], other)
    assert (float(counter), int(run.step), int(other)) == (1.0, 0, 3)
    assert list(run.opt.summaries().values()) == [0.25]  # by the step of the update


def test_steps_of_two_dtypes_are_not_compared() -> None:
    run = Run(2)
    other = gl.Variable(np.int32(0), trainable=False, name="other")
    run.compute()
    with pytest.raises(TypeError, match="step, global_step:0, is int64, but other:0 is int32"):
        run.opt.apply_gradients(run.pairs[None], other)


@pytest.mark.parametrize("strict", ["TF", True, ""])
def test_strict_is_a_word(strict: Any) -> None:
    with pytest.raises(ValueError, match='strict must be None or "tf"'):
        DropStaleGradientOptimizer(gl.train.GradientDescentOptimizer(0.1), 0, strict=strict)
    with pytest.raises(ValueError, match='strict must be None or "tf"'):
        gl.gradients(lambda: 1.0, [], strict=strict)


@differs(
    "`DropStaleGradientOptimizer` outside a Graph",
    tensorflow="TypeError",
    gradlab="works",
    strict="as TensorFlow",
)
@differs(
    "`DropStaleGradientOptimizer.variables()`",
    tensorflow="empty",
    gradlab="the wrapped optimizer's and the counter",
    strict="as TensorFlow",
)
@differs(
    "`DropStaleGradientOptimizer`: a second `apply_gradients` in a Graph",
    tensorflow="ValueError",
    gradlab="works",
    strict="as TensorFlow",
)
def test_strict_is_tensorflows() -> None:
    run = Run(0, strict="tf")
    with pytest.raises(TypeError, match=r'strict="tf" works in a Graph only'):
        run.compute()
    with gl.Graph().as_default():
        run = Run(0, strict="tf")
        run.compute()
        assert run.apply() == 0
        assert run.opt.variables() == []
        with pytest.raises(ValueError, match="stale_counter exists already"):
            run.apply()
        second = Run(0, strict="tf")
        second.compute()
        with pytest.raises(ValueError, match="stale_counter exists already"):
            second.apply()
