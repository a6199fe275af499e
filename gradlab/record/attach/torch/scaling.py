"""Loss scales: what a GradScaler does to an optimizer's gradients, heard from the scaler itself.

The last section finds signs that gradients changed between backward and step by something other
than a clip, such as a loss scale that no scaler told of.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np

if TYPE_CHECKING:
    import torch

Scaler = Any


class Listener(Protocol):
    """A recording, told what a scaler does to its optimizer."""

    def _scaler_unscales(self, scaler: Scaler) -> None: ...

    def _scaler_unscaled(self, scaler: Scaler) -> None: ...

    def _scaler_steps(self, scaler: Scaler) -> None: ...

    def _scaler_stepped(self, scaler: Scaler) -> None: ...


_STEPS, _EVERY = 3, 64  # the first steps are looked at, and every so many after them
_LEAST_POWER = 3  # of 2, that is taken for a loss scale
_EXACT, _CLOSE = 1e-6, 1e-2

_listeners: WeakKeyDictionary[torch.optim.Optimizer, list[Listener]] = WeakKeyDictionary()
# The original, and ours.
_wrapped: dict[tuple[type, str], tuple[Callable[..., Any], Callable[..., Any]]] = {}


def scale_of(scaler: Scaler) -> Any:
    """The factor that a scaler multiplies losses by now, on its device; None where it has none yet, or is disabled."""
    if scaler is None or not getattr(scaler, "is_enabled", lambda: True)():
        return None
    on_device = getattr(scaler, "_get_scale_async", None)
    return scaler.get_scale() if on_device is None else on_device()


def listen(optimizer: torch.optim.Optimizer, listener: Listener, scaler: Scaler = None) -> None:
    """Tell `listener` what any GradScaler, and `scaler` of whatever kind, does to this optimizer.

    A skipped step never reaches the optimizer, and nothing of an optimizer leads to its scaler. So
    the methods of the scalers' classes are wrapped, as long as there is a listener.
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

    # Until torch 2.3.
    grad_scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
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


# Signs that something other than a clip changed gradients


def is_checked(step: int) -> bool:
    """Tell whether gradients are measured a second time in this step, to compare."""
    return step < _STEPS or step % _EVERY == 0


def explain_change(after_backward: np.ndarray, at_step: np.ndarray, processes: int) -> str | None:
    """Return what to warn of, given the norms of all tensors after backward and when the optimizer's step begins.

    A clip multiplies by at most 1. A loss scale is taken off by a factor 2^-k, the same for all
    tensors to the last digit. Where processes average their gradients by hand, each tensor's norm
    changes by another factor.
    """
    known = (
        np.isfinite(after_backward) & np.isfinite(at_step) & (after_backward > 0) & (at_step > 0)
    )
    if not known.any():
        return None
    power = np.log2(at_step[known].astype(float) / after_backward[known])
    whole = round(power[0])
    if abs(whole) >= _LEAST_POWER and np.abs(power - whole).max() < _EXACT:
        return (
            f"between backward and step all gradients were multiplied by 2**{whole}, which looks "
            "like a loss scale: the norms recorded have it still. Give record(..., scaler=...) "
            "your GradScaler; if you take a scale off yourself, call measure() of the recording "
            "when you have"
        )
    if power.max() > _CLOSE:
        return (
            "between backward and step gradients have grown, which no clip does; they are recorded "
            "as backward left them. If you add to them or average them yourself, call measure() of "
            "the recording when you have"
        )
    if processes > 1 and np.ptp(power) > _CLOSE:
        return (
            f"torch.distributed runs {processes} processes, and between backward and step "
            "gradients changed by factors that differ from tensor to tensor: if you average them "
            "over processes yourself, call measure() of the recording when you have"
        )
    return None


def explain_clip_with_scale(
    after_backward: np.ndarray, before_unscaling: np.ndarray, scale: float
) -> str | None:
    """Return what to warn of, given norms without the scale, if gradients shrank while they still had it."""
    known = np.isfinite(after_backward) & np.isfinite(before_unscaling) & (after_backward > 0)
    if not known.any() or (before_unscaling[known] >= after_backward[known] * (1 - _CLOSE)).any():
        return None
    true, clipped = np.linalg.norm(after_backward[known]), np.linalg.norm(before_unscaling[known])
    return (
        f"gradients shrank before unscale_, as by a clip that sees the loss scale of {scale:g}: "
        f"their global norm was {true:.3g} after backward, for the clip it was {true * scale:.3g}, "
        f"and {clipped:.3g} is left of it without the scale. Call scaler.unscale_(optimizer) "
        "before the clip. Norms are recorded as they were before the clip, without the scale"
    )
