"""Loss scales: what a GradScaler does to an optimizer's gradients, heard from the scaler itself."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import torch

Scaler = Any


class Listener(Protocol):
    """A recording, told what a scaler does to its optimizer."""

    def _scaler_unscales(self, scaler: Scaler) -> None: ...

    def _scaler_unscaled(self, scaler: Scaler) -> None: ...

    def _scaler_steps(self, scaler: Scaler) -> None: ...

    def _scaler_stepped(self, scaler: Scaler) -> None: ...


_listeners: WeakKeyDictionary[torch.optim.Optimizer, list[Listener]] = WeakKeyDictionary()
_wrapped: dict[tuple[type, str], tuple[Callable[..., Any], Callable[..., Any]]] = {}  # the original, and ours


def scale_of(scaler: Scaler) -> Any:
    """The factor that a scaler multiplies losses by now, on its device; None where it has none yet, or is disabled."""
    if scaler is None or not getattr(scaler, "is_enabled", lambda: True)():
        return None
    on_device = getattr(scaler, "_get_scale_async", None)
    return scaler.get_scale() if on_device is None else on_device()


def listen(optimizer: torch.optim.Optimizer, listener: Listener, scaler: Scaler = None) -> None:
    """Tell `listener` what any GradScaler, and `scaler` of whatever kind, does to this optimizer.

    A skipped step never reaches the optimizer, and nothing of an optimizer leads to its scaler. So the methods of the
    scalers' classes are wrapped, as long as there is a listener.
    """
    for cls in _scaler_classes(scaler):
        for name, wrapper in (("unscale_", _unscaling), ("step", _stepping)):
            if name in vars(cls) and (cls, name) not in _wrapped:
                original = vars(cls)[name]
                _wrapped[cls, name] = original, wrapper(original)
                setattr(cls, name, _wrapped[cls, name][1])
    _listeners.setdefault(optimizer, []).append(listener)


def stop_listening(optimizer: torch.optim.Optimizer, listener: Listener) -> None:
    """The end of `listen`; with the last one the scalers' classes are as they were."""
    left = [other for other in _listeners.pop(optimizer, []) if other is not listener]
    if left:
        _listeners[optimizer] = left
    if _listeners:
        return
    for (cls, name), (original, ours) in _wrapped.items():
        if vars(cls).get(name) is ours:  # nobody else wrapped it since
            setattr(cls, name, original)
    _wrapped.clear()


def _scaler_classes(scaler: Scaler) -> Iterator[type]:
    """Every class of which a scaler may have its methods."""
    import torch

    grad_scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler  # until torch 2.3
    waiting = [grad_scaler]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        yield cls
    if scaler is not None:
        yield from (cls for cls in type(scaler).__mro__ if cls is not object)


def _unscaling(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def unscale_(self: Scaler, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        for listener in _of(optimizer):
            listener._scaler_unscales(self)
        result = original(self, optimizer, *args, **kwargs)
        for listener in _of(optimizer):
            listener._scaler_unscaled(self)
        return result

    return unscale_


def _stepping(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def step(self: Scaler, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        for listener in _of(optimizer):
            listener._scaler_steps(self)
        result = original(self, optimizer, *args, **kwargs)
        for listener in _of(optimizer):
            listener._scaler_stepped(self)
        return result

    return step


def _of(optimizer: Any) -> list[Listener]:
    import torch

    inner = innermost(optimizer)
    return list(_listeners.get(inner, ())) if isinstance(inner, torch.optim.Optimizer) else []


def innermost(optimizer: Any) -> Any:
    """The optimizer inside wrappers such as Accelerate's and Lightning's, which is the one that steps."""
    import torch

    own = getattr(optimizer, "__dict__", {})
    inner = own.get("optimizer", own.get("_optimizer"))
    return innermost(inner) if isinstance(inner, torch.optim.Optimizer) else optimizer
