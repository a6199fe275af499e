"""TensorFlow 2.21's suites of TPU embeddings, run on gradlab's engine with two cores."""

from tests.originals.manifest.tensorflow import ORIGIN
from tests.originals.suites import Suite

_TPU = "tensorflow/python/tpu"
_NAMES = (
    "tpu_embedding_v2_utils tpu_embedding_for_serving tests/tpu_embedding_v2_correctness_dense_lookup "
    "tests/tpu_embedding_v2_correctness_hd_ragged_forward tests/tpu_embedding_v2_correctness_hd_ragged_training "
    "tests/tpu_embedding_v2_correctness_hd_sparse_forward tests/tpu_embedding_v2_correctness_hd_sparse_training "
    "tests/tpu_embedding_v2_correctness_ragged_forward tests/tpu_embedding_v2_correctness_ragged_training "
    "tests/tpu_embedding_v2_correctness_sparse_forward tests/tpu_embedding_v2_correctness_sparse_training "
    "tests/tpu_embedding_v2_correctness_sequence_feature tests/tpu_embedding_v2_sequence_feature "
    "tests/tpu_embedding_v2_valid_input tests/tpu_embedding_v2_invalid_input tests/tpu_embedding_v2_hd_valid_input "
    "tests/tpu_embedding_v2_hd_invalid_input tests/tpu_embedding_v2_enqueue_mode tests/tpu_embedding_v2_initialization"
)

SUITES = tuple(Suite(ORIGIN, f"{_TPU}/{name}_test.py", "tensorflow_tpu") for name in _NAMES.split())
