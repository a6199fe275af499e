"""Steps of a PyTorch loop on their way to the recorder.

    HostSteps      on the CPU: measured by NumPy, and in the recorder's own queue at once
    DeviceSteps    on an accelerator: one tensor for each step, until all are copied together
    ShardedSteps   of gradients of which each process has a part (FSDP2): summed over the mesh

`WeightSamples` measures how far an optimizer's step moves the weights. Nothing here waits for an
accelerator, except where a docstring says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...._base.arrays import quiet
from ... import Recorder
from ...measure import BINS, flat
from ...measure import careful as careful_on_host
from ...store import Part, split_rows
from ...updates import next_after, norms_of
from .measure import careful, count_by_size, look_up, measure
from .parameters import local

if TYPE_CHECKING:
    import torch

Tensor = Any
Numbers = Mapping[str, Any]
_MARKS = ("scale", "skipped")  # of a step, beside its scalars


class HostSteps:
    """On the CPU: NumPy's calls cost a third of torch's, and the recorder takes each step at once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._sizes = recorder, recorder.sizes
        self._small = [recorder.layout.is_small(size) for size in self._sizes]

    def __len__(self) -> int:
        """Return how many steps the recorder does not have yet."""
        return 0

    def measured(self, k: int, g: Tensor) -> Part:
        """Return what the recorder needs of a gradient of tensor number k."""
        import torch

        if g.is_sparse and not self._small[k]:
            g = g.coalesce()
            entries = look_up(g, torch.from_numpy(self._recorder.layout.places[k])).numpy()
            values: np.ndarray = g.values().float().numpy()
            with np.errstate(all="ignore"):
                norm, largest, nonfinite = careful_on_host(values)
            return (float(norm), float(largest), int(nonfinite)), entries
        array: np.ndarray = flat((g.to_dense() if g.is_sparse else g).float().numpy())
        return array.copy() if self._small[k] else self._part(k, array)

    def counted(self, k: int, g: Tensor) -> Tensor:
        """Return how many entries of a gradient have which size."""
        return count_by_size(g)

    def scaled(self, part: Part, factor: float) -> Part:
        """Return what would have been measured of `factor` times the gradient."""
        if isinstance(part, np.ndarray):
            return part * np.float32(factor)
        (norm, largest, nonfinite), entries = part
        return (norm * factor, largest * factor, nonfinite), entries * np.float32(factor)

    def holds_nonfinite(self, found: Mapping[int, Part]) -> bool:
        """Tell whether a gradient that was measured has an entry that is not finite."""
        for part in found.values():
            if isinstance(part, np.ndarray):
                if not np.isfinite(part).all():
                    return True
            elif part[0][2]:
                return True
        return False

    @quiet
    def norm(self, part: Any) -> float:
        """The norm of a gradient that was measured."""
        return float(careful_on_host(part)[0]) if isinstance(part, np.ndarray) else part[0][0]

    def last_norms(self, found: Mapping[int, Part]) -> np.ndarray:
        """(tensors,) norms of the step that was appended last."""
        tensors = range(len(self._sizes))
        return np.array([self.norm(found[k]) if k in found else 0.0 for k in tensors], np.float32)

    def norms_of(self, tensors: Sequence[Tensor]) -> Any:
        """(tensors,) norms of some others than gradients."""
        return norms_of([x.float().numpy() for x in tensors])

    def sample(self, step: int, norms: Sequence[Any]) -> None:
        """Add the norms of gradient, weights and update of one step."""
        self._recorder.sampler.append_if_moved(step, np.stack(norms))

    def append(
        self, found: Mapping[int, Part], counts: Mapping[int, Tensor], numbers: Numbers
    ) -> None:
        """Add what was measured and counted of some tensors, by their number; of the others there was no gradient."""
        recorder, tensors = self._recorder, range(len(self._sizes))
        parts = [
            found[k] if k in found else self._part(k, np.zeros(self._sizes[k], np.float32))
            for k in tensors
        ]
        scalars = [float(numbers.get(name, np.nan)) for name in ("seconds", *recorder.scalars)]
        scale, skipped = float(numbers.get("scale", np.nan)), bool(numbers.get("skipped", False))
        recorder.add_step(
            parts, scalars, _all_counts(counts, len(tensors)) if counts else None, scale, skipped
        )

    def _part(self, k: int, array: np.ndarray) -> Part:
        (part,) = self._recorder.store.queue.parts({k: array})
        return part

    def flush(self) -> None:
        """The recorder has them."""


