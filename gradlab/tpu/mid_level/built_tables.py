"""Tables from their configuration to a system that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.sharding import Mesh

from ...rules import Rule
from ..engines import Engine
from ..policy import Policy
from ..proto import TPUEmbeddingConfiguration
from ..system.system import System
from .config_writer import configuration, functions_of, named
from .custom import CustomCombiner, CustomOptimizer
from .feature_shapes import checked, merged, shapes_of_batch, shapes_of_inputs
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

    def build(self, per_replica_input_shapes: Any = None, per_replica_batch_size: int | None = None) -> None:
        """Make the tables, once all output shapes are known; another call does nothing.

        Args:
            per_replica_input_shapes: of the ids on one core, nested like the features or in a row, with the axis that
                is combined last; None inside where it is not known. An integer is a batch size.
            per_replica_batch_size: of one core, for all features.

        An `output_shape` of a FeatureConfig takes precedence, and must fit.

        Raises:
            ValueError: shapes that do not fit, or are not known.

        Source: `tf.tpu.experimental.embedding.TPUEmbedding.build`, TensorFlow 2.21 (2026).
        """
        if self.is_built:
            return
        given = per_replica_batch_size if per_replica_input_shapes is None else per_replica_input_shapes
        shapes = self._shapes
        if isinstance(given, int):
            shapes = merged(self._features, shapes, shapes_of_batch(self._features, given))
        elif given is not None:
            shapes = merged(self._features, shapes, shapes_of_inputs(self._features, given))
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
        """What holds the tables, for the operations by TensorFlow's names and for `explain`.

        Raises:
            RuntimeError: nothing was built, or there is no engine.
        """
        return self._built("system")

    @property
    def is_built(self) -> bool:
        """Whether there are tables that steps may come to; without an engine, tables at all."""
        return self._system is not None or (self._engine is None and self._arrays is not None)

    def _build(self, shapes: Sequence[Shape | None]) -> None:
        """The system with its tables; if anything is refused, nothing is built."""
        if self._engine is None:
            self._read()
            return
        config = named(self._configuration(shapes), [path for path, _ in self._features])
        rules = {str(t.name): t.optimizer.rule for t in self._tables if t.optimizer is not None}
        system = self._system_of(config, rules, self._engine)
        system.load_all(dict(enumerate(self._read())))
        self._system, self._shapes, self._arrays = system, list(shapes), None

    def _system_of(self, config: TPUEmbeddingConfiguration, rules: Mapping[str, Rule], engine: str | Engine) -> System:
        return System(config, self._mesh, self._policy, engine, rules)

    def _configuration(self, shapes: Sequence[Shape | None]) -> TPUEmbeddingConfiguration:
        features = [f for _, f in self._features]
        known = checked(self._features, shapes)
        return configuration(features, known, num_cores=self._cores, pipelined=self._pipelined)

    def _check_engine(self, call: str) -> None:
        if self._engine is None:
            raise RuntimeError(f"{call} needs an engine; this TPUEmbedding was made with engine=None")

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
            raise NotImplementedError(f"table {t.name!r} has a CustomOptimizer, which needs engine='sparsecore'")
        if isinstance(t.combiner, CustomCombiner) and engine is not None:
            raise NotImplementedError(f"table {t.name!r} has a CustomCombiner, which no engine here runs")


def _cores(given: int | None, mesh: Mesh | None) -> int:
    cores = (1 if mesh is None else mesh.size) if given is None else given
    if not isinstance(cores, int) or cores < 1:
        raise ValueError(f"num_cores must be an integer of at least 1, got {given!r}")
    if mesh is not None and cores % mesh.size:
        raise ValueError(f"num_cores must be a multiple of the {mesh.size} devices of the mesh, got {cores}")
    return cores
