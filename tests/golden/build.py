"""Build scenarios in the schema of the golden files, without any library but NumPy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

Json = dict[str, Any]


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy dtype of a TensorFlow dtype name, bfloat16 included."""
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def encode(x: np.ndarray, with_hex: bool = True) -> Json:
    """An array, exactly: the entries as written by Python, floats also as `float.hex`."""
    flat = [v.item() for v in np.asarray(x).astype(_wide(x)).reshape(-1)]
    encoded = {"dtype": x.dtype.name, "shape": list(x.shape), "values": [word(v) for v in flat]}
    if with_hex and _wide(x).kind == "f":
        encoded["hex"] = [v.hex() for v in flat]
    return encoded


def _wide(x: np.ndarray) -> np.dtype:
    return x.dtype if x.dtype.kind in "ciub" else np.dtype(np.float64)


def word(x: Any) -> Any:
    """JSON has no NaN and no infinity: they are words."""
    return str(x) if isinstance(x, float) and not np.isfinite(x) else x


def t(values: Any, dtype: str = "float32") -> Json:
    """A tensor argument or a variable."""
    with np.errstate(over="ignore"):
        return encode(np.asarray(values, np.float64).astype(numpy_dtype(dtype)), with_hex=False)


def slices(values: Any, indices: list[int], dense_shape: list[int] | None, dtype: str = "float32") -> Json:
    return {"indexed_slices": {"values": t(values, dtype), "indices": indices, "dense_shape": dense_shape}}


def call(fn: str, *args: Any, **kwargs: Any) -> Json:
    """Call a function of TensorFlow."""
    return do("call", fn=fn, args=[word(a) for a in args], **({"kwargs": kwargs} if kwargs else {}))


def do(verb: str, **fields: Any) -> Json:
    return {"do": verb, **fields}


def new(cls: str, *args: Any, **kwargs: Any) -> Json:
    return do("new", **{"class": f"v1.{cls}Optimizer"}, args=list(args), **({"kwargs": kwargs} if kwargs else {}))


def scenario(group: str, name: str, calls: Iterable[Json], **fields: Any) -> Json:
    """A scenario that compares bit by bit in eager mode unless `fields` say otherwise."""
    defaults = {"note": "", "mode": "eager", "compare": "bitwise", "vars": {}}
    return {"id": name, "group": group, **defaults, **fields, "calls": list(calls)}
