"""A TPU system that isn't a TPU: tables that live between operations, and what each operation does to them."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._base.arrays import Array
from ..._base.forks import call_in_child
from ..._base.jax_or_numpy import Mesh
from ...errors import FailedPreconditionError, NoSystemError
from ...rules import Rule
from ..batch import make_classic_batch
from ..lookup import Dedup, pack_dedup
from ..make_batch import Engine, engine_of
from ..plan import Plan, Policy
from ..state import State
from ..step_record import Sent, StepRecord
from ..update import check_rates
from .enqueue import set_combiners
from .parse import parse, plan_of
from .replicas import (
    check_dedup,
    check_equal_rates,
    copy_gradients,
    copy_ids,
    join_shares,
    take_share,
)
from .shapes import cores_per_output
from .step_queue import (
    INFERENCE,
    CoreIds,
    QueuedStep,
    Stage,
    StepQueue,
    batch_mode,
    configured_mode,
)
from .system_tables import SystemTables, empty_accumulator


class System:
    """The tables of one configuration, and the step in progress; `initialize_system` makes it.

    Each step is: `enqueue` once for each core, then on each replica `receive_deduplication_data`,
    `receive_activations` and `send_gradients`; the last replica's makes the update. A core may
    enqueue the next batch when it has received. What comes in another order raises and changes
    nothing. Any thread may call; where replicas run in threads of their own,
    `replica(k, timeout=...)` lets them wait for each other. While `keeps_steps` is True,
    `last_step` is what `explain` explains, at the price of a second copy of the tables.

    Raises:
        ValueError: what `plan_of` refuses, or an unknown engine.

    Source: ops of the TPU embedding family, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import Ids, example_config, initialize_system, shutdown_system
    >>> system = initialize_system(example_config())
    >>> system.enqueue({"t": Ids([0, 1], [3, 3])})
    >>> dedup = system.receive_deduplication_data()
    >>> activations = system.receive_activations(dedup)
    >>> system.send_gradients([np.ones((2, 1))], [], dedup)
    >>> system.retrieve(0)[0].ravel().tolist()
    [0.0, 0.0, 0.0, -1.0]
    >>> shutdown_system()
    """

    def __init__(
        self,
        config: Any,
        mesh: Mesh | None = None,
        policy: Policy | None = None,
        engine: str | Engine = "classic",
        rules: Mapping[str, Rule] | None = None,
    ) -> None:
        self.config = parse(config)
        self.plan: Plan = plan_of(self.config, policy, rules=rules)
        self._make_batch = engine_of(engine)
        self._tables = SystemTables(
            self.plan, mesh, "mod" if self.config.sharding_strategy else "div"
        )
        self._queue = StepQueue(self.plan.cores, cores_per_output(self.config))
        self.keeps_steps = False
        self.last_step: StepRecord | None = None

    def enqueue(
        self, ids: CoreIds, core: int = -1, mode: str = "", combiners: Sequence[str] | None = None
    ) -> None:
        """Put the ids of the features of one core in its queue.

        Args:
            ids: by name of the feature, or of the table where the configuration has no features.
            core: its number among all cores; -1 is that of the current replica.
            mode: "train", "inference" or "backward_pass_only", "" for the configuration's.
            combiners: one for each table; None or empty means "sum" for all.

        Raises:
            InvalidArgumentError: ids that do not fit, see `make_batch`; an unknown core, mode or
                combiner; another mode or other combiners than another core has in this step.
            FailedPreconditionError: the core enqueued already and has not received, or is a batch
                ahead.
        """
        self.enqueue_all({self._queue.core(core): ids}, mode, combiners)

    def enqueue_all(
        self, ids: Mapping[int, CoreIds], mode: str = "", combiners: Sequence[str] | None = None
    ) -> None:
        """Do what `enqueue` does for several cores, by their numbers; all or none."""
        with self._queue.locked():
            plan, mode = (
                set_combiners(self.plan, combiners),
                batch_mode(mode, configured_mode(self.config)),
            )
            chosen = tuple(t.combiner for t in plan.tables)
            step = self._queue.step_for(ids)
            step.check_agreement(mode, chosen)
            step.add_cores(
                mode,
                chosen,
                {k: copy_ids(given) for k, given in ids.items()},
                self._batch(plan, step, ids),
            )
            self._queue.changed.notify_all()

    def receive_deduplication_data(self, replica: int | None = None) -> Dedup:
        """Return which rows the current replica looks up: a tuple with one tuple of vectors, see `lookup`.

        Raises:
            FailedPreconditionError: not all cores have enqueued, or it was received already.
        """
        with self._queue.locked():
            r = self._queue.replica(replica)
            step = self._queue.wait_for_batch(r)
            step.dedup_by_replica[r] = self._dedup(step, r)
            self._queue.advance(r, Stage.DEDUPLICATED)
            return step.dedup_by_replica[r]

    def receive_activations(
        self, dedup: Dedup | None = None, replica: int | None = None
    ) -> tuple[Array, ...]:
        """Return the activations of the current replica, one for each feature of the plan.

        Args:
            dedup: what was received in this step, or equal data; None receives it, if that was not
                done.

        Raises:
            FailedPreconditionError: no deduplication data was received, or the activations were.
            InvalidArgumentError: the deduplication data of another step.
        """
        with self._queue.locked():
            r = self._queue.replica(replica)
            if dedup is None and self._queue.current.stages[r] is not Stage.DEDUPLICATED:
                self.receive_deduplication_data(r)
            step = self._queue.current
            step.check_stage(r, Stage.DEDUPLICATED, "receive activations")
            check_dedup(step.dedup_by_replica[r], dedup)
            if not step.activations:
                step.activations = self._tables.lookup(
                    step.batch, up_to_date=step.mode == INFERENCE
                )
            mine: tuple[Array, ...] = take_share(tuple(step.activations), r, self.replicas)
            self._queue.advance(r, Stage.DONE if step.mode == INFERENCE else Stage.ACTIVATED)
            return mine

    def send_gradients(
        self,
        gradients: Sequence[Any],
        learning_rates: Sequence[Any],
        dedup: Dedup | None = None,
        replica: int | None = None,
    ) -> None:
        """Give the gradients of the activations; the last replica of a step starts the update.

        Args:
            gradients: arrays like the activations.
            learning_rates: a scalar for each tag; the same on all replicas.
            dedup: what was received in this step, or equal data; None is the former.

        Raises:
            FailedPreconditionError: activations were not received, gradients were sent, or the
                batch is for inference.
            InvalidArgumentError: gradients, rates or deduplication data that are not those of this
                step; it names the feature and both shapes.
        """
        with self._queue.locked():
            r = self._queue.replica(replica)
            step = self._queue.step_owing_gradients(r)
            check_dedup(step.dedup_by_replica[r], dedup)
            own = dataclasses.replace(self.plan, cores=self.plan.cores // self.replicas)
            sent = {
                **step.sent,
                r: (copy_gradients(own, gradients), check_rates(self.plan, learning_rates)),
            }
            check_equal_rates({k: rates for k, (_, rates) in sent.items()})
            if len(sent) == self.replicas:
                grads = join_shares([sent[k][0] for k in range(self.replicas)])
                self._update(grads, sent[r][1], step)
            step.sent = sent
            self._queue.advance(r, Stage.DONE)

    def load(
        self, table: int, arrays: Sequence[Any], num_shards: int = 1, shard_id: int = 0
    ) -> None:
        """Put rows of a table and its slots in place: parameters, then slots, of the rows that the host holds.

        Raises InvalidArgumentError, and changes nothing, for another number or shape, or a shard
        that is not there.
        """
        self.load_all({table: arrays}, num_shards, shard_id)

    def load_all(
        self, arrays: Mapping[int, Sequence[Any]], num_shards: int = 1, shard_id: int = 0
    ) -> None:
        """Load many tables; all or none.

        The hidden sum of gradients may be the last array, and must be empty.
        """
        with self._queue.locked():
            self._tables.load(arrays, num_shards, shard_id)

    def retrieve(self, table: int, num_shards: int = 1, shard_id: int = 0) -> list[np.ndarray]:
        """Return copies of the rows of a table that the host holds: parameters, then slots.

        A pipelined update that is held back is made first. InvalidArgumentError: a shard that is
        not there.
        """
        with self._queue.locked():
            return self._tables.read(table, num_shards, shard_id)

    def retrieve_all(self, num_shards: int = 1, shard_id: int = 0) -> list[list[np.ndarray]]:
        """Return what `retrieve` returns of every table, and the hidden sum of gradients where it has one."""
        with self._queue.locked():
            every = [self.retrieve(k, num_shards, shard_id) for k in range(len(self.plan.tables))]
            return [
                [*found, empty_accumulator(found[0].shape)] if t.accumulate else found
                for t, found in zip(self.plan.tables, every, strict=True)
            ]

    @property
    def state(self) -> State:
        """A copy of the tables and slots as they are, for the pure functions."""
        with self._queue.locked():
            return self._tables.copy()

    def deduplication_data(self, replica: int | None = None) -> Dedup:
        """Return the current replica's batch, received or due; FailedPreconditionError if not all have enqueued."""
        with self._queue.locked():
            if self._queue.current.batch is None:
                raise FailedPreconditionError(self._queue.explain_missing_cores())
            return self._dedup(self._queue.current, self._queue.replica(replica))

    def abandon(self) -> None:
        """Forget the step in progress and what is enqueued; the tables stay as they are."""
        with self._queue.locked():
            self._queue.abandon()

    def close(self) -> None:
        """End the system.

        Threads that wait are woken, and every later call raises CancelledError.
        """
        self._queue.close()

    def is_configured_by(self, config: Any) -> bool:
        """Tell whether a configuration is this system's, as bytes or as a message.

        An empty one fits every system.
        """
        own = self.config.SerializeToString(deterministic=True)
        return (
            not config
            or config == own
            or parse(config).SerializeToString(deterministic=True) == own
        )

    @property
    def replicas(self) -> int:
        """The number of replicas; with SPMD sharding each has several cores."""
        return self._queue.replicas

    def _batch(self, plan: Plan, step: QueuedStep, new: Mapping[int, CoreIds]) -> Any:
        """Return the batch of all cores, None until the last has enqueued; ids of new cores are
        checked in any case.
        """
        cores = {**step.cores, **new}
        if len(cores) == plan.cores:
            return self._tables.place_batch(
                self._make_batch(plan, [cores[k] for k in range(plan.cores)])
            )
        for ids in new.values():
            make_classic_batch(dataclasses.replace(plan, cores=1), ids)
        return None

    def _update(self, gradients: Sequence[Array], rates: Sequence[Array], step: QueuedStep) -> None:
        dedup = pack_dedup(step.batch.tables)
        if self.keeps_steps:
            given = Sent(
                gradients, rates, [step.cores[k] for k in range(self.plan.cores)], step.batch
            )
            self.last_step = self._tables.update_and_record(
                given, set_combiners(self.plan, step.combiners), dedup, self.last_step
            )
        else:
            self._tables.update(gradients, rates, dedup)

    def _dedup(self, step: QueuedStep, replica: int) -> Dedup:
        own: Dedup = take_share(pack_dedup(step.batch.tables), replica, self.replicas)
        return own


