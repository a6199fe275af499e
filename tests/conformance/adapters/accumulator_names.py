"""What observations of accumulators call by TensorFlow's names and by shorter ones: gradlab's
classes, strict.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance import decode
from tests.conformance.scenarios import Unsupported

PARAMETERS = ("dtype", "shape", "shared_name", "name", "reduction_type")
REDUCTIONS = ("SUM", "MEAN")
_unique = itertools.count()


class Maker:
    """A constructor that takes its arguments by place, by name, or by what they are; `...` and
    nothing mean any.

    `last` is a weak reference to what it made, so that `del a` deletes it.
    """

    def __init__(self) -> None:
        self.last: Callable[[], Any] = lambda: None
        self.dtype = np.dtype(np.float32)
        self.mode = "eager"

    def dense(self, *given: Any, **named: Any) -> Any:
        return self._made(gl.ConditionalAccumulator, given, named)

    def sparse(self, *given: Any, **named: Any) -> Any:
        return self._made(gl.SparseConditionalAccumulator, given, named)

    def _made(self, kind: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        words = [x for x in given if isinstance(x, str) and x in REDUCTIONS]
        placed = [x for x in given if x is not ... and not (isinstance(x, str) and x in REDUCTIONS)]
        arguments = {
            "dtype": self.dtype,
            "shape": [1],
            **named,
            **dict(zip(PARAMETERS, placed, strict=False)),
        }
        arguments.update(zip(["reduction_type"], words, strict=False))
        if arguments.get("shared_name") is ...:
            arguments["shared_name"] = f"some name {next(_unique)}"
        made = kind(**arguments, strict="tf")
        self.last = weakref.ref(made)
        return made


class RawOps:
    """`gl.raw_ops`, whose constructors know what `...` stands for."""

    def __init__(self, make: Maker) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        op = getattr(gl.raw_ops, name)
        if self._make.mode == "eager" and not name.startswith("Resource"):
            raise RuntimeError("TensorFlow has these in graphs only; gradlab has them everywhere")
        if not name.endswith("ConditionalAccumulator"):
            return op
        return lambda *_, **named: op(**{"dtype": np.dtype(np.float32), "shape": [1], **named})


class TensorFlow:
    """`tf.float32` and all its kin, and what else of it is called."""

    IndexedSlices = staticmethod(
        lambda values, indices, dense_shape=None: slices(values, indices, dense_shape)
    )

    def __init__(self, classes: dict[str, Any], make: Maker) -> None:
        self.compat, self.raw_ops = SimpleNamespace(v1=SimpleNamespace(**classes)), RawOps(make)

    def __getattr__(self, name: str) -> Any:
        try:
            return np.dtype(str) if name == "string" else decode.dtype(name)
        except TypeError:
            raise Unsupported(f"tf.{name}") from None

    @staticmethod
    def constant(x: Any, dtype: Any = None) -> Any:
        return tensor(x, dtype)

    @staticmethod
    def ones(shape: Any, dtype: Any = np.float32) -> Any:
        return tensor(np.ones(shape), dtype)

    @staticmethod
    def zeros(shape: Any, dtype: Any = np.float32) -> Any:
        return tensor(np.zeros(shape), dtype)


def tensor(x: Any, dtype: Any = None) -> Any:
    """An array of JAX, which has its dtype for good, as a NumPy array in TensorFlow has not."""
    import jax

    array = np.asarray(x)
    narrow = {"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype)
    with jax.enable_x64(True):
        return jax.numpy.asarray(array, dtype or (array.dtype if hasattr(x, "dtype") else narrow))


def slices(values: Any, indices: Any, dense_shape: Any = None) -> gl.IndexedSlices:
    shape = None if dense_shape is None else [int(n) for n in np.asarray(dense_shape)]
    return gl.IndexedSlices(np.asarray(values, np.float32), np.asarray(indices, np.int64), shape)


def names(make: Maker) -> dict[str, Any]:
    """Everything that code may use."""
    classes = {"ConditionalAccumulator": make.dense, "SparseConditionalAccumulator": make.sparse}
    tf = TensorFlow(classes, make)
    arrays = (
        "array",
        "asarray",
        "ones",
        "zeros",
        "full",
        "arange",
        "float16",
        "float32",
        "float64",
        "int32",
        "int64",
    )
    dtypes = {
        name: getattr(tf, name)
        for name in ("int32", "int64", "uint8", "complex64", "string", "float32")
    }
    short: dict[str, Any] = {
        "f16": tf.float16,
        "f32": tf.float32,
        "f64": tf.float64,
        "bf16": tf.bfloat16,
    }
    short |= {
        "CA": make.dense,
        "SCA": make.sparse,
        "SUM": "SUM",
        "MEAN": "MEAN",
        "inf": np.inf,
        "nan": np.nan,
    }
    short |= {
        "np": SimpleNamespace(**{name: getattr(np, name) for name in arrays}),
        "float": float,
        "int": int,
    }
    short |= {"tf": tf, "v1": tf.compat.v1, "raw_ops": tf.raw_ops}
    return {**classes, **dtypes, **short}
