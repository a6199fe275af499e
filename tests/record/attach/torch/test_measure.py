"""What is measured on an accelerator, run here on the CPU, against the recorder's own NumPy
functions.
"""

import numpy as np
import pytest

from gradlab.record import measure as plain
from gradlab.record.attach.torch import measure as on_device
from tests.record.attach.torch.later import torch

pytestmark = pytest.mark.torch

CASES = {
    "ordinary": np.random.default_rng(0).normal(size=(5, 7)),
    "wide": 2.0 ** np.arange(-140, 128, 4),
    "large": np.full(3, 3e38),
    "not finite": np.array([1.0, np.nan, -np.inf, 2.0]),
    "zeros": np.zeros(4),
    "empty": np.zeros((0, 3)),
}


@pytest.mark.parametrize("case", CASES)
def test_it_agrees_with_numpy(case: str) -> None:
    g = CASES[case].astype(np.float32)
    tensor = torch.from_numpy(g)
    found = on_device.measure(tensor, torch.zeros(0, dtype=torch.int64))
    with np.errstate(all="ignore"):
        expected = plain.careful(g)
    np.testing.assert_allclose([float(x) for x in found[:3]], expected, 1e-6)
    np.testing.assert_array_equal(on_device.histogram_on_device(tensor), plain.histogram(g))


def test_a_sparse_gradient_of_two_sparse_axes() -> None:
    g = torch.zeros(3, 4, 2)
    g[2, 1], g[0, 3] = torch.tensor([1.0, 2.0]), torch.tensor([0.0, 3.0])
    places = torch.arange(g.numel())
    *_, entries = on_device.measure(g.to_sparse(2), places)
    np.testing.assert_array_equal(entries, g.reshape(-1))
    np.testing.assert_array_equal(
        on_device.count_by_size(g.to_sparse(2)), on_device.count_by_size(g)
    )
