"""Keras 3's namespace where gradients may be slices, as with its TensorFlow backend."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import gradlab as gl
from tests.originals.namespaces import Namespace
from tests.originals.stand_ins import keras


def _dense(x: Any, sparse: bool = True) -> Any:
    """An array, of slices too."""
    if not isinstance(x, gl.IndexedSlices):
        return keras.NAMES["convert_to_tensor"](x)
    dense = np.zeros(x.dense_shape, x.values.dtype)
    np.add.at(dense, np.asarray(x.indices), x.values)
    return dense


NAMES = keras.NAMES | {
    "Optimizer": gl.keras.Optimizer,
    "backend": lambda: "tensorflow",
    "convert_to_tensor": _dense,
}
STAND_IN = replace(
    keras.STAND_IN,
    prefixes=("keras", "pytest", "tensorflow"),
    namespace=Namespace("Keras 3", NAMES, frozenset(["numpy", "schedules"])),
    exactly={
        **(keras.STAND_IN.exactly or {}),
        "tensorflow": Namespace("TensorFlow", {"IndexedSlices": gl.IndexedSlices}),
    },
)
