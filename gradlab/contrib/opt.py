"""`gl.contrib.opt`: the optimizers of `tf.contrib.opt`, TensorFlow 1.15.

`ScipyOptimizerInterface` and `ExternalOptimizerInterface` aren't here: they hand a loss to SciPy's
minimizers, which leave no gradient to look at between backprop and the weights. The decays of signs
are in no public module of TensorFlow; they stand here, beside the optimizers that take them.

>>> import gradlab as gl
>>> gl.contrib.opt.LazyAdamOptimizer(0.25).get_name()
'Adam'
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from ..train.contrib.adam_variants import (
    AdaMaxOptimizer,
    AdamGSOptimizer,
    LazyAdamGSOptimizer,
    LazyAdamOptimizer,
    NadamOptimizer,
)
from ..train.contrib.agn import AGNCustomGetter, AGNOptimizer
from ..train.contrib.delay_compensation import DelayCompensatedGradientDescentOptimizer
from ..train.contrib.elastic_average import ElasticAverageCustomGetter, ElasticAverageOptimizer
from ..train.contrib.ggt import GGTOptimizer
from ..train.contrib.lars import LARSOptimizer
from ..train.contrib.model_average import ModelAverageCustomGetter, ModelAverageOptimizer
from ..train.contrib.moving_average import MovingAverageOptimizer
from ..train.contrib.multitask import MultitaskOptimizerWrapper, clip_gradients_by_global_norm
from ..train.contrib.reg_adagrad import RegAdagradOptimizer
from ..train.contrib.shampoo import ShampooOptimizer
from ..train.contrib.signs import (
    AddSignOptimizer,
    PowerSignOptimizer,
    get_cosine_decay_fn,
    get_linear_decay_fn,
    get_restart_decay_fn,
)
from ..train.contrib.variable_clipping import VariableClippingOptimizer
from ..train.contrib.weight_decay import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    MomentumWOptimizer,
    extend_with_decoupled_weight_decay,
)
from ..train.drop_stale import DropStaleGradientOptimizer

__all__ = [
    "AGNCustomGetter",
    "AGNOptimizer",
    "AdaMaxOptimizer",
    "AdamGSOptimizer",
    "AdamWOptimizer",
    "AddSignOptimizer",
    "DecoupledWeightDecayExtension",
    "DelayCompensatedGradientDescentOptimizer",
    "DropStaleGradientOptimizer",
    "ElasticAverageCustomGetter",
    "ElasticAverageOptimizer",
    "GGTOptimizer",
    "LARSOptimizer",
    "LazyAdamGSOptimizer",
    "LazyAdamOptimizer",
    "ModelAverageCustomGetter",
    "ModelAverageOptimizer",
    "MomentumWOptimizer",
    "MovingAverageOptimizer",
    "MultitaskOptimizerWrapper",
    "NadamOptimizer",
    "PowerSignOptimizer",
    "RegAdagradOptimizer",
    "ShampooOptimizer",
    "VariableClippingOptimizer",
    "clip_gradients_by_global_norm",
    "extend_with_decoupled_weight_decay",
    "get_cosine_decay_fn",
    "get_linear_decay_fn",
    "get_restart_decay_fn",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
