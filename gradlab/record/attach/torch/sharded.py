"""Gradients of which each process has a part (FSDP2): parts are measured where they are, and summed over the mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....errors import InvalidArgumentError
from ... import Recorder
from ...measure import BINS
from .measure import careful, counted
from .waiting import DeviceSteps, Numbers

if TYPE_CHECKING:
    import torch

Tensor = Any


def is_sharded(tensor: Tensor) -> bool:
    """Tell whether this is a DTensor: of its entries a process may have some only."""
    return hasattr(tensor, "to_local") and hasattr(tensor, "device_mesh")


def local(tensor: Tensor) -> Tensor:
    """The part of a tensor that this process has; of an ordinary tensor all of it."""
    return tensor.to_local() if is_sharded(tensor) else tensor


def require_known_placements(parameters: Mapping[str, Tensor]) -> None:
    """An error unless the parts of all parameters are rectangles, over one mesh."""
    meshes = {p.device_mesh: name for name, p in parameters.items()}
    if len(meshes) > 1:
        raise InvalidArgumentError(
            f"all parameters must be on one device mesh, got {' and '.join(meshes.values())} on different ones; "
            "give each mesh its own optimizer and recorder"
        )
    for name, p in parameters.items():
        if kinds := {type(placement).__name__ for placement in p.placements} - {"Shard", "Replicate"}:
            raise InvalidArgumentError(
                f"{name} is placed as {', '.join(sorted(kinds))}; only Shard and Replicate can be recorded"
            )


class ShardedSteps(DeviceSteps):
    """Steps of sharded gradients. All processes of the mesh step together, and get the same numbers.

    A step costs two all-reduces of a few numbers for each tensor, which do not wait for the host.
    """

    def __init__(self, recorder: Recorder, device: torch.device, parameters: Mapping[str, Tensor]) -> None:
        super().__init__(recorder, device)
        tensors = list(parameters.values())
        mesh = tensors[0].device_mesh
        self._groups = [mesh.get_group(dim) for dim in range(mesh.ndim)]
        self._parts = [_Part(p, recorder.layout.places[k], device) for k, p in enumerate(tensors)]

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

        return counted(g) if self._parts[k].counts else torch.zeros(BINS, dtype=torch.int32, device=g.device)

    def norms_of(self, tensors: Sequence[Tensor]) -> Tensor:
        """(tensors,) norms of whole tensors of which each process has a part."""
        import torch

        counts = torch.tensor([part.counts for part in self._parts], device=self._device)
        squares = torch.where(counts, super().norms_of(tensors).double().square(), 0.0)
        return self._reduced(squares, "SUM").sqrt().float()

    def holds_nonfinite(self, found: Mapping[int, Any]) -> bool:
        """Tell whether a gradient has an entry that is not finite on any process. It waits for all of them."""
        return bool(self._reduced(sum(part[2] for part in found.values()), "SUM") > 0)

    def append(self, found: Mapping[int, Any], counts: Mapping[int, Tensor], numbers: Numbers) -> None:
        """Add what all processes measured and counted together."""
        super().append(self._summed(found), self._counts_summed(counts) if counts else counts, numbers)

    def _summed(self, found: Mapping[int, Any]) -> dict[int, Any]:
        """Norm, largest, not finite and entries of the whole tensors; squares are of multiples of the largest entry."""
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


class _Part:
    """The part of one tensor that this process has.

    Attributes:
        counts: whether it is this process that adds it, of those that have the same part.
        which, places: which of the tensor's followed entries are in it, and their flat indices in it.
    """

    def __init__(self, p: Tensor, places: np.ndarray, device: torch.device) -> None:
        import torch
        from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

        coordinate = p.device_mesh.get_coordinate()
        self.counts = all(c == 0 for c, how in zip(coordinate, p.placements, strict=True) if how.is_replicate())
        shape, offset = compute_local_shape_and_global_offset(p.shape, p.device_mesh, p.placements)
        index = np.stack(np.unravel_index(places, p.shape)) - np.array(offset, int).reshape(-1, 1)
        inside = ((index >= 0) & (index < np.array(shape, int).reshape(-1, 1))).all(axis=0)
        flat = np.ravel_multi_index(tuple(index[:, inside]), tuple(shape)) if inside.any() else np.zeros(0, int)
        self.which = torch.from_numpy(np.flatnonzero(inside)).to(device)
        self.places = torch.from_numpy(np.asarray(flat, np.int64)).to(device)
