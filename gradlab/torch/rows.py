"""Rows on their way to the recorder: on an accelerator they wait there, on the CPU they are NumPy's at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..record import Recorder
from ..record.eager import Part
from ..record.measure import BINS, careful, flat
from ._library import library
from .measure import Tensor, looked_up, measured

if TYPE_CHECKING:
    import torch

Numbers = Mapping[str, Any]


class HostRows:
    """On the CPU: NumPy's calls cost a third of torch's, and the recorder takes each row at once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._sizes = recorder, recorder.sizes
        self._small = [recorder.layout.is_small(size) for size in self._sizes]

    def __len__(self) -> int:
        """How many rows the recorder does not have yet."""
        return 0

    def measured(self, k: int, g: Tensor) -> Part:
        """What the recorder needs of a gradient of tensor number k."""
        if g.is_sparse and not self._small[k]:
            g = g.coalesce()
            entries = looked_up(g, library().from_numpy(self._recorder.layout.places[k])).numpy()
            return careful(g.values().float().numpy()), entries
        array = flat((g.to_dense() if g.is_sparse else g).float().numpy())
        return array.copy() if self._small[k] else self._part(k, array)

    def append(self, found: Mapping[int, Part], counts: Mapping[int, Tensor], numbers: Numbers) -> None:
        """Add what was measured and counted of some tensors, by their number; of the others there was no gradient."""
        recorder, tensors = self._recorder, range(len(self._sizes))
        parts = [found[k] if k in found else self._part(k, np.zeros(self._sizes[k], np.float32)) for k in tensors]
        scalars = [float(numbers.get(name, np.nan)) for name in ("seconds", *recorder.scalars)]
        recorder._add(parts, scalars, _all_counts(counts, len(tensors)) if counts else None)

    def _part(self, k: int, array: np.ndarray) -> Part:
        (part,) = self._recorder._room().parts({k: array})
        return part

    def flush(self) -> None:
        """The recorder has them."""


class DeviceRows:
    """On an accelerator: each row is one tensor there, and nothing waits for it until all are copied together."""

    def __init__(self, recorder: Recorder, device: torch.device) -> None:
        torch = library()
        self._recorder, self._device = recorder, device
        self._places = [torch.from_numpy(p).to(device) for p in recorder.layout.places]
        self._zero, self._nan = (torch.full((), x, device=device) for x in (0.0, torch.nan))
        self._nothing = [(*[self._zero] * 3, torch.zeros(len(p), device=device)) for p in self._places]
        self._rows: list[Tensor] = []
        self._seconds: list[float] = []
        self._counts: dict[int, Mapping[int, Tensor]] = {}  # by row

    def __len__(self) -> int:
        """How many rows the recorder does not have yet."""
        return len(self._rows)

    def measured(self, k: int, g: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What the recorder needs of a gradient of tensor number k."""
        return measured(g, self._places[k])

    def append(self, found: Mapping[int, Any], counts: Mapping[int, Tensor], numbers: Numbers) -> None:
        """Add what was measured and counted of some tensors, by their number; of the others there was no gradient."""
        torch = library()
        of_tensors = (found.get(k, nothing) for k, nothing in enumerate(self._nothing))
        norm, largest, nonfinite, entry = zip(*of_tensors, strict=True)
        scalars = [self._number(numbers[name]) if name in numbers else self._nan for name in self._recorder.scalars]
        if counts:
            self._counts[len(self)] = dict(counts)
        self._rows.append(torch.cat([torch.stack([*norm, *largest, *nonfinite, *scalars]), *entry]))
        self._seconds.append(numbers["seconds"])

    def flush(self) -> None:
        """Hand over the rows, and have none left. It waits for the device."""
        if not self._rows:
            return
        rows, seconds, counts = library().stack(self._rows).cpu().numpy(), np.array(self._seconds), self._counts
        self._rows, self._seconds, self._counts = [], [], {}
        tensors, names = len(self._places), self._recorder.scalars
        norm, largest, nonfinite, scalars, entry = np.split(
            rows, np.cumsum([tensors, tensors, tensors, len(names)]), axis=1
        )
        columns = {"norm": norm, "largest": largest, "nonfinite": nonfinite, "entry": entry, "seconds": seconds}
        if counts:
            columns["histogram"] = np.zeros((len(rows), tensors, BINS), np.int32)
            for row, of_row in counts.items():
                columns["histogram"][row] = _all_counts(of_row, tensors)
        self._recorder.extend({**columns, **dict(zip(names, scalars.T, strict=True))})

    def _number(self, x: Any) -> Tensor:
        return library().as_tensor(x).reshape(()).to(self._device, library().float32, non_blocking=True)


def _all_counts(counts: Mapping[int, Tensor], tensors: int) -> np.ndarray:
    """(tensors, 64) on the host; zeros where there was no gradient."""
    nothing = np.zeros(BINS, np.int32)
    return np.stack([counts[k].cpu().numpy() if k in counts else nothing for k in range(tensors)])


def rows_on(device: torch.device, recorder: Recorder) -> HostRows | DeviceRows:
    """Where rows wait whose gradients are on this device."""
    return HostRows(recorder) if device.type == "cpu" else DeviceRows(recorder, device)
