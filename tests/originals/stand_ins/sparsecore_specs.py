"""jax-tpu-embedding's tables and features as its users write them, and the buffers that gradlab makes for these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

import gradlab as gl
from gradlab.tpu.sparsecore import Layout, Limits, Place, Stack


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


@dataclass
class TableSpec:
    vocabulary_size: int
    embedding_dim: int
    initializer: Callable[..., Any]
    optimizer: Any
    combiner: str
    name: str
    max_ids_per_partition: int
    max_unique_ids_per_partition: int
    _setting_in_stack: TableSettingInStack | None = None
    _stacked_table_spec: StackedTableSpec | None = None

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
    plan = _plan(feature_specs, [len(x) // local_device_count for x in features], global_device_count)
    layout = _layout(feature_specs, global_device_count, num_sc_per_device)
    given = [_lists(x, w) for x, w in zip(features, feature_weights or [None] * len(features), strict=True)]

    def on(core: int) -> dict[str, Any]:
        parts = [(f, slice(core * f.samples, (core + 1) * f.samples)) for f in plan.features]
        return {f.name: gl.tpu.ids_of(f, *(x[part] for x in own)) for (f, part), own in zip(parts, given, strict=True)}

    made = gl.tpu.sparsecore.preprocess(
        plan,
        [on(core) if core < local_device_count else {} for core in range(global_device_count)],
        per_core=num_sc_per_device,
        layout=layout,
        limits={spec.table_spec.stack_name: _limits(spec.table_spec) for spec in feature_specs},
        allow_id_dropping=allow_id_dropping,
        out_of_range="as_found",
    )

    def of(name: str) -> dict[str, np.ndarray]:
        own = {stack: getattr(buffers, name)[:local_device_count] for stack, buffers in made.buffers.items()}
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
    made = [gl.tpu.Table(t.name, t.vocabulary_size, t.embedding_dim, combiner=t.combiner) for t in tables.values()]
    which = [list(tables).index(spec.table_spec.name) for spec in specs]
    features = [gl.tpu.Feature(spec.name, k, (n,)) for spec, k, n in zip(specs, which, samples, strict=True)]
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
    return Layout(cores, per_core, tuple(Stack(name, shards, tuple(p.values())) for name, p in stacks.items()))


def _limits(table: TableSpec) -> Limits:
    said = table._stacked_table_spec or table
    return Limits(said.max_ids_per_partition, said.max_unique_ids_per_partition)


def _lists(features: Any, weights: Any) -> tuple[list[list[int]], list[list[float]]]:
    rows = [[int(x) for x in row] for row in features]
    if weights is None:
        return rows, [[1.0] * len(row) for row in rows]
    return rows, [[float(x) for x in row] for row in weights]


def _most(max_ids_per_partition: int, global_device_count: int, num_sc_per_device: int, **_: Any) -> int:
    limits = Limits(max_ids_per_partition, max_ids_per_partition)
    return gl.tpu.sparsecore.static_size(limits, Layout(global_device_count, num_sc_per_device, ()))


SPECS = {
    "FeatureIdTransformation": FeatureIdTransformation,
    "FeatureSpec": FeatureSpec,
    "SGDOptimizerSpec": SimpleNamespace,
    "ShardingStrategy": SimpleNamespace(MOD=1),
    "StackedTableSpec": StackedTableSpec,
    "TableSettingInStack": TableSettingInStack,
    "TableSpec": TableSpec,
    "compute_theoretical_max_coo_buffer_size": _most,
    "prepare_feature_specs_for_training": lambda *_, **__: None,  # a table that says nothing has a stack of its own
    "preprocess_sparse_dense_matmul_input": preprocess,
    "preprocess_sparse_dense_matmul_sparse_coo_input": preprocess_coo,
}
