"""Events of TensorBoard: scalars that any framework wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..._base.extras import need
from ..._base.numbers import listed
from ...errors import InvalidArgumentError
from .table import LogTable, Rows, find_columns, refuse_without_norm

PATTERN = "events.out.tfevents*"
_SIGN = b"brain.Event:"  # near the start of every file
_NOTE = "Whether the norm is before or after a clip, the events don't say."
_WHAT = "reading TensorBoard's events"


def is_events(head: bytes) -> bool:
    """Tell a file of events by its start."""
    return _SIGN in head[:64]


def in_folder(folder: Path) -> Path | None:
    """Return the folder of events in a folder; None without any.

    Raises:
        InvalidArgumentError: there are several, each of a run.
    """
    runs = sorted({path.parent for path in folder.rglob(PATTERN)})
    if len(runs) > 1:
        raise InvalidArgumentError(
            f"{folder} holds the events of {len(runs)} runs; pass the folder of one: "
            f"{listed([str(run) for run in runs])}"
        )
    return runs[0] if runs else None


def read(path: str, columns: Mapping[str, str] | None) -> LogTable:
    """Read a file of events, or all in a folder."""
    module = "tensorboard.backend.event_processing.event_accumulator"
    files = need(module, _WHAT, "tensorboard")
    everything = {files.SCALARS: 0, files.TENSORS: 0}
    # Which of two events of a step counts is settled by `Rows`, which says so.
    events = files.EventAccumulator(path, size_guidance=everything, purge_orphaned_data=False)
    events.Reload()
    tags = events.Tags()
    names = [*tags["scalars"], *tags["tensors"]]
    # Every event has a step of its own, so no tag is asked for one.
    found = find_columns(names, {k: x for k, x in (columns or {}).items() if k != "step"}, path)
    if found.norm is None:
        refuse_without_norm(path, names, columns)
    rows = Rows()
    for name, is_norm in ((found.norm, True), (found.loss, False)):
        if name is None:
            continue
        for step, value in _values(events, tags, name):
            place = f"step {step} of {name} in {path}"
            rows.add(place, step, value if is_norm else None, None if is_norm else value)
    return rows.finish("TensorBoard", (_NOTE,))


def _values(events: Any, tags: Mapping[str, Any], name: str) -> list[tuple[int, float]]:
    """Steps and values of a tag, of scalars or of tensors with one number."""
    if name in tags["scalars"]:
        return [(event.step, event.value) for event in events.Scalars(name)]
    make_array = need("tensorboard.util.tensor_util", _WHAT, "tensorboard").make_ndarray
    arrays = [(event.step, make_array(event.tensor_proto)) for event in events.Tensors(name)]
    if any(array.size != 1 for _, array in arrays):
        raise InvalidArgumentError(f"{name} has more than one number in a step, so it is no norm")
    return [(step, float(array.item())) for step, array in arrays]
