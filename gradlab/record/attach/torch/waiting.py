"""Steps on their way to the recorder: on an accelerator they wait there, on the CPU they are NumPy's at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...._base.arrays import quiet
from ... import Recorder
from ...measure import BINS, careful, flat
from ...store import Part, split_rows
from ...updates import norms_of
from .measure import Tensor, counted, looked_up, measured
from .measure import careful as careful_on_device

if TYPE_CHECKING:
    import torch

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

    @quiet
    def measured(self, k: int, g: Tensor) -> Part:
        """Return what the recorder needs of a gradient of tensor number k."""
        import torch

        if g.is_sparse and not self._small[k]:
            g = g.coalesce()
            entries = looked_up(g, torch.from_numpy(self._recorder.layout.places[k])).numpy()
            values: np.ndarray = g.values().float().numpy()
            norm, largest, nonfinite = careful(values)
            return (float(norm), float(largest), int(nonfinite)), entries
        array: np.ndarray = flat((g.to_dense() if g.is_sparse else g).float().numpy())
        return array.copy() if self._small[k] else self._part(k, array)

    def counted(self, k: int, g: Tensor) -> Tensor:
        """Return how many entries of a gradient have which size."""
        return counted(g)

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
        return float(careful(part)[0]) if isinstance(part, np.ndarray) else part[0][0]

    def last_norms(self, found: Mapping[int, Part]) -> np.ndarray:
        """(tensors,) norms of the step that was appended last."""
        tensors = range(len(self._sizes))
        return np.array([self.norm(found[k]) if k in found else 0.0 for k in tensors], np.float32)

    def norms_of(self, tensors: Sequence[Tensor]) -> Any:
        """(tensors,) norms of some others than gradients."""
        return norms_of([x.float().numpy() for x in tensors])

    def sample(self, step: int, norms: Sequence[Any]) -> None:
        """Add the norms of gradient, weights and update of one step."""
        self._recorder.sampler.put(step, np.stack(norms))

    def append(self, found: Mapping[int, Part], counts: Mapping[int, Tensor], numbers: Numbers) -> None:
        """Add what was measured and counted of some tensors, by their number; of the others there was no gradient."""
        recorder, tensors = self._recorder, range(len(self._sizes))
        parts = [found[k] if k in found else self._part(k, np.zeros(self._sizes[k], np.float32)) for k in tensors]
        scalars = [float(numbers.get(name, np.nan)) for name in ("seconds", *recorder.scalars)]
        scale, skipped = float(numbers.get("scale", np.nan)), bool(numbers.get("skipped", False))
        recorder.add_step(parts, scalars, _all_counts(counts, len(tensors)) if counts else None, scale, skipped)

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
        self._nothing = [(*[self._zero] * 3, torch.zeros(len(p), device=device)) for p in self._places]
        self._steps: list[Tensor] = []
        self._seconds: list[float] = []
        self._counts: dict[int, Mapping[int, Tensor]] = {}  # by step
        self._samples: list[tuple[int, Tensor]] = []

    def __len__(self) -> int:
        """Return how many steps the recorder does not have yet."""
        return len(self._steps)

    def measured(self, k: int, g: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return what the recorder needs of a gradient of tensor number k."""
        return measured(g, self._places[k])

    def counted(self, k: int, g: Tensor) -> Tensor:
        """Return how many entries of a gradient have which size."""
        return counted(g)

    def scaled(self, part: Any, factor: float) -> Any:
        """Return what would have been measured of `factor` times the gradient."""
        norm, largest, nonfinite, entries = part
        return norm * factor, largest * factor, nonfinite, entries * factor

    def holds_nonfinite(self, found: Mapping[int, Any]) -> bool:
        """Tell whether a gradient that was measured has an entry that is not finite. It waits for the device."""
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

        return torch.stack([careful_on_device(x.float())[0] for x in tensors])

    def sample(self, step: int, norms: Sequence[Tensor]) -> None:
        """Add the norms of gradient, weights and update of one step."""
        import torch

        self._samples.append((step, torch.stack(list(norms))))

    def append(self, found: Mapping[int, Any], counts: Mapping[int, Tensor], numbers: Numbers) -> None:
        """Add what was measured and counted of some tensors, by their number; of the others there was no gradient."""
        import torch

        of_tensors = (found.get(k, nothing) for k, nothing in enumerate(self._nothing))
        norm, largest, nonfinite, entry = zip(*of_tensors, strict=True)
        named = (*self._recorder.scalars, *_MARKS)
        scalars = [self._number(numbers[name]) if name in numbers else self._nan for name in named]
        if counts:
            self._counts[len(self)] = dict(counts)
        self._steps.append(torch.cat([torch.stack([*norm, *largest, *nonfinite, *scalars]), *entry]))
        self._seconds.append(numbers["seconds"])

    def flush(self) -> None:
        """Hand over the steps, and have none left. It waits for the device."""
        for step, norms in self._samples:
            self._recorder.sampler.put(step, norms.cpu().numpy())
        self._samples = []
        if self._steps:
            self._recorder.extend(self.drain())

    def drain(self) -> dict[str, np.ndarray]:
        """Return the steps as `Recorder.extend` takes them, and leave none. It waits for the device."""
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


def waiting_on(device: torch.device, recorder: Recorder) -> HostSteps | DeviceSteps:
    """Return where steps wait whose gradients are on this device."""
    return HostSteps(recorder) if device.type == "cpu" else DeviceSteps(recorder, device)
