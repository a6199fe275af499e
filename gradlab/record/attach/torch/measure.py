"""Measurements of one gradient in torch's ops, on its own device.

They are what `gradlab.record.measure` says, in kernels that start rarely, take sparse gradients as
they are, and don't wait for an accelerator.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...measure import BINS, bin_of, histogram

Tensor = Any


def measure(g: Tensor, places: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of one gradient: norm, largest finite |entry|, number of those that are not finite, sampled entries.

    The first three are scalars. A sparse gradient counts with the rows that are named twice summed;
    `places` are flat indices of the dense one.
    """
    if g.is_sparse:
        g = g.coalesce()
        return *careful(g.values().float()), look_up(g, places)
    return *careful(g.float()), g.take(places).float()


def count_by_size(g: Tensor) -> Tensor:
    """(64,) integers: how many finite entries have floor(log2|g|) = bin - 32; entries that are not stored are zeros."""
    if not g.is_sparse:
        return _histogram(g)
    values = g.coalesce().values()
    counts = _histogram(values)
    counts[0] += g.numel() - values.numel()
    return counts


def shift_counts(counts: Tensor, powers: int) -> Tensor:
    """The counts of 2**powers times the gradient; what leaves the bins is in the ones at the ends."""
    import torch

    bins = (torch.arange(BINS, device=counts.device) + powers).clamp(0, BINS - 1)
    return torch.zeros_like(counts).index_add_(0, bins, counts)


def careful(g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Norm, largest and not finite for whatever the tensor holds, as `gradlab.record.measure.careful` has it."""
    import torch

    # Each call starts a kernel that reads all entries: nan_to_num is one in place of isfinite and
    # where, which are five, and vector_norm one in place of a square, a sum and a root.
    size = g.reshape(-1).abs()
    finite = size.nan_to_num(0.0, 0.0, 0.0)
    largest = finite.amax() if len(size) else finite.sum()
    unit = torch.where(largest > 0, largest, 1.0)
    norm = unit * torch.linalg.vector_norm(size / unit)
    return norm, largest, (finite != size).sum().float()


def _histogram(g: Tensor) -> Tensor:
    import torch

    if g.is_cpu:
        return torch.from_numpy(histogram(g.float().numpy()))
    return histogram_on_device(g)


def histogram_on_device(g: Tensor) -> Tensor:
    """`gradlab.record.measure.histogram` in torch's ops, none of which looks at the numbers to know its shape."""
    import torch

    exponent = (g.reshape(-1).float().view(torch.int32) >> 23) & 255
    counts = torch.zeros(BINS, dtype=torch.int32, device=g.device)
    return counts.scatter_add_(0, bin_of(exponent, torch).long(), (exponent < 255).int())


def look_up(g: Tensor, places: Tensor) -> Tensor:
    """Entries of a coalesced sparse gradient at flat indices; 0 where nothing is stored."""
    import torch

    width = math.prod(g.shape[g.sparse_dim() :])
    strides = np.cumprod([1, *reversed(g.shape[1 : g.sparse_dim()])])[::-1]
    # Ascending.
    stored = (g.indices() * torch.tensor(strides.copy(), device=g.device)[:, None]).sum(0)
    if not len(stored):
        return torch.zeros(len(places), device=g.device)
    row, column = places // width, places % width
    nearest = torch.searchsorted(stored, row).clamp_(max=len(stored) - 1)
    values = g.values().reshape(-1, width).float()
    return torch.where(stored[nearest] == row, values[nearest, column], 0.0)
