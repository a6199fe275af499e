"""Keras's optimizers, with the Keras that is meant named: TensorFlow 2.3's, legacy, the rewrite of 2.11, or Keras 3."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from .._base.suggest import only_public as _only_public
from .adadelta import Adadelta as Adadelta
from .adafactor import Adafactor as Adafactor
from .adagrad import Adagrad as Adagrad
from .adam import Adam as Adam
from .adamax import Adamax as Adamax
from .adamw import AdamW as AdamW
from .backend import epsilon as epsilon
from .backend import set_epsilon as set_epsilon
from .ftrl import Ftrl as Ftrl
from .lamb import Lamb as Lamb
from .lion import Lion as Lion
from .loss_scale_optimizer import LossScaleOptimizer as LossScaleOptimizer
from .multi_optimizer import MultiOptimizer as MultiOptimizer
from .multi_optimizer import OptimizerMap as OptimizerMap
from .muon import Muon as Muon
from .nadam import Nadam as Nadam
from .optimizer import Optimizer as Optimizer
from .replicas import Replicas as Replicas
from .replicas import replicas as replicas
from .rms_prop import RMSprop as RMSprop
from .schedule_free_adamw import ScheduleFreeAdamW as ScheduleFreeAdamW
from .serialization import deserialize as deserialize
from .serialization import get as get
from .serialization import serialize as serialize
from .sgd import SGD as SGD
from .versions import VERSIONS as VERSIONS

if TYPE_CHECKING:
    from . import mixed_precision as mixed_precision
    from . import optimizers as optimizers

__all__ = [
    "SGD",
    "VERSIONS",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Ftrl",
    "Lamb",
    "Lion",
    "LossScaleOptimizer",
    "MultiOptimizer",
    "Muon",
    "Nadam",
    "Optimizer",
    "OptimizerMap",
    "RMSprop",
    "Replicas",
    "ScheduleFreeAdamW",
    "deserialize",
    "epsilon",
    "get",
    "mixed_precision",
    "optimizers",
    "replicas",
    "serialize",
    "set_epsilon",
]

if not TYPE_CHECKING:
    _unknown, __dir__ = _only_public(__name__)

    def __getattr__(name: str) -> Any:
        # They take their names from here, so that they are loaded after them.
        if name in ("optimizers", "mixed_precision"):
            return _import_module(f".{name}", __name__)
        return _unknown(name)
