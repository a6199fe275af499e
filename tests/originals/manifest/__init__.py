"""The suites that are run: every file, its release, and what is not applicable, with one line of reason."""

from tests.originals.manifest import keras, optax, tensorflow

SUITES = (*optax.SUITES, *keras.SUITES, *tensorflow.SUITES)
