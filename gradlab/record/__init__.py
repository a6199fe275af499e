"""Record what the gradients of a training run looked like, and ask what a clip would have done to them.

A `Recorder` records your own loop. `torch`, `optax`, `keras`, `lightning` and `trainer` attach one
to the loop of a framework, which is imported when the function is called, not before. `read_log`
reads the norms that another tool logged.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from .._base.suggest import only_public as _only_public
from .analysis.agreement import Agreement as Agreement
from .analysis.held_back import HeldBack as HeldBack
from .analysis.noise import NoiseScale as NoiseScale
from .analysis.summary import Summary as Summary
from .analysis.what_if import WhatIf as WhatIf
from .logs.read import read_log as read_log
from .recorder import Recorder as Recorder
from .streams.json_lines import read_json_lines as read_json_lines
from .updates import Updates as Updates

if TYPE_CHECKING:
    from .attach.keras.recording import record as keras
    from .attach.optax import RecordState as RecordState
    from .attach.optax import absorb as absorb
    from .attach.optax import record as optax
    from .attach.torch.recording import Recording as TorchRecording
    from .attach.torch.recording import record as torch
    from .attach.trainers import lightning_callback as lightning
    from .attach.trainers import trainer_callback as trainer

__all__ = [
    "Agreement",
    "HeldBack",
    "NoiseScale",
    "RecordState",
    "Recorder",
    "Summary",
    "TorchRecording",
    "Updates",
    "WhatIf",
    "absorb",
    "keras",
    "lightning",
    "optax",
    "read_json_lines",
    "read_log",
    "torch",
    "trainer",
]

# Where the names of each framework live. They import `Recorder` from here, so they are loaded after
# it.
_ATTACH = {
    "RecordState": ("optax", "RecordState"),
    "TorchRecording": ("torch.recording", "Recording"),
    "absorb": ("optax", "absorb"),
    "keras": ("keras.recording", "record"),
    "lightning": ("trainers", "lightning_callback"),
    "optax": ("optax", "record"),
    "torch": ("torch.recording", "record"),
    "trainer": ("trainers", "trainer_callback"),
}

if not TYPE_CHECKING:
    _unknown, __dir__ = _only_public(__name__)

    def __getattr__(name: str) -> Any:
        if name not in _ATTACH:
            return _unknown(name)
        module, attribute = _ATTACH[name]
        value = globals()[name] = getattr(_import_module(f".attach.{module}", __name__), attribute)
        return value
