"""Gradient clipping: TensorFlow's five functions, three more, and a report of what a clip did.

NumPy in gives NumPy out, JAX in gives JAX out, traced or not. IndexedSlices are clipped by their values as they stand,
before rows of one index are summed. `semantics` names the TensorFlow whose answer is wanted where versions differ.
"""

from .by_global_norm import clip_by_global_norm as clip_by_global_norm
from .by_global_norm import global_norm as global_norm
from .by_norm import clip_by_average_norm as clip_by_average_norm
from .by_norm import clip_by_norm as clip_by_norm
from .by_value import clip_by_value as clip_by_value
from .per_example import per_example_clip as per_example_clip
from .report import ClipReport as ClipReport
from .report import clip_report as clip_report
from .units import adaptive_grad_clip as adaptive_grad_clip
from .units import clip_by_block_rms as clip_by_block_rms
