"""Which parameters are recorded, under which names, and on which device they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .._base.errors import InvalidArgumentError
from ._library import library

if TYPE_CHECKING:
    import torch


def moved_by(
    optimizer: torch.optim.Optimizer, model: torch.nn.Module | Iterable[tuple[str, torch.nn.Parameter]]
) -> dict[str, torch.nn.Parameter]:
    """Name -> parameter of all that the optimizer moves, in the model's order."""
    pairs = model.named_parameters() if isinstance(model, library().nn.Module) else model
    try:
        named = dict(pairs)
    except (TypeError, ValueError):
        kind = type(model).__name__
        raise TypeError(f"model must be a torch.nn.Module or (name, parameter) pairs, got {kind}") from None
    moved = {id(p): p for group in optimizer.param_groups for p in group["params"]}
    if missing := moved.keys() - {id(p) for p in named.values()}:
        shapes = ", ".join(str(tuple(moved[k].shape)) for k in moved if k in missing)
        raise InvalidArgumentError(
            f"the optimizer moves parameters that the model does not name, of shapes {shapes}; "
            "give (name, parameter) pairs of all of them in place of the model"
        )
    return {name: p for name, p in named.items() if id(p) in moved}


def device_of(parameters: dict[str, torch.nn.Parameter]) -> torch.device:
    """The one device that all are on."""
    for name, p in parameters.items():
        if p.is_complex():
            raise TypeError(f"{name} is {p.dtype}; complex gradients are not recorded")
    devices = {p.device: name for name, p in parameters.items()}
    if len(devices) > 1:
        where = ", ".join(f"{name} on {device}" for device, name in devices.items())
        raise InvalidArgumentError(
            f"all parameters must be on one device, got {where}; record each with its own optimizer"
        )
    return next(iter(devices))
