"""TensorFlow's dtypes and shapes, as thin names over NumPy's and tuples."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np


class DType:
    """`tf.DType`; `dtype` is NumPy's, which is what gradlab takes."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = numpy_dtype(dtype)

    @property
    def as_numpy_dtype(self) -> Any:
        return self.dtype.type

    @property
    def base_dtype(self) -> DType:
        return self

    @property
    def real_dtype(self) -> DType:
        return DType({"complex64": "float32", "complex128": "float64"}.get(self.name, self.dtype))

    @property
    def name(self) -> str:
        return self.dtype.name

    @property
    def is_floating(self) -> bool:
        return self.dtype.kind == "f" or self.name == "bfloat16"

    @property
    def is_complex(self) -> bool:
        return self.dtype.kind == "c"

    @property
    def is_integer(self) -> bool:
        return self.dtype.kind in "iu"

    @property
    def max(self) -> Any:
        return (ml_dtypes.finfo if self.is_floating else np.iinfo)(self.dtype).max

    @property
    def min(self) -> Any:
        return (ml_dtypes.finfo if self.is_floating else np.iinfo)(self.dtype).min

    def __getattr__(self, name: str) -> Any:
        """Whatever NumPy's has: gradlab asks a variable for its dtype."""
        return getattr(self.__dict__["dtype"], name)

    def __eq__(self, other: object) -> bool:
        try:
            return self.dtype == numpy_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return self.name


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    if isinstance(dtype, DType):
        return dtype.dtype
    if dtype == "bfloat16":
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(dtype)


class TensorShape(tuple[Any, ...]):
    """`tf.TensorShape`: a tuple of numbers and None. Only known ranks."""

    def __new__(cls, dims: Any) -> TensorShape:
        if dims is None:
            return None  # type: ignore[return-value]  # of unknown rank: gradlab says None as well
        dims = [dims] if isinstance(dims, int) else dims
        return super().__new__(cls, (None if n is None else int(n) for n in dims))

    @property
    def ndims(self) -> int:
        return len(self)

    rank = ndims

    def as_list(self) -> list[Any]:
        return list(self)

    def is_fully_defined(self) -> bool:
        return None not in self

    def num_elements(self) -> int:
        return int(np.prod(self))


_ALL = [
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
]
DTYPES = {name: DType(name) for name in _ALL} | {
    "bool": DType(bool),
    "half": DType("float16"),
    "double": DType("float64"),
    "string": DType(object),
}
