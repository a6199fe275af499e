"""Parameters that a recording holds: which ones, under which names, how they are sharded, what cannot be recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from ....errors import InvalidArgumentError

if TYPE_CHECKING:
    import torch

Pairs: TypeAlias = "Iterable[tuple[str, torch.nn.Parameter]]"
# Children that torch.compile and activation checkpoints add.
_WRAPPED = {"_orig_mod", "_checkpoint_wrapped_module"}
# DataParallel and DistributedDataParallel, whose child `module` is the model.
_REPLICATED = "torch.nn.parallel"


def to_record(
    optimizer: torch.optim.Optimizer, model: torch.nn.Module | Pairs, all_parameters: bool
) -> dict[str, torch.nn.Parameter]:
    """Name -> parameter of all that the optimizer updates, or of the whole model, in the model's order."""
    named = _named(model)
    moved = {id(p): p for p in moved_by(optimizer)}
    if missing := moved.keys() - {id(p) for p in named.values()}:
        shapes = ", ".join(str(tuple(moved[k].shape)) for k in moved if k in missing)
        raise InvalidArgumentError(
            f"the optimizer moves parameters that the model does not name, of shapes {shapes}; "
            "give (name, parameter) pairs of all of them in place of the model"
        )
    found = {
        name: p
        for name, p in named.items()
        if id(p) in moved or (all_parameters and p.is_floating_point())
    }
    if not found:
        raise InvalidArgumentError("there is no gradient to record: the model has no parameters")
    _require_supported(found)
    return found


def moved_by(optimizer: torch.optim.Optimizer) -> Iterator[torch.nn.Parameter]:
    """Every parameter that the optimizer updates."""
    for group in optimizer.param_groups:
        yield from group["params"]


def require_room(optimizer: torch.optim.Optimizer, known: set[int]) -> set[int]:
    """The ids of the parameters that the optimizer updates now; an error if one of them was not there at attach."""
    moved = {id(p) for p in moved_by(optimizer)}
    if moved <= known:
        return moved
    shapes = ", ".join(str(tuple(p.shape)) for p in moved_by(optimizer) if id(p) not in known)
    raise InvalidArgumentError(
        f"the optimizer was given parameters of shapes {shapes} after the recorder was attached, "
        "which has no room for them; attach it with all_parameters=True and a model that names "
        "them, or close this recording and attach another recorder"
    )


def device_of(parameters: dict[str, torch.nn.Parameter]) -> torch.device:
    """The one device that all are on."""
    devices = {p.device: name for name, p in parameters.items()}
    if len(devices) > 1:
        where = ", ".join(f"{name} on {device}" for device, name in devices.items())
        raise InvalidArgumentError(
            f"all parameters must be on one device, got {where}; record each with its own optimizer"
        )
    return next(iter(devices))


def _require_supported(parameters: dict[str, torch.nn.Parameter]) -> None:
    for name, p in parameters.items():
        if p.is_complex():
            raise TypeError(f"{name} is {p.dtype}; complex gradients are not recorded")
    device_of(parameters)
    sharded = [is_sharded(p) for p in parameters.values()]
    if any(sharded):
        if not all(sharded):
            whole = ", ".join(
                name for name, yes in zip(parameters, sharded, strict=True) if not yes
            )
            raise InvalidArgumentError(
                f"either all parameters or none must be sharded, got {whole} whole and others "
                "sharded; apply fully_shard to the root module, too"
            )
        require_known_placements(parameters)


def _named(model: Any) -> dict[str, torch.nn.Parameter]:
    """Name -> parameter, without the names that wrappers put around a model."""
    import torch

    if isinstance(model, torch.nn.Module):
        _require_whole(model)
        dropped = set(_wrapped_paths(model))
        named = dict(model.named_parameters())
        inside = {_without(dropped, name): p for name, p in named.items()}
        return inside if len(inside) == len(named) else named
    try:
        return dict(model)
    except (TypeError, ValueError):
        kind = type(model).__name__
        raise TypeError(
            f"model must be a torch.nn.Module or (name, parameter) pairs, got {kind}"
        ) from None


def _require_whole(model: torch.nn.Module) -> None:
    if any(type(m).__name__ == "FullyShardedDataParallel" for m in model.modules()):
        raise InvalidArgumentError(
            "FullyShardedDataParallel keeps pieces of flattened parameters, which have no shape of "
            "their own; shard the model with "
            "torch.distributed.fsdp.fully_shard, which can be recorded"
        )


def _wrapped_paths(model: torch.nn.Module) -> Iterator[str]:
    """Paths of modules that are what another module wraps, such as `_orig_mod` and
    `_orig_mod.module`.
    """
    for path, module in model.named_modules():
        replicated = type(module).__module__.startswith(_REPLICATED)
        for child in module._modules:
            if child in _WRAPPED or (replicated and child == "module"):
                yield f"{path}.{child}" if path else child


def _without(dropped: set[str], name: str) -> str:
    parts = name.split(".")
    return ".".join(part for k, part in enumerate(parts) if ".".join(parts[: k + 1]) not in dropped)


def is_sharded(tensor: Any) -> bool:
    """Tell whether this is a DAny: of its entries a process may have some only."""
    return hasattr(tensor, "to_local") and hasattr(tensor, "device_mesh")


def local(tensor: Any) -> Any:
    """The part of a tensor that this process has; of an ordinary tensor all of it."""
    return tensor.to_local() if is_sharded(tensor) else tensor


def require_known_placements(parameters: Mapping[str, Any]) -> None:
    """An error unless the parts of all parameters are rectangles, over one mesh."""
    meshes = {p.device_mesh: name for name, p in parameters.items()}
    if len(meshes) > 1:
        raise InvalidArgumentError(
            f"all parameters must be on one device mesh, got {' and '.join(meshes.values())} on "
            "different ones; give each mesh its own optimizer and recorder"
        )
    for name, p in parameters.items():
        if kinds := {type(placement).__name__ for placement in p.placements} - {
            "Shard",
            "Replicate",
        }:
            raise InvalidArgumentError(
                f"{name} is placed as {', '.join(sorted(kinds))}; only Shard "
                "and Replicate can be recorded"
            )
