"""Training embedding tables by TensorFlow's mid-level interface."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.sharding import Mesh

from ..._base.arrays import Array, is_jax
from ..._base.errors import EmbeddingWarning, warn
from ..._steps.jax import jnp
from ..batch import Ids, normalized
from ..engines import Engine
from ..plan import Plan
from ..policy import Policy
from .built_tables import BuiltTables
from .feature_shapes import merged, output_shape
from .host_inputs import ids_of_cores, of_one_core, written
from .optimizer import Optimizer
from .structure import leaves_like, packed_like
from .table_config import Shape

_DEVICE = re.compile(r"(?:^|[/:])TPU:(\d+)$", re.IGNORECASE)


class TPUEmbedding(BuiltTables):
    """Embedding tables that are looked up and trained a batch at a time.

        embedding.enqueue(features)                            the ids of a batch
        activations = embedding.dequeue()                      the combined rows, nested like the features
        embedding.apply_gradients(gradients)                   of the loss by the activations; rows move

    Args:
        feature_config: `FeatureConfig`s in any nesting of dicts, lists and tuples. Tables are numbered by first use,
            dicts by their sorted keys; a table without a name becomes table_<number>.
        optimizer: that of the tables that have none; they are given it.
        pipeline_execution_with_tensor_core: lookups run one update ahead.
        num_cores: cores that share each batch equally, along its first axis; None for one, or one for each device of
            the mesh.
        mesh: devices over which rows are dealt out; None for one device.
        policy: what is not publicly known.
        engine: "classic", "sparsecore" or a function, as for `initialize_system`; None for no engine at all, as without
            a TPU in TensorFlow: there are tables, and enqueue, dequeue and apply_gradients raise RuntimeError.
        seed: of the tables without an initializer; each gets numbers of its own.

    Raises:
        ValueError: two tables of one name, a table whose optimizer is none of this package's, what is no FeatureConfig.

    Differs from TensorFlow: ids may be lists, too; activations and gradients are those of all cores, one after another;
    there may be several at a time. Source: `tf.tpu.experimental.embedding.TPUEmbedding`, TensorFlow 2.21 (2026).

    >>> import gradlab as gl
    >>> table = gl.tpu.TableConfig(8, 2, gl.tpu.RowIdInitializer(), combiner="sum")
    >>> embedding = gl.tpu.TPUEmbedding({"words": gl.tpu.FeatureConfig(table)}, gl.tpu.SGD(0.5))
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
            feature_config, optimizer, pipeline_execution_with_tensor_core, num_cores, mesh, policy, engine, seed
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
            features: nested like the features, each dense, lists, sparse or ragged ids: see `ids_of`.
            weights: the same with a weight for each id, None for ones; not for dense ids or sequences.
            training: whether gradients will come.
            name: accepted and without effect.
            device: "TPU:<number>" or the number of a core, whose ids alone these are; None: those of all cores.

        Raises:
            RuntimeError: there is no engine, or the batch before was not received.
            TypeError, ValueError: another structure, ids that do not fit; it names the feature. Nothing is enqueued.

        Source: `tf.tpu.experimental.embedding.TPUEmbedding.enqueue`, TensorFlow 2.21 (2026).
        """
        self._check_engine("enqueue")
        flat = leaves_like(self._structure, features, "features")
        scales = [None] * len(flat) if weights is None else leaves_like(self._structure, weights, "weights")
        cores = list(range(self._cores)) if device is None else [_core_of(device, self._cores)]
        shapes = merged(self._features, self._shapes, self._incoming(flat, len(cores)))
        before = self._system, self._shapes, self._arrays
        try:
            if not self.is_built:
                self._build(shapes)
            system, mode = self._built("enqueue"), "train" if training else "inference"
            each = self._ids(system.plan, flat, scales, len(cores))
            system.enqueue_all(dict(zip(cores, each, strict=True)), mode, [str(t.combiner) for t in self._tables])
        except Exception:
            self._system, self._shapes, self._arrays = before  # a first batch that is refused says nothing of shapes
            raise

    def dequeue(self, name: str | None = None) -> Any:
        """The activations of the batch, nested like the features: (samples of all cores, ..., dim) each, float32.

        Raises:
            RuntimeError: there is no engine, nothing was built, or not all cores have enqueued.

        Source: `tf.tpu.experimental.embedding.TPUEmbedding.dequeue`, TensorFlow 2.21 (2026).
        """
        system, replicas = self._built("dequeue"), []
        for r in range(system.replicas):
            replicas.append(system.receive_activations(system.receive_deduplication_data(r), r))
        return packed_like(self._structure, [jnp.concatenate(parts) for parts in zip(*replicas, strict=True)])

    def apply_gradients(self, gradients: Any, name: str | None = None) -> None:
        """Move the rows that were looked up.

        Args:
            gradients: of the loss by the activations, of their structure and shapes. None stands for zeros, which is
                not nothing for optimizers with a memory; it is warned about.
            name: accepted and without effect.

        Learning rates that are functions are asked now. The engine sums over cores: divide a mean over samples by the
        number of all samples.

        Raises:
            RuntimeError: there is no engine, nothing was built, or no activations were received for training.
            TypeError, ValueError: another structure, a gradient that is no array or has another shape; it names the
                feature. Nothing changes.

        Source: `tf.tpu.experimental.embedding.TPUEmbedding.apply_gradients`, TensorFlow 2.21 (2026).
        """
        system = self._built("apply_gradients")
        flat = leaves_like(self._structure, gradients, "gradients")
        shares = [np.split(self._gradient(system.plan, k, g), system.replicas) for k, g in enumerate(flat)]
        rates = [np.float32(f()) for f in self._functions]
        for r in range(system.replicas):
            system.send_gradients([g[r] for g in shares], rates, system.deduplication_data(r), r)

    def _incoming(self, flat: Sequence[Any], cores: int) -> list[Shape]:
        """The output shapes that this input would have on one core."""
        found = []
        for (path, f), values in zip(self._features, flat, strict=True):
            found.append(output_shape(f, of_one_core(written(values, path).shape, cores, path), path))
        return found

    def _ids(self, plan: Plan, flat: Sequence[Any], weights: Sequence[Any], cores: int) -> list[dict[str, Ids]]:
        """The ids of each core by feature; all of them are looked at before the first is handed over."""
        each: list[dict[str, Ids]] = [{} for _ in range(cores)]
        for f, (path, config), values, w in zip(plan.features, self._features, flat, weights, strict=True):
            own = dataclasses.replace(f, name=path or f.name)
            for core, ids in zip(each, ids_of_cores(own, config, values, w, cores), strict=True):
                normalized(own, plan.tables[f.table], ids, plan.policy)
                core[f.name] = ids
        return each

    def _gradient(self, plan: Plan, k: int, g: Any) -> Array:
        path, shape = self._features[k][0], plan.activation_shape(k)
        if g is None:
            warn(
                f"feature {path!r} has no gradient and is sent zeros, which move rows where the optimizer has a memory",
                EmbeddingWarning,
            )
            return np.zeros(shape, np.float32)
        if not (is_jax(g) or isinstance(g, np.ndarray)):
            raise ValueError(f"the gradient of feature {path!r} must be an array or None, got {type(g).__name__}")
        if g.shape != shape:
            raise ValueError(f"the gradient of feature {path!r} must have shape {shape}, got {g.shape}")
        return g


def _core_of(device: str | int, cores: int) -> int:
    """The core that a device means.

    Raises:
        ValueError: a device that is no TPU, or a core that is not there.
    """
    found = _DEVICE.search(device) if isinstance(device, str) else None
    core = int(found[1]) if found else device
    if not isinstance(core, int) or not 0 <= core < cores:
        raise ValueError(f"device must be one of TPU:0 to TPU:{cores - 1}, got {device!r}")
    return core
