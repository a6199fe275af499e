"""What is said of five libraries, for every case."""

import pytest

import gradlab as gl
from gradlab.clip.peers import GLOBAL_NORM_CLIPS
from gradlab.labs._clip_libraries import CASES

SAID = {
    "above": "TensorFlow, Keras 3, optax, PyTorch and JAX example scale to the limit",
    "below": "TensorFlow and Keras 3 move the last digit; optax, PyTorch and JAX example change nothing",
    "inf": "TensorFlow and Keras 3 give NaN; "
    "optax, PyTorch and JAX example give NaN for one entry and 0 for the others",
    "nan": "TensorFlow, Keras 3, optax, PyTorch and JAX example give NaN",
    "overflow": "TensorFlow and Keras 3 give NaN; optax, PyTorch and JAX example give 0",
    "zero": "TensorFlow, optax and JAX example give NaN; Keras 3 raises ZeroDivisionError; PyTorch changes nothing",
    "limit_zero": "TensorFlow, optax, PyTorch and JAX example give 0; Keras 3 raises ZeroDivisionError",
    "negative": "TensorFlow and Keras 3 change nothing; optax, PyTorch and JAX example flip the signs",
    "limit_inf": "TensorFlow and Keras 3 give NaN; optax, PyTorch and JAX example change nothing",
    "at": "TensorFlow, Keras 3, optax and JAX example change nothing; PyTorch moves the last digit",
}


@pytest.mark.parametrize("case", CASES)
def test_the_sentence_of_every_case(case: str) -> None:
    words = gl.labs.clip_libraries(case=case).description
    assert words.summary.endswith(f": {SAID[case]}.")
    assert [name for name, _ in words.table] == ["gradient", "limit", *GLOBAL_NORM_CLIPS]
