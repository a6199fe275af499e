"""How many SparseCores a device has, as operations of one device ask for it.

TensorFlow's operations ask the TPU system, and take their attribute where there is none. Here the
system is what `set_sparsecores_per_device` says.
"""

from __future__ import annotations

from ...errors import InvalidArgumentError
from .coo import is_power_of_two

_sparsecores_per_device: int | None = None


def set_sparsecores_per_device(number: int | None) -> None:
    """Set the SparseCores of a device for operations that aren't told; None stands for no TPU.

    Not in TensorFlow.

    Args:
        number: 4 on v5p, 2 on v6e; a power of two.

    Raises:
        InvalidArgumentError: another number.

    >>> set_sparsecores_per_device(2)
    >>> sparsecores_per_device()
    2
    >>> set_sparsecores_per_device(None)
    """
    global _sparsecores_per_device
    if number is not None:
        _check_number(number)
    _sparsecores_per_device = number


def sparsecores_per_device(attribute: int = -1) -> int:
    """Return the SparseCores of a device, by an operation's attribute or the system.

    Raises:
        InvalidArgumentError: the two differ, or there is neither; it says what to set.
    """
    if _sparsecores_per_device is None:
        _check_number(attribute)
        return attribute
    if attribute not in (-1, _sparsecores_per_device):
        raise InvalidArgumentError(
            f"num_sparsecores_per_device is {attribute}, but set_sparsecores_per_device was "
            f"called with {_sparsecores_per_device}"
        )
    return _sparsecores_per_device


def _check_number(number: int) -> None:
    if not is_power_of_two(number):
        raise InvalidArgumentError(
            f"num_sparsecores_per_device must be a power of two, but got: {number}. Pass the "
            "attribute, or call gl.tpu.sparsecore.set_sparsecores_per_device"
        )
