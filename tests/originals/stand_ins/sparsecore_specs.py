"""jax-tpu-embedding's tables and features as its users write them, and the buffers that gradlab
makes for these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np

import gradlab as gl
from gradlab.tpu import Levels
from gradlab.tpu.sparsecore import Layout, Limits, Place, Stack
from tests.originals.stand_ins.sparsecore_optimizers import OPTIMIZERS


@dataclass(frozen=True)
class FeatureIdTransformation:
    row_offset: int = 0
    col_offset: int = 0
    col_shift: int = 0


@dataclass(frozen=True)
class TableSettingInStack:
    stack_name: str
    padded_vocab_size: int
    padded_embedding_dim: int
    row_offset_in_shard: int
    shard_rotation: int


@dataclass(frozen=True)
class StackedTableSpec:
    stack_name: str
    stack_vocab_size: int
    stack_embedding_dim: int
    optimizer: Any
    combiner: str
    total_sample_count: int
    max_ids_per_partition: int
    max_unique_ids_per_partition: int
    suggested_coo_buffer_size_per_device: int | None = None


@dataclass(eq=False)
class TableSpec:
    vocabulary_size: int
    embedding_dim: int
    initializer: Callable[..., Any]
    optimizer: Any
    combiner: str
    name: str
    max_ids_per_partition: int = Limits().max_ids
    max_unique_ids_per_partition: int = Limits().max_unique_ids
    quantization_config: Levels | None = None
    _setting_in_stack: TableSettingInStack | None = None
    _stacked_table_spec: StackedTableSpec | None = None

    @property
    def table(self) -> gl.tpu.Table:
        """As gradlab's plan has it."""
        of_rule = {"rule": self.optimizer.rule, "learning_rate": self.optimizer.learning_rate}
        levels = self.quantization_config
        return gl.tpu.Table(
            self.name,
            self.vocabulary_size,
            self.embedding_dim,
            combiner=self.combiner,
            levels=levels,
            **of_rule,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TableSpec) and self.table == other.table

    @property
    def stack_name(self) -> str:
        return self._setting_in_stack.stack_name if self._setting_in_stack else self.name

    @property
    def stacked_table_spec(self) -> StackedTableSpec | None:
        return self._stacked_table_spec

    @stacked_table_spec.setter
    def stacked_table_spec(self, spec: StackedTableSpec) -> None:
        self._stacked_table_spec = spec


@dataclass(frozen=True)
class FeatureSpec:
    table_spec: TableSpec
    input_shape: Any
    output_shape: Any
    name: str
    _id_transformation: FeatureIdTransformation = field(default_factory=FeatureIdTransformation)

    @property
    def id_transformation(self) -> FeatureIdTransformation:
        return self._id_transformation


