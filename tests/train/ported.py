"""TensorFlow scripts that run in gradlab after one replacement, and what both print.

The scripts are the files in `train/ports/`. They use of TensorFlow what gradlab has; what a model
computes is written with operators.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FOLDER = Path(__file__).parent / "ports"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.txt"))
REPLACEMENTS = {
    "import tensorflow as tf": "import gradlab as gl",
    "tf.compat.v1.train.": "gl.train.",
    "tf.compat.v1.": "gl.",
    "tf.": "gl.",
}
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


class Outcome(NamedTuple):
    """What a script printed, without the fractions in it, and the fractions and last weights."""

    text: str
    fractions: list[float]
    weights: list[np.ndarray]


def read(name: str) -> str:
    """Return a script as it's written for TensorFlow."""
    return (FOLDER / f"{name}.txt").read_text("utf-8")


def port(source: str) -> str:
    """Return a script for gradlab."""
    for theirs, ours in REPLACEMENTS.items():
        source = source.replace(theirs, ours)
    return source


def run(source: str) -> Outcome:
    """Run a script, which leaves its last weights in `result`."""
    names: dict[str, Any] = {"__name__": "script"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "script", "exec"), names)
    text = printed.getvalue()
    fractions = [float(x) for x in NUMBER.findall(text)]
    return Outcome(NUMBER.sub("#", text), fractions, [np.asarray(x) for x in names["result"]])
