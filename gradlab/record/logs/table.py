"""What a log says of a run: its norms and losses, each with its training step.

A reader adds rows in the order of the log, with the place of each, such as "line 3 of run.csv". Rows
are checked here, so that every format refuses the same things in the same words. `finish` sorts them
by step and lets the later of two rows of one step win, which is the one after a resume.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base.numbers import counted, listed
from ...errors import DataLossError, InvalidArgumentError

# Names of columns, in the order in which they are preferred. They are compared without case, with
# "_" for other signs, and without what stands before the last "/" or " - ".
NORMS = (
    "grad_norm",
    "global_grad_norm",
    "global_norm",
    "gradient_norm",
    "grad_norm_total",
    "total_grad_norm",
    "grad_2_0_norm_total",  # Lightning's grad_norm
    "total_norm",
    "gradnorm",
    "gnorm",
)
LOSSES = ("loss", "train_loss", "lm_loss", "training_loss", "train_loss_step", "global_avg_loss")
STEPS = (
    "global_step",
    "step",
    "_step",
    "current_steps",
    "iteration",
    "iter",
    "steps",
    "iters",
    "trainer_global_step",
)
_OF_EVALUATION = ("eval", "val", "valid", "validation", "test", "dev")
_ROLES = ("norm", "loss", "step")
_SHOWN = 12  # of the names that a log has
MOST_STEP = 2**53  # up to which a float64 counts
_OVERFLOW = -1.0  # what DeepSpeed returns for a norm that is NaN or Inf
_NOTHING = ("", "none", "null", "n/a")


@dataclass(frozen=True)
class LogTable:
    """Rows of a log that have a norm, by rising training step.

    Attributes:
        tool: which wrote it.
        step: (rows,) int64.
        norm, loss: (rows,) float64, as they were logged; `loss` is NaN where none was.
        notes: sentences on what was left out, replaced or assumed.
    """

    tool: str
    step: np.ndarray
    norm: np.ndarray
    loss: np.ndarray
    notes: tuple[str, ...]


class Rows:
    """Rows on their way into a `LogTable`."""

    def __init__(self) -> None:
        self._norm_step = array("q")
        self._norm = array("d")
        self._loss_step = array("q")
        self._loss = array("d")
        self._overflows = 0
        self._without_step = 0

    def add(self, place: str, step: Any, norm: Any, loss: Any, counted_steps: bool = False) -> None:
        """Add a row, as numbers, texts or None.

        Args:
            place: of the row, for errors.
            step: the training step.
            norm, loss: None, or an empty text, where the row has none.
            counted_steps: whether the log has no steps, so that rows with a norm are counted.

        Raises:
            DataLossError: a number that cannot be.
        """
        norm_number = to_number(norm, "norm", place)
        loss_number = to_number(loss, "loss", place)
        if norm_number is None and (loss_number is None or counted_steps):
            return
        step_number = len(self._norm) if counted_steps else to_step(step, place)
        if norm_number is not None:
            if norm_number < 0:
                if norm_number != _OVERFLOW:
                    raise DataLossError(
                        f"{place}: a norm is at least 0, got {norm!r}. Pass the column that holds "
                        'the norm: columns={"norm": ...}'
                    )
                norm_number = np.inf
                self._overflows += 1
            self._norm_step.append(step_number)
            self._norm.append(norm_number)
        if loss_number is not None:
            self._loss_step.append(step_number)
            self._loss.append(loss_number)

    def extend(
        self,
        norm_step: Sequence[int],
        norm: Sequence[float],
        loss_step: Sequence[int],
        loss: Sequence[float],
    ) -> None:
        """Add norms of at least 0, and losses, each with its step, that need no check; quicker than one by one."""
        self._norm_step.extend(norm_step)
        self._norm.extend(norm)
        self._loss_step.extend(loss_step)
        self._loss.extend(loss)

    def __len__(self) -> int:
        return len(self._norm)

    def finish(self, tool: str, notes: Iterable[str] = ()) -> LogTable:
        """Return the table of all rows with a norm, each with the loss of its step."""
        step = np.frombuffer(self._norm_step, np.int64)
        norm = np.frombuffer(self._norm, np.float64)
        said = [*notes]
        if self._overflows:
            said.append(
                f"{counted(self._overflows, 'norm')} of -1, which DeepSpeed writes for one that is "
                "not finite, kept as Inf."
            )
        step, norm, order_notes = _one_for_each_step(step, norm)
        loss_step, loss, _ = _one_for_each_step(
            np.frombuffer(self._loss_step, np.int64), np.frombuffer(self._loss, np.float64)
        )
        return LogTable(tool, step, norm, _at(step, loss_step, loss), (*said, *order_notes))


def _one_for_each_step(
    step: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the rows sorted by step, of those of one step the last, and what that changed, in words."""
    change = np.diff(step)
    if (change > 0).all():
        return step, value, []
    order = np.argsort(step, kind="stable")
    step = step[order]
    value = value[order]
    is_last = np.append(step[1:] != step[:-1], True)
    earlier = np.flatnonzero(~is_last)
    differs = (value[earlier] != value[earlier + 1]) & ~(
        np.isnan(value[earlier]) & np.isnan(value[earlier + 1])
    )
    notes = []
    if differs.any():
        notes.append(
            f"{counted(int(differs.sum()), 'line')} of a step that a later line has with another "
            "norm left out, as after a resume: the later one wins."
        )
    if (same := int((~differs).sum())) > 0:
        notes.append(f"{counted(same, 'line')} that repeat a step and its norm left out.")
    if not earlier.size:
        notes.append("The steps were not in order; they are sorted.")
    return step[is_last], value[is_last], notes


