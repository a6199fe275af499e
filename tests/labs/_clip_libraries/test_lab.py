"""What is said of five libraries, for every case."""

import pytest

import gradlab as gl
from gradlab.clip.peers import GLOBAL_NORM_CLIPS
from gradlab.labs._clip_libraries.lab import CASES

SAID = {
    "above": "TensorFlow, Keras 3, optax, PyTorch and JAX example scale to the limit",
    "below": "TensorFlow and Keras 3 move the last digit; optax, PyTorch and JAX example change nothing",
    "inf": "TensorFlow and Keras 3 give NaN; optax, PyTorch and JAX example give one NaN and zeros",
    "nan": "TensorFlow, Keras 3, optax, PyTorch and JAX example give NaN",
    "overflow": "TensorFlow and Keras 3 give NaN; optax, PyTorch and JAX example give 0",
    "zero": (
        "TensorFlow, optax and JAX example give NaN; Keras 3 raises ZeroDivisionError; PyTorch "
        "changes nothing"
    ),
    "limit_zero": "TensorFlow, optax, PyTorch and JAX example give 0; Keras 3 raises ZeroDivisionError",
    "negative": "TensorFlow and Keras 3 change nothing; optax, PyTorch and JAX example flip the signs",
    "limit_inf": "TensorFlow and Keras 3 give NaN; optax, PyTorch and JAX example change nothing",
    "at": "TensorFlow, Keras 3, optax and JAX example change nothing; PyTorch moves the last digit",
}


SHORT = {  # the last of them by how many they are
    "above": "all five scale to the limit",
    "below": "TensorFlow and Keras 3 move the last digit; the other three change nothing",
    "inf": "TensorFlow and Keras 3 give NaN; the other three give one NaN and zeros",
    "nan": "all five give NaN",
    "overflow": "TensorFlow and Keras 3 give NaN; the other three give 0",
    "negative": "TensorFlow and Keras 3 change nothing; the other three flip the signs",
    "limit_inf": "TensorFlow and Keras 3 give NaN; the other three change nothing",
}


@pytest.mark.parametrize("case", CASES)
def test_the_sentence_of_every_case(case: str) -> None:
    words = gl.labs.clip_libraries(case=case).description
    assert words.alt.endswith(f": {SAID[case]}.")
    assert (
        words.summary
        == f"{CASES[case][0][0].upper()}{CASES[case][0][1:]}: {SHORT.get(case, SAID[case])}."
    )
    assert [name for name, _ in words.table] == ["gradient", "limit", *GLOBAL_NORM_CLIPS]
