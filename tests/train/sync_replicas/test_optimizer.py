"""What an update is made of, who is late, and what is refused; nobody waits here."""

from __future__ import annotations

import random
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab.train.sync_replicas import SyncReplicasOptimizer
from tests.differences import differs


class Training:
    """One variable of two weights under gradient descent with learning rate 1."""

    def __init__(
        self, needs: int, workers: int | None = None, tokens: int = 0, inner: Any = None
    ) -> None:
        self.v, self.step = gl.Variable([0.0, 0.0], name="v"), gl.get_or_create_global_step()
        self.opt = SyncReplicasOptimizer(
            inner or gl.train.GradientDescentOptimizer(1.0), needs, workers
        )
        self.opt.build(self.pairs(0.0), self.step)
        self.opt.get_init_tokens_op(tokens).run()

    def pairs(self, g: float) -> list[Any]:
        return [(np.float32([g, 2 * g]), self.v)]

    def push(self, worker: str, g: float = 1.0) -> bool:
        return self.opt.push(self.pairs(g), worker).accepted

    @property
    def counted(self) -> int:
        return self.opt.accumulators[self.v].num_accumulated()


def test_an_update_is_the_mean_and_brings_one_token_for_each_worker() -> None:
    t = Training(2)
    assert [t.push("w0", 1.0), t.opt.try_sync(), t.push("w1", 3.0)] == [True, None, True]
    update = t.opt.try_sync()
    assert update is not None
    assert (update.step, update.contributors, update.dropped) == (1, ("w0", "w1"), ())
    assert t.v.numpy().tolist() == [-2.0, -4.0] and int(t.step) == 1
    assert t.opt.tokens == (1, 1)
    assert [t.opt.local_step("w0"), t.opt.try_token("w0"), t.opt.local_step("w0")] == [0, 1, 1]
    assert [t.opt.try_token("w1"), t.opt.try_token("w1")] == [1, None]


def test_a_backup_worker_that_comes_late_is_dropped_and_still_gets_a_token() -> None:
    t = Training(2, 3)
    assert t.opt.tokens_per_step == 3
    assert [t.push("w0", 1.0), t.push("w1", 3.0)] == [True, True]
    assert t.opt.try_sync() is not None
    push = t.opt.push(t.pairs(100.0), "late")
    assert (push.accepted, push.local_step, push.receipts["v:0"].comparison) == (False, 0, "0 < 1")
    assert [t.opt.try_token(w) for w in ("w0", "w1", "late")] == [1, 1, 1]
    assert t.v.numpy().tolist() == [-2.0, -4.0] and t.opt.local_step("late") == 1
    assert [t.push("late"), t.push("w0")] == [True, True]
    assert t.opt.try_sync() == t.opt.updates[1]
    assert (t.opt.updates[1].contributors, t.opt.updates[1].dropped) == (("late", "w0"), ("late",))


def test_a_backup_worker_that_comes_before_the_take_is_averaged_in() -> None:
    t = Training(2, 3)
    for k in (1.0, 3.0, 5.0):
        t.push(f"w{k}", k)
    assert t.opt.try_sync() is not None
    assert t.v.numpy().tolist() == [-3.0, -6.0]


def test_a_chief_that_waits_takes_exactly_as_many_as_it_needs() -> None:
    t = Training(2, 3)
    sync = t.opt.request_sync()
    assert [t.push("w0", 1.0), sync.done, t.push("w1", 3.0), sync.done] == [True, False, True, True]
    assert t.push("w2", 5.0) is False  # the round is over, though nobody has updated yet
    assert t.opt.finish(sync).contributors == ("w0", "w1")
    assert t.v.numpy().tolist() == [-2.0, -4.0]


def test_syncs_are_served_in_order_and_a_cancelled_one_takes_nothing() -> None:
    t = Training(1)
    first, second = t.opt.request_sync(), t.opt.request_sync()
    t.opt.cancel(first)
    assert t.push("w0") and second.done
    assert t.opt.finish(second).step == 1
    with pytest.raises(gl.errors.CancelledError):
        first.pairs()


