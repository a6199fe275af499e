"""Writes what type checkers and editors read of the raw operations: `python -m tests.raw_ops.stub`."""

from __future__ import annotations

import inspect
import subprocess
from pathlib import Path
from typing import Any

import gradlab
from gradlab import raw_ops
from gradlab.raw_ops.tpu_parameters import OUTPUTS

STUB = Path(gradlab.__file__).parent / "raw_ops" / "__init__.pyi"
HEAD = """# Written by `python -m tests.raw_ops.stub` from the operations themselves.  # ruff: noqa: E501
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._asynchrony.accumulators import Receipt, SparseGradient
from .._base.types import Array
from .accumulators import Handle
from .tpu_op import Config, Tensor, Tensors, Variant
from .tpu_parameters import AllParameters

__all__: list[str]
"""
# What generated signatures leave out, as they say no more than TensorFlow's do.
TYPES = {"num_shards": "int", "shard_id": "int", "table_id": "int", "table_name": "str | bytes", "config": "Config"}


def written() -> str:
    """The stub: outputs that are tuples with names, then each operation with the first line of what it says."""
    tuples = [_tuple(name, fields) for name, fields in OUTPUTS.items() if len(fields) > 1]
    return "\n".join([HEAD, *tuples, *(_operation(name) for name in raw_ops.__all__)])


def _tuple(name: str, fields: tuple[str, ...]) -> str:
    return f"class _{name}(NamedTuple):\n" + "".join(f"    {f}: np.ndarray\n" for f in fields)


def _operation(name: str) -> str:
    op = getattr(raw_ops, name)
    signature = inspect.signature(op)
    parameters = ", ".join(_parameter(p) for p in signature.parameters.values())
    doc = inspect.getdoc(op).splitlines()[0]
    return f'def {name}(*, {parameters}) -> {_output(name, signature.return_annotation)}:\n    """{doc}"""\n'


def _parameter(p: inspect.Parameter) -> str:
    kind = p.annotation if p.annotation is not p.empty else TYPES.get(p.name, "str | None")
    return f"{p.name}: {kind}" if p.default is p.empty else f"{p.name}: {kind} = {p.default!r}"


def _output(name: str, annotation: Any) -> str:
    if name in OUTPUTS:
        return f"_{name}" if len(OUTPUTS[name]) > 1 else "np.ndarray"
    return str(annotation)


if __name__ == "__main__":
    STUB.write_text(written(), "utf-8")
    subprocess.run(["ruff", "format", str(STUB)], check=True)
