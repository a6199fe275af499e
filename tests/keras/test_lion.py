"""Keras's Lion, beside what the originals' scenarios show: defaults and refusals."""

from typing import Any

import numpy as np
import pytest

import gradlab as gl

F = np.float32


@pytest.mark.parametrize(("version", "rate"), [("rewrite", 0.0001), ("keras3", 0.001)])
def test_the_default_rate_is_that_of_the_version(version: Any, rate: float) -> None:
    assert gl.keras.Lion(semantics=version).get_config()["learning_rate"] == F(rate)


@pytest.mark.parametrize("beta_1", [-0.5, 0.0, 1.5])
@pytest.mark.parametrize("version", ["rewrite", "keras3"])
def test_a_share_out_of_range_is_refused(version: Any, beta_1: float) -> None:
    with pytest.raises(ValueError, match="Argument `beta_1` must be in"):
        gl.keras.Lion(beta_1=beta_1, semantics=version)
