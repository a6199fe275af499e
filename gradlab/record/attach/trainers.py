"""The recorder on loops that others own: Lightning's Trainer and the Hugging Face Trainer, through a callback."""

from __future__ import annotations

import sys
from typing import Any

from ..._base.extras import need
from ...errors import InvalidArgumentError
from .. import Recorder
from .torch.recording import Recording, record
from .torch.scaling import scale_of


def lightning_callback(recorder: Recorder, *, optimizer: int | None = None, **options: Any) -> Any:
    """Record every step of `lightning.Trainer(callbacks=[...]).fit(...)`, with its loss.

    Args:
        recorder: takes the steps.
        optimizer: number of the optimizer whose steps are recorded, where the module has several.
            Each needs a callback and a recorder of its own.
        options: of `gl.record.torch`, such as before_clip and all_parameters.

    Returns:
        a `lightning.pytorch.Callback`, or one of `pytorch_lightning` if that is what was imported.
        The loss is what backward starts from, summed over the micro-batches of a step.

    Raises:
        ImportError: Lightning is missing. From `fit`, ValueError: a module of several optimizers,
            and `optimizer` does not say which; what `record` raises.

    Not in TensorFlow.

    >>> from lightning.pytorch import Trainer
    >>> trainer = Trainer(callbacks=[lightning_callback(recorder := Recorder())], logger=False)
    >>> recorder.seen  # after trainer.fit(module, batches) all steps
    0
    """
    legacy = "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules
    library = need("pytorch_lightning" if legacy else "lightning.pytorch", "gl.record.lightning")

    class RecorderCallback(library.Callback):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.recording: Recording | None = None

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            scaler = getattr(trainer.precision_plugin, "scaler", None)
            moving = _only(trainer.optimizers, optimizer)
            # Lightning divides the loss of each micro-batch by their number before it comes here.
            given = {"scaler": scaler, "notes": "sum", **options}
            self.recording = record(recorder, pl_module, moving, **given)

        def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
            if self.recording is None or "loss" not in self.recording.scalars:
                return
            scale = scale_of(getattr(trainer.precision_plugin, "scaler", None))
            self.recording.note(loss=loss.detach() if scale is None else loss.detach() / scale)

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            if self.recording is not None:
                self.recording.close()

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            if self.recording is not None:
                self.recording.__exit__(exception)

    return RecorderCallback()


def trainer_callback(recorder: Recorder, **options: Any) -> Any:
    """Record every step of `transformers.Trainer(..., callbacks=[...]).train()`.

    The Trainer does not tell its callbacks the loss of a step; its own log has means of it.

    Args:
        recorder: takes the steps.
        options: of `gl.record.torch`, such as before_clip and all_parameters.

    Returns:
        a `transformers.TrainerCallback`.

    Raises:
        ImportError: Transformers is missing. From `train`: what `record` raises.

    Not in TensorFlow.

    >>> callbacks = [trainer_callback(recorder := Recorder())]
    >>> recorder.seen  # after Trainer(model, arguments, train_dataset=rows, callbacks=callbacks).train() all steps
    0
    """
    library = need("transformers", "gl.record.trainer")

    class RecorderCallback(library.TrainerCallback):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.recording: Recording | None = None

        def on_train_begin(self, args: Any, state: Any, control: Any, **of: Any) -> None:
            given = {"scaler": getattr(of["optimizer"], "scaler", None), "scalars": (), **options}
            self.recording = record(recorder, of["model"], of["optimizer"], **given)

        def on_train_end(self, args: Any, state: Any, control: Any, **of: Any) -> None:
            if self.recording is not None:
                self.recording.close()

    return RecorderCallback()


def _only(optimizers: list[Any], number: int | None) -> Any:
    """The optimizer of that number, or the only one."""
    if number is None and len(optimizers) > 1:
        raise InvalidArgumentError(
            f"the module has {len(optimizers)} optimizers: give optimizer=0 to "
            f"{len(optimizers) - 1}, and each a callback with a recorder of its own"
        )
    if not 0 <= (number or 0) < len(optimizers):
        raise InvalidArgumentError(
            f"optimizer must be below {len(optimizers)}, their number, got {number}"
        )
    return optimizers[number or 0]
