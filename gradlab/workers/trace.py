"""The trace of a run: plain named arrays, from which the run can be repeated bit for bit."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._base.archive import MAX_BYTES, Archive, ArchiveWriter
from .._base.arrays import Array, is_jax, precision
from .._base.checked_files import field as entry
from .._base.checked_files import report_damage
from .._base.numbers import counted
from ..errors import InvalidArgumentError
from .experiment import Experiment
from .ledger import MOVES, Round
from .problems import Problem

_KIND = "trace"
_VERSION = 1


@dataclass(frozen=True, eq=False)
class Trace:
    """One run, whichever engine ran it.

    Attributes:
        experiment, engine: of the run.
        unit: of the times, "ticks" or "microseconds".
        moves: int32 (m, 2), (move, worker) in the order in which the server saw them; `MOVES` names
            them.
        times: int64 (m,), the time of each.
        rounds: what became of each gradient, in the order of their updates: int64 arrays (n,) by
            the names of `Round`.
        weights: after the last update.

    Derived arrays (n,): `accepted`, `staleness` (recorded: step at the check minus step noted),
    `true_staleness` (step at the update, or at the check if dropped, minus step of the weights that
    were read).

    Not in TensorFlow.

    >>> from gradlab.workers import Bowl, run
    >>> trace = run(Experiment(Bowl(), workers=3, gradients=6))
    >>> trace.accepted.tolist(), trace.staleness.tolist()
    ([True, False, False, True, False, False], [0, 1, 1, 0, 1, 1])
    """

    experiment: Experiment
    engine: str
    unit: str
    moves: np.ndarray
    times: np.ndarray
    rounds: Mapping[str, np.ndarray]
    weights: Mapping[str, Array] = field(repr=False)

    @classmethod
    def of(
        cls, experiment: Experiment, engine: str, unit: str, log: Sequence[tuple[int, int, int]],
        rounds: Sequence[Round], weights: Mapping[str, Array],
    ) -> Trace:  # fmt: skip
        """Return the trace of a log of (move, worker, time) and of the rounds of its ledger."""
        table = np.array(log, np.int64).reshape(-1, 3)
        columns = np.array(rounds, np.int64).reshape(-1, len(Round._fields)).T
        named = dict(zip(Round._fields, columns, strict=True))
        return cls(
            experiment,
            engine,
            unit,
            table[:, :2].astype(np.int32),
            table[:, 2],
            named,
            dict(weights),
        )

    def __len__(self) -> int:
        """The number of gradients submitted."""
        return len(self.rounds["worker"])

    @property
    def accepted(self) -> np.ndarray:
        accepted: np.ndarray = self.rounds["applied_to"] >= 0
        return accepted

    @property
    def staleness(self) -> np.ndarray:
        staleness: np.ndarray = self.rounds["checked"] - self.rounds["recorded"]
        return staleness

    @property
    def true_staleness(self) -> np.ndarray:
        r = self.rounds
        staleness: np.ndarray = np.where(self.accepted, r["applied_to"], r["checked"]) - r["read"]
        return staleness

    @property
    def updates(self) -> int:
        """The number of updates of the weights."""
        return int(self.rounds["moved"].sum())

    def by_worker(self) -> dict[str, np.ndarray]:
        """Per worker (workers,): gradients `handed_in` and `accepted`, and the mean true `staleness` of the first."""

        def count(x: np.ndarray) -> np.ndarray:
            return np.bincount(self.rounds["worker"], x, self.experiment.workers)

        handed_in = count(np.ones(len(self)))
        with np.errstate(invalid="ignore"):
            staleness = count(self.true_staleness.astype(float)) / handed_in
        return {
            "handed_in": handed_in.astype(int),
            "accepted": count(self.accepted.astype(float)).astype(int),
            "staleness": staleness,
        }

    def save(self, path: str | Path) -> None:
        """Write an .npz without pickle; a problem of your own is not written and has to be given to `load`.

        The file is replaced at once: until all of the new one is on the disk, the old one stays.

        Raises:
            ValueError: the path does not end in .npz.
            TypeError: weights that aren't numbers.
            OSError: it cannot be written; no part of it is left behind.
        """
        if not str(path).endswith(".npz"):
            raise InvalidArgumentError(
                f"a trace is saved as an .npz: end the path in .npz, got {str(path)!r}"
            )
        named = {f"weight.{k}": x for k, x in self.weights.items()}
        named |= {f"start.{k}": x for k, x in (self.experiment.weights or {}).items()}
        arrays = {name: np.asarray(x) for name, x in named.items()}
        if objects := sorted(name for name, x in arrays.items() if x.dtype.hasobject):
            raise TypeError(
                f"a trace holds arrays of numbers; these hold Python objects: {', '.join(objects)}"
            )
        jax = [name for name, x in named.items() if is_jax(x)]
        head = {
            "experiment": self.experiment.to_json(),
            "engine": self.engine,
            "unit": self.unit,
            "jax": jax,
        }
        rounds = {f"round.{k}": x for k, x in self.rounds.items()}
        with ArchiveWriter(path, _KIND, _VERSION, head, compressed=True) as file:
            for name, x in {"moves": self.moves, "times": self.times, **rounds, **arrays}.items():
                file.array(name, x)

    @classmethod
    def load(
        cls, path: str | Path, problem: Problem | None = None, *, max_bytes: int = MAX_BYTES
    ) -> Trace:
        """Read what `save` wrote.

        Nothing is imported for it: a rule's own function has to be there already.

        Args:
            problem: of your own, which the file does not hold.
            max_bytes: memory that the arrays may take, 4 GiB if you say nothing; more is refused
                before it is taken.

        Raises:
            OSError: it cannot be opened.
            DataLossError: it is damaged, too large, or something else; also a ValueError. None of
                it is used.
            ValueError: the problem is not one that ships and was not given; a function that was not
                imported.
        """
        with (
            Archive(path, _KIND, (_VERSION,), max_bytes=max_bytes) as file,
            report_damage(path, _KIND),
        ):
            stored = file.arrays()
            head = file.head
            arrays = _restore_jax(stored, head)
            engine = entry(head, "engine", str)
            unit = entry(head, "unit", str)

            def named(kind: str) -> dict[str, Array]:
                return {k.removeprefix(kind): x for k, x in arrays.items() if k.startswith(kind)}

            text = entry(head, "experiment", str)
            refused = _explain_refusal(path, json.loads(text), problem)
            if refused:
                experiment = None
            else:
                experiment = Experiment.from_json(text, problem).with_(
                    weights=named("start.") or None
                )
                moves, times, rounds = _check_columns(experiment.workers, arrays, named("round."))
        if experiment is None:
            raise InvalidArgumentError(refused)
        return cls(experiment, engine, unit, moves, times, rounds, named("weight."))

    def __repr__(self) -> str:
        last = f", last move {MOVES[self.moves[-1, 0]]!r}" if len(self.moves) else ""
        return (
            f"<gradlab.workers.Trace of {counted(len(self), 'gradient')}, "
            f"{int(self.accepted.sum()):,} accepted, {counted(self.updates, 'update')}, "
            f"{counted(self.experiment.workers, 'worker')}, {self.engine}{last}>"
        )


def _restore_jax(stored: Mapping[str, np.ndarray], head: Mapping[str, Any]) -> dict[str, Array]:
    """Return the arrays, of JAX where they were saved so."""
    jax = entry(head, "jax", list)
    for name in jax:
        if name not in stored:
            raise ValueError(f"it has no {name}")
    return {name: _to_jax(x) if name in jax else x for name, x in stored.items()}


def _to_jax(x: np.ndarray) -> Array:
    from .._base.jax import jnp

    with precision(x.dtype):
        return jnp.asarray(x)


def _explain_refusal(path: str | Path, config: Mapping[str, Any], problem: Problem | None) -> str:
    """The reason why a whole file can't be loaded; empty if there isn't one.

    A file doesn't choose imports.
    """
    if config["problem"] is None and problem is None:
        return f"the problem of {path} is not one that ships: give it as problem="
    address = config["optimizer"].get("function")
    if address is None or (module := address.partition(":")[0]) in sys.modules:
        return ""
    return (
        f"the optimizer of {path} calls {address!r}, and loading imports nothing: if you trust "
        f"it, import {module}"
    )


def _check_columns(
    workers: int, arrays: Mapping[str, Array], rounds: Mapping[str, Array]
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return moves, times and rounds; ValueError unless they are the columns of one run of these
    workers.
    """
    if set(rounds) != set(Round._fields):
        raise ValueError(f"its rounds have {', '.join(rounds)}, not {', '.join(Round._fields)}")
    moves = _check_column(arrays, "moves", np.int32, (len(arrays["times"]), 2))
    times = _check_column(arrays, "times")
    columns = {name: _check_column(rounds, name, shape=(len(rounds["worker"]),)) for name in rounds}
    for name, x, count in (("move", moves[:, 0], len(MOVES)), ("worker", moves[:, 1], workers)):
        if len(x) and not 0 <= x.min() <= x.max() < count:
            raise ValueError(f"it names a {name} outside 0 to {count - 1}")
    if (
        len(columns["worker"])
        and not 0 <= columns["worker"].min() <= columns["worker"].max() < workers
    ):
        raise ValueError(f"its rounds name a worker outside 0 to {workers - 1}")
    return moves, times, columns


def _check_column(
    arrays: Mapping[str, Array],
    name: str,
    dtype: type = np.int64,
    shape: tuple[int, ...] | None = None,
) -> np.ndarray:
    x = np.asarray(arrays[name])
    if x.dtype != dtype or x.shape != ((len(x),) if shape is None else shape):
        raise ValueError(f"{name} is {x.dtype} of shape {x.shape}, and does not fit the others")
    return x
