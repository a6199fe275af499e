"""TensorFlow 1.15's namespace: a default graph for each case, `contrib.opt`, and decays that are
functions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tests.originals.namespaces import Namespace, StandIn
from tests.originals.stand_ins import tensorflow
from tests.originals.stand_ins.tf_cluster import CLUSTER, one_cluster
from tests.originals.stand_ins.tf_contrib import CONTRIB
from tests.originals.stand_ins.tf_test import in_graph

NAMES = tensorflow.NAMES | CONTRIB | CLUSTER


@contextlib.contextmanager
def _around() -> Iterator[None]:
    with in_graph(), one_cluster():
        yield


STAND_IN = StandIn(
    ("tensorflow", "portpicker"),
    Namespace("TensorFlow 1", NAMES, frozenset(["dtypes"])),
    tensorflow.MODULES | {"function"},
    around=_around,
)
