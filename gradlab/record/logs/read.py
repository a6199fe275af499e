"""Read what another tool logged: recognize the format, and make a recording of norms alone.

A log has the global norm and the loss of some steps, and no tensors. So its recording has
`norms_only`: a single place for the norm of all tensors together, of no size, which no question about
tensors or entries gets to see. Its steps are the lines of the log in order, and the scalar
"training_step" is the step that each was logged at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from ..._base.arrays import quiet
from ..._base.growing import is_growing
from ..._base.numbers import counted
from ...errors import InvalidArgumentError
from ..columns import Layout, sample_every_for
from ..recorder import Recorder
from . import csv_files, hugging_face, json_lines, tensorboard, text, wandb
from .lines import check_text, read_head
from .table import LogTable, check_columns

TRAINING_STEP = "training_step"
ALL_TENSORS = "all tensors"
_BUCKETS = 4096
_CHUNK = 1 << 16  # rows that are recorded together
_FLOAT32 = float(np.finfo(np.float32).max)
_IN_FOLDERS = ("metrics.csv", "trainer_log.jsonl")
_EXACT_STEPS = 2**24  # up to which float32 holds whole numbers
FORMATS = (
    "trainer_state.json of Hugging Face (or the folder of its checkpoints), CSV (Lightning, W&B, "
    "your own), JSON lines (LLaMA-Factory, W&B, your own), the folder of a local W&B run, events of "
    "TensorBoard, and lines that torchtitan, Megatron-LM, Megatron-DeepSpeed, llm.c and the like print"
)

Reader = Callable[[str, "Mapping[str, str] | None"], LogTable]


def read_log(path: str | os.PathLike[str], *, columns: Mapping[str, str] | None = None) -> Recorder:
    """Read the log of a finished run, or of one that goes on: its global norms and losses, as a recording.

    The format is recognized by the content of the file:

    - `trainer_state.json` of Hugging Face's Trainer, or the folder that holds its checkpoints
    - CSV: Lightning's `metrics.csv`, an export of Weights & Biases, a table of your own
    - JSON lines: LLaMA-Factory's `trainer_log.jsonl`, a history of W&B, what `Recorder.stream` wrote
    - the folder of a local W&B run, with wandb installed
    - a folder of TensorBoard's events, with tensorboard installed
    - text that torchtitan, Megatron-LM, Megatron-DeepSpeed or llm.c prints, or a loop like theirs

    A log has the global norm alone. `what_if(clip_global_norm=...)`, `summary`, `gl.labs.clipping`,
    `gl.labs.compare` and `gl.Report` answer what that allows. Questions about tensors or entries
    raise `ValueError`. `rec.about` says what the log is: how many of the steps were logged, whether
    the norm is before the clip, and which lines were left out or replaced. A clip that fired in the
    run shows in norms that are logged before it.

    Steps of the recording are the logged ones in order, from 0.
    `rec.every_step("training_step")` has the step that each was logged at, as float32.

    Args:
        path: of the file or folder.
        columns: the names of the columns, keys, tags, or words before a number, where they aren't
            recognized: {"norm": "gnorm", "loss": "ce", "step": "it"}, or some of these.

    Returns:
        a recorder that holds the steps.

    Raises:
        OSError: it cannot be opened.
        DataLossError: it is damaged, or no log, with the line; also a ValueError. Nothing of it
            is taken.
        ValueError: it has no norm, or several columns that may be it.
        TypeError: `columns` is no dict.
        ModuleNotFoundError: tensorboard or wandb is needed, and isn't installed.

    Not in TensorFlow.

    >>> import os, tempfile
    >>> text = "step,loss,grad_norm\\n10,2.5,1.5\\n20,2.25,0.5\\n30,2.0,8.0\\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write(text)
    ...     rec = read_log(path)
    >>> rec.global_norm.tolist(), rec.every_step("training_step").tolist()
    ([1.5, 0.5, 8.0], [10.0, 20.0, 30.0])
    >>> rec.what_if(clip_global_norm=1.0).norm_after.tolist()
    [1.0, 0.5, 1.0]
    """
    check_columns(columns)
    file, read = _recognize(Path(path), columns)
    table = read(str(file), columns)
    return to_recording(table)


def open_run(path: str | os.PathLike[str]) -> Recorder:
    """Open a recording of gradlab, or else the log of another tool.

    What is neither raises what `Recorder.load` raises, or for text what `read_log` does.
    """
    name = os.fsdecode(path)
    if os.path.isdir(name) or (os.path.isfile(name) and _is_others_log(name)):
        return read_log(name)
    return Recorder.load(path)


def _is_others_log(path: str) -> bool:
    """Tell a log that another tool wrote, or text at least, from a recording."""
    head = read_head(path)
    if tensorboard.is_events(head) or head.startswith(wandb.SIGN):
        return True
    is_text = bool(head.strip()) and (
        b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))
    )
    return is_text and not path.endswith(".npz") and not is_growing(path)


def _recognize(path: Path, columns: Mapping[str, str] | None) -> tuple[Path, Reader]:
    """Return the file that holds the log, and who reads it."""
    if path.is_dir():
        return _in_folder(path, columns)
    name = str(path)
    head = read_head(name)
    if tensorboard.is_events(head):
        return path, tensorboard.read
    if head.startswith(wandb.SIGN):
        return path, wandb.read
    check_text(name, head)
    start = head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "ignore")
    start = start.lstrip("\ufeff \t\r\n")
    first = start.split("\n", 1)[0].strip()
    if start.startswith("{") and not start.startswith("{'"):
        is_line = first.endswith("}") and "log_history" not in first
        return path, json_lines.read if is_line else hugging_face.read
    if start.startswith("[") and start[1:].lstrip().startswith("{"):
        return path, _read_list
    if text.is_log(start):
        return path, text.read
    if csv_files.is_table(start.splitlines(), columns):
        return path, csv_files.read
    return path, text.read


def _read_list(path: str, columns: Mapping[str, str] | None) -> LogTable:
    """Read a JSON list of objects, such as an export of W&B."""
    entries = hugging_face.read_document(path, "")
    note = "Whether the norm is before or after a clip, the log doesn't say."
    return hugging_face.from_entries(path, entries, columns, "JSON", (note,))


def _in_folder(folder: Path, columns: Mapping[str, str] | None) -> tuple[Path, Reader]:
    """Return the log in a folder; the first of the formats that is there."""
    state = hugging_face.in_folder(folder)
    if state is not None:
        return state, hugging_face.read
    local_run = wandb.in_folder(folder)
    if local_run is not None:
        return local_run, wandb.read
    for name in _IN_FOLDERS:
        if (folder / name).is_file():
            return _recognize(folder / name, columns)
    events = tensorboard.in_folder(folder)
    if events is not None:
        return events, tensorboard.read
    raise InvalidArgumentError(
        f"{folder} holds no log that is recognized; pass a file or a folder of: {FORMATS}"
    )


def to_recording(table: LogTable) -> Recorder:
    """Return the recording of a log."""
    overflowing = int((np.isfinite(table.norm) & (table.norm > _FLOAT32)).sum())
    notes = [*table.notes]
    if overflowing:
        notes.append(
            f"{counted(overflowing, 'norm')} above {_FLOAT32:.2g}, the largest float32, kept as Inf."
        )
    if int(table.step[-1]) > _EXACT_STEPS:
        notes.append(f"Training steps above {_EXACT_STEPS:,} are rounded to float32.")
    columns = {"global_norm": table.norm, TRAINING_STEP: table.step}
    if not np.isnan(table.loss).all():
        columns["loss"] = table.loss
    return from_columns(columns, (_what_it_is(table), *notes))


@quiet
def from_columns(columns: Mapping[str, np.ndarray], about: tuple[str, ...]) -> Recorder:
    """Return a recording of norms only.

    Args:
        columns: "global_norm" and scalars, (steps,) each.
        about: sentences that say what it is.
    """
    scalars = tuple(name for name in columns if name != "global_norm")
    layout = Layout(
        names=(ALL_TENSORS,),
        shapes=((0,),),
        scalars=scalars,
        capacity=_BUCKETS,
        entries=0,
        histogram_every=sample_every_for([0]),
        log=about,
    )
    rec = Recorder(_BUCKETS, entries=0)
    rec.store.set_layout(layout)
    for start in range(0, len(columns["global_norm"]), _CHUNK):
        rows = slice(start, start + _CHUNK)
        norm = columns["global_norm"][rows].astype(np.float32)[:, None]
        nonfinite = (~np.isfinite(norm)).astype(np.int32)
        # The largest entry isn't known; the norm is what it can be at most.
        numbers = {"norm": norm, "largest": norm, "nonfinite": nonfinite}
        rec.extend(numbers | {name: columns[name][rows] for name in scalars})
    return rec


def _what_it_is(table: LogTable) -> str:
    """Say what a log holds: which steps, and that there are no tensors."""
    step = table.step
    lines = counted(len(step), "logged step")
    if len(step) == 1:
        which = f"step {step[0]:,}"
    else:
        gaps = np.diff(step)
        every = "every step" if gaps[0] == 1 else f"every {gaps[0]:,} steps"
        if (gaps != gaps[0]).any():
            every = f"{np.median(gaps):,.0f} steps apart in the median"
        which = f"steps {step[0]:,} to {step[-1]:,}, {every}"
    sample = ""
    if len(step) > 1 and (np.diff(step) != 1).any():
        sample = " Steps between them are not known, so shares are of the logged ones, a sample."
    numbered = ""
    if step[0] != 0 or sample:
        numbered = " They are numbered from 0 here; training_step is the step of the log."
    return (
        f"Read from a log of {table.tool}: global norm{_and_loss(table)} of {lines} ({which}), and "
        f"nothing of single tensors.{sample}{numbered}"
    )


def _and_loss(table: LogTable) -> str:
    return "" if np.isnan(table.loss).all() else " and loss"
