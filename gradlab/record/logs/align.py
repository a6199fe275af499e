"""Logs of several runs at the training steps that all of them have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from ..._base.numbers import counted
from ...errors import InvalidArgumentError
from ..recorder import Recorder
from .read import TRAINING_STEP, from_columns


def at_common_steps(recs: Sequence[Recorder]) -> tuple[Recorder, ...]:
    """Return logs with the lines of common training steps only, and anything else as it is.

    A comparison goes by the number of a line, so the same lines must be of the same steps.

    Raises:
        ValueError: the logs have no step in common.
    """
    if not all(rec.norms_only for rec in recs):
        return tuple(recs)
    steps = [rec.every_step(TRAINING_STEP) for rec in recs]
    common = reduce(np.intersect1d, steps)
    if not len(common):
        raise InvalidArgumentError(
            "the logs have no training step in common, so they can't be compared; log the runs in "
            "the same steps, or read each by itself"
        )
    return tuple(_at(rec, step, common) for rec, step in zip(recs, steps, strict=True))


def _at(rec: Recorder, step: np.ndarray, common: np.ndarray) -> Recorder:
    is_common = np.isin(step, common)
    if is_common.all():
        return rec
    note = (
        f"Compared at the {counted(len(common), 'training step')} of its {len(step):,} that the "
        "other logs have, too."
    )
    columns = {name: rec.every_step(name)[is_common] for name in ("global_norm", *rec.scalars)}
    return from_columns(columns, (*rec.about, note))
