"""jax-tpu-embedding's suites: what the host hands to SparseCores, and steps; its repository at August 2026."""

from tests.originals.suites import Absent, Origin, Suite

ORIGIN = Origin("jax-tpu-embedding", "566086d")
_BUFFERS = Absent(
    "gl.tpu.sparsecore.update", "a step on buffers, and what dtypes it takes; gradlab steps on batches and converts"
)
_ARGUMENTS = {
    f"*.test_raising_value_error_while_evaluating_abstracts_{what}": _BUFFERS
    for what in ("*np.*", "row_pointers_shape*", "max_*ids_per_partition*")
}
_STEPS = "jax_tpu_embedding/sparsecore/lib/core/primitives/tests/sparse_dense_matmul"
_WHOLE = ("grad_with_sgd", "grad_with_sgd_minibatching", "optimizer_grad")
_REFUSING = [
    f"grad_with_{name}"
    for name in ("adagrad", "adagrad_minibatching", "adagrad_momentum", "adam", "f2a", "ftrl", "laprop")
]

_LOOKUPS = {
    f"*.test_sc_emb_forward_pass_invalid_{what}": _BUFFERS
    for what in ("input_dtypes", "input_shapes", "max_ids_per_partition", "sharding")
}

SUITES = (
    Suite(
        ORIGIN,
        "jax_tpu_embedding/sparsecore/lib/core/tests/input_preprocessing_test.py",
        "sparsecore",
        absent={
            "InputPreprocessingTest.test_error_non_mod_sharding": Absent(
                "gl.tpu.sparsecore.preprocess(sharding_strategy)", "a strategy to choose, of which one is refused there"
            ),
        },
    ),
    *(Suite(ORIGIN, f"{_STEPS}_{name}_test.py", "sparsecore") for name in _WHOLE),
    *(Suite(ORIGIN, f"{_STEPS}_{name}_test.py", "sparsecore", absent=_ARGUMENTS) for name in _REFUSING),
    *(Suite(ORIGIN, f"{_STEPS}_{name}_test.py", "sparsecore", absent=_LOOKUPS) for name in ("csr", "csr_minibatching")),
)