class DeviceSteps:
    """On an accelerator: each step is one tensor there, and nothing waits for it until all are copied together."""

    def __init__(self, recorder: Recorder, device: torch.device) -> None:
        import torch

        self._recorder, self._device = recorder, device
        self._places = [torch.from_numpy(p).to(device) for p in recorder.layout.places]
        self._zero, self._nan = (torch.full((), x, device=device) for x in (0.0, torch.nan))
        self._nothing = [
            (*[self._zero] * 3, torch.zeros(len(p), device=device)) for p in self._places
        ]
        self._steps: list[Tensor] = []
        self._seconds: list[float] = []
        self._counts: dict[int, Mapping[int, Tensor]] = {}  # by step
        self._samples: list[tuple[int, Tensor]] = []

    def __len__(self) -> int:
        """Return how many steps the recorder does not have yet."""
        return len(self._steps)

    def measured(self, k: int, g: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return what the recorder needs of a gradient of tensor number k."""
        return measure(g, self._places[k])

    def counted(self, k: int, g: Tensor) -> Tensor:
        """Return how many entries of a gradient have which size."""
        return count_by_size(g)

    def scaled(self, part: Any, factor: float) -> Any:
        """Return what would have been measured of `factor` times the gradient."""
        norm, largest, nonfinite, entries = part
        return norm * factor, largest * factor, nonfinite, entries * factor

    def holds_nonfinite(self, found: Mapping[int, Any]) -> bool:
        """Tell whether a gradient that was measured has an entry that is not finite.

        It waits for the device.
        """
        return bool(sum(part[2] for part in found.values()) > 0)

    def norm(self, part: Any) -> float:
        """The norm of a gradient that was measured. It waits for the device."""
        return float(part[0])

    def last_norms(self, found: Mapping[int, Any]) -> Tensor:
        """(tensors,) norms of the step that was appended last."""
        return self._steps[-1][: len(self._places)]

    def norms_of(self, tensors: Sequence[Tensor]) -> Tensor:
        """(tensors,) norms of some others than gradients."""
        import torch

        return torch.stack([careful(x.float())[0] for x in tensors])

    def sample(self, step: int, norms: Sequence[Tensor]) -> None:
        """Add the norms of gradient, weights and update of one step."""
        import torch

        self._samples.append((step, torch.stack(list(norms))))

    def append(
        self, found: Mapping[int, Any], counts: Mapping[int, Tensor], numbers: Numbers
    ) -> None:
        """Add what was measured and counted of some tensors, by their number; of the others there was no gradient."""
        import torch

        of_tensors = (found.get(k, nothing) for k, nothing in enumerate(self._nothing))
        norm, largest, nonfinite, entry = zip(*of_tensors, strict=True)
        named = (*self._recorder.scalars, *_MARKS)
        scalars = [self._number(numbers[name]) if name in numbers else self._nan for name in named]
        if counts:
            self._counts[len(self)] = dict(counts)
        self._steps.append(
            torch.cat([torch.stack([*norm, *largest, *nonfinite, *scalars]), *entry])
        )
        self._seconds.append(numbers["seconds"])

    def flush(self) -> None:
        """Hand over the steps, and have none left. It waits for the device."""
        for step, norms in self._samples:
            self._recorder.sampler.append_if_moved(step, norms.cpu().numpy())
        self._samples = []
        if self._steps:
            self._recorder.extend(self.drain())

    def drain(self) -> dict[str, np.ndarray]:
        """Return the steps as `Recorder.extend` takes them, and leave none.

        It waits for the device.
        """
        import torch

        tensors = len(self._places)
        rows = torch.stack(self._steps).cpu().numpy()
        columns = split_rows(rows, tensors, (*self._recorder.scalars, *_MARKS))
        columns["seconds"] = np.array(self._seconds)
        if self._counts:
            columns["histogram"] = np.zeros((len(rows), tensors, BINS), np.int32)
            for k, counts in self._counts.items():
                columns["histogram"][k] = _all_counts(counts, tensors)
        self._steps, self._seconds, self._counts = [], [], {}
        return columns

    def _number(self, x: Any) -> Tensor:
        import torch

        return torch.as_tensor(x).reshape(()).to(self._device, torch.float32, non_blocking=True)


def _all_counts(counts: Mapping[int, Tensor], tensors: int) -> np.ndarray:
    """(tensors, 64) on the host; zeros where there was no gradient."""
    nothing = np.zeros(BINS, np.int32)
    return np.stack([counts[k].cpu().numpy() if k in counts else nothing for k in range(tensors)])


def queue_on(device: torch.device, recorder: Recorder) -> HostSteps | DeviceSteps:
    """Return where steps wait whose gradients are on this device."""
    return HostSteps(recorder) if device.type == "cpu" else DeviceSteps(recorder, device)


class ShardedSteps(DeviceSteps):
    """Steps of sharded gradients.

    All processes of the mesh step together, and get the same numbers.

    A step costs two all-reduces of a few numbers for each tensor, which do not wait for the host.
    """

    def __init__(
        self, recorder: Recorder, device: torch.device, parameters: Mapping[str, Tensor]
    ) -> None:
        super().__init__(recorder, device)
        tensors = list(parameters.values())
        mesh = tensors[0].device_mesh
        self._groups = [mesh.get_group(dim) for dim in range(mesh.ndim)]
        self._parts = [
            _ShardPart(p, recorder.layout.places[k], device) for k, p in enumerate(tensors)
        ]

    def measured(self, k: int, g: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return what this process adds to the numbers of tensor number k: norm, largest, not finite, entries."""
        part, nothing = self._parts[k], self._nothing[k]
        if not part.counts:
            return nothing
        entry = nothing[-1].clone()
        entry[part.which] = g.take(part.places).float()
        return *careful(g.float()), entry

    def counted(self, k: int, g: Tensor) -> Tensor:
        """Return what this process adds to the counts of tensor number k."""
        import torch

        return (
            count_by_size(g)
            if self._parts[k].counts
            else torch.zeros(BINS, dtype=torch.int32, device=g.device)
        )

    def norms_of(self, tensors: Sequence[Tensor]) -> Tensor:
        """(tensors,) norms of whole tensors of which each process has a part."""
        import torch

        counts = torch.tensor([part.counts for part in self._parts], device=self._device)
        squares = torch.where(counts, super().norms_of(tensors).double().square(), 0.0)
        return self._reduced(squares, "SUM").sqrt().float()

    def holds_nonfinite(self, found: Mapping[int, Any]) -> bool:
        """Tell whether a gradient has an entry that is not finite on any process.

        It waits for all of them.
        """
        return bool(self._reduced(sum(part[2] for part in found.values()), "SUM") > 0)

    def append(
        self, found: Mapping[int, Any], counts: Mapping[int, Tensor], numbers: Numbers
    ) -> None:
        """Add what all processes measured and counted together."""
        super().append(
            self._summed(found), self._counts_summed(counts) if counts else counts, numbers
        )

    def _summed(self, found: Mapping[int, Any]) -> dict[int, Any]:
        """Norm, largest, not finite and entries of the whole tensors; squares are of multiples of
        the largest entry.
        """
        import torch

        norm, largest, nonfinite, entry = zip(
            *(found.get(k, nothing) for k, nothing in enumerate(self._nothing)), strict=True
        )
        top = self._reduced(torch.stack(largest), "MAX")
        unit = torch.where(top > 0, top, 1.0)
        squares = (torch.stack(norm) / unit).square()
        sums = self._reduced(torch.cat([squares, torch.stack(nonfinite), *entry]), "SUM")
        square, bad, *entries = sums.split([len(unit), len(unit), *map(len, entry)])
        return dict(enumerate(zip(unit * square.sqrt(), top, bad, entries, strict=True)))

    def _counts_summed(self, counts: Mapping[int, Tensor]) -> dict[int, Tensor]:
        import torch

        nothing = torch.zeros(BINS, dtype=torch.int32, device=self._device)
        every = torch.stack([counts.get(k, nothing).int() for k in range(len(self._parts))])
        return dict(enumerate(self._reduced(every, "SUM")))

    def _reduced(self, x: Tensor, how: str) -> Tensor:
        import torch.distributed as dist

        for group in self._groups:
            dist.all_reduce(x, getattr(dist.ReduceOp, how), group)
        return x


class _ShardPart:
    """The part of one tensor that this process has.

    Attributes:
        counts: whether it is this process that adds it, of those that have the same part.
        which, places: which of the tensor's followed entries are in it, and their flat indices in
            it.
    """

    def __init__(self, p: Tensor, places: np.ndarray, device: torch.device) -> None:
        import torch
        from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

        coordinate = p.device_mesh.get_coordinate()
        self.counts = all(
            c == 0 for c, how in zip(coordinate, p.placements, strict=True) if how.is_replicate()
        )
        shape, offset = compute_local_shape_and_global_offset(p.shape, p.device_mesh, p.placements)
        index = np.stack(np.unravel_index(places, p.shape)) - np.array(offset, int).reshape(-1, 1)
        inside = ((index >= 0) & (index < np.array(shape, int).reshape(-1, 1))).all(axis=0)
        local_places = np.zeros(0, np.int64)
        if inside.any():
            local_places = np.asarray(
                np.ravel_multi_index(tuple(index[:, inside]), tuple(shape)), np.int64
            )
        self.which = torch.from_numpy(np.flatnonzero(inside)).to(device)
        self.places = torch.from_numpy(local_places).to(device)


class WeightSamples:
    """Copies the weights before a step that is sampled, and compares them after it.

    Nothing waits for a device.
    """

    def __init__(self, recorder: Recorder, parameters: Sequence[torch.nn.Parameter]) -> None:
        recorder.sampler.ensure_columns()
        self._recorder = recorder
        self._parameters = parameters
        self._next = recorder.sampler.next_due
        self._step = -1  # the step that is sampled now
        self._before: list[Any] = []  # its weights
        self._gradient: Any = None  # the norms of its gradient

    def begin(self, step: int) -> None:
        """A step begins; copy the weights if it is due."""
        self._before = []
        self._gradient = None
        if step >= self._next:
            self._step = step
            self._before = [local(p.detach()).clone() for p in self._parameters]

    def measured(self, steps: HostSteps | DeviceSteps, found: Any) -> None:
        """The gradients of the step that has begun are measured, and with `steps`."""
        if self._before:
            self._gradient = steps.last_norms(found)

    def end(self, steps: HostSteps | DeviceSteps) -> None:
        """The step is done; note how far the weights have moved."""
        before = self._before
        self._before = []
        now = [local(p.detach()) for p in self._parameters]
        if (
            self._gradient is None
            or not before
            or any(a.device != b.device for a, b in zip(now, before, strict=True))
        ):
            return
        change = [a.float() - b.float() for a, b in zip(now, before, strict=True)]
        steps.sample(self._step, [self._gradient, steps.norms_of(before), steps.norms_of(change)])
        self._next = next_after(self._step, self._recorder.sampler.max_gap)
