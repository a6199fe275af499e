"""Sums of scaled rows, the work of both halves of a step: rows into samples, and gradients of samples into rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .._base.arrays import Array
from .._steps.jax import jax, jnp

PART = 1024  # lookups whose scaled rows stay in a processor's cache between being made and being added


def same(terms: Array) -> Array:
    """The terms as they are."""
    return terms


def sum_rows(
    count: int, rows: Array, take: Array, put: Array, weights: Array, each: Callable[[Array], Array] = same
) -> Array:
    """(count, width): rows `take` times their weights, added one after another at `put`; past the end they are dropped.

        result[put[n]] += each(rows[take[n]] * weights[n])

    On a processor part by part, which changes no sum: all scaled rows at once would be as many bytes again as a batch
    of activations with every lookup a sample, fresh from the system at every step.
    """
    lookups, zeros = (take, put, weights), jnp.zeros((count, rows.shape[-1]), rows.dtype)
    if not rows.shape[0]:
        return zeros
    add = partial(_add, rows, each)
    if take.shape[0] <= PART or take.shape[0] % PART:
        return add(zeros, lookups)

    def in_parts(total: Array, lookups: Any) -> Array:
        parts = jax.tree.map(lambda x: x.reshape(-1, PART), lookups)
        return jax.lax.scan(lambda t, part: (add(t, part), None), total, parts)[0]

    return jax.lax.platform_dependent(zeros, lookups, cpu=in_parts, default=add)


def _add(rows: Array, each: Callable[[Array], Array], total: Array, lookups: Any) -> Array:
    take, put, weights = lookups
    terms = each(rows.at[take].get(mode="clip") * weights[:, None])
    return total.at[put].add(terms, mode="drop")
