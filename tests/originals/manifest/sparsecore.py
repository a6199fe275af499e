"""jax-tpu-embedding's suites: what the host hands to SparseCores, and steps; its repository at
August 2026.
"""

from tests.originals.suites import Absent, Differs, Origin, Suite

ORIGIN = Origin(
    "jax-tpu-embedding",
    "566086d",
    helpers=("jax_tpu_embedding/sparsecore/lib/core/tests/test_utils.py",),
)
_BUFFERS = Absent(
    "gl.tpu.sparsecore.update",
    "a step on buffers, and what dtypes it takes; gradlab steps on batches and converts",
)
_ARGUMENTS = {
    f"*.test_raising_value_error_while_evaluating_abstracts_{what}": _BUFFERS
    for what in ("*np.*", "row_pointers_shape*", "max_*ids_per_partition*")
}
_HOST = "jax_tpu_embedding/sparsecore/lib/core/tests"
_STEPS = "jax_tpu_embedding/sparsecore/lib/core/primitives/tests/sparse_dense_matmul"
_WHOLE = ("grad_with_sgd", "grad_with_sgd_minibatching", "optimizer_grad")
_REFUSING = [
    f"grad_with_{name}"
    for name in (
        "adagrad",
        "adagrad_minibatching",
        "adagrad_momentum",
        "adam",
        "f2a",
        "ftrl",
        "laprop",
    )
]

_LOOKUPS = {
    f"*.test_sc_emb_forward_pass_invalid_{what}": _BUFFERS
    for what in ("input_dtypes", "input_shapes", "max_ids_per_partition", "sharding")
}

_SHARDING = Absent(
    "gl.tpu.sparsecore.preprocess(sharding_strategy)",
    "a strategy to choose, of which one is refused there",
)
_COUNTS = Absent(
    "gl.tpu.sparsecore.preprocess(local_device_count)",
    "counts of devices as arguments; a plan has cores, at least one",
)
_SIZES = Absent(
    "gl.tpu.Table(suggested_coo_buffer_size)", "sizes of buffers that an earlier run suggested"
)
_EXTENSION = {
    "InputPreprocessingTest.test_empty_input_batches_raises_error": _COUNTS,
    "InputPreprocessingTest.test_global_device_count_less_than_*": _COUNTS,
    "InputPreprocessingTest.test_local_device_count_less_than_*": _COUNTS,
    "InputPreprocessingTest.test_num_sc_per_device_less_than_*": _COUNTS,
    "InputPreprocessingTest.test_invalid_sharding_strategy_raises_error": _SHARDING,
    "InputPreprocessingTableStackingTest.test_multi_process_fdo*": Absent(
        "gl.tpu.sparsecore.FileFDOClient",
        "files by which the hosts of a run tell each other sizes of buffers",
    ),
    "MinibatchingNodeTest.test_minibatching_node_creation": Absent(
        "gl.tpu.sparsecore.MinibatchingNode", "a network in which hosts agree on minibatches"
    ),
    "PybindBufferSizeTest.test_compute_coo_buffer_size_per_device": _SIZES,
    "PybindBufferSizeTest.test_compute_row_pointers_size": Absent(
        "gl.tpu.sparsecore.row_pointers_size",
        "the length of pointers alone; gradlab's buffers show it",
    ),
}

_NN = "jax_tpu_embedding/sparsecore/lib/nn/tests"
_SPECS = {
    "OptimizerSpecTest.test_callable_placeholder_and_proto_tag": Absent(
        "gl.tpu.CallablePlaceholder",
        "a schedule by a name that a message has; in gradlab's messages it is a numbered tag",
    ),
    "OptimizerSpecTest.test_hyperparameters": Absent(
        "gl.rules.Adam.get_hyperparameters",
        "the numbers that a kernel is handed at a step; a rule of gradlab has fields",
    ),
    "OptimizerSpecTest.test_optimizer_class_type_mapping": Absent(
        "gl.tpu.get_optimizer_class",
        "the numbers that stand for classes in that library's messages",
    ),
    "OptimizerSpecTest.test_short_name": Absent(
        "gl.rules.Adagrad.short_name", "a part of names that the library gives its variables"
    ),
}
_FULL = {
    "*.test_preprocess_suggested_buffer_size_4sc": Differs(
        "ids that find no room in buffers of a given size are refused; the original drops them "
        "without being asked",
        "tests/tpu/sparsecore/test_preprocess.py::test_what_the_buffers_do_not_hold_is_refused_or_cut",
    )
}

SUITES = (
    Suite(
        ORIGIN,
        f"{_HOST}/input_preprocessing_test.py",
        "sparsecore",
        absent={"InputPreprocessingTest.test_error_non_mod_sharding": _SHARDING},
    ),
    *(Suite(ORIGIN, f"{_STEPS}_{name}_test.py", "sparsecore") for name in _WHOLE),
    *(
        Suite(ORIGIN, f"{_STEPS}_{name}_test.py", "sparsecore", absent=_ARGUMENTS)
        for name in _REFUSING
    ),
    *(
        Suite(ORIGIN, f"{_STEPS}_{name}_test.py", "sparsecore", absent=_LOOKUPS)
        for name in ("csr", "csr_minibatching")
    ),
    Suite(ORIGIN, f"{_HOST}/pybind_input_preprocessing_test.py", "sparsecore", absent=_EXTENSION),
    Suite(ORIGIN, f"{_HOST}/sparse_coo_input_preprocessing_test.py", "sparsecore"),
    Suite(ORIGIN, f"{_NN}/embedding_spec_test.py", "sparsecore", absent=_SPECS),
    Suite(
        ORIGIN, f"{_NN}/preprocess_sparse_dense_matmul_input_test.py", "sparsecore", differs=_FULL
    ),
)
