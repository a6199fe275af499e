"""One shard of a parameter server: some rows of each table, with their slots, and the whole ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._base.arrays import Array
from ..errors import InvalidArgumentError
from .experiment import Experiment
from .ledger import READ
from .rows import rows_of_shard
from .server import Gradient, Server, Weights


class Shard(Server):
    """A `Server` of the rows `index`, `index + count`, ... of each table; all other weights are shard 0's.

    Every shard hears every request, in one order, with its own part of what goes with it; so all have the same ledger
    and accept the same gradients. A read names the rows it wants, and what is held is a copy of these: tables and slots
    move where they are, by the rows of a gradient, whatever their size.

    Raises: ValueError: the problem has no plan, or a read wants rows that the shard does not have.

    >>> import numpy as np
    >>> from gradlab.tpu import Plan, Table
    >>> from gradlab.workers import Tables
    >>> plan = Plan((Table("words", 5, 1),), ())
    >>> shard = Shard(Experiment(Tables(plan, None, None, None)), 1, 2)
    >>> shard.handle(READ, 0, 0, {"words": np.array([1])})
    >>> [x["words"].shape for x in (shard.weights, shard.held(0))]
    [(2, 1), (1, 1)]
    """

    def __init__(self, experiment: Experiment, index: int, count: int) -> None:
        if getattr(experiment.problem, "plan", None) is None:
            raise InvalidArgumentError("only tables have shards: the problem must have a gl.tpu.Plan, as Tables has")
        self.part: Mapping[str, int] = {"shard": index, "shards": count}
        super().__init__(experiment)

    def _start(self) -> Weights:
        index, count = self.part["shard"], self.part["shards"]
        of_shard: Any = getattr(self.experiment.problem, "start_of_shard", None)
        if of_shard is not None and self.experiment.weights is None:
            self._own: Weights = of_shard(index, count)
            return dict(self._own)
        start = self.experiment.start()
        self._own = {name: np.array(start[name][index::count]) for name in self._tables}
        return self._own | {name: w for name, w in start.items() if index == 0 and name not in self._tables}

    def handle(self, move: int, worker: int, time: int, gradient: Gradient | None = None) -> None:
        if move == READ:
            self._check_worker(worker)
            found = self._wanted(gradient or {})
            super().handle(move, worker, time)
            self._held[worker] = found
        else:
            super().handle(move, worker, time, gradient)

    def _wanted(self, wanted: Mapping[str, np.ndarray]) -> Weights:
        """Copies of the rows wanted of each table, and all other weights as they are."""
        if wanted.keys() != self._own.keys():
            raise InvalidArgumentError(f"a read names rows of {sorted(self._own)}, this one of {sorted(wanted)}")
        for name, ids in wanted.items():
            rows = rows_of_shard(self._tables[name].rows, **self.part)
            if len(ids) and not 0 <= ids.min() <= ids.max() < rows:
                raise InvalidArgumentError(
                    f"this shard has {rows} rows of {name}, asked for {ids.min()} to {ids.max()}"
                )
        return {name: w[wanted[name]] if name in self._own else w for name, w in self.weights.items()}

    def _written(self, x: Any, ids: np.ndarray, rows: Array) -> Array:
        """Write to the array where it is, as nobody else holds it."""
        own: np.ndarray = x if x.flags.writeable else x.base  # what is shown is a read-only view of it
        own[ids] = rows
        return own
