"""Training embedding tables by TensorFlow's mid-level interface: from features to a system that holds the tables."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...._base.arrays import Array, is_jax
from ...._base.jax_or_numpy import Mesh, jnp
from ...._base.options import check_count
from ....errors import EmbeddingWarning, warn
from ....rules import Rule
from ...batch import resolve_ids
from ...engine.proto import TPUEmbeddingConfiguration
from ...engine.system import System
from ...ids import Ids
from ...make_batch import Engine
from ...plan import Plan, Policy
from .config_writer import configuration, functions_of, name_features
from .custom import CustomCombiner, CustomOptimizer
from .host_inputs import (
    check_known,
    merge_shapes,
    output_shape,
    read_format,
    shape_of_one_core,
    shapes_of_batch,
    shapes_of_inputs,
    split_ids,
)
from .optimizer import Optimizer
from .structure import leaves_like, packed_like
from .table_config import Shape, TableConfig
from .table_set import TableSet


class BuiltTables(TableSet):
    """Tables that get into a system as soon as all output shapes are known; the arguments are those of TPUEmbedding."""

    def __init__(
        self,
        feature_config: Any,
        optimizer: Any,
        pipelined: bool,
        num_cores: int | None,
        mesh: Mesh | None,
        policy: Policy | None,
        engine: str | Engine | None,
        seed: int,
    ) -> None:
        super().__init__(feature_config, optimizer, engine is not None, seed)
        _check_custom(self._tables, engine)
        self._pipelined, self._policy, self._engine = pipelined, policy, engine
        self._mesh = mesh
        self._cores = _cores(num_cores, mesh)
        self._functions = functions_of(self._tables)
        self._shapes: list[Shape | None] = [f.output_shape for _, f in self._features]
        self._system: System | None = None

    def build(
        self, per_replica_input_shapes: Any = None, per_replica_batch_size: int | None = None
    ) -> None:
        """Make the tables, once all output shapes are known; another call does nothing.

        Args:
            per_replica_input_shapes: of the ids on one core, nested like the features or in a row,
                with the axis that is combined last; None inside where it is not known. An integer
                is a batch size.
            per_replica_batch_size: of one core, for all features.

        An `output_shape` of a FeatureConfig takes precedence, and must fit.

        Raises:
            ValueError: shapes that do not fit, or are not known.

        Source: `tf.tpu.experimental.embedding.TPUEmbedding.build`, TensorFlow 2.21 (2026).
        """
        if self.is_built:
            return
        given = (
            per_replica_batch_size if per_replica_input_shapes is None else per_replica_input_shapes
        )
        shapes = self._shapes
        if isinstance(given, int):
            shapes = merge_shapes(self._features, shapes, shapes_of_batch(self._features, given))
        elif given is not None:
            shapes = merge_shapes(self._features, shapes, shapes_of_inputs(self._features, given))
        self._build(shapes)

    @property
    def config(self) -> TPUEmbeddingConfiguration:
        """The configuration that TensorFlow would send for these features.

        Raises:
            ValueError: not all output shapes are known.
        """
        return self._configuration(self._shapes)

    @property
    def system(self) -> System:
        """The engine that holds the tables, for the operations by TensorFlow's names and for `explain`.

        Raises:
            RuntimeError: nothing was built, or there is no engine.
        """
        return self._built("system")

    @property
    def is_built(self) -> bool:
        """Tell whether there are tables that steps can update; without an engine, tables at all."""
        return self._system is not None or (self._engine is None and self._arrays is not None)

    def _build(self, shapes: Sequence[Shape | None]) -> None:
        """Build the system with its tables; if anything is refused, nothing is built."""
        if self._engine is None:
            self._read()
            return
        config = name_features(self._configuration(shapes), [label for label, _ in self._features])
        rules = {str(t.name): t.optimizer.rule for t in self._tables if t.optimizer is not None}
        system = self._system_of(config, rules, self._engine)
        system.load_all(dict(enumerate(self._read())))
        self._system, self._shapes, self._arrays = system, list(shapes), None

    def _system_of(
        self, config: TPUEmbeddingConfiguration, rules: Mapping[str, Rule], engine: str | Engine
    ) -> System:
        return System(config, self._mesh, self._policy, engine, rules)

    def _configuration(self, shapes: Sequence[Shape | None]) -> TPUEmbeddingConfiguration:
        features = [f for _, f in self._features]
        known = check_known(self._features, shapes)
        return configuration(features, known, num_cores=self._cores, pipelined=self._pipelined)

    def _check_engine(self, call: str) -> None:
        if self._engine is None:
            raise RuntimeError(
                f"{call} needs an engine; this TPUEmbedding was made with engine=None"
            )

    def _built(self, call: str) -> System:
        self._check_engine(call)
        if self._system is None:
            raise RuntimeError(f"{call} needs tables; call enqueue or build first")
        return self._system

    def _read(self) -> list[list[np.ndarray]]:
        if self._system is None:
            return super()._read()
        return [self._system.retrieve(k) for k in range(len(self._tables))]

    def _write(self, arrays: Mapping[int, list[np.ndarray]]) -> None:
        if self._system is None:
            super()._write(arrays)
        else:
            self._system.load_all(arrays)


def _check_custom(tables: Sequence[TableConfig], engine: str | Engine | None) -> None:
    for t in tables:
        if isinstance(t.optimizer, CustomOptimizer) and engine == "classic":
            raise NotImplementedError(
                f"table {t.name!r} has a CustomOptimizer, which needs engine='sparsecore'"
            )
        if isinstance(t.combiner, CustomCombiner) and engine is not None:
            raise NotImplementedError(
                f"table {t.name!r} has a CustomCombiner, which no engine here runs"
            )


def _cores(given: int | None, mesh: Mesh | None) -> int:
    cores = (1 if mesh is None else mesh.size) if given is None else given
    check_count("num_cores", cores)
    if mesh is not None and cores % mesh.size:
        raise ValueError(
            f"num_cores must be a multiple of the {mesh.size} devices of the mesh, got {cores}"
        )
    return cores


_DEVICE = re.compile(r"(?:^|[/:])TPU:(\d+)$", re.IGNORECASE)


class TPUEmbedding(BuiltTables):
    """Embedding tables that are looked up and trained a batch at a time.

        embedding.enqueue(features)                            the ids of a batch
        activations = embedding.dequeue()                      the combined rows, nested like the features
        embedding.apply_gradients(gradients)                   of the loss by the activations; rows move

    Args:
        feature_config: `FeatureConfig` objects in any nesting of dicts, lists and tuples. Tables
            are numbered by first use, dicts by their sorted keys; a table without a name becomes
            table_<number>.
        optimizer: that of the tables that have none; they are given it.
        pipeline_execution_with_tensor_core: lookups run one update ahead.
        num_cores: cores that share each batch equally, along its first axis; None for one, or one
            for each device of the mesh.
        mesh: devices over which rows are dealt out; None for one device.
        policy: what is not publicly known.
        engine: "classic", "sparsecore" or a function, as for `initialize_system`; None for no
            engine at all, as without a TPU in TensorFlow: there are tables, and enqueue, dequeue
            and apply_gradients raise RuntimeError.
        seed: of the tables without an initializer; each gets numbers of its own.

    Raises:
        ValueError: two tables of one name, a table whose optimizer is none of this package's, not a
            FeatureConfig.

    Differs from TensorFlow: ids may be lists, too; activations and gradients are those of all
    cores, one after another; there may be several at a time.

    Source: `tf.tpu.experimental.embedding.TPUEmbedding`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> tpu = gl.tpu.experimental.embedding
    >>> table = tpu.TableConfig(8, 2, tpu.RowIdInitializer(), combiner="sum")
    >>> embedding = tpu.TPUEmbedding({"words": tpu.FeatureConfig(table)}, tpu.SGD(0.5))
    >>> embedding.enqueue({"words": [[7, 3], [], [7]]})
    >>> embedding.dequeue()["words"].tolist()
    [[10.0, 10.0], [0.0, 0.0], [7.0, 7.0]]
    >>> embedding.apply_gradients({"words": jnp.ones((3, 2))})
    >>> embedding.embedding_tables[table][[3, 7]].tolist()
    [[2.5, 2.5], [6.0, 6.0]]
    """

    def __init__(
        self,
        feature_config: Any,
        optimizer: Optimizer | None = None,
        pipeline_execution_with_tensor_core: bool = False,
        *,
        num_cores: int | None = None,
        mesh: Mesh | None = None,
        policy: Policy | None = None,
        engine: str | Engine | None = "classic",
        seed: int = 0,
    ) -> None:
        super().__init__(
            feature_config,
            optimizer,
            pipeline_execution_with_tensor_core,
            num_cores,
            mesh,
            policy,
            engine,
            seed,
        )

    def enqueue(
        self,
        features: Any,
        weights: Any = None,
        training: bool = True,
        name: str | None = None,
        device: str | int | None = None,
    ) -> None:
        """Hand over the ids of a batch.

        Args:
            features: nested like the features, each dense, lists, sparse or ragged ids: see
                `ids_of`.
            weights: the same with a weight for each id, None for ones; not for dense ids or
                sequences.
            training: whether gradients will come.
            name: accepted and without effect.
            device: "TPU:<number>" or the number of a core, whose ids alone these are; None: those
                of all cores.

        Raises:
            RuntimeError: there is no engine, or the batch before was not received.
            TypeError, ValueError: another structure, ids that do not fit; it names the feature.
                Nothing is enqueued.

        Source: `tf.tpu.experimental.embedding.TPUEmbedding.enqueue`, TensorFlow 2.21 (2026).
        """
        self._check_engine("enqueue")
        flat = leaves_like(self._structure, features, "features")
        scales = (
            [None] * len(flat)
            if weights is None
            else leaves_like(self._structure, weights, "weights")
        )
        cores = list(range(self._cores)) if device is None else [_core_of(device, self._cores)]
        shapes = merge_shapes(self._features, self._shapes, self._incoming(flat, len(cores)))
        before = self._system, self._shapes, self._arrays
        try:
            if not self.is_built:
                self._build(shapes)
            system, mode = self._built("enqueue"), "train" if training else "inference"
            each = self._ids(system.plan, flat, scales, len(cores))
            system.enqueue_all(
                dict(zip(cores, each, strict=True)), mode, [str(t.combiner) for t in self._tables]
            )
        except Exception:
            # A first batch that is refused says nothing of shapes.
            self._system, self._shapes, self._arrays = before
            raise

    def dequeue(self, name: str | None = None) -> Any:
        """Return the activations, nested like the features: (samples of all cores, ..., dim) each, float32.

        Raises:
            RuntimeError: there is no engine, nothing was built, or not all cores have enqueued.

        Source: `tf.tpu.experimental.embedding.TPUEmbedding.dequeue`, TensorFlow 2.21 (2026).
        """
        system = self._built("dequeue")
        replicas = [
            system.receive_activations(system.receive_deduplication_data(r), r)
            for r in range(system.replicas)
        ]
        return packed_like(
            self._structure, [jnp.concatenate(parts) for parts in zip(*replicas, strict=True)]
        )

    def apply_gradients(self, gradients: Any, name: str | None = None) -> None:
        """Update the rows that were looked up.

        Args:
            gradients: of the loss by the activations, of their structure and shapes. None stands
                for zeros, which is not nothing for optimizers with a memory; it is warned about.
            name: accepted and without effect.

        Learning rates that are functions are asked now. The engine sums over cores: divide a mean
        over samples by the number of all samples.

        Raises:
            RuntimeError: there is no engine, nothing was built, or no activations were received for
                training.
            TypeError, ValueError: another structure, a gradient that isn't an array or has another
                shape; it names the feature. Nothing changes.

        Source: `tf.tpu.experimental.embedding.TPUEmbedding.apply_gradients`, TensorFlow 2.21
        (2026).
        """
        system = self._built("apply_gradients")
        flat = leaves_like(self._structure, gradients, "gradients")
        shares = [
            np.split(self._gradient(system.plan, k, g), system.replicas) for k, g in enumerate(flat)
        ]
        rates = [np.float32(f()) for f in self._functions]
        for r in range(system.replicas):
            system.send_gradients([g[r] for g in shares], rates, system.deduplication_data(r), r)

    def _incoming(self, flat: Sequence[Any], cores: int) -> list[Shape]:
        """Return the output shapes that this input would have on one core."""
        found = []
        for (path, f), values in zip(self._features, flat, strict=True):
            found.append(
                output_shape(
                    f, shape_of_one_core(read_format(values, path).shape, cores, path), path
                )
            )
        return found

    def _ids(
        self, plan: Plan, flat: Sequence[Any], weights: Sequence[Any], cores: int
    ) -> list[dict[str, Ids]]:
        """Return the ids of each core by feature; all of them are looked at before the first is
        handed over.
        """
        each: list[dict[str, Ids]] = [{} for _ in range(cores)]
        for f, (path, config), values, w in zip(
            plan.features, self._features, flat, weights, strict=True
        ):
            own = dataclasses.replace(f, name=path or f.name)
            for core, ids in zip(each, split_ids(own, config, values, w, cores), strict=True):
                resolve_ids(own, plan.tables[f.table], ids, plan.policy)
                core[f.name] = ids
        return each

    def _gradient(self, plan: Plan, k: int, g: Any) -> Array:
        path, shape = self._features[k][0], plan.activation_shape(k)
        if g is None:
            warn(
                f"feature {path!r} has no gradient and is sent zeros, which move rows where the "
                "optimizer has a memory",
                EmbeddingWarning,
            )
            return np.zeros(shape, np.float32)
        if not (is_jax(g) or isinstance(g, np.ndarray)):
            raise ValueError(
                f"found non-tensor type: the gradient of feature {path!r} must be an array or "
                f"None, got {type(g).__name__}"
            )
        if g.shape != shape:
            raise ValueError(
                f"the gradient of feature {path!r} must have shape {shape}, got {g.shape}"
            )
        return g


def _core_of(device: str | int, cores: int) -> int:
    """Return the core that a device means.

    Raises:
        ValueError: a device that isn't a TPU, or a core that is not there.
    """
    found = _DEVICE.search(device) if isinstance(device, str) else None
    core = int(found[1]) if found else device
    if not isinstance(core, int) or not 0 <= core < cores:
        raise ValueError(f"device must be one of TPU:0 to TPU:{cores - 1}, got {device!r}")
    return core
