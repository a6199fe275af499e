"""`tf.raw_ops` of conditional accumulators and TPU embeddings, by TensorFlow's names and keywords.

Each is one call into the library. A handle is what a constructor here returns, or the `accumulator_ref` of an
accumulator object. As in TensorFlow there are two types: `Resource...` ops take dense accumulators by "resource"
handles, all others take "string_ref" handles, and one of the wrong type is a TypeError. The ops skip what TensorFlow's
Python checks, so shapes are looked at only in gradients that are accepted. What kills TensorFlow's process raises and
changes nothing: a `local_step` or `num_required` that isn't a scalar, a gradient or a take of another dtype, one
shared_name with two dtypes.

Differs from TensorFlow: everything happens at once, ref ops too, which need a graph there; accumulators without a
shared_name are distinct; an apply returns its `Receipt`.

The operations of TPU embeddings are about the running system of `gl.tpu.initialize_system`, on any machine. They run at
once, and not inside `jax.jit`; `gl.raw_ops.<name>.shapes(...)` is TensorFlow's shape function of each. Source:
`tf.raw_ops`, TensorFlow 2.21 (2026), run.
"""

from .._base.suggest import only_public as _only_public
from . import accumulators, tpu_configure, tpu_dedup, tpu_enqueue, tpu_parameters, tpu_step, tpu_versions

# Type checkers and editors read the same names, and the signatures of all of them, in `__init__.pyi`.
_FAMILIES = (accumulators, tpu_configure, tpu_dedup, tpu_enqueue, tpu_parameters, tpu_step, tpu_versions)
_OPS = {x.OP_NAME: x for family in _FAMILIES for x in vars(family).values() if hasattr(x, "OP_NAME")}
globals().update(_OPS)

__all__ = sorted(_OPS)
__getattr__, __dir__ = _only_public(__name__)
