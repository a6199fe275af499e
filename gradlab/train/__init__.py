"""tf.train's optimizers, thin shells around rules, in order of increasing complexity.

`SyncReplicasOptimizer` with a backup worker: three workers in threads of their own, and each update
is the mean of the first two gradients, or of all three.

>>> import threading
>>> import gradlab as gl
>>> v, step, enough = gl.Variable([8.0]), gl.Variable(0, trainable=False), threading.Event()
>>> opt = gl.train.SyncReplicasOptimizer(gl.train.GradientDescentOptimizer(1.0), 2, total_num_replicas=3)
>>> opt.build([([0.0], v)], step)
>>> def work(name):
...     with opt.worker(name):  # until the chief stops
...         while True:
...             if opt.apply_gradients([([1.0], v)], step, worker=name).token >= 10:
...                 enough.set()
>>> threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
>>> with opt.chief(num_tokens=0):
...     for thread in threads:
...         thread.start()
...     reached = enough.wait(30)
>>> for thread in threads:
...     thread.join()
>>> reached, v.numpy().item() == 8 - int(step), min(len(update.contributors) for update in opt.updates) >= 2
(True, True, True)
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from .._base.suggest import only_public as _only_public
from .adagrad import AdagradDAOptimizer, AdagradOptimizer
from .adam import AdamOptimizer
from .decays import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from .drop_stale import DropStaleGradientOptimizer
from .ftrl import FtrlOptimizer
from .gate import GATE_GRAPH, GATE_NONE, GATE_OP, GateRace
from .global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from .gradient_descent import GradientDescentOptimizer, MomentumOptimizer
from .loss_scale import (
    DynamicLossScale,
    FixedLossScale,
    LossScale,
    MixedPrecisionLossScaleOptimizer,
)
from .moving_averages import ExponentialMovingAverage
from .optimizer import Optimizer
from .proximal import ProximalAdagradOptimizer, ProximalGradientDescentOptimizer
from .rms_prop import AdadeltaOptimizer, RMSPropOptimizer
from .rule_optimizer import RuleOptimizer
from .sync_replicas import SyncReplicasOptimizer

__all__ = [
    "GATE_GRAPH",
    "GATE_NONE",
    "GATE_OP",
    "AdadeltaOptimizer",
    "AdagradDAOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "DropStaleGradientOptimizer",
    "DynamicLossScale",
    "ExponentialMovingAverage",
    "FixedLossScale",
    "FtrlOptimizer",
    "GateRace",
    "GradientDescentOptimizer",
    "LossScale",
    "MixedPrecisionLossScaleOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer",
    "RMSPropOptimizer",
    "RuleOptimizer",
    "SyncReplicasOptimizer",
    "assert_global_step",
    "cosine_decay",
    "cosine_decay_restarts",
    "create_global_step",
    "experimental",
    "exponential_decay",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
    "inverse_time_decay",
    "linear_cosine_decay",
    "natural_exp_decay",
    "noisy_linear_cosine_decay",
    "piecewise_constant",
    "piecewise_constant_decay",
    "polynomial_decay",
]

if TYPE_CHECKING:
    from . import experimental as experimental
else:
    _unknown, __dir__ = _only_public(__name__)

    def __getattr__(name: str) -> Any:
        # It takes its names from here, so that it is loaded after them.
        return (
            _import_module(".experimental", __name__) if name == "experimental" else _unknown(name)
        )
