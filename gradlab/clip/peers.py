"""Clipping by global norm as other libraries write it, for comparison side by side.

Each function is named for a library and is its formula on NumPy arrays, in its order of operations.
Tests compare optax's and JAX's with the libraries (to a few ulp, because sums may be ordered
otherwise), and PyTorch's with numbers recorded from PyTorch for the lab's cases; Keras's is the
formula of its source. TensorFlow's is `clip_by_global_norm` itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .._base.arrays import quiet
from ..errors import ClipWarning
from .by_global_norm import clip_by_global_norm

Tensors = list[np.ndarray]


def _norm(tensors: Tensors) -> Any:
    return np.sqrt(np.sum(np.stack([np.sum(t * t) for t in tensors])))


def _norm_of_norms(tensors: Tensors) -> Any:
    norms = np.stack([np.sqrt(np.sum(t * t)) for t in tensors])
    return np.sqrt(np.sum(norms * norms))


def tensorflow(tensors: Tensors, limit: float) -> Tensors:
    """t * (c * min(1/n, 1/c)), and NaN when n is not finite. Source: TensorFlow 2.21 (2026)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClipWarning)
        return clip_by_global_norm(tensors, limit)[0]


def keras(tensors: Tensors, limit: float) -> Tensors:
    """TensorFlow's formula, but 1/c divides Python numbers: ZeroDivisionError at 0.

    Source: Keras 3.15 (2026).
    """
    if limit == 0:
        raise ZeroDivisionError("float division by zero")
    return tensorflow(tensors, limit)


@quiet
def optax(tensors: Tensors, limit: float) -> Tensors:
    """t where n < c, else (t / n) * c. Source: optax 0.2.8 `clip_by_global_norm` (2026)."""
    n = _norm(tensors)
    return [np.where(n < limit, t, t / n * np.asarray(limit, t.dtype)) for t in tensors]


@quiet
def torch(tensors: Tensors, limit: float) -> Tensors:
    """t * min(1, c / (n + 1e-6)), n the norm of the tensors' norms.

    Source: PyTorch 2.13 `clip_grad_norm_` (2026).
    """
    dtype = tensors[0].dtype
    factor = np.asarray(limit, dtype) / (_norm_of_norms(tensors) + np.asarray(1e-6, dtype))
    return [t * np.minimum(factor, np.ones_like(factor)) for t in tensors]


@quiet
def jax_example(tensors: Tensors, limit: float) -> Tensors:
    """t where n < c, else t * (c / n).

    Source: JAX 0.10 `example_libraries.optimizers.clip_grads` (2026).
    """
    n = _norm(tensors)
    return [np.where(n < limit, t, t * (np.asarray(limit, t.dtype) / n)) for t in tensors]


GLOBAL_NORM_CLIPS: dict[str, Callable[[Tensors, float], Tensors]] = {
    "TensorFlow": tensorflow,
    "Keras 3": keras,
    "optax": optax,
    "PyTorch": torch,
    "JAX example": jax_example,
}
