"""TensorFlow's `gen_training_ops`: `gl.raw_ops` with arguments by position, as nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.stand_ins.graph import Tensor, raw

_VARIABLES = ("var", "accum", "linear", "m", "v")
_ARGUMENTS = {
    "ApplyAdagrad": "var accum lr grad",
    "ApplyAdam": "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad",
    "ApplyFtrl": "var accum linear grad lr l1 l2 lr_power",
    "ApplyGradientDescent": "var alpha delta",
    "SparseApplyAdagrad": "var accum lr grad indices",
    "SparseApplyFtrl": "var accum linear grad indices lr l1 l2 lr_power",
}


def _kernel(name: str) -> Any:
    """An op in its ref form, whose value is that of the variable."""

    def kernel(*arguments: Any, **keywords: Any) -> Tensor:
        given = dict(zip(_ARGUMENTS[name].split(), arguments, strict=False)) | keywords

        def run() -> Any:
            values = {k: x if k in _VARIABLES else raw(x) for k, x in given.items()}
            return np.array(raw(getattr(gl.raw_ops, name)(**values)))

        return Tensor(run, shape=given["var"].shape)

    return kernel


KERNELS = {
    "apply_adagrad": _kernel("ApplyAdagrad"),
    "apply_adam": _kernel("ApplyAdam"),
    "apply_ftrl": _kernel("ApplyFtrl"),
    "apply_gradient_descent": _kernel("ApplyGradientDescent"),
    "sparse_apply_adagrad": _kernel("SparseApplyAdagrad"),
    "sparse_apply_ftrl": _kernel("SparseApplyFtrl"),
}
