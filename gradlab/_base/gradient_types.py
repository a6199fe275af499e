"""Gradients are arrays, or the slices of a gather; the check that one fits its weights."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from ..errors import InvalidArgumentError, SlicesWarning, warn
from .slices import IndexedSlices
from .types import Array

Gradient: TypeAlias = Array | IndexedSlices
MaybeG = TypeVar("MaybeG", bound=Gradient | None)  # one kind of gradient in, the same kind out


def check_shape(g: Gradient, shape: tuple[int, ...], name: str) -> None:
    """Refuse a gradient that does not fit weights of this shape; nothing is broadcast.

    Warns of slices with another `dense_shape`, which TensorFlow ignores.
    """
    if not isinstance(g, IndexedSlices):
        if tuple(g.shape) != shape:
            raise InvalidArgumentError(
                f"{name} has shape {shape} but its gradient has shape {tuple(g.shape)}"
            )
        return
    if tuple(g.values.shape[1:]) != shape[1:] or not shape:
        raise InvalidArgumentError(
            f"{name} has shape {shape} but its slices have rows of shape {g.values.shape[1:]}"
        )
    g.check_rows(shape[0], name)
    if g.dense_shape not in (None, shape):
        warn(
            f"{name} has shape {shape} but its slices say dense_shape {g.dense_shape}, which is "
            "not looked at; are they meant for another weight?",
            SlicesWarning,
        )
