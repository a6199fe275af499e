"""gradlab: run and see everything that happens to a gradient between backprop and the weights.

Importing it imports NumPy only; every name is loaded when it is first used.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import clip as clip
    from . import contrib as contrib
    from . import errors as errors
    from . import exercises as exercises
    from . import keras as keras
    from . import labs as labs
    from . import live as live
    from . import models as models
    from . import optax as optax
    from . import raw_ops as raw_ops
    from . import record as record
    from . import report as report
    from . import rules as rules
    from . import schedules as schedules
    from . import tpu as tpu
    from . import train as train
    from . import workers as workers
    from ._base.slices import IndexedSlices as IndexedSlices
    from ._base.tensors import Tensor as Tensor
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
    from .record import Recorder as Recorder
    from .report import Report as Report
    from .train.accumulators import ConditionalAccumulator as ConditionalAccumulator
    from .train.accumulators import SparseConditionalAccumulator as SparseConditionalAccumulator
    from .train.autodiff import AggregationMethod as AggregationMethod
    from .train.autodiff import gather as gather
    from .train.autodiff import gradients as gradients
    from .train.derivatives import custom_gradient as custom_gradient
    from .train.derivatives import hessians as hessians
    from .train.derivatives import stop_gradient as stop_gradient
    from .train.global_step import get_global_step as get_global_step
    from .train.global_step import get_or_create_global_step as get_or_create_global_step
    from .train.gradient_tape import GradientTape as GradientTape
    from .train.graph import Graph as Graph
    from .train.graph import Operation as Operation
    from .train.graph import control_dependencies as control_dependencies
    from .train.graph import disable_eager_execution as disable_eager_execution
    from .train.graph import disable_v2_behavior as disable_v2_behavior
    from .train.graph import executing_eagerly as executing_eagerly
    from .train.graph import get_default_graph as get_default_graph
    from .train.graph import group as group
    from .train.graph import no_op as no_op
    from .train.graph import reset_default_graph as reset_default_graph
    from .train.session import Session as Session
    from .train.session import global_variables_initializer as global_variables_initializer
    from .train.session import local_variables_initializer as local_variables_initializer
    from .train.session import variables_initializer as variables_initializer
    from .train.training_state import load as load
    from .train.training_state import save as save
    from .train.variable import Variable as Variable
    from .train.variable import assign as assign
    from .train.variable import assign_add as assign_add
    from .train.variable import assign_sub as assign_sub
    from .train.variable import global_variables as global_variables
    from .train.variable import trainable_variables as trainable_variables
    from .train.variable import variable_collection as variable_collection

# Where each public name lives. The block above says the same to type checkers; a test holds the two
# together.
_HOMES = {
    "_base.slices": "IndexedSlices",
    "_base.tensors": "Tensor",
    "clip": "ClipReport adaptive_grad_clip clip_by_average_norm clip_by_block_rms "
    "clip_by_global_norm clip_by_norm clip_by_value clip_report global_norm "
    "per_example_clip",
    "record": "Recorder",
    "report": "Report",
    "train.accumulators": "ConditionalAccumulator SparseConditionalAccumulator",
    "train.autodiff": "AggregationMethod gather gradients",
    "train.derivatives": "custom_gradient hessians stop_gradient",
    "train.global_step": "get_global_step get_or_create_global_step",
    "train.gradient_tape": "GradientTape",
    "train.graph": (
        "Graph Operation control_dependencies disable_eager_execution disable_v2_behavior "
        "executing_eagerly get_default_graph group no_op reset_default_graph"
    ),
    "train.session": (
        "Session global_variables_initializer local_variables_initializer variables_initializer"
    ),
    "train.training_state": "load save",
    "train.variable": (
        "Variable assign assign_add assign_sub global_variables trainable_variables "
        "variable_collection"
    ),
}
_MODULES = (
    "clip",
    "contrib",
    "errors",
    "exercises",
    "keras",
    "labs",
    "live",
    "models",
    "optax",
    "raw_ops",
    "record",
    "report",
    "rules",
    "schedules",
    "tpu",
    "train",
    "workers",
)
_NAMES = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [*sorted(_NAMES), *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _import_module(f".{name}", __name__)
    if name not in _NAMES:
        from ._base.suggest import explain_missing_name

        explanation = explain_missing_name("gradlab", name, __all__)
        raise AttributeError(f"module 'gradlab' has no attribute {name!r}; {explanation}")
    value = globals()[name] = getattr(_import_module(f".{_NAMES[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__
