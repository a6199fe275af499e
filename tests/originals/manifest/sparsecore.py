"""jax-tpu-embedding's suite of what the host hands to SparseCores, of its repository at August 2026."""

from tests.originals.suites import Absent, Origin, Suite

ORIGIN = Origin("jax-tpu-embedding", "566086d")

SUITES = (
    Suite(
        ORIGIN,
        "jax_tpu_embedding/sparsecore/lib/core/tests/input_preprocessing_test.py",
        "sparsecore",
        absent={
            "InputPreprocessingTest.test_error_non_mod_sharding": Absent(
                "gl.tpu.sparsecore.preprocess(sharding_strategy)", "a strategy to choose, of which one is refused there"
            ),
            "InputPreprocessingMinibatchingTest.test_multi_minibatch_exact_contents": Absent(
                "gl.tpu.sparsecore.preprocess(minibatches)",
                "minibatches as they are given; gradlab splits a batch itself",
            ),
        },
    ),
)
