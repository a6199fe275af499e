"""Gradient clipping: TensorFlow's five functions, three more, and a report of what a clip did.

NumPy in gives NumPy out, JAX in gives JAX out, traced or not. Of IndexedSlices the values
are clipped as they are, before slices of one row are summed. Where TensorFlow 2.3 and 2.21 differ,
`semantics` chooses between them.
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
