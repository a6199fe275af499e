"""Tables of a nest of features: what they hold at first, and how they are read, loaded, saved and restored by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...._base.archive import MAX_BYTES, Archive, ArchiveWriter
from ...._base.arrays import as_real_numbers
from ...._base.checked_files import report_damage
from ....errors import InvalidArgumentError, NotFoundError
from ....rules import Rule
from .config_writer import tables_of
from .initializers import TruncatedNormal, initial_values
from .optimizer import Optimizer
from .structure import leaves
from .table_config import FeatureConfig, TableConfig

_KIND = "file of embedding tables"
_VERSION = 1


def adopt_tables(
    features: Sequence[tuple[str, Any]], optimizer: Optimizer | None, needs_optimizer: bool = True
) -> list[TableConfig]:
    """Return the tables by first use, each with a name and an optimizer from now on.

    Raises:
        ValueError: not a FeatureConfig; no optimizer where there must be one, or one of another
            kind; two tables of one name. No table is changed.
    """
    for path, f in features:
        if not isinstance(f, FeatureConfig):
            raise ValueError(f"feature {path!r} must be a FeatureConfig, got {type(f).__name__}")
    tables = tables_of([f for _, f in features])
    names = [t.name or f"table_{k}" for k, t in enumerate(tables)]
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise ValueError(
            f"Multiple tables with name {twice[0]} found. Here two tables have the name "
            f"{twice[0]!r}; names must differ"
        )
    optimizers = [optimizer if t.optimizer is None else t.optimizer for t in tables]
    for name, found in zip(names, optimizers, strict=True):
        if not isinstance(found, Optimizer) and (needs_optimizer or found is not None):
            raise ValueError(f"table {name!r} needs an optimizer of gl.tpu, got {found!r}")
    for table, name, found in zip(tables, names, optimizers, strict=True):
        table.name, table.optimizer = name, found
    return tables


def initial_arrays(
    tables: Sequence[TableConfig], rows: Sequence[int], seed: int
) -> list[list[np.ndarray]]:
    """Return for each table its parameters, then its slots; tables without an initializer have different seeds.

    Raises:
        ValueError: an initializer that makes another shape; it names the table.
    """
    return [
        _arrays(table, (count, table.dim), [seed, k])
        for k, (table, count) in enumerate(zip(tables, rows, strict=True))
    ]


def _arrays(table: TableConfig, shape: tuple[int, int], seed: list[int]) -> list[np.ndarray]:
    make, optimizer = table.initializer, table.optimizer
    if isinstance(make, TruncatedNormal) and make.seed is None:
        make = dataclasses.replace(
            make, seed=int(np.random.SeedSequence(seed).generate_state(1)[0])
        )
    parameters = initial_values(make, shape, f"table {table.name!r}")
    return (
        [parameters] if optimizer is None else [parameters, *_slots(table, optimizer, parameters)]
    )


def _slots(table: TableConfig, optimizer: Optimizer, parameters: np.ndarray) -> list[np.ndarray]:
    names, makers = optimizer.slot_names, optimizer.slot_initializers
    if optimizer.slot_variable_creation_fn is None:
        own = [initial_values(f, parameters.shape, n) for n, f in zip(names, makers, strict=True)]
        # A rule that makes its slots of the weights.
        special = type(optimizer.rule).init is not Rule.init
        return [np.asarray(s) for s in optimizer.rule.init(parameters)] if special else own
    made = optimizer.slot_variable_creation_fn(parameters, list(names), list(makers))
    if missing := [n for n in names if n not in made]:
        raise ValueError(
            f"slot_variable_creation_fn of table {table.name!r} made no {missing[0]!r}"
        )
    return list(
        checked_arrays(
            table, {"parameters": parameters} | {n: made[n] for n in names}, parameters.shape
        )[1:]
    )


def names_of(table: TableConfig) -> list[str]:
    """Return the names of a table and its slots."""
    return ["parameters", *(table.optimizer.slot_names if table.optimizer else ())]


def checked_arrays(table: TableConfig, given: Any, shape: tuple[int, int]) -> list[np.ndarray]:
    """Return the parameters and slots of a table out of a dict by name.

    Raises:
        InvalidArgumentError: one that is missing or too much, or of another shape; it names the
            table.
    """
    names = names_of(table)
    if set(given) != set(names):
        raise InvalidArgumentError(
            f"table {table.name!r} has {', '.join(names)}; got {', '.join(sorted(given))}"
        )
    arrays = [
        np.asarray(as_real_numbers(given[n], f"{n} of table {table.name!r}"), np.float32)
        for n in names
    ]
    for name, x in zip(names, arrays, strict=True):
        if x.shape != shape:
            raise InvalidArgumentError(
                f"{name} of table {table.name!r} must have shape {shape}, got {x.shape}"
            )
    return arrays


Variables = dict[str, dict[str, np.ndarray]]


class TableSet:
    """The tables of a nest of features, held here until something else holds them.

    Args:
        feature_config: `FeatureConfig` objects in any nesting of dicts, lists and tuples.
        optimizer: that of the tables that have none; None leaves them without slots.
        needs_optimizer: whether None is refused.
        seed: of the tables without an initializer.

    Raises:
        ValueError: what `adopt_tables` refuses.
    """

    def __init__(
        self, feature_config: Any, optimizer: Any, needs_optimizer: bool, seed: int
    ) -> None:
        self._structure = feature_config
        self._features: list[tuple[str, FeatureConfig]] = leaves(feature_config)
        self._tables = adopt_tables(self._features, optimizer, needs_optimizer)
        self._seed = seed
        self._arrays: list[list[np.ndarray]] | None = None

    @property
    def embedding_tables(self) -> dict[TableConfig, np.ndarray]:
        """The tables as they are now, by their `TableConfig`; they are made if they were not yet.

        TensorFlow has them away from a TPU only; on one its variables are those of the last
        checkpoint.
        """
        return {table: arrays[0] for table, arrays in zip(self._tables, self._read(), strict=True)}

    def retrieve(self) -> Variables:
        """Return copies of all tables and slots: by name of the table, then "parameters" or the slot's name.

        An update that a pipelined engine still holds back is made first. Source: ops
        `RetrieveTPUEmbedding...`, TensorFlow 2.21 (2026).
        """
        return {
            str(table.name): dict(zip(names_of(table), arrays, strict=True))
            for table, arrays in zip(self._tables, self._read(), strict=True)
        }

    def load(self, variables: Mapping[str, Mapping[str, Any]]) -> None:
        """Put tables and slots in place, those that are named.

        Args:
            variables: as `retrieve` gives them; each table that is there with all of its slots.

        Raises:
            NotFoundError: a table that is not there.
            InvalidArgumentError: slots that are missing or too many, another shape. Nothing is
                loaded.

        Source: ops `LoadTPUEmbedding...`, TensorFlow 2.21 (2026).
        """
        names = [t.name for t in self._tables]
        if unknown := sorted(variables.keys() - set(names)):
            raise NotFoundError(
                f"there is no table {unknown[0]!r}; there are {', '.join(map(str, names))}"
            )
        self._write(
            {
                k: checked_arrays(
                    table, variables[str(table.name)], (table.vocabulary_size, table.dim)
                )
                for k, table in enumerate(self._tables)
                if table.name in variables
            }
        )

    def save(self, path: str | Path) -> None:
        """Write all tables and slots into one `.npz` file, by "table/slot".

        It is made on the host. `gl.tpu.save` writes a state shard by shard, for tables that are too
        large for that. An older file of this name stays what it is until all of the new one is on
        the disk.

        Raises:
            OSError: it cannot be written; no part of it is left behind.

        Not in TensorFlow, where `tf.train.Checkpoint` does it.
        """
        with ArchiveWriter(path, _KIND, _VERSION) as file:
            for table, arrays in self.retrieve().items():
                for name, x in arrays.items():
                    file.array(f"{table}/{name}", x)

    def restore(self, path: str | Path, *, max_bytes: int | None = None) -> None:
        """Load what `save` wrote, on any number of cores or devices.

        Where an optimizer has no `step_counter`, the steps that are counted for it go on from those
        made here.

        Args:
            max_bytes: memory that the file may take; if you say nothing, 4 GiB and what the tables
                here take. More is refused before it is taken.

        Raises:
            OSError: it cannot be opened.
            DataLossError: it is damaged, too large, or something else; also a ValueError. And what
                `load` raises. Nothing of the file is taken then.

        Not in TensorFlow, where `tf.train.Checkpoint` does it.
        """
        variables: dict[str, dict[str, np.ndarray]] = {}
        allowed = MAX_BYTES + self._nbytes() if max_bytes is None else max_bytes
        for key, x in _arrays_in(path, allowed).items():
            table, _, name = key.rpartition("/")
            variables.setdefault(table, {})[name] = x
        self.load(variables)

    def _nbytes(self) -> int:
        """Return the bytes of the tables and their slots as float32."""
        return sum(4 * t.vocabulary_size * t.dim * len(names_of(t)) for t in self._tables)

    def _sizes(self) -> list[int]:
        return [t.vocabulary_size for t in self._tables]

    def _read(self) -> list[list[np.ndarray]]:
        if self._arrays is None:
            self._arrays = initial_arrays(self._tables, self._sizes(), self._seed)
        return self._arrays

    def _write(self, arrays: Mapping[int, list[np.ndarray]]) -> None:
        found = self._read()
        for k, new in arrays.items():
            found[k] = new


def _arrays_in(path: str | Path, max_bytes: int) -> dict[str, np.ndarray]:
    """Return all arrays of a file that `save` wrote."""
    with Archive(path, _KIND, (_VERSION,), max_bytes=max_bytes) as file, report_damage(path, _KIND):
        found = file.arrays()
        for name, x in found.items():
            if x.dtype != np.float32:
                raise ValueError(f"{name} must be float32, it is {x.dtype}")
        return found
