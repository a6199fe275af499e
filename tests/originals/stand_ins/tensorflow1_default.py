"""TensorFlow 1.15's namespace with accumulators in gradlab's default mode."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from tests.originals.stand_ins import tensorflow1
from tests.originals.stand_ins.tf_accumulators import default_mode


@contextlib.contextmanager
def _around() -> Iterator[None]:
    assert tensorflow1.STAND_IN.around is not None
    with tensorflow1.STAND_IN.around(), default_mode():
        yield


STAND_IN = replace(tensorflow1.STAND_IN, around=_around)