def test_a_sync_is_finished_once_and_when_it_is_done() -> None:
    t = Training(1)
    sync = t.opt.request_sync()
    with pytest.raises(ValueError, match="finish needs a sync that is done, once"):
        t.opt.finish(sync)
    t.push("w0")
    t.opt.finish(sync)
    with pytest.raises(ValueError, match="finish needs a sync that is done, once"):
        t.opt.finish(sync)
    assert int(t.step) == 1


def test_with_the_default_start_tokens_one_worker_may_fill_the_first_round() -> None:
    t = Training(2, tokens=-1)
    assert t.opt.tokens == (0, 0)
    for _ in range(2):
        assert t.push("w0") and t.opt.try_token("w0") == 0
    update = t.opt.try_sync()
    assert update is not None and update.contributors == ("w0", "w0")
    assert t.push("w1") is False


def test_with_fewer_workers_left_over_start_tokens_drop_gradients_of_current_weights() -> None:
    t = Training(3, 2, tokens=-1)
    for worker in ("w0", "w1", "w0"):
        assert t.push(worker) and t.opt.try_token(worker) == 0
    assert t.opt.try_sync() is not None
    assert t.push("w0") is False  # computed after the update, but marked with the step of its token


@pytest.mark.parametrize(("needs", "workers"), [(1, 1), (2, 2), (4, 4), (3, 2), (5, 2), (5, 3)])
@pytest.mark.parametrize("seed", range(5))
def test_the_fewest_start_tokens_make_every_round_synchronous(
    needs: int, workers: int, seed: int
) -> None:
    t = Training(needs, workers, tokens=max(0, needs - workers))
    draw, free, waiting = random.Random(seed), [f"w{k}" for k in range(workers)], {}
    for _ in range(40 * needs):
        choice = draw.choice([*free, "chief"])
        if choice == "chief":
            t.opt.try_sync()
        else:
            assert t.push(choice), "no gradient is ever late"
            waiting[choice] = t.opt.request_token(choice)
        waiting = {worker: taker for worker, taker in waiting.items() if not taker.done}
        free = [f"w{k}" for k in range(workers) if f"w{k}" not in waiting]
    assert len(t.opt.updates) >= 5
    assert all(
        len(u.contributors) == needs and len(set(u.contributors)) == workers for u in t.opt.updates
    )


def test_rows_that_one_worker_touched_are_not_divided_and_equal_rows_are_summed() -> None:
    table, step = (
        gl.Variable(np.zeros((4, 1), np.float32), name="table"),
        gl.get_or_create_global_step(),
    )
    opt = SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 2)
    first = [(gl.IndexedSlices(np.float32([[4.0], [1.0], [1.0]]), [1, 0, 0], (4, 1)), table)]
    opt.build(first, step)
    opt.push(first, "w0")
    opt.push([(gl.IndexedSlices(np.float32([[8.0], [6.0]]), [1, 3]), table)], "w1")
    assert opt.try_sync() is not None
    assert table.numpy().ravel().tolist() == [-2.0, -6.0, 0.0, -6.0]
    assert isinstance(opt.accumulators[table], gl.SparseConditionalAccumulator)


def test_a_variable_without_gradient_gets_no_accumulator_and_stays() -> None:
    v, w, step = (
        gl.Variable([0.0], name="v"),
        gl.Variable([5.0], name="w"),
        gl.get_or_create_global_step(),
    )
    opt = SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 1)
    pairs = [([1.0], v), (None, w)]
    opt.build(pairs, step)
    assert list(opt.accumulators) == [v]
    assert opt.push(pairs, "w0").accepted and opt.try_sync() is not None
    assert (v.numpy().tolist(), w.numpy().tolist()) == ([-1.0], [5.0])


def test_slots_are_the_inner_optimizers_and_lie_with_the_variables_whoever_is_the_chief() -> None:
    t = Training(1, inner=gl.train.MomentumOptimizer(1.0, 0.5))
    t.push("w0")
    with gl.variable_collection() as elsewhere:
        t.opt.try_sync()
    assert t.opt.get_slot_names() == ["momentum"] and list(elsewhere) == []
    slot = t.opt.get_slot(t.v, "momentum")
    assert slot is not None and slot.numpy().tolist() == [1.0, 2.0]
    assert t.opt.variables() == [slot] and t.opt.get_name() == "sync_replicas"


