"""Training embedding tables by TensorFlow's interface for SparseCores."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...._base.jax_or_numpy import Mesh
from ....errors import FailedPreconditionError, InvalidArgumentError
from ....rules import Rule
from ...batch import Batch, Cores
from ...engine.messages import table_of
from ...engine.proto import GradientAccumulationStatus, TPUEmbeddingConfiguration
from ...engine.system import System
from ...make_batch import Engine
from ...plan import Plan, Policy
from ...sparsecore import Buffers, Limits, Preprocessed, as_v2, preprocess, stack
from .config_writer import write_table
from .embedding import TPUEmbedding
from .optimizer import Optimizer
from .table_config import TableConfig


@dataclass(frozen=True)
class SparseCoreEmbeddingConfig:
    """Settings of how SparseCores share the work.

    Args:
        disable_table_stacking: every table is looked up on its own.
        max_ids_per_table, max_unique_ids_per_table: limits of a partition by name of the stack; 256
            where it has none.
        allow_id_dropping: ids beyond a limit are left out instead of refused.

    The others are kept, without effect.

    Source: `tf.tpu.experimental.embedding.SparseCoreEmbeddingConfig`, TensorFlow 2.21 (2026).

    >>> SparseCoreEmbeddingConfig(max_ids_per_table={"t": 8}).limits(["t"])
    {'t': Limits(max_ids=8, max_unique_ids=256)}
    """

    disable_table_stacking: bool = False
    max_ids_per_chip_per_sample: int = 64
    max_ids_per_table: Mapping[str, int] | None = None
    max_unique_ids_per_table: Mapping[str, int] | None = None
    allow_id_dropping: bool = False
    initialize_tables_on_host: bool = True
    enable_fast_table_initialization: bool = False

    def limits(self, stacks: list[str]) -> dict[str, Limits]:
        """Return the limits of each stack."""
        ids, unique = self.max_ids_per_table or {}, self.max_unique_ids_per_table or {}
        return {
            s: Limits(ids.get(s, Limits().max_ids), unique.get(s, Limits().max_unique_ids))
            for s in stacks
        }


@dataclass
class SparseCoreHost:
    """The engine, which keeps what it made last."""

    config: SparseCoreEmbeddingConfig | None
    per_core: int
    made: Preprocessed | None = None

    def __post_init__(self) -> None:
        self.stacking = self.config is None or not self.config.disable_table_stacking

    def __call__(self, plan: Plan, cores: Cores) -> Batch:
        layout = stack(plan, self.per_core, enabled=self.stacking)
        limits = (
            None if self.config is None else self.config.limits([s.name for s in layout.stacks])
        )
        dropping = self.config is not None and self.config.allow_id_dropping
        options: Any = {
            "per_core": self.per_core,
            "layout": layout,
            "limits": limits,
            "allow_id_dropping": dropping,
        }
        self.made = preprocess(plan, cores, **options)
        return self.made.batch


class TPUEmbeddingV2:
    """Embedding tables that SparseCores look up and train.

        activations, preserved = embedding.embedding_lookup(features)
        embedding.apply_gradients(gradients, preserved)

    Args:
        feature_config, optimizer, pipeline_execution_with_tensor_core: as for `TPUEmbedding`.
        sparse_core_embedding_config: None for tables stacked where they can be, and limits that
            never bind; in TensorFlow they are then 256.
        per_core: SparseCores of each core, which share its samples equally: 4 on v5p, 2 on v6e.
            A batch that they can't share is refused, where TensorFlow's operations end the process
            or lose the last samples; fill it up with samples without ids.
        num_cores, mesh, policy, seed: as for `TPUEmbedding`.
        engine: None stands for a machine without SparseCores.

    Raises:
        RuntimeError: engine=None, as in TensorFlow outside a TPUStrategy.
        NotImplementedError: weight decay.
        ValueError: an optimizer that it does not have, and what `TPUEmbedding` refuses.

    What TensorFlow never reads is warned about and has no effect: limits of gradients and weights,
    use_gradient_accumulation=False, lazy_adam=False. `embedding` is the same by the older
    interface, with `load`, `retrieve`, `save`, `restore` and `system`. Differs from TensorFlow:
    lookups come in the order of enqueueing, and each is followed by its gradients unless
    training=False; tables are whole, by their TableConfig.

    Source: `tf.tpu.experimental.embedding.TPUEmbeddingV2`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> tpu = gl.tpu.experimental.embedding
    >>> table = tpu.TableConfig(8, 2, tpu.RowIdInitializer(), combiner="sum", name="t")
    >>> embedding = TPUEmbeddingV2(tpu.FeatureConfig(table), tpu.SGD(0.5), per_core=2)
    >>> activations, preserved = embedding.embedding_lookup([[7, 3], [7]])
    >>> activations.tolist()
    [[10.0, 10.0], [7.0, 7.0]]
    >>> embedding.apply_gradients(np.ones((2, 2), np.float32), preserved)
    >>> embedding.embedding_tables[table][[3, 7]].tolist()
    [[2.5, 2.5], [6.0, 6.0]]
    """

    def __init__(
        self,
        feature_config: Any,
        optimizer: Optimizer | None = None,
        pipeline_execution_with_tensor_core: bool = False,
        sparse_core_embedding_config: SparseCoreEmbeddingConfig | None = None,
        *,
        per_core: int = 4,
        num_cores: int | None = None,
        mesh: Mesh | None = None,
        policy: Policy | None = None,
        engine: str | None = "sparsecore",
        seed: int = 0,
    ) -> None:
        if engine is None:
            raise RuntimeError(
                "TPUEmbeddingV2 needs SparseCores; TPUEmbedding(..., "
                "engine=None) has tables without"
            )
        if engine != "sparsecore":
            raise ValueError(f"engine must be 'sparsecore' or None, got {engine!r}")
        self._host = SparseCoreHost(sparse_core_embedding_config, per_core)
        self.embedding: TPUEmbedding = _Seen(
            feature_config,
            optimizer,
            pipeline_execution_with_tensor_core,
            num_cores=num_cores,
            mesh=mesh,
            policy=policy,
            engine=self._host,
            seed=seed,
        )
        # Until they are received, or their gradients sent.
        self._batches: deque[dict[str, Buffers]] = deque()
        self._are_trained: deque[bool] = deque()  # of those that are not received

    def build(
        self, per_replica_input_shapes: Any = None, per_replica_batch_size: int | None = None
    ) -> None:
        """Do what `TPUEmbedding.build` does; `enqueue` calls it, too."""
        self.embedding.build(per_replica_input_shapes, per_replica_batch_size)

    @property
    def embedding_tables(self) -> dict[TableConfig, np.ndarray]:
        """The tables as they are now."""
        return self.embedding.embedding_tables

    @property
    def variables(self) -> dict[str, dict[str, np.ndarray]]:
        """Tables and slots as they are now, by name of the table; copies."""
        return self.embedding.retrieve()

    def enqueue(
        self,
        features: Any,
        weights: Any = None,
        device: str | int | None = None,
        *,
        training: bool = True,
    ) -> dict[str, Buffers] | None:
        """Prepare a batch: the buffers of the SparseCores by stack, None while other cores are to follow.

        Arguments and errors are those of `TPUEmbedding.enqueue`, and what `sparsecore.preprocess`
        refuses.
        """
        self._host.made = None
        self.embedding.enqueue(features, weights, training, device=device)
        if self._host.made is None:
            return None
        self._batches.append(self._host.made.buffers)
        self._are_trained.append(training)
        return self._host.made.buffers

    def dequeue(
        self, partitioned_tensors: Mapping[str, Buffers] | None = None
    ) -> tuple[Any, dict[str, Buffers]]:
        """Return activations, nested like the features, and what `apply_gradients` takes.

        Args:
            partitioned_tensors: what `enqueue` gave; None is the oldest.

        Raises:
            RuntimeError: nothing was enqueued.
            InvalidArgumentError: buffers of another batch.
        """
        batch = self._oldest(partitioned_tensors)
        activations = self.embedding.dequeue()
        if not self._are_trained.popleft():
            self._batches.popleft()
        return activations, batch

    def embedding_lookup(
        self, features: Any, weights: Any = None, *, training: bool = True
    ) -> tuple[Any, dict[str, Buffers]]:
        """Enqueue and dequeue. FailedPreconditionError: the lookup before still owes gradients."""
        if len(self._batches) > len(self._are_trained):
            raise FailedPreconditionError(
                "the lookup before owes gradients: apply_gradients, or look up training=False"
            )
        return self.dequeue(self.enqueue(features, weights, training=training))

    def __call__(self, features: Any, weights: Any = None) -> tuple[Any, dict[str, Buffers]]:
        return self.embedding_lookup(features, weights)

    def apply_gradients(
        self, gradients: Any, preserved_outputs: Mapping[str, Buffers] | None = None
    ) -> None:
        """Update the rows that were looked up; see `TPUEmbedding.apply_gradients`.

        Args:
            preserved_outputs: the second output of the lookup; None is that of the oldest.
        """
        self._oldest(preserved_outputs)
        self.embedding.apply_gradients(gradients)
        self._batches.popleft()

    @classmethod
    def compute_sparse_core_stats(
        cls,
        features: Any,
        feature_config: Any,
        num_tpu_chips: int,
        num_sc_per_chip: int = 4,
        optimizer: Optimizer | None = None,
        sparse_core_embedding_config: SparseCoreEmbeddingConfig | None = None,
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Return the limits that a batch needs, by stack: the most ids, and different ids, of any partition."""
        stacking = (
            sparse_core_embedding_config is None
            or not sparse_core_embedding_config.disable_table_stacking
        )
        made = cls(feature_config, optimizer, per_core=num_sc_per_chip, num_cores=num_tpu_chips)
        made._host.stacking = stacking
        made.enqueue(features)
        found = made._host.made.statistics if made._host.made else {}
        ids, unique = (
            {k: int(getattr(s, n).max()) for k, s in found.items()} for n in ("ids", "unique_ids")
        )
        return ids, unique

    def _oldest(self, given: Mapping[str, Buffers] | None) -> dict[str, Buffers]:
        if not self._batches:
            raise FailedPreconditionError(
                "nothing is enqueued; call enqueue or embedding_lookup first"
            )
        if given is not None and given is not self._batches[0]:
            raise InvalidArgumentError(
                "these are not the buffers of the oldest batch; batches keep their order"
            )
        return self._batches[0]


class _Seen(TPUEmbedding):
    """Tables of which only those settings count that TPUEmbeddingV2 reads."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        tags, found = {f: k for k, f in enumerate(self._functions)}, []
        for t in self._tables:
            optimizer = cast(Optimizer, t.optimizer)
            if (
                optimizer.weight_decay_factor is not None
                or optimizer.multiply_weight_decay_factor_by_learning_rate
            ):
                raise NotImplementedError(f"table {t.name!r}: TPUEmbeddingV2 has no weight decay")
            message = TPUEmbeddingConfiguration.TableDescriptor()
            write_table(message, t, 1, tags)
            found.append(table_of(message, rule=optimizer.rule))
        self._rules = {t.name: t.rule for t in as_v2(Plan(tuple(found), ())).tables}

    def _system_of(
        self, config: TPUEmbeddingConfiguration, rules: Mapping[str, Rule], engine: str | Engine
    ) -> System:
        for t in config.table_descriptor:
            p = t.optimization_parameters
            p.ClearField("clipping_limits")
            p.ClearField("gradient_clipping_limits")
            p.gradient_accumulation_status = GradientAccumulationStatus.ENABLED
        return super()._system_of(config, self._rules, engine)
