"""The SparseCores of a device, by the system or by an attribute."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradlab.errors import InvalidArgumentError
from gradlab.tpu.sparsecore import set_sparsecores_per_device, sparsecores_per_device


@pytest.fixture(autouse=True)
def no_system() -> Iterator[None]:
    yield
    set_sparsecores_per_device(None)


def test_without_a_system_the_attribute_counts() -> None:
    assert sparsecores_per_device(4) == 4
    with pytest.raises(InvalidArgumentError, match="power of two, but got: -1"):
        sparsecores_per_device()
    with pytest.raises(InvalidArgumentError, match="power of two, but got: 3"):
        sparsecores_per_device(3)


def test_with_a_system_the_attribute_must_agree() -> None:
    set_sparsecores_per_device(2)

    assert sparsecores_per_device() == sparsecores_per_device(2) == 2
    with pytest.raises(InvalidArgumentError, match="is 4, but set_sparsecores_per_device"):
        sparsecores_per_device(4)


def test_a_system_has_a_power_of_two() -> None:
    with pytest.raises(InvalidArgumentError, match="power of two, but got: 0"):
        set_sparsecores_per_device(0)
