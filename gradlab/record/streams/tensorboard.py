"""Steps as scalars of TensorBoard."""

from __future__ import annotations

from typing import Any

from ..._base.extras import need
from .sink import PREFIX, Steps


class TensorBoard:
    """A writer with `add_scalar`: that of tensorboard, of torch.utils.tensorboard, or of tensorboardX."""

    most = 100

    def __init__(self, writer: Any, has: int | None = None, own: bool = False) -> None:
        self._writer, self._has, self._own = writer, has, own
        self.name = "TensorBoard"

    def begin(self, steps: Steps) -> int | None:
        return self._has

    def write(self, steps: Steps) -> None:
        for step, values in steps:
            for name, x in values.items():
                self._writer.add_scalar(PREFIX + name, x, step)

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        if self._own:
            self._writer.close()


def in_folder(folder: str) -> TensorBoard:
    """A new events file in a folder, which goes on after those that are there."""
    summary = need("tensorboard.summary", "rec.stream to TensorBoard", "tensorboard")
    has = _steps_in(folder)
    return TensorBoard(summary.Writer(summary.DirectoryOutput(folder)), has, own=True)


def _steps_in(folder: str) -> int:
    """Return how many steps the events in a folder have."""
    files = need(
        "tensorboard.backend.event_processing.event_accumulator",
        "rec.stream to TensorBoard",
        "tensorboard",
    )
    # The last one.
    events = files.EventAccumulator(folder, size_guidance={files.SCALARS: 1, files.TENSORS: 1})
    events.Reload()
    tag, tags = f"{PREFIX}global_norm", events.Tags()
    of_tensorboard = events.Tensors(tag) if tag in tags["tensors"] else []
    of_others = events.Scalars(tag) if tag in tags["scalars"] else []
    return max((int(event.step) + 1 for event in (*of_tensorboard, *of_others)), default=0)
