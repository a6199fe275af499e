"""tf.train's optimizers, thin shells around rules, in order of increasing complexity."""

from typing import TYPE_CHECKING

from .._asynchrony.drop_stale import DropStaleGradientOptimizer
from .._asynchrony.sync_replicas import SyncReplicasOptimizer
from .._base.suggest import only_public as _only_public
from .._variables.gate import GATE_GRAPH, GATE_NONE, GATE_OP, GateRace
from .._variables.optimizer import Optimizer
from .._variables.variable import get_global_step, get_or_create_global_step
from .adagrad import AdagradDAOptimizer, AdagradOptimizer
from .adam import AdamOptimizer
from .descent import GradientDescentOptimizer, MomentumOptimizer
from .ftrl import FtrlOptimizer
from .proximal import ProximalAdagradOptimizer, ProximalGradientDescentOptimizer
from .rms_prop import AdadeltaOptimizer, RMSPropOptimizer

__all__ = [
    "GATE_GRAPH",
    "GATE_NONE",
    "GATE_OP",
    "AdadeltaOptimizer",
    "AdagradDAOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "DropStaleGradientOptimizer",
    "FtrlOptimizer",
    "GateRace",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer",
    "RMSPropOptimizer",
    "SyncReplicasOptimizer",
    "get_global_step",
    "get_or_create_global_step",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
