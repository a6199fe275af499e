"""What a run leaves behind: plain named arrays, from which the run can be repeated bit for bit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .._base.arrays import Array, is_jax, precision
from .._base.errors import InvalidArgumentError
from .._base.numbers import counted
from .._files.replace import replaced
from .experiment import Experiment
from .ledger import MOVES, Round
from .problems import Problem


@dataclass(frozen=True, eq=False)
class Trace:
    """One run, whichever engine ran it.

    Fields:
        experiment, engine, unit: what was run, by whom, and what its times are in ("ticks" or "microseconds").
        moves: int32 (m, 2), (move, worker) in the order in which the server saw them; `MOVES` names them.
        times: int64 (m,), the time of each.
        rounds: what became of each gradient, in the order of their updates: int64 arrays (n,) by the names of `Round`.
        weights: after the last update.

    Derived arrays (n,): `accepted`, `staleness` (recorded: step at the check minus step noted), `true_staleness` (step
    at the update, or at the check if dropped, minus step of the weights that were read).

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
        """From a log of (move, worker, time) and the rounds of its ledger."""
        table = np.array(log, np.int64).reshape(-1, 3)
        columns = np.array(rounds, np.int64).reshape(-1, len(Round._fields)).T
        named = dict(zip(Round._fields, columns, strict=True))
        return cls(experiment, engine, unit, table[:, :2].astype(np.int32), table[:, 2], named, dict(weights))

    def __len__(self) -> int:
        """How many gradients were handed in."""
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
        """How often the weights moved."""
        return int(self.rounds["moved"].sum())

    def by_worker(self) -> dict[str, np.ndarray]:
        """Per worker (workers,): gradients `handed_in` and `accepted`, and the mean true `staleness` of the first."""

        def count(x: np.ndarray) -> np.ndarray:
            return np.bincount(self.rounds["worker"], x, self.experiment.workers)

        handed_in = count(np.ones(len(self)))
        with np.errstate(invalid="ignore"):
            staleness = count(self.true_staleness.astype(float)) / handed_in
        return {
            "handed_in": handed_in.astype(int), "accepted": count(self.accepted.astype(float)).astype(int),
            "staleness": staleness,
        }  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write an .npz without pickle; a problem of your own is not written and has to be given to `load`.

        Raises: ValueError: the path does not end in .npz. TypeError: weights that are no numbers.
        """
        if not str(path).endswith(".npz"):
            raise InvalidArgumentError(f"a trace is saved as an .npz: end the path in .npz, got {str(path)!r}")
        named = {f"weight.{k}": x for k, x in self.weights.items()}
        named |= {f"start.{k}": x for k, x in (self.experiment.weights or {}).items()}
        arrays = {name: np.asarray(x) for name, x in named.items()}
        if objects := sorted(name for name, x in arrays.items() if x.dtype.hasobject):
            raise TypeError(f"a trace holds arrays of numbers; these hold Python objects: {', '.join(objects)}")
        kinds = {name: (_kind(x.dtype), is_jax(named[name])) for name, x in arrays.items()}
        plain = {k: x.view(f"u{x.itemsize}") if x.dtype.kind == "V" else x for k, x in arrays.items()}
        head = {"experiment": self.experiment.to_json(), "engine": self.engine, "unit": self.unit, "kinds": kinds}
        rounds = {f"round.{k}": x for k, x in self.rounds.items()}
        with replaced(path) as part, part.open("wb") as file:
            np.savez_compressed(
                file, allow_pickle=False, head=np.array(json.dumps(head)), moves=self.moves, times=self.times,
                **rounds, **plain,
            )  # fmt: skip

    @classmethod
    def load(cls, path: str | Path, problem: Problem | None = None) -> Trace:
        """Read what `save` wrote.

        Raises: ValueError: not such a file, or the problem is not one that ships and was not given.
        """
        try:
            with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
                stored = {name: file[name] for name in file.files}
            if "head" not in stored:
                raise ValueError(f"it holds {', '.join(stored) or 'nothing'}")
            head = json.loads(str(stored.pop("head")))
            needed = {"moves", "times", *(f"round.{k}" for k in Round._fields), *head["kinds"]}
            if stored.keys() != needed:
                raise ValueError(f"it lacks or has too much: {', '.join(sorted(stored.keys() ^ needed))}")
            arrays = {k: _as_kind(x, *head["kinds"].get(k, (x.dtype.str, False))) for k, x in stored.items()}
        except OSError:
            raise
        except Exception as error:  # a file that was cut off or changed fails in many ways
            raise InvalidArgumentError(f"{path} is no saved trace, or it is damaged: {error}") from error

        def part(kind: str) -> dict[str, Array]:
            return {k.removeprefix(kind): x for k, x in arrays.items() if k.startswith(kind)}

        experiment = Experiment.from_json(head["experiment"], problem).with_(weights=part("start.") or None)
        return cls(
            experiment, head["engine"], head["unit"], np.asarray(arrays["moves"]), np.asarray(arrays["times"]),
            {name: np.asarray(x) for name, x in part("round.").items()}, part("weight."),
        )  # fmt: skip

    def __repr__(self) -> str:
        last = f", last move {MOVES[self.moves[-1, 0]]!r}" if len(self.moves) else ""
        return (
            f"<gradlab.workers.Trace of {counted(len(self), 'gradient')}, {int(self.accepted.sum()):,} accepted, "
            f"{counted(self.updates, 'update')}, {counted(self.experiment.workers, 'worker')}, {self.engine}{last}>"
        )


def _kind(dtype: np.dtype) -> str:
    """With its byte order; bfloat16 and its kin have only their names."""
    return dtype.name if dtype.kind == "V" else dtype.str


def _as_kind(x: np.ndarray, dtype: str, jax: bool) -> Array:
    """An array as it was before it was stored."""
    if not jax:
        return x.view(dtype)
    from .._steps.jax import jnp

    with precision(x.dtype):
        return jnp.asarray(x.view(dtype))
