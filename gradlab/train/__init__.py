"""tf.train's optimizers, thin shells around rules, in order of increasing complexity."""

import typing

from .._asynchrony.drop_stale import DropStaleGradientOptimizer as DropStaleGradientOptimizer
from .._asynchrony.sync_replicas import SyncReplicasOptimizer as SyncReplicasOptimizer
from .._base.suggest import suggesting as _suggesting
from .._variables.gate import GATE_GRAPH as GATE_GRAPH
from .._variables.gate import GATE_NONE as GATE_NONE
from .._variables.gate import GATE_OP as GATE_OP
from .._variables.gate import GateRace as GateRace
from .._variables.optimizer import Optimizer as Optimizer
from .._variables.variable import get_global_step as get_global_step
from .._variables.variable import get_or_create_global_step as get_or_create_global_step
from .adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from .adagrad import AdagradOptimizer as AdagradOptimizer
from .adagrad_da import AdagradDAOptimizer as AdagradDAOptimizer
from .adam import AdamOptimizer as AdamOptimizer
from .descent import GradientDescentOptimizer as GradientDescentOptimizer
from .descent import MomentumOptimizer as MomentumOptimizer
from .ftrl import FtrlOptimizer as FtrlOptimizer
from .proximal import ProximalAdagradOptimizer as ProximalAdagradOptimizer
from .proximal import ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer
from .rms_prop import RMSPropOptimizer as RMSPropOptimizer

if not typing.TYPE_CHECKING:  # type checkers find unknown names themselves
    __getattr__ = _suggesting(__name__)
