"""Rows that wait on the device until the recorder gets them, all in one copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..record.measure import BINS
from ._library import library
from .measure import Measured, Tensor

if TYPE_CHECKING:
    import torch


class Rows:
    """Room for the rows of a recording on one device.

    Args:
        places: of each tensor the flat indices of its sampled entries. scalars: names of further numbers.

    Attributes:
        places: the same, on the device.
    """

    def __init__(self, places: Sequence[np.ndarray], scalars: Sequence[str], device: torch.device) -> None:
        torch = library()
        self.places = [torch.from_numpy(p).to(device) for p in places]
        self._scalars = tuple(scalars)
        self._zero, self._nan = (torch.full((), x, device=device) for x in (0.0, torch.nan))
        self._nothing = [(self._zero, self._zero, self._zero, None, torch.zeros(len(p), device=device)) for p in places]
        self._uncounted = torch.zeros(BINS, dtype=torch.int32, device=device)
        self._rows: list[Tensor] = []
        self._counts: dict[int, Tensor] = {}  # by row

    def __len__(self) -> int:
        return len(self._rows)

    def append(
        self, found: Mapping[int, Measured], counted: Mapping[int, Tensor], scalars: Mapping[str, Tensor]
    ) -> None:
        """Add what was measured and counted of some tensors, by their number; of the others there was no gradient."""
        torch, tensors = library(), range(len(self.places))
        norm, low, high, nonfinite, entry = zip(*(found.get(k, self._nothing[k]) for k in tensors), strict=True)
        numbers = [*norm, *low, *high, *(self._zero if n is None else n for n in nonfinite)]
        numbers += [scalars.get(name, self._nan) for name in self._scalars]
        if counted:
            self._counts[len(self)] = torch.stack([counted.get(k, self._uncounted) for k in tensors])
        self._rows.append(torch.cat([torch.stack(numbers), *entry]))

    def take(self) -> dict[str, np.ndarray]:
        """The rows as `Recorder.extend` takes them, and none are left here. It waits for the device."""
        n, tensors = len(self), len(self.places)
        rows = library().stack(self._rows).cpu().numpy()
        norm, low, high, nonfinite = rows[:, : 4 * tensors].reshape(n, 4, tensors).swapaxes(0, 1)
        scalars = dict(zip(self._scalars, rows[:, 4 * tensors :].T, strict=False))
        entry = rows[:, 4 * tensors + len(scalars) :]
        columns = {"norm": norm, "largest": np.maximum(-low, high), "nonfinite": nonfinite, "entry": entry, **scalars}
        if self._counts:
            columns["histogram"] = np.zeros((n, tensors, BINS), np.int32)
            for k, counts in self._counts.items():
                columns["histogram"][k] = counts.cpu().numpy()
        self._rows, self._counts = [], {}
        return columns
