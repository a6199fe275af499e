"""Rules, optimizers, clips and the drop of stale gradients as optax gradient transformations.

Needs optax (extra `optax`). It is imported when one of these functions is called, not before.
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from .clips import adaptive_grad_clip as adaptive_grad_clip
from .clips import clip as clip
from .clips import clip_by_average_norm as clip_by_average_norm
from .clips import clip_by_block_rms as clip_by_block_rms
from .clips import clip_by_global_norm as clip_by_global_norm
from .clips import clip_by_norm as clip_by_norm
from .clips import clip_by_value as clip_by_value
from .clips import global_norm as global_norm
from .clips import per_example_global_norm_clip as per_example_global_norm_clip
from .rule import Replacement as Replacement
from .rule import RuleState as RuleState
from .rule import from_rule as from_rule
from .stale import StaleState as StaleState
from .stale import drop_stale as drop_stale

__all__ = [
    "Replacement",
    "RuleState",
    "StaleState",
    "adaptive_grad_clip",
    "clip",
    "clip_by_average_norm",
    "clip_by_block_rms",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "drop_stale",
    "from_rule",
    "global_norm",
    "per_example_global_norm_clip",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
