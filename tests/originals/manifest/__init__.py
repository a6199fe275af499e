"""The suites that are run: every file, its release, and what is not applicable, with one line of
reason.
"""

from tests.originals.manifest import (
    keras,
    optax,
    sparsecore,
    tensorflow,
    tensorflow1,
    tf_keras,
    tpu,
)

SUITES = (
    *optax.SUITES,
    *keras.SUITES,
    *tensorflow.SUITES,
    *tensorflow1.SUITES,
    *tf_keras.SUITES,
    *tpu.SUITES,
    *sparsecore.SUITES,
)
