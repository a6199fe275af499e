"""gradlab: run and see everything that happens to a gradient between backprop and the weights.

Importing it imports NumPy only; every name is loaded when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import char_rnn as char_rnn
    from . import datasets as datasets
    from . import errors as errors
    from . import exercises as exercises
    from . import in_place as in_place
    from . import keras as keras
    from . import labs as labs
    from . import optax as optax
    from . import raw_ops as raw_ops
    from . import reader_run as reader_run
    from . import rules as rules
    from . import schedules as schedules
    from . import torch as torch
    from . import tpu as tpu
    from . import train as train
    from . import workers as workers
    from .accumulator import ConditionalAccumulator as ConditionalAccumulator
    from .accumulator import SparseConditionalAccumulator as SparseConditionalAccumulator
    from .autodiff import gather as gather
    from .autodiff import gradients as gradients
    from .clip import ClipReport as ClipReport
    from .clip import adaptive_grad_clip as adaptive_grad_clip
    from .clip import clip_by_average_norm as clip_by_average_norm
    from .clip import clip_by_block_rms as clip_by_block_rms
    from .clip import clip_by_global_norm as clip_by_global_norm
    from .clip import clip_by_norm as clip_by_norm
    from .clip import clip_by_value as clip_by_value
    from .clip import clip_report as clip_report
    from .clip import global_norm as global_norm
    from .clip import per_example_clip as per_example_clip
    from .collection import variable_collection as variable_collection
    from .graph import Graph as Graph
    from .graph import Operation as Operation
    from .record import Recorder as Recorder
    from .report import Report as Report
    from .slices import IndexedSlices as IndexedSlices
    from .variable import Variable as Variable
    from .variable import get_global_step as get_global_step
    from .variable import get_or_create_global_step as get_or_create_global_step
    from .variable import trainable_variables as trainable_variables

# Where each public name lives. The block above says the same to type checkers; a test holds the two together.
_HOMES = {
    "clip": "ClipReport adaptive_grad_clip clip_by_average_norm clip_by_block_rms clip_by_global_norm clip_by_norm "
    "clip_by_value clip_report global_norm per_example_clip",
    "accumulator": "ConditionalAccumulator SparseConditionalAccumulator",
    "autodiff": "gather gradients",
    "collection": "variable_collection",
    "graph": "Graph Operation",
    "record": "Recorder",
    "report": "Report",
    "slices": "IndexedSlices",
    "variable": "Variable get_global_step get_or_create_global_step trainable_variables",
}
_MODULES = (
    "char_rnn",
    "datasets",
    "errors",
    "exercises",
    "in_place",
    "keras",
    "labs",
    "optax",
    "raw_ops",
    "reader_run",
    "rules",
    "schedules",
    "torch",
    "tpu",
    "train",
    "workers",
)
_NAMES = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [*sorted(_NAMES), *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _NAMES:
        from ._suggest import did_you_mean

        raise AttributeError(f"module 'gradlab' has no attribute {name!r}; {did_you_mean(name, __all__)}")
    value = globals()[name] = getattr(importlib.import_module(f".{_NAMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__
