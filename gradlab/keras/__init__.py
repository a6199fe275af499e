"""Keras's optimizers, with the Keras that is meant named: TensorFlow 2.3's, legacy, the rewrite of 2.11, or Keras 3."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from .._base.suggest import only_public as _only_public
from .adagrad import Adagrad as Adagrad
from .backend import epsilon as epsilon
from .backend import set_epsilon as set_epsilon
from .optimizer import Optimizer as Optimizer
from .replicas import Replicas as Replicas
from .replicas import replicas as replicas
from .serialization import deserialize as deserialize
from .serialization import serialize as serialize
from .sgd import SGD as SGD
from .versions import VERSIONS as VERSIONS

if TYPE_CHECKING:
    from . import optimizers as optimizers

__all__ = [
    "SGD",
    "VERSIONS",
    "Adagrad",
    "Optimizer",
    "Replicas",
    "deserialize",
    "epsilon",
    "optimizers",
    "replicas",
    "serialize",
    "set_epsilon",
]

if not TYPE_CHECKING:
    _unknown, __dir__ = _only_public(__name__)

    def __getattr__(name: str) -> Any:
        # `optimizers` takes its names from here, so that it is loaded after them.
        return _import_module(".optimizers", __name__) if name == "optimizers" else _unknown(name)
