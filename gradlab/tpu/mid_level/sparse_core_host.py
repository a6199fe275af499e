"""What the host of SparseCores is told by TPUEmbeddingV2, and what it makes of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..batch import Batch, Cores
from ..plan import Plan
from ..sparsecore import Limits, Preprocessed, preprocess, stack


@dataclass(frozen=True)
class SparseCoreEmbeddingConfig:
    """How SparseCores share the work.

    Args:
        disable_table_stacking: every table is looked up on its own.
        max_ids_per_table, max_unique_ids_per_table: limits of a partition by name of the stack; 256 where it has none.
        allow_id_dropping: ids beyond a limit are left out instead of refused.

    The others are kept, without effect. Source: `tf.tpu.experimental.embedding.SparseCoreEmbeddingConfig`,
    TensorFlow 2.21 (2026).

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
        """The limits of each stack."""
        ids, unique = self.max_ids_per_table or {}, self.max_unique_ids_per_table or {}
        return {s: Limits(ids.get(s, Limits().max_ids), unique.get(s, Limits().max_unique_ids)) for s in stacks}


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
        limits = None if self.config is None else self.config.limits([s.name for s in layout.stacks])
        dropping = self.config is not None and self.config.allow_id_dropping
        options: Any = {"per_core": self.per_core, "layout": layout, "limits": limits, "allow_id_dropping": dropping}
        self.made = preprocess(plan, cores, **options)
        return self.made.batch
