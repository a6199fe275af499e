"""Embedding tables whose rows are divided among shards: one shard's server, and the ledger that decides for all.

Row r of each table is on shard r % count. The sharded ledger decides what is accepted; the shards
make the same moves in the same order, each with its own rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._base.arrays import Array
from ..errors import InvalidArgumentError
from .experiment import Experiment
from .ledger import CHECK, READ, Ledger
from .rows import check_rows, count_rows_of_shard
from .server import Gradient, Server, Weights


class TableShard(Server):
    """A `Server` of the rows `index`, `index + count`, ... of each table; all other weights are on shard 0.

    A read names the rows that it wants, and the worker holds a copy of these. Tables and slots are
    written in place, only the rows of a gradient, so a table of any size is never copied.

    Raises:
        ValueError: the problem has no plan, or a read wants rows that the shard does not have.

    >>> import numpy as np
    >>> from gradlab.tpu import Plan, Table
    >>> from gradlab.workers import Tables
    >>> plan = Plan((Table("words", 5, 1),), ())
    >>> shard = TableShard(Experiment(Tables(plan, None, None, None)), 1, 2)
    >>> shard.handle(READ, 0, 0, {"words": np.array([1])})
    >>> [x["words"].shape for x in (shard.weights, shard.held(0))]
    [(2, 1), (1, 1)]
    """

    def __init__(self, experiment: Experiment, index: int, count: int) -> None:
        if getattr(experiment.problem, "plan", None) is None:
            raise InvalidArgumentError(
                "only tables have shards: the problem must have a gl.tpu.Plan, as Tables has"
            )
        self.index = index
        self.count = count
        super().__init__(experiment)

    def handle(self, move: int, worker: int, time: int, gradient: Gradient | None = None) -> None:
        if move == READ:
            self._check_worker(worker)
            rows = self._copy_rows(gradient or {})
            super().handle(move, worker, time)
            self._held[worker] = rows
        else:
            super().handle(move, worker, time, gradient)

    def _start(self) -> Weights:
        start_of_shard: Any = getattr(self.experiment.problem, "start_of_shard", None)
        if start_of_shard is not None and self.experiment.weights is None:
            weights: Weights = start_of_shard(self.index, self.count)
            return dict(weights)
        start = self.experiment.start()
        weights = {name: np.array(start[name][self.index :: self.count]) for name in self._tables}
        if self.index == 0:
            weights |= {name: w for name, w in start.items() if name not in self._tables}
        return weights

    def _copy_rows(self, ids_by_table: Mapping[str, np.ndarray]) -> Weights:
        """Copy the rows with these ids, as this shard counts them; weights other than tables stay
        as they are.
        """
        if ids_by_table.keys() != self._tables.keys():
            raise InvalidArgumentError(
                f"a read names rows of {sorted(self._tables)}, this one of {sorted(ids_by_table)}"
            )
        for name, ids in ids_by_table.items():
            rows = count_rows_of_shard(self._tables[name].rows, self.index, self.count)
            if len(ids) and not 0 <= ids.min() <= ids.max() < rows:
                raise InvalidArgumentError(
                    f"this shard has {rows} rows of {name}, asked for {ids.min()} to {ids.max()}"
                )
        return {
            name: w[ids_by_table[name]] if name in self._tables else w
            for name, w in self.weights.items()
        }

    def _set_rows(self, x: Any, ids: np.ndarray, rows: Array) -> Array:
        # Nothing else holds a shard's arrays: workers have copies. `weights` shows read-only views
        # of them.
        array: np.ndarray = x if x.flags.writeable else x.base
        array[ids] = rows
        return array


class ShardedLedger:
    """What decides for all shards: the ledger, and no weight.

    It refuses gradients that do not fit the tables.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.weights: Weights = {}
        self.ledger = Ledger(
            experiment.workers, experiment.policy, experiment.staleness, experiment.aggregate
        )
        problem: Any = experiment.problem
        self.shapes = {table.name: (table.rows, table.width) for table in problem.plan.tables}

    def handle(self, move: int, worker: int, time: int, gradient: Gradient | None = None) -> None:
        """Make one move of a worker."""
        if move == CHECK:
            if gradient is None or not self.shapes.keys() <= gradient.keys():
                raise InvalidArgumentError(
                    f"the gradient is of {sorted(gradient or {})}, tables {sorted(self.shapes)}"
                )
            for name, shape in self.shapes.items():
                check_rows(name, gradient[name], shape)
        self.ledger.handle(move, worker, time)