_guard = threading.Lock()
_current: list[System] = []


def _after_fork() -> None:
    global _guard
    _guard = threading.Lock()  # the list is whole at every instant


call_in_child(_after_fork)


def initialize_system(
    config: Any,
    mesh: Mesh | None = None,
    policy: Policy | None = None,
    engine: str | Engine = "classic",
    rules: Mapping[str, Rule] | None = None,
) -> System:
    """Start the system that the raw operations are about, with all tables 0 and slots as their rules start.

    One that is running ends, and its tables are gone, as on a TPU.

    Args:
        config: a TPUEmbeddingConfiguration, or its bytes.
        mesh: devices that share the rows; None keeps them on one.
        policy: what is not publicly known; None for `Policy()`.
        engine: "classic" (the engine of TPU v2 to v4) or "sparsecore" (v5p and later); or a
            function in the place of `make_batch`, such as
            `functools.partial(gl.tpu.sparsecore.make_batch, per_core=2)`.
        rules: by table, instead of the configured optimizer; see `plan_of`.

    Raises:
        ValueError: bytes that aren't a configuration, or one that cannot be run; the running system
            goes on.

    Source: `tf.compat.v1.tpu.initialize_system`, TensorFlow 2.21 (2026).

    >>> from gradlab.tpu import current_system, example_config, shutdown_system
    >>> initialize_system(example_config()) is current_system()
    True
    >>> shutdown_system()
    """
    new = System(config, mesh, policy, engine, rules)
    with _guard:
        _end()
        _current.append(new)
    return new


def shutdown_system() -> None:
    """End the running system, if there is one; its tables are gone.

    Source: `tf.compat.v1.tpu.shutdown_system`, TensorFlow 2.21 (2026).

    >>> shutdown_system()
    """
    with _guard:
        _end()


def current_system() -> System:
    """Return the running system.

    Raises:
        NoSystemError: none was initialized.

    Not in TensorFlow, where operations find it by their device.

    >>> current_system()
    Traceback (most recent call last):
    gradlab.errors.NoSystemError: there is no TPU system; call gl.tpu.initialize_system(config) first
    """
    if not _current:
        raise NoSystemError("there is no TPU system; call gl.tpu.initialize_system(config) first")
    return _current[0]


def is_initialized() -> bool:
    """Tell whether a system is running."""
    return bool(_current)


def _end() -> None:
    while _current:
        _current.pop().close()
