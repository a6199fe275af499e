"""TensorFlow 2.21's suites of TPU embeddings, run on gradlab's engine with two cores."""

from collections.abc import Mapping

from tests.originals.manifest.tensorflow import ORIGIN
from tests.originals.suites import Absent, Differs, Suite

_TPU = "tensorflow/python/tpu"
_TESTS = f"{_TPU}/tests/tpu_embedding_v2"

_SLOTS = Absent(
    "gl.tpu.experimental.embedding.CustomCombiner._slot_names",
    "by what private name TensorFlow keeps a combiner's weights",
)
_OUTSIDE = Absent(
    "gl.tpu.outside_compilation",
    "enqueuing from inside a compiled function; gradlab's engine has no graph",
)
_DEVICE = Absent("gl.tpu.input_device", "on which device an input is; gradlab's ids are NumPy's")
_CHECKPOINT = Absent(
    "gl.train.Checkpoint", "TensorFlow's checkpoints; gradlab's embeddings save themselves"
)
_OTHERS: dict[str, Mapping[str, Absent]] = {
    f"{_TPU}/tpu_embedding_v2_utils": {
        "TPUEmbeddingCustomCombinerTest.test_name_starts_with_custom_combiner": _SLOTS,
        "TPUEmbeddingCustomCombinerTest.test_*_slot*": _SLOTS,
        "ConfigTest.test_feature_config_repr": Absent(
            "gl.TensorShape", "how a shape is written; gradlab's are tuples"
        ),
        "TPUEmbeddingConfigurationTest.test_no_truncate": Absent(
            "gl.tpu.log_tpu_embedding_configuration",
            "a log in pieces; gl.tpu.describe gives a configuration in words",
        ),
        "TPUEmbeddingUtilityFunctionTest.test_sort_device_spec_strings": Absent(
            "gl.tpu.sort_device_spec_strings", "a private sort of TensorFlow's names of devices"
        ),
    },
    f"{_TESTS}_valid_input": {
        "TPUEmbeddingTest.test_enqueue_per_device": Absent(
            "gl.tpu.Strategy",
            "values of each device from a function; gradlab's enqueue takes the device itself",
        )
    },
    f"{_TESTS}_invalid_input": {"TPUEmbeddingTest.test_enqueue_cpu_tensor*": _DEVICE},
    f"{_TESTS}_enqueue_mode": {
        "TPUEmbeddingTest.test_enqueue_with_outside_compilation_in_control_flow*": _OUTSIDE,
        "TPUEmbeddingTest.test_enqueue_with_outside_compilation_non_direct_input": _OUTSIDE,
    },
}
_WHOLE = (
    "correctness_dense_lookup correctness_hd_ragged_forward correctness_hd_ragged_training "
    "correctness_hd_sparse_forward correctness_hd_sparse_training correctness_ragged_forward "
    "correctness_ragged_training correctness_sparse_forward correctness_sparse_training "
    "correctness_sequence_feature sequence_feature hd_valid_input hd_invalid_input"
)


_SEVERAL = {
    "TPUEmbeddingTest.test_multiple_creation": Differs(
        "an engine is an object, so there may be several embeddings at a time; "
        "TensorFlow has one for a TPU",
        "tests/tpu/experimental/embedding/test_embedding.py::test_there_may_be_several_embeddings_at_a_time",
    )
}


def _of(
    path: str,
    absent: Mapping[str, Absent] | None = None,
    differs: Mapping[str, Differs] | None = None,
) -> Suite:
    return Suite(ORIGIN, f"{path}_test.py", "tensorflow_tpu", absent or {}, differs or {})


SUITES = (
    _of(f"{_TPU}/tpu_embedding_for_serving"),
    *(_of(path, absent) for path, absent in _OTHERS.items()),
    *(_of(f"{_TESTS}_{name}") for name in _WHOLE.split()),
    _of(f"{_TESTS}_initialization", differs=_SEVERAL),
    _of(f"{_TESTS}_checkpoint", {"TPUEmbeddingCheckpointTest.test_*": _CHECKPOINT}),
)
