"""Training ops beside the kernels that the installed TensorFlow registers."""

from __future__ import annotations

from typing import Any

import pytest

import gradlab as gl
from tests.conformance.test_training_ops import DTYPES, takes

pytestmark = pytest.mark.tensorflow

OPS = [name for name in gl.raw_ops.__all__ if "Apply" in name and "Accumulator" not in name]


@pytest.mark.parametrize("op", OPS)
def test_an_op_takes_the_dtypes_of_the_cpu_kernels(tf: Any, op: str) -> None:
    assert {name for name in DTYPES if takes(op, name)} == dtypes_on_cpu(tf, op)


def dtypes_on_cpu(tf: Any, op: str) -> set[str]:
    """Return the dtypes T for which an op has a kernel on the CPU."""
    from tensorflow.python.framework import kernels

    names = set()
    for kernel in kernels.get_registered_kernels_for_op(op).kernel:
        for constraint in kernel.constraint:
            if kernel.device_type == "CPU" and constraint.name == "T":
                allowed = constraint.allowed_values.list.type
                names |= {tf.dtypes.as_dtype(number).name for number in allowed}
    return names