def test_jax_gradients_and_weights_stay_jax() -> None:
    v, step = gl.Variable(jnp.zeros(2), name="v"), gl.get_or_create_global_step()
    opt = SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 2)
    for k, worker in enumerate(("w0", "w1")):
        opt.build([(jnp.ones(2), v)], step)
        opt.push([(jnp.full(2, 1.0 + k), v)], worker)
    opt.try_sync()
    assert isinstance(v.value, type(jnp.zeros(1))) and v.numpy().tolist() == [-1.5, -1.5]


def test_averages_are_told_after_each_update() -> None:
    class Averages:
        seen: list[Any]

        def __init__(self) -> None:
            self.seen = []

        def apply(self, variables: list[gl.Variable]) -> None:
            self.seen += [v.numpy().tolist() for v in variables]

    averages, v, step = Averages(), gl.Variable([0.0], name="v"), gl.get_or_create_global_step()
    opt = SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 1, None, averages, [v])
    opt.build([([1.0], v)], step)
    for _ in range(2):
        opt.push([([1.0], v)], "w")
        opt.try_sync()
        opt.try_token("w")
    assert averages.seen == [[-1.0], [-2.0]]
    # What raises there is raised once the update counts, and does not make it twice.
    opt._variables_to_average = [None]
    opt.push([([1.0], v)], "w")
    with pytest.raises(AttributeError):
        opt.try_sync()
    assert (
        v.numpy().tolist() == [-3.0]
        and [u.step for u in opt.updates] == [1, 2, 3]
        and opt.try_token("w") == 3
    )
    assert opt.try_sync() is None


def test_a_worker_begins_with_the_step_at_which_it_first_computes_or_else_at_which_all_began() -> (
    None
):
    t = Training(1, tokens=0)
    t.push("w0")
    t.opt.try_sync()
    assert t.opt.local_step("new") == 0  # nobody knows how old its weights are
    t.opt.compute_gradients(lambda: (t.v * t.v).sum(), worker="new")
    assert t.opt.local_step("new") == 1
    with t.opt.worker("other"):
        assert t.opt.local_step("other") == 1
    assert t.push("new") and t.push("other")


def test_training_that_goes_on_at_a_later_step_begins_there() -> None:
    gl.get_or_create_global_step().assign(100)
    t = Training(1)
    assert (t.opt.local_step("w0"), t.push("w0"), t.opt.try_sync(), t.opt.tokens) == (
        100,
        True,
        t.opt.updates[-1],
        (101,),
    )


def test_apply_gradients_and_minimize_push_and_take_a_token() -> None:
    t = Training(2, tokens=2)
    push = t.opt.apply_gradients(t.pairs(2.0), t.step, worker="w0")
    assert (push.accepted, push.token, t.opt.tokens) == (True, 0, (0,))
    push = t.opt.minimize(lambda: (t.v.value * jnp.float32([4.0, 8.0])).sum(), t.step, worker="w1")
    assert (push.worker, push.accepted, t.opt.tokens) == ("w1", True, ())
    assert t.opt.try_sync() is not None
    assert t.v.numpy().tolist() == [-3.0, -6.0]


@differs(
    "whose call it is in `SyncReplicasOptimizer`",
    tensorflow="each worker has an object of its own",
    gradlab="one object for all; `worker`, by default the name of the thread",
)
def test_a_worker_is_its_thread_by_default() -> None:
    t = Training(1, tokens=1)
    assert t.opt.apply_gradients(t.pairs(1.0), t.step).worker == "MainThread"


