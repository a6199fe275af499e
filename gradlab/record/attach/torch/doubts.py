"""Signs that gradients changed between backward and step by something other than a clip."""

from __future__ import annotations

import numpy as np

_STEPS, _EVERY = 3, 64  # the first steps are looked at, and every so many after them
_LEAST_POWER = 3  # of 2, that is taken for a loss scale
_EXACT, _CLOSE = 1e-6, 1e-2


def is_looked_at(step: int) -> bool:
    """Tell whether gradients are measured a second time in this step, to compare."""
    return step < _STEPS or step % _EVERY == 0


def doubt(after_backward: np.ndarray, at_step: np.ndarray, processes: int) -> str | None:
    """Return what to warn of, given the norms of all tensors after backward and when the optimizer's step begins.

    A clip multiplies by at most 1. A loss scale is taken off by a factor 2^-k, the same for all tensors to the last
    digit. Where processes average their gradients by hand, each tensor's norm changes by another factor.
    """
    known = np.isfinite(after_backward) & np.isfinite(at_step) & (after_backward > 0) & (at_step > 0)
    if not known.any():
        return None
    power = np.log2(at_step[known].astype(float) / after_backward[known])
    whole = round(power[0])
    if abs(whole) >= _LEAST_POWER and np.abs(power - whole).max() < _EXACT:
        return (
            f"between backward and step all gradients were multiplied by 2**{whole}, which looks like a loss scale: "
            "the norms recorded have it still. Give record(..., scaler=...) your GradScaler; if you take a scale off "
            "yourself, call measure() of the recording when you have"
        )
    if power.max() > _CLOSE:
        return (
            "between backward and step gradients have grown, which no clip does; they are recorded as backward left "
            "them. If you add to them or average them yourself, call measure() of the recording when you have"
        )
    if processes > 1 and np.ptp(power) > _CLOSE:
        return (
            f"torch.distributed runs {processes} processes, and between backward and step gradients changed by "
            "factors that differ from tensor to tensor: if you average them over processes yourself, call measure() "
            "of the recording when you have"
        )
    return None


def clipped_with_scale(after_backward: np.ndarray, before_unscaling: np.ndarray, scale: float) -> str | None:
    """Return what to warn of, given norms without the scale, if gradients shrank while they still had it."""
    known = np.isfinite(after_backward) & np.isfinite(before_unscaling) & (after_backward > 0)
    if not known.any() or (before_unscaling[known] >= after_backward[known] * (1 - _CLOSE)).any():
        return None
    true, clipped = np.linalg.norm(after_backward[known]), np.linalg.norm(before_unscaling[known])
    return (
        f"gradients shrank before unscale_, as by a clip that sees the loss scale of {scale:g}: their global norm was "
        f"{true:.3g} after backward, for the clip it was {true * scale:.3g}, and {clipped:.3g} is left of it without "
        "the scale. Call scaler.unscale_(optimizer) before the clip. Norms are recorded as they were before the clip, "
        "without the scale"
    )
