"""Numbers that a training loop notes for the next step, such as its loss, of each micro-batch and on each process.

A loop may note before a backward (`note`, `backward`) or after it (`backward`, `note`). So when a
backward turns out to begin another step, the notes since the last backward may belong to either
step. They belong to the new step if the loop notes before its backwards, which shows in a note from
before the first one: `Notes.take_next`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ....errors import InvalidArgumentError, RecordingWarning, warn

if TYPE_CHECKING:
    import torch


@dataclass
class _Note:
    """One number, and how many backwards of its step had ended when it was noted."""

    name: str
    value: torch.Tensor
    backwards: int


@dataclass
class Notes:
    """The numbers noted for a step, which stay on their devices.

    Attributes:
        names: the names that may be noted.
        how: how several numbers of one name in a step are combined.
        across_processes: whether a step then has the mean over all processes.
    """

    names: tuple[str, ...]
    how: Literal["mean", "sum"]
    across_processes: bool
    _notes: list[_Note] = field(default_factory=list)
    _backwards: int = 0
    _warned: bool = False

    @property
    def in_words(self) -> str:
        """How several numbers of a step are combined, and of which processes they are."""
        where = "mean over all processes" if self.across_processes else "of this process"
        return (
            f"{', '.join(self.names) or 'no scalars'}: {self.how} over the micro-batches of a "
            f"step, {where}"
        )

    def add(self, scalars: Mapping[str, Any]) -> None:
        """Note some numbers; ValueError, and none is noted, for an unknown name or more than one number."""
        import torch

        new = []
        for name, value in scalars.items():
            if name not in self.names:
                raise InvalidArgumentError(
                    f"{name} is not among scalars={self.names} that record was given; add it"
                )
            number = value.detach() if isinstance(value, torch.Tensor) else torch.as_tensor(value)
            if number.numel() != 1:
                shape = tuple(number.shape)
                raise InvalidArgumentError(
                    f"{name} must be one number for each step, got shape {shape}; give its mean"
                )
            new.append(_Note(name, number.reshape(()), self._backwards))
        self._notes += new
        if new and not self.across_processes and not self._warned and processes() > 1:
            import torch.distributed as dist

            self._warned = True
            warn(
                f"{', '.join(scalars)}: only the values of process {dist.get_rank()} of "
                f"{processes()} are recorded, while gradients are those of all processes, so a "
                "bad batch on another process doesn't show. For the mean over all, call "
                "record(..., across_processes=True) on every process",
                RecordingWarning,
            )

    def count_backward(self) -> None:
        """Count a backward that has ended."""
        self._backwards += 1

    def take_next(self) -> list[_Note]:
        """Remove and return the notes of the step whose backward begins; empty where the loop notes after backwards."""
        notes_come_first = any(note.backwards == 0 for note in self._notes)
        if not notes_come_first:
            return []
        later = [note for note in self._notes if note.backwards == self._backwards]
        self._notes = [note for note in self._notes if note.backwards < self._backwards]
        return later

    def discard_unused(self) -> None:
        """Discard the numbers of gradients that no step has used, and keep those of the step that begins."""
        later = self.take_next()
        self._reset()
        self.put_back(later)

    def put_back(self, notes: list[_Note]) -> None:
        """Note for the step that begins what `take_next` returned."""
        self._notes += [_Note(note.name, note.value, 0) for note in notes]

    def warn_of_unused(self) -> None:
        """Warn of numbers that no step has, where no backward has followed the last step.

        Where one has, the loop ended within a step, as it may in the middle of several
        micro-batches.
        """
        if not self._notes or self._backwards:
            return
        names = ", ".join(dict.fromkeys(note.name for note in self._notes))
        warn(
            f"{names}: what was noted after the last optimizer.step() is in no step. If your loop "
            "notes after every step, each number is recorded with the step after its own; call "
            "note() of the recording before optimizer.step()",
            RecordingWarning,
        )

    def take(self, device: torch.device) -> dict[str, Any]:
        """Return the combined numbers of a step by name, and begin the next one without any."""
        combined = {}
        for name in self.names:
            values = [note.value for note in self._notes if note.name == name]
            if len(values) == 1:
                combined[name] = values[0]
            elif values:
                total = sum(values[1:], start=values[0])
                combined[name] = total if self.how == "sum" else total / len(values)
        self._reset()
        if not self.across_processes:
            return combined
        return _mean_over_processes(combined, self.names, device)

    def _reset(self) -> None:
        self._notes = []
        self._backwards = 0


def processes() -> int:
    """Return the number of processes of torch.distributed, 1 without it."""
    import torch.distributed as dist

    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def _mean_over_processes(
    noted: Mapping[str, Any], names: tuple[str, ...], device: torch.device
) -> dict[str, Any]:
    """Return the mean of each number over all processes; NaN for one that some process did not
    note.
    """
    import torch
    import torch.distributed as dist

    if processes() == 1 or not names:
        return dict(noted)
    # One all-reduce of all names, in the same order on every process: one that noted less must not
    # wait forever.
    nan = torch.tensor(float("nan"))
    numbers = torch.stack(
        [torch.as_tensor(noted.get(name, nan)).to(device, torch.float32) for name in names]
    )
    dist.all_reduce(numbers)
    return dict(zip(names, numbers / processes(), strict=True))