def preprocess(
    features: Any,
    feature_weights: Any,
    feature_specs: Any,
    local_device_count: int,
    global_device_count: int,
    num_sc_per_device: int,
    has_leading_dimension: bool = False,
    allow_id_dropping: bool = False,
    **_: Any,
) -> tuple[dict[str, np.ndarray], ...]:
    """Pointers, ids, samples and gains by stack; of the devices of this process, which come first."""
    plan = _plan(
        feature_specs, [len(x) // local_device_count for x in features], global_device_count
    )
    layout = _layout(feature_specs, global_device_count, num_sc_per_device)
    given = list(zip(features, feature_weights or [None] * len(features), strict=True))

    def on(core: int) -> dict[str, Any]:
        found = {}
        for f, whole in zip(plan.features, given, strict=True):
            own = (
                None if x is None else x[core * f.samples : (core + 1) * f.samples] for x in whole
            )
            found[f.name] = gl.tpu.ids_of(f, *map(_ragged, own, (int, float)))
        return found

    made = gl.tpu.sparsecore.preprocess(
        plan,
        [on(core) if core < local_device_count else {} for core in range(global_device_count)],
        per_core=num_sc_per_device,
        layout=layout,
        limits={spec.table_spec.stack_name: _limits(spec.table_spec) for spec in feature_specs},
        buffer_size={
            spec.table_spec.stack_name: size
            for spec in feature_specs
            if (size := _size(spec.table_spec))
        },
        allow_id_dropping=allow_id_dropping,
        out_of_range="as_found",
    )

    def of(name: str) -> dict[str, np.ndarray]:
        own = {
            stack: getattr(buffers, name)[:local_device_count]
            for stack, buffers in made.buffers.items()
        }
        return own if has_leading_dimension else {stack: np.ravel(x) for stack, x in own.items()}

    return of("row_pointers"), of("embedding_ids"), of("sample_ids"), of("gains")


def preprocess_coo(indices: Any, values: Any, shapes: Any, *arguments: Any, **keywords: Any) -> Any:
    """The same from coordinates: each id in its sample, in the order that they have."""

    def of_samples(places: Any, ids: Any, shape: Any) -> list[list[int]]:
        rows: list[list[int]] = [[] for _ in range(int(shape[0]))]
        for place, row in zip(places, ids, strict=True):
            rows[int(place[0])].append(int(row))
        return rows

    return preprocess([*map(of_samples, indices, values, shapes)], None, *arguments, **keywords)


def _plan(specs: Any, samples: list[int], cores: int) -> Any:
    tables = {spec.table_spec.name: spec.table_spec for spec in specs}
    made = [t.table for t in tables.values()]
    which = [list(tables).index(spec.table_spec.name) for spec in specs]
    features = [
        gl.tpu.Feature(spec.name, k, (n,)) for spec, k, n in zip(specs, which, samples, strict=True)
    ]
    return gl.tpu.Plan(tuple(made), tuple(features), cores=cores)


def _layout(specs: Any, cores: int, per_core: int) -> Layout:
    """Where the specs say that tables lie; one that says nothing has a stack of its own."""
    shards = cores * per_core
    stacks: dict[str, dict[str, Place]] = {}
    for spec in specs:
        table, moved = spec.table_spec, spec.id_transformation
        rows = -(-table.vocabulary_size // (8 * shards)) * 8 * shards
        stacks.setdefault(table.stack_name, {})[table.name] = Place(
            table.name, table.vocabulary_size, table.embedding_dim, rows, table.embedding_dim,
            moved.col_offset // shards, moved.col_shift,
        )  # fmt: skip
    return Layout(
        cores, per_core, tuple(Stack(name, shards, tuple(p.values())) for name, p in stacks.items())
    )


def _limits(table: TableSpec) -> Limits:
    said = table._stacked_table_spec or table
    return Limits(said.max_ids_per_partition, said.max_unique_ids_per_partition)


def _size(table: TableSpec) -> int | None:
    return (
        table._stacked_table_spec and table._stacked_table_spec.suggested_coo_buffer_size_per_device
    )


def _ragged(rows: Any, kind: type) -> Any:
    """Row splits and entries of lists of one number or several, None as it is."""
    if rows is None:
        return None
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return np.arange(len(rows) + 1) * np.shape(rows)[1], np.ravel(rows)
    splits = np.cumsum([0, *map(len, rows)])
    return splits, np.concatenate([np.zeros(0, kind), *(np.asarray(row, kind) for row in rows)])


def _most(
    max_ids_per_partition: int, global_device_count: int, num_sc_per_device: int, **_: Any
) -> int:
    limits = Limits(max_ids_per_partition, max_ids_per_partition)
    return gl.tpu.sparsecore.static_size(limits, Layout(global_device_count, num_sc_per_device, ()))


def preprocess_by_name(
    features: Any, features_weights: Any, feature_specs: Any, *counts: int, **options: Any
) -> Any:
    """The same of trees of features, as one input, and what else the original tells."""
    leaves = (
        None if x is None else jax.tree.leaves(x)
        for x in (features, features_weights, feature_specs)
    )
    made = preprocess(*leaves, *counts, **options)
    names = ("lhs_row_pointers", "lhs_embedding_ids", "lhs_sample_ids", "lhs_gains")
    return SimpleNamespace(**dict(zip(names, made, strict=True))), None


SPECS = OPTIMIZERS | {
    "FeatureIdTransformation": FeatureIdTransformation,
    "FeatureSpec": FeatureSpec,
    "QuantizationConfig": lambda min_value, max_value, num_buckets: Levels(
        min_value, max_value, num_buckets
    ),
    "ShardingStrategy": SimpleNamespace(MOD=1),
    "StackedTableSpec": StackedTableSpec,
    "TableSettingInStack": TableSettingInStack,
    "TableSpec": TableSpec,
    "compute_theoretical_max_coo_buffer_size": _most,
    # A table that says nothing has a stack of its own.
    "prepare_feature_specs_for_training": lambda *_, **__: None,
    "preprocess_sparse_dense_matmul_input": preprocess,
    "preprocess_sparse_dense_matmul_sparse_coo_input": preprocess_coo,
}