class TestInAGraph:
    """Described first, run later."""

    def test_the_operation_pushes_and_takes_a_token_at_every_run(self) -> None:
        with gl.Graph().as_default() as graph:
            t = Training(2, inner=gl.train.AdamOptimizer(1.0))
            op = t.opt.apply_gradients(t.pairs(1.0), t.step, worker="w0")
            again = t.opt.minimize(lambda: (t.v * t.v).sum(), t.step, [t.v], worker="w1")
            start = t.opt.get_init_tokens_op()
            names = [v.name for v in t.opt.variables()]
        assert names == ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]
        assert (t.counted, t.opt.tokens) == (0, ())
        start.run()
        op.run()
        again.run()
        assert (t.counted, t.opt.tokens) == (2, ())
        assert t.opt.try_sync() is not None
        assert int(t.step) == 1 and (t.v.numpy() != 0).all()
        with graph.as_default():
            assert [v.name for v in t.opt.variables()] == names

    def test_minimize_computes_its_gradients_anew(self) -> None:
        with gl.Graph().as_default():
            t = Training(1, tokens=0)
            op = t.opt.minimize(lambda: (t.v * t.v).sum(), t.step, worker="w")
        t.v.assign([3.0, 4.0])
        t.opt.put_tokens(1)
        op.run()
        assert t.opt.accumulators[t.v].peek().value.tolist() == [6.0, 8.0]


