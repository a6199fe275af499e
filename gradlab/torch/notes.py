"""Numbers that a loop notes of the step to come, such as its loss: of each micro-batch, on each process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .._base.errors import InvalidArgumentError, RecordingWarning, warn

if TYPE_CHECKING:
    import torch


@dataclass
class _Note:
    """One number, and how many backwards of its step were over when it was noted."""

    name: str
    value: torch.Tensor
    backwards: int


@dataclass
class Notes:
    """Collects the numbers of a step, on the device that they are on.

    Attributes:
        names: those that may be noted. how: what a step has of several: their mean or their sum.
        across_processes: whether the mean over all processes is taken then.
    """

    names: tuple[str, ...]
    how: Literal["mean", "sum"]
    across_processes: bool
    _notes: list[_Note] = field(default_factory=list)
    _backwards: int = 0
    _warned: bool = False

    @property
    def in_words(self) -> str:
        """How several numbers of a step are put together, and of which processes they are."""
        where = "mean over all processes" if self.across_processes else "of this process"
        return f"{', '.join(self.names) or 'no scalars'}: {self.how} over the micro-batches of a step, {where}"

    def add(self, scalars: Mapping[str, Any]) -> None:
        """Note some numbers; ValueError, and nothing is noted, for a name that is not known or several numbers."""
        import torch

        new = []
        for name, value in scalars.items():
            if name not in self.names:
                raise InvalidArgumentError(f"{name} is not among scalars={self.names} that record was given; add it")
            number = value.detach() if isinstance(value, torch.Tensor) else torch.as_tensor(value)
            if number.numel() != 1:
                shape = tuple(number.shape)
                raise InvalidArgumentError(f"{name} must be one number for each step, got shape {shape}; give its mean")
            new.append(_Note(name, number.reshape(()), self._backwards))
        self._notes += new
        if new and not self.across_processes and not self._warned and processes() > 1:
            import torch.distributed as dist

            self._warned = True
            warn(
                f"{', '.join(scalars)} is recorded of process {dist.get_rank()} of {processes()} alone, while "
                "gradients are those of all: a bad batch on another one does not show in it. Give record(..., "
                "across_processes=True) on every process for the mean over all",
                RecordingWarning,
            )

    def backward_is_over(self) -> None:
        """Count a backward of the step to come."""
        self._backwards += 1

    def of_the_next_step(self) -> list[_Note]:
        """Take out what was noted after the last backward, where the loop notes before each backward."""
        if not any(note.backwards == 0 for note in self._notes):
            return []
        later = [note for note in self._notes if note.backwards == self._backwards]
        self._notes = [note for note in self._notes if note.backwards < self._backwards]
        return later

    def forget_before_the_next_step(self) -> None:
        """Forget the numbers of gradients that no step has used."""
        later = self.of_the_next_step()
        self._begin()
        self.put_back(later)

    def put_back(self, notes: list[_Note]) -> None:
        """Note again, for the step that begins, what `of_the_next_step` took out."""
        self._notes += [_Note(note.name, note.value, 0) for note in notes]

    def take(self, device: torch.device) -> dict[str, Any]:
        """Return the numbers of a step, and have none for the next."""
        found = {}
        for name in self.names:
            values = [note.value for note in self._notes if note.name == name]
            if len(values) == 1:
                found[name] = values[0]
            elif values:
                total = sum(values[1:], start=values[0])
                found[name] = total if self.how == "sum" else total / len(values)
        self._begin()
        return _mean_over_processes(found, self.names, device) if self.across_processes else found

    def _begin(self) -> None:
        self._notes, self._backwards = [], 0


def processes() -> int:
    """Return how many processes of torch.distributed there are."""
    import torch.distributed as dist

    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def _mean_over_processes(found: Mapping[str, Any], names: tuple[str, ...], device: torch.device) -> dict[str, Any]:
    """The mean of each number over all processes; NaN of one that a process did not note."""
    import torch
    import torch.distributed as dist

    if processes() == 1 or not names:
        return dict(found)
    nan = torch.tensor(float("nan"))
    numbers = torch.stack([torch.as_tensor(found.get(name, nan)).to(device, torch.float32) for name in names])
    dist.all_reduce(numbers)
    return dict(zip(names, numbers / processes(), strict=True))
