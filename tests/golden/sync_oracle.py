"""Run schedules of SyncReplicasOptimizer: its real ops in one session, one optimizer for each
worker.

Workers of one graph share accumulators and tokens by name and have local steps of their own, as on
a cluster. An op that blocks stays in its thread; counters behind the ops say how far each has come,
so that nothing depends on time.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from tests.golden.tensorflow_values import Json, tensorflow

PATIENCE = 60.0  # seconds for what happens at once
PAUSE = 0.002
_NOBODY = threading.Thread()


def outputs(scenario: Json) -> list[Json]:
    """What is seen after each call."""
    tf = tensorflow()
    with tf.Graph().as_default():
        played = Played(tf, scenario["setup"])
        with tf.compat.v1.Session() as played.session:
            played.start()
            try:
                return [played.play(call) for call in scenario["calls"]]
            finally:
                played.close()


class Played:
    """One variable, one optimizer per worker around one inner optimizer, and the threads in which
    their ops run.
    """

    session: Any

    def __init__(self, tf: Any, setup: Json) -> None:
        self.tf, self.setup, v1 = tf, setup, tf.compat.v1
        self.step = v1.train.get_or_create_global_step()
        start = np.array(setup["variable_init"], np.float32)
        self.variable = v1.get_variable("v", initializer=start, use_resource=True)
        self.inner = getattr(v1.train, f"{setup['inner_optimizer']}Optimizer")(
            **setup["inner_args"]
        )
        self.names = [f"w{k}" for k in range(setup["workers"])]
        self.feeds, self.train_ops, self.local_steps, self.optimizers = {}, {}, [], []
        self.counters = [
            v1.get_variable(f"counter{k}", initializer=0, use_resource=True) for k in range(2)
        ]
        for name in self.names:
            self._build(name)
        self.chief = self.optimizers[0]
        takes = [
            op for op in v1.get_default_graph().get_operations() if op.type.endswith("TakeGradient")
        ]
        (sync_op,) = self.chief.get_chief_queue_runner().enqueue_ops
        self.sync_op = [sync_op, self._counted(takes[:1], self.counters[1])]
        self.init_tokens = self.chief.get_init_tokens_op(setup["num_init_tokens"])
        self.seen = self._seen()
        self.running: dict[str, threading.Thread] = {}
        self.errors: list[BaseException] = []
        self.pushed = self.finished = self.synced = 0

    def _build(self, name: str) -> None:
        v1, setup = self.tf.compat.v1, self.setup
        if setup["gradient_kind"] == "dense":
            gradient = feeds = v1.placeholder(self.tf.float32, self.variable.shape)
        else:
            feeds = (
                v1.placeholder(self.tf.float32, [None, *self.variable.shape[1:]]),
                v1.placeholder(self.tf.int64, [None]),
            )
            gradient = self.tf.IndexedSlices(
                *feeds, self.tf.constant(self.variable.shape.as_list(), self.tf.int64)
            )
        opt = v1.train.SyncReplicasOptimizer(
            self.inner, setup["replicas_to_aggregate"], setup["total_num_replicas"]
        )
        train_op = opt.apply_gradients([(gradient, self.variable)], self.step)
        opt.ready_for_local_init_op.mark_used()
        (dequeue,) = [
            op
            for op in v1.get_default_graph().get_operations()
            if op.type.startswith("QueueDequeue")
        ][-1:]
        self.feeds[name], self.optimizers = feeds, [*self.optimizers, opt]
        self.train_ops[name] = [train_op, self._counted(dequeue.control_inputs, self.counters[0])]
        self.local_steps.append(opt._local_step)

    def _counted(self, after: list[Any], counter: Any) -> Any:
        with self.tf.control_dependencies(after):
            return counter.assign_add(1).op

    def _seen(self) -> Json:
        return {
            "global_step": self.step,
            "variable": self.variable,
            "tokens_in_queue": self.chief._sync_token_queue.size(),
            "num_accumulated": self.chief._accumulator_list[0][0].num_accumulated(),
            "local_steps": self.local_steps,
            "counters": self.counters,
        }

    def start(self) -> None:
        """What hooks do at the start of a session."""
        v1 = self.tf.compat.v1
        self.session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        self.session.run(
            [self.chief.chief_init_op, *(opt.local_step_init_op for opt in self.optimizers)]
        )
        self.session.run(self.init_tokens)

    def play(self, call: Json) -> Json:
        before = dict(self.running)
        if call["do"] == "train_op":
            self.pushed += 1
            self._run(call["worker"], self.train_ops[call["worker"]], self._fed(call))
        elif call["do"] == "chief_sync_op":
            self._run("chief", self.sync_op, {})
            before["chief"] = self.running["chief"]
        seen = self._settled()
        blocked = [name for name, thread in self.running.items() if thread.is_alive()]
        done = {*before, *([call["worker"]] if "worker" in call else [])} - {*blocked}
        self.running = {name: self.running[name] for name in blocked}
        return {
            "finished": sorted(done - {"chief"}),
            "sync_finished": True if "chief" in done else None,
            **{key: np.asarray(x).tolist() for key, x in seen.items() if key != "counters"},
            "workers_blocked": sorted({*blocked} - {"chief"}),
            "sync_blocked": "chief" in blocked,
        }

    def _fed(self, call: Json) -> Json:
        feeds, written = self.feeds[call["worker"]], call["gradient"]
        if self.setup["gradient_kind"] == "dense":
            return {feeds: np.array(written, np.float32)}
        return {
            feeds[0]: np.array(written["values"], np.float32),
            feeds[1]: np.array(written["indices"], np.int64),
        }

    def _run(self, name: str, ops: list[Any], fed: Json) -> None:
        def run() -> None:
            try:
                self.session.run(ops, fed)
                self._count(name)
            except BaseException as error:
                self.errors.append(error)

        self.running[name] = threading.Thread(target=run, name=name)
        self.running[name].start()

    def _count(self, name: str) -> None:
        if name == "chief":
            self.synced += 1
        else:
            self.finished += 1

    def _settled(self) -> Json:
        """What is seen once every op that runs can go no further."""
        bell, settled = threading.Event(), 0
        for _ in range(int(PATIENCE / PAUSE)):
            # Not at one instant: what is returned was read after all was at rest.
            seen = self.session.run(self.seen)
            if self.errors:
                raise self.errors[0]
            settled = settled + 1 if self._is_settled(seen) else 0
            if settled == 2:
                return seen
            bell.wait(PAUSE)
        raise TimeoutError(f"TensorFlow did not come to rest: {seen}")

    def _is_settled(self, seen: Json) -> bool:
        """All pushes have arrived, no sync is under way, and nobody waits for what is there."""
        pushes, takes = (int(x) for x in seen["counters"])
        size, needs = int(seen["tokens_in_queue"]), self.setup["replicas_to_aggregate"]
        first, per_step = (
            self.setup["num_init_tokens"],
            max(needs, self.setup["total_num_replicas"]),
        )
        given = (needs if first == -1 else first) + self.synced * per_step - size
        all_done = pushes == self.pushed and takes == self.synced and given == self.finished
        worker_may_go = size and self.pushed > self.finished
        chief_may_go = (
            seen["num_accumulated"] >= needs and self.running.get("chief", _NOBODY).is_alive()
        )
        return bool(all_done and not worker_may_go and not chief_may_go)

    def close(self) -> None:
        """End what still waits."""
        self.session.close()
        for thread in self.running.values():
            thread.join()