class TestRefused:
    """Bad input: an error, and everything as it was."""

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ((0,), ValueError, "replicas_to_aggregate must be at least 1, got 0"),
            ((1.5,), TypeError, "replicas_to_aggregate must be an integer, got 1.5"),
            ((True,), TypeError, "must be an integer, got True"),
            ((2, 0), ValueError, "total_num_replicas must be at least 1, got 0"),
            ((2, None, object()), TypeError, "variable_averages must have a method apply"),
            ((2, None, None, None, False, ""), ValueError, "name must be a non-empty string"),
        ],
    )
    def test_arguments(
        self, arguments: tuple[Any, ...], error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), *arguments)

    @pytest.mark.parametrize("opt", [None, 0.1, gl.train.GradientDescentOptimizer])
    def test_what_is_no_optimizer(self, opt: Any) -> None:
        with pytest.raises(TypeError, match="opt must be an optimizer such as"):
            SyncReplicasOptimizer(opt, 1)

    def test_what_tells_workers_apart(self) -> None:
        inner = gl.train.GradientDescentOptimizer(1.0)
        for opt in (gl.train.DropStaleGradientOptimizer(inner, 0), SyncReplicasOptimizer(inner, 1)):
            with pytest.raises(TypeError, match="a mean is of several workers"):
                SyncReplicasOptimizer(opt, 1)

    @pytest.mark.parametrize(
        ("pairs", "error", "message"),
        [
            (lambda v, w: [], ValueError, "grads_and_vars is empty"),
            (lambda v, w: [(None, v)], ValueError, "No gradients provided for any variable"),
            (
                lambda v, w: [(object(), v)],
                gl.errors.NotAGradientError,
                "a gradient is an array, IndexedSlices or None",
            ),
            (lambda v, w: [("abc", v)], gl.errors.NotAGradientError, "must be numbers"),
            (lambda v, w: [([1.0], "v")], gl.errors.NotAVariableError, "Variable"),
            (lambda v, w: [[1.0]], gl.errors.NotPairsError, "pairs"),
            (lambda v, w: [([1.0, 2.0], v)], gl.errors.InvalidArgumentError, "v:0 has shape"),
            (lambda v, w: [(np.ones(1), v)], gl.errors.DTypeError, "float64"),
            (lambda v, w: [([1.0], v), ([1.0], v)], ValueError, "a variable comes twice"),
            (lambda v, w: [([1.0], v)], ValueError, "first of v:0, w:0, now of v:0"),
            (lambda v, w: [([1.0], v), (None, w)], ValueError, "first of v:0, w:0, now of v:0"),
            (
                lambda v, w: [([1.0], v), (gl.IndexedSlices([1.0], [0]), w)],
                ValueError,
                r"now of v:0, w:0 \(Indexed",
            ),
            (
                lambda v, w: [([1.0], v), ([1.0, 1.0], w)],
                gl.errors.InvalidArgumentError,
                "w:0 has shape",
            ),
        ],
    )
    def test_pairs(self, pairs: Any, error: type[Exception], message: str) -> None:
        v, w, step = (
            gl.Variable([0.0], name="v"),
            gl.Variable([0.0], name="w"),
            gl.get_or_create_global_step(),
        )
        opt = SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 1)
        opt.build([([1.0], v), ([1.0], w)], step)
        opt.put_tokens(1)
        for act in (
            lambda: opt.push(pairs(v, w), "w0"),
            lambda: opt.apply_gradients(pairs(v, w), step, worker="w0"),
        ):
            with pytest.raises(error, match=message):
                act()
        assert [a.num_accumulated() for a in opt.accumulators.values()] == [0, 0]
        assert (opt.tokens, int(step), opt.try_sync()) == ((0,), 0, None)

    def test_no_global_step_or_another_one(self) -> None:
        v, step = gl.Variable([0.0], name="v"), gl.get_or_create_global_step()
        opt = SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 1)
        with pytest.raises(ValueError, match="global_step is required"):
            opt.apply_gradients([([1.0], v)])
        with pytest.raises(TypeError, match="global_step must be an integer scalar"):
            opt.apply_gradients([([1.0], v)], v)
        assert opt.accumulators == {}
        opt.build([([1.0], v)], step)
        with pytest.raises(ValueError, match="global_step was global_step:0, got other:0"):
            opt.apply_gradients([([1.0], v)], gl.Variable(np.int64(0), name="other"))

    def test_what_comes_before_the_first_push(self) -> None:
        opt = SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 1)
        for early in (
            opt.get_chief_queue_runner,
            opt.get_init_tokens_op,
            opt.make_session_run_hook(True).begin,
        ):
            with pytest.raises(
                ValueError, match=r"call opt\.build\(grads_and_vars, global_step\) first"
            ):
                early()
        for early in (
            opt.try_sync,
            lambda: opt.push([([1.0], gl.Variable([0.0]))], "w"),
            lambda: opt.put_tokens(1),
        ):
            with pytest.raises(ValueError, match="comes later: call"):
                early()

    def test_too_few_start_tokens(self) -> None:
        t = Training(5, 2, tokens=3)
        for start in (t.opt.get_init_tokens_op, t.opt.chief):
            with pytest.raises(
                ValueError, match="the first update needs 3 start tokens, got num_tokens=2"
            ):
                start(2)
        with pytest.raises(ValueError, match="num_tokens must be at least -1, got -2"):
            Training(1, 4).opt.get_init_tokens_op(-2)
        with pytest.raises(TypeError, match=r"num_tokens must be an integer, got 1\.5"):
            t.opt.chief(num_tokens=1.5)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="tokens can only be put in, got -1 of them"):
            t.opt.put_tokens(-1)
        with pytest.raises(TypeError, match="float"):
            t.opt.put_tokens(1.5)  # type: ignore[arg-type]
        assert len(t.opt.tokens) == 3

    @pytest.mark.parametrize(
        ("timeout", "error"), [(-1.0, ValueError), (float("nan"), ValueError), ("1 s", TypeError)]
    )
    def test_time_limits(self, timeout: Any, error: type[Exception]) -> None:
        t = Training(1)
        waits = (
            lambda: t.opt.apply_gradients([([1.0, 1.0], t.v)], t.step, timeout=timeout),
            lambda: t.opt.take_token(timeout=timeout),
            lambda: t.opt.sync(timeout=timeout),
            lambda: t.opt.chief(timeout=timeout),
        )
        for wait in waits:
            with pytest.raises(error, match="timeout must be None or a number of seconds"):
                wait()
        assert (t.opt.why_waiting(), t.opt.accumulators[t.v].num_accumulated()) == ([], 0)

    def test_a_failed_update_loses_no_gradient(self) -> None:
        rates: list[Any] = [lambda: 1 / 0, lambda: 1.0]
        t = Training(2, inner=gl.train.GradientDescentOptimizer(lambda: rates.pop(0)()))
        t.push("w0", 1.0)
        t.push("w1", 3.0)
        with pytest.raises(ZeroDivisionError):
            t.opt.try_sync()
        assert (int(t.step), t.opt.tokens, t.opt.updates) == (0, (), ())
        update = t.opt.try_sync()
        assert update is not None and update.contributors == ("w0", "w1")
        assert t.v.numpy().tolist() == [-2.0, -4.0]


def test_it_says_what_it_is() -> None:
    t = Training(2, 3)
    assert repr(t.opt).startswith("SyncReplicasOptimizer(GradientDescentOptimizer(")
    assert repr(t.opt).endswith(", 2, 3, name='sync_replicas')")
