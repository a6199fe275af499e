"""Every public name of TensorFlow, tf_keras and Keras is in gradlab or left out with a sentence.

The names are those of the installed packages, in the modules that gradlab has a module for. A new
optimizer, decay, training op, loss scale or accumulator of a new release fails here.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from types import ModuleType
from typing import Any

import pytest

from gradlab._base.left_out import LEFT_OUT, explain
from tests.conformance import tensorflow_ops
from tests.conformance.scenarios import OWN_GOLDEN
from tests.coverage import TABLES, Table
from tests.golden.tensorflow_values import tensorflow

pytestmark = pytest.mark.tensorflow

# The modules of the originals, and the one of gradlab in which their names are looked for.
MODULES = {
    "tf.compat.v1": "gradlab",
    "tf": "gradlab",
    "tf.compat.v1.train": "gradlab.train",
    "tf.compat.v1.train.experimental": "gradlab.train",
    "tf.compat.v1.mixed_precision": "gradlab.train",
    "tf.train": "gradlab.train",
    "tf.train.experimental": "gradlab.train",
    "tf.raw_ops": "gradlab.raw_ops",
    "tf.compat.v1.tpu": "gradlab.tpu",
    "tf.compat.v1.tpu.experimental": "gradlab.tpu.experimental",
    "tf.compat.v1.tpu.experimental.embedding": "gradlab.tpu.experimental.embedding",
    "tf.tpu": "gradlab.tpu",
    "tf.tpu.experimental": "gradlab.tpu.experimental",
    "tf.tpu.experimental.embedding": "gradlab.tpu.experimental.embedding",
    "tf.keras": "gradlab.keras",
    "tf.keras.mixed_precision": "gradlab.keras.mixed_precision",
    "tf.keras.optimizers": "gradlab.keras.optimizers",
    "tf.keras.optimizers.legacy": "gradlab.keras.optimizers",
    "tf.keras.optimizers.schedules": "gradlab.schedules",
    "tf_keras": "gradlab.keras",
    "tf_keras.mixed_precision": "gradlab.keras.mixed_precision",
    "tf_keras.optimizers": "gradlab.keras.optimizers",
    "tf_keras.optimizers.legacy": "gradlab.keras.optimizers",
    "tf_keras.optimizers.experimental": "gradlab.keras.optimizers",
    "tf_keras.optimizers.schedules": "gradlab.schedules",
    "keras.optimizers": "gradlab.keras.optimizers",
    "keras.optimizers.schedules": "gradlab.schedules",
}
# tf.contrib went with TensorFlow 1; these are the names of 1.15.
NAMES_OF_1_15 = json.loads((OWN_GOLDEN / "library" / "contrib_opt_names.json").read_text("utf-8"))
CONTRIB = {
    name.rpartition(".")[2]
    for group in (
        "tf.contrib.opt",
        "tf.contrib.layers",
        "by module only (not in the public namespace)",
    )
    for name in NAMES_OF_1_15[group]
}
# These went with TensorFlow 2.16.
PARAMETERS = {
    "AdagradParameters",
    "AdamParameters",
    "FtrlParameters",
    "StochasticGradientDescentParameters",
}
# Of all ops that TensorFlow registers, these are about optimizers, accumulators, TPUs and their
# SparseCores. A few of them have no function in `tf.raw_ops`.
OPS = re.compile(
    r"Apply[A-Z]|Accumulator|TPU|Dedup|Sdca|SparseCore|XlaSparse|CooTensor|Minibatch|GlobalIterId"
)


def public_names(original: str) -> list[str]:
    """Return the public names of a module of TensorFlow, tf_keras or Keras."""
    tf = tensorflow()
    if original == "tf.raw_ops":
        return sorted(name for name in tensorflow_ops.registered_names() if OPS.search(name))
    first, *rest = original.split(".")
    module: Any = tf if first == "tf" else importlib.import_module(first)
    for part in rest:
        module = getattr(module, part)
    return [name for name in dir(module) if not name.startswith("_")]


def is_here(place: str, name: str) -> bool:
    """Tell whether a module of gradlab has a public name."""
    return name in dir(importlib.import_module(place))


def unexplained(place: str, names: Iterable[str]) -> list[str]:
    """Return the names that a module of gradlab neither has nor leaves out with a sentence."""
    return [n for n in names if not is_here(place, n) and explain(place, n) is None]


@pytest.mark.parametrize("original", MODULES)
def test_a_name_is_here_or_left_out_with_its_reason(original: str) -> None:
    names = set(public_names(original))
    assert unexplained(MODULES[original], sorted(names)) == []


@pytest.mark.parametrize("original", MODULES)
def test_a_name_that_is_here_is_not_left_out(original: str) -> None:
    place = MODULES[original]
    both = [n for n in public_names(original) if is_here(place, n) and explain(place, n)]
    assert both == []


@pytest.mark.parametrize("original", MODULES)
def test_an_invented_name_is_found(original: str) -> None:
    invented = ["ResourceApplyFoo", "FooOptimizer", "foo_decay", "FooLossScale", "FooAccumulator"]
    names = [*public_names(original)[:5], *invented]
    assert unexplained(MODULES[original], sorted(set(names))) == sorted(invented)


def test_every_name_left_out_is_a_name_of_the_originals() -> None:
    names: dict[str, set[str]] = {}
    for original, place in MODULES.items():
        names.setdefault(place, set()).update(public_names(original))
    names["gradlab.contrib.opt"] = CONTRIB
    older = {"v1", "estimator", "schedules"}  # of other releases, or modules of modules
    for left_out in LEFT_OUT:
        known = set().union(*(names.get(place, ()) for place in left_out.places.split()))
        for pattern in set(left_out.names.split()) - older:
            assert any(fnmatchcase(name, pattern) for name in known), pattern


@pytest.mark.parametrize("original", MODULES)
def test_a_name_that_is_here_is_in_a_table(original: str) -> None:
    place = MODULES[original]
    room = importlib.import_module(place)
    tabled = {name for table in TABLES if table.place == place for name, _ in table.names()}
    if place in ("gradlab.keras", "gradlab.keras.mixed_precision"):
        tabled = set(dir(importlib.import_module("gradlab.keras.optimizers")))
    for name in public_names(original):
        if is_here(place, name) and not isinstance(getattr(room, name), ModuleType):
            assert name in tabled, f"{original}.{name} is in {place} and in no table"


@pytest.mark.parametrize(
    "table",
    [table for table in TABLES if table.place != "gradlab.rules"],  # whose names are gradlab's own
    ids=lambda table: table.title,
)
def test_a_table_has_names_of_the_originals_only(table: Table) -> None:
    known = {name for original in table.originals for name in public_names(original)}
    if table.title == "tf.tpu.experimental":
        known |= PARAMETERS
    if table.title == "Ops of TPU embeddings":
        known |= {f"{name}GradAccumDebug" for name in known}  # which went with TensorFlow 2.7
    if table.place.startswith("gradlab.contrib"):
        known = {*CONTRIB, "DelayCompensatedGradientDescentOptimizer"}  # which 1.3 alone had
    for names in table.since.values():
        assert set(names.split()) <= known