def _at(step: np.ndarray, other_step: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the values of other rows at these steps, NaN where there is none."""
    found = np.full(len(step), np.nan)
    if len(other_step):
        place = np.minimum(np.searchsorted(other_step, step), len(other_step) - 1)
        found = np.where(other_step[place] == step, other[place], np.nan)
    return found


def to_number(value: Any, name: str, place: str) -> float | None:
    """Return a logged number, NaN and Inf included; None where there is none."""
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in _NOTHING:
            return None
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise DataLossError(f"{place}: {name} must be a number, got {_short(value)}")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise DataLossError(
            f"{place}: {name} must be a number, got {_short(value)}. Mend or remove the line, or "
            "pass the right column: columns={" + f'"{name}": ...' + "}"
        ) from None


def to_step(value: Any, place: str) -> int:
    """Return a training step; one of 10.0 is 10."""
    number = to_number(value, "step", place)
    if number is None:
        raise DataLossError(f"{place}: it has a norm or a loss and no step. Mend or remove it")
    if not 0 <= number < MOST_STEP or number != int(number):
        raise DataLossError(
            f"{place}: a step is a whole number from 0 to 2^53, got {_short(value)}. Pass the column "
            'that holds the step: columns={"step": ...}'
        )
    return int(number)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


@dataclass(frozen=True)
class ColumnNames:
    """Which columns of a log hold the norm, the loss and the step; None for one that isn't there."""

    norm: str | None
    loss: str | None
    step: str | None


def find_columns(names: Sequence[str], columns: Mapping[str, str] | None, path: str) -> ColumnNames:
    """Find the columns by their names, or as `columns` says.

    Raises:
        InvalidArgumentError: several columns could be the norm.
    """
    given = columns or {}
    norm = given.get("norm") or _find(names, NORMS)
    if norm is None and "norm" not in given:
        several = [name for name in names if is_norm(name)]
        if several:
            raise InvalidArgumentError(
                f"{path} has {listed(several, _SHOWN)}, each of which may be the global norm; pass "
                'the one to read: columns={"norm": ' + f'"{several[0]}"' + "}"
            )
    trained = [name for name in names if not _is_of_evaluation(name)]
    loss = given.get("loss") or _find(trained, LOSSES)
    step = given.get("step") or _find(names, STEPS, is_step=True)
    return ColumnNames(
        norm if norm in names else None,
        loss if loss in names else None,
        step if step in names else None,
    )


def check_columns(columns: Mapping[str, str] | None) -> None:
    """Refuse `columns` that don't say where the norm is; TypeError or ValueError."""
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        raise TypeError(
            f'columns must be a dict such as {{"norm": "gnorm", "loss": "ce"}}, got {columns!r}'
        )
    if not columns or not set(columns) <= set(_ROLES):
        raise InvalidArgumentError(
            f"the keys of columns must be of {', '.join(_ROLES)}, got {', '.join(map(repr, columns))}"
        )
    for role, name in columns.items():
        if not isinstance(name, str) or not name:
            raise InvalidArgumentError(
                f"columns[{role!r}] must be the name of a column, got {name!r}"
            )


def refuse_without_norm(path: str, names: Iterable[str], columns: Mapping[str, str] | None) -> None:
    """Say that a log has no norm, and what it has."""
    there = dict.fromkeys(names)
    has = f"It has {listed([*there], _SHOWN)}. " if there else ""
    if columns and "norm" in columns:
        raise InvalidArgumentError(f"{path} has no norm called {columns['norm']!r}. {has}".strip())
    raise InvalidArgumentError(
        f"{path} has no gradient norm that is recognized. {has}Log grad_norm, the norm that the clip "
        'returns, or pass the name of the norm: columns={"norm": ...}'
    )


def _find(names: Sequence[str], known: Sequence[str], is_step: bool = False) -> str | None:
    """Return the one column with the first known name there is; None of none, or of several.

    Several steps of one name count the same thing, as those of "train" and "eval".
    """
    for wanted in known:
        having = [name for name in names if _plain(name) == wanted]
        if not having:
            continue
        exact = [name for name in having if _underscored(name) == wanted]
        of_training = [name for name in having if _underscored(name).startswith("train")]
        if exact or of_training:
            return (exact or of_training)[0]
        if len(having) == 1 or is_step:
            return having[0]
        return None
    return None


def _underscored(name: str) -> str:
    letters = [letter if letter.isalnum() else "_" for letter in name.strip().lower()]
    return "".join(letters)


def _plain(name: str) -> str:
    """Return a column's name as it is compared.

    >>> _plain("train/grad_norm"), _plain("run-7 - Grad-Norm"), _plain("loss_metrics/global_avg_loss")
    ('grad_norm', 'grad_norm', 'global_avg_loss')
    """
    return _underscored(name.rpartition("/")[2].rpartition(" - ")[2])


def is_norm(name: str) -> bool:
    """Tell whether a column's name is that of a global norm."""
    return _plain(name) in NORMS


def _is_of_evaluation(name: str) -> bool:
    first = name.replace("-", "/").replace("_", "/").lower().split("/")[0].strip()
    return first in _OF_EVALUATION
