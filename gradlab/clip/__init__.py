"""Gradient clipping: TensorFlow's five functions, three more, and a report of what a clip did.

NumPy in gives NumPy out, JAX in gives JAX out, traced or not. IndexedSlices are clipped by their
values as they stand, before rows of one index are summed. `semantics` names the TensorFlow whose
answer is wanted where versions differ.
"""

from typing import TYPE_CHECKING

from .._base.suggest import only_public as _only_public
from .by_global_norm import clip_by_global_norm, global_norm
from .by_norm import clip_by_average_norm, clip_by_norm
from .by_value import clip_by_value
from .per_example import per_example_clip
from .report import ClipReport, clip_report
from .units import adaptive_grad_clip, clip_by_block_rms

__all__ = [
    "ClipReport",
    "adaptive_grad_clip",
    "clip_by_average_norm",
    "clip_by_block_rms",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "clip_report",
    "global_norm",
    "per_example_clip",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = _only_public(__name__)
