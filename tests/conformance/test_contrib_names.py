"""The names, arguments and methods of TensorFlow 1.15's `tf.contrib.opt`, `tf.contrib.layers` and
`tf.train` beside gradlab's, as `contrib_opt_names.json` lists them.
"""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

import gradlab as gl
from tests.conformance.scenarios import OWN_GOLDEN
from tests.coverage import TABLES

NAMES = json.loads((OWN_GOLDEN / "library" / "contrib_opt_names.json").read_text("utf-8"))
# They hand a loss to SciPy's minimizers, and leave no gradient to look at.
SCIPY = {"ExternalOptimizerInterface", "ScipyOptimizerInterface"}
# Layers, not training.
OTHER_LAYERS = {"recompute_grad", "scale_gradient"}
# Sessions have hooks; gradlab has no sessions.
OF_SESSIONS = {"make_session_run_hook"}

OPT = {name: x for name, x in NAMES["tf.contrib.opt"].items() if name not in SCIPY}
LAYERS = {name: x for name, x in NAMES["tf.contrib.layers"].items() if name not in OTHER_LAYERS}
BY_MODULE = {
    name.rpartition(".")[2]: x
    for name, x in NAMES["by module only (not in the public namespace)"].items()
}
ALL = [
    *((gl.contrib.opt, name, x) for name, x in OPT.items()),
    *((gl.contrib.layers, name, x) for name, x in LAYERS.items()),
    *((gl.train, name, x) for name, x in NAMES["tf.train"].items()),
    *(
        (gl.contrib.layers if name == "adaptive_clipping_fn" else gl.contrib.opt, name, x)
        for name, x in BY_MODULE.items()
    ),
]


@pytest.mark.parametrize(("module", "name", "original"), ALL, ids=[name for _, name, _ in ALL])
def test_a_name_is_there_and_takes_the_same_arguments(
    module: Any, name: str, original: dict[str, Any]
) -> None:
    own = getattr(module, name)
    for method in original.get("methods", ()):
        assert method in OF_SESSIONS or callable(getattr(own, method, None)), method
    if original["signature"] is None or inspect.isabstract(own):
        return
    expected = read_signature(original["signature"])
    found = list(inspect.signature(own).parameters.values())
    assert [p.name for p in found[: len(expected)]] == [p.name for p in expected]
    for ours, theirs in zip(found, expected, strict=False):
        assert ours.default == theirs.default, ours.name


def read_signature(text: str) -> list[inspect.Parameter]:
    """Return the parameters that are written as "(self, x, y=1)", without self."""
    function = eval(f"lambda {text.removeprefix('(').removesuffix(')')}: None")
    parameters = list(inspect.signature(function).parameters.values())
    return [p for p in parameters if p.name != "self"]


def test_every_name_is_in_the_table_of_what_is_here() -> None:
    (table,) = (table for table in TABLES if table.title == "tf.contrib.opt")
    assert sorted(name for name, _ in table.names()) == sorted(gl.contrib.opt.__all__)


def test_nothing_is_listed_that_is_there() -> None:
    assert not any(hasattr(gl.contrib.opt, name) for name in SCIPY)
    assert not any(hasattr(gl.contrib.layers, name) for name in OTHER_LAYERS)


def test_the_names_of_optimizers_and_summaries_are_tensorflows() -> None:
    layers = gl.contrib.layers
    assert set(layers.OPTIMIZER_CLS_NAMES) == set(NAMES["tf.contrib.layers.OPTIMIZER_CLS_NAMES"])
    assert NAMES["tf.contrib.layers.OPTIMIZER_SUMMARIES"] == layers.OPTIMIZER_SUMMARIES
