"""A recording that is watched while it grows: in a file, and in other tools."""

from __future__ import annotations

from os import PathLike
from typing import Any

from .buckets import Buckets
from .growing import Appended
from .streams.stream import Stream


class Watched(Buckets):
    """Files and clients that the steps of a recorder go on to."""

    def append_to(self, path: str | PathLike[str], *, seconds: float = 10.0, sync: bool = True) -> Appended:
        """Write steps to a file while they are recorded; `load` and `gradlab report` read it at any time.

        Whatever ends the process, all but the last piece is in the file, and a damaged one is refused as every other.
        The file is an SQLite database; beside it is a file "run.rec-journal" while a piece is written.
        To go on after that: `rec = Recorder.load(path)`, or a checkpoint's recorder, and `rec.append_to(path)` again.

        Args:
            path: of the file, "run.rec" say; one that holds the first steps of this recorder goes on.
            seconds: between two pieces at least. All pieces together take at most 1% of the time, so they are rarer
                where one takes long. 0 for one after each step, whatever it takes.
            sync: whether a piece is on the disk when the next step begins (fsync), and so outlives the machine, too.
                Without it a machine that loses power may leave a damaged file.

        Returns: what writes, until its `close()`; a context manager, with `flush()`. Of a traced run it goes on with
            what `absorb` returns: call that now and then.

        Raises:
            ValueError: the file holds another run, or its name ends in .npz. OSError: it cannot be written.
            DataLossError: something else is there. TimeoutError: another process writes to it.
            ModuleNotFoundError: this Python has no sqlite3, as in some browsers.

        Where a piece cannot be written, a `gl.errors.RecordingWarning` says so once, and the next one has its steps.

        Not in TensorFlow.

        >>> import tempfile, os
        >>> import numpy as np
        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.rec")
        ...     with rec.append_to(path, seconds=0):
        ...         for scale in (1.0, 2.0):
        ...             rec.record([scale * np.array([3.0, 4.0])])
        ...             print(Recorder.load(path).global_norm.tolist())
        [5.0]
        [5.0, 10.0]
        """
        return Appended(self, path, seconds, sync)

    def stream(self, to: Any, *, seconds: float = 1.0, share: float = 0.05) -> Stream:
        """Send each step, once and in order, to TensorBoard, Weights & Biases, MLflow, or a file of JSON lines.

        Sent are the numbers that `every_step` has: global norm, largest norm of a tensor, largest entry, whether the
        step was skipped, its loss scale where there is one, and scalars. In a client their names begin with gradlab/.

        Args:
            to: a path that ends in .jsonl, which `gl.record.read_json_lines` reads; "tensorboard:FOLDER"; a
                SummaryWriter of torch.utils.tensorboard, tensorboardX or tensorboard; "wandb" or "mlflow" for the run
                that has begun in this process, or a new one; such a run.
            seconds: between two times at least, 0 for each step. share: of the time of the loop at most; 0.05 is 5%.
                Steps that queue up go on their way at `flush` or `close`.

        Steps that a file, a folder, or a run has already are not sent again, so a run that goes on from a checkpoint
        goes on there, under the same numbers; in a file, steps after the checkpoint give way to the new ones. Steps
        that were recorded before go first, but for a SummaryWriter, which gets those from now on.

        In Weights & Biases the charts are over gradlab/step, as its own step counts what everybody logs; log your own
        numbers without step=. JSON has no NaN: the lines have "NaN", "Infinity" and "-Infinity".

        Returns: the stream, until its `close()`; a context manager, with `flush()`. Of a traced run it goes on with
            what `absorb` returns: call that now and then.

        Raises:
            ValueError: the file holds another run, or another text. TypeError: something else. ModuleNotFoundError: the
            client is missing; it is in the extra tensorboard, wandb or mlflow.

        A client that fails does not end the training: a `gl.errors.RecordingWarning` says so once, its steps are sent
        later, and `close` says how many were not.

        Not in TensorFlow.

        >>> import tempfile, os
        >>> import numpy as np
        >>> from gradlab import Recorder
        >>> rec = Recorder()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with rec.stream(path := os.path.join(folder, "run.jsonl")):
        ...         rec.record([np.array([3.0, 4.0])], loss=0.1)
        ...     with open(path) as file:
        ...         print(file.read(), end="")
        {"step": 0, "global_norm": 5.0, "leading_norm": 5.0, "largest": 4.0, "skipped": false, "loss": 0.1}
        """
        return Stream(self, to, seconds, share)

    def _tell(self) -> None:
        """There are more steps."""
        if self._told:
            self._told.tell(self)
