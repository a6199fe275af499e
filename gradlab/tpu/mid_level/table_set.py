"""Tables by name: how they are read, loaded, saved and restored."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..._base.errors import NotFoundError
from ..._files.replace import replaced
from ..sharding.files import BROKEN
from .structure import leaves
from .table_config import FeatureConfig, TableConfig
from .tables import adopt_tables, checked_arrays, initial_arrays, names_of

Variables = dict[str, dict[str, np.ndarray]]


class TableSet:
    """The tables of a nest of features, held here until something else holds them.

    Args:
        feature_config: `FeatureConfig`s in any nesting of dicts, lists and tuples.
        optimizer: that of the tables that have none; None leaves them without slots.
        needs_optimizer: whether None is refused.
        seed: of the tables without an initializer.

    Raises:
        ValueError: what `adopt_tables` refuses.
    """

    def __init__(self, feature_config: Any, optimizer: Any, needs_optimizer: bool, seed: int) -> None:
        self._structure = feature_config
        self._features: list[tuple[str, FeatureConfig]] = leaves(feature_config)
        self._tables = adopt_tables(self._features, optimizer, needs_optimizer)
        self._seed = seed
        self._arrays: list[list[np.ndarray]] | None = None

    @property
    def embedding_tables(self) -> dict[TableConfig, np.ndarray]:
        """The tables as they are now, by their `TableConfig`; they are made if they were not yet.

        TensorFlow has them away from a TPU only; on one its variables are those of the last checkpoint.
        """
        return {table: arrays[0] for table, arrays in zip(self._tables, self._read(), strict=True)}

    def retrieve(self) -> Variables:
        """Copies of all tables and slots as they are now: by name of the table, then "parameters" or the slot's name.

        An update that a pipelined engine still holds back is made first. Source: ops `RetrieveTPUEmbedding...`,
        TensorFlow 2.21 (2026).
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
            NotFoundError: a table that is not there. InvalidArgumentError: slots that are missing or too many, another
                shape. Nothing is loaded.

        Source: ops `LoadTPUEmbedding...`, TensorFlow 2.21 (2026).
        """
        names = [t.name for t in self._tables]
        if unknown := sorted(variables.keys() - set(names)):
            raise NotFoundError(f"there is no table {unknown[0]!r}; there are {', '.join(map(str, names))}")
        self._write(
            {
                k: checked_arrays(table, variables[str(table.name)], (table.vocabulary_size, table.dim))
                for k, table in enumerate(self._tables)
                if table.name in variables
            }
        )

    def save(self, path: str | Path) -> None:
        """Write all tables and slots into one `.npz` file, by "table/slot".

        It is made on the host. `gl.tpu.save` writes a state shard by shard, for tables that are too large for that.
        Not in TensorFlow, where `tf.train.Checkpoint` does it.
        """
        flat = {f"{table}/{name}": x for table, arrays in self.retrieve().items() for name, x in arrays.items()}
        with replaced(path) as part, part.open("wb") as file:
            np.savez(file, **flat)  # type: ignore[arg-type]

    def restore(self, path: str | Path) -> None:
        """`load` what `save` wrote, on any number of cores or devices.

        Where an optimizer has no `step_counter`, the steps that are counted for it go on from those made here.

        Raises:
            FileNotFoundError: there is none. ValueError: it is no such file, or broken; and what `load` raises.

        Not in TensorFlow, where `tf.train.Checkpoint` does it.
        """
        variables: dict[str, dict[str, np.ndarray]] = {}
        for key, x in _arrays_in(Path(path)).items():
            table, _, name = key.rpartition("/")
            variables.setdefault(table, {})[name] = x
        self.load(variables)

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


def _arrays_in(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an `.npz` file."""
    try:
        with path.open("rb") as stream, np.lib.npyio.NpzFile(stream, allow_pickle=False) as file:
            return dict(file)
    except FileNotFoundError:
        raise
    except BROKEN as error:
        raise ValueError(f"cannot read {path}: {error or type(error).__name__}") from error
