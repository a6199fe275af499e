"""Probe gradients, and their products with the gradients of the steps after them.

A probe is the gradient h of a batch that is *not* trained on, taken at the weights of a step. Its
product with the gradient g of the same step is an unbiased estimate of |G|^2, the squared norm of
the true gradient; its product with the gradient k steps later is one of G_t G_{t+k}. A gradient
that was trained on can't take its place: its own noise has moved the weights, so the later
gradients contain an image of it, with a minus sign.

The columns are "probe" (rows, 17) float64, the products at lags 0 to 16, NaN where not known, and
"probe_step" (rows,) int64, the step of lag 0. Rows are sorted by step, and rows of step -1 are room
for more. A recording without probes has neither column. A lag counts updates: a skipped step is not
one. The full probe is kept only until its 16 lags are there.

Each module that records calls `take`, then `compare` with the whole gradient of the step, or
`skip`, or `drop` where the whole gradient isn't at hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .._base.arrays import quiet
from ..errors import RecordingWarning, warn
from .columns import Layout
from .measure import flat

COLUMNS = ("probe", "probe_step")
LAGS = 16  # steps after its own that a probe is compared with
_ROOM = 64  # rows at first; doubled when they are full

_DROPPED = (
    "a probe was dropped: these steps were not recorded by rec.record(grads), so their whole "
    "gradients are not at hand. Return both gradients from the jitted step, and call rec.probe and "
    "rec.record outside of it"
)

_NAME = "the grads of probe"  # in an error


class _Outstanding:
    """A probe that isn't complete: its row in the columns, its flat tensors, and the next lag."""

    def __init__(self, row: int, tensors: list[np.ndarray]) -> None:
        self.row = row
        self.tensors = tensors
        self.lag = 0


class Probes:
    """The pending probes of a recorder, which are still to be compared with gradients of later steps."""

    def __init__(self) -> None:
        self._taken: dict[str, np.ndarray] | None = None  # its step isn't recorded yet
        self._outstanding: list[_Outstanding] = []
        self._next_step = 0

    def take(self, tensors: Mapping[str, np.ndarray], layout: Layout | None) -> None:
        """Keep the probe of the step that is recorded next; a second one of that step replaces the first.

        Raises:
            ValueError: its tensors are not those of the layout.
        """
        if layout is not None:
            layout.align(tensors, _NAME)
        self._taken = dict(tensors)

    def check(self, layout: Layout) -> None:
        """Raise ValueError unless the probe of the next step has the recorded tensors."""
        if self._taken is not None:
            layout.align(self._taken, _NAME)

    def compare(
        self, data: dict[str, np.ndarray], step: int, tensors: Sequence[np.ndarray], layout: Layout
    ) -> None:
        """Multiply all pending probes with the gradient of a step that was not skipped."""
        if step != self._next_step:
            # Steps in between were recorded without their whole gradients: lags are lost.
            self._outstanding.clear()
        if self._taken is not None:
            probe_tensors = [flat(np.asarray(x)) for x in layout.align(self._taken, _NAME)]
            self._outstanding.append(_Outstanding(_add_row(data, step), probe_tensors))
            self._taken = None
        if self._outstanding:
            gradient = [flat(x) for x in tensors]
            for probe in self._outstanding:
                data["probe"][probe.row, probe.lag] = _product(probe.tensors, gradient)
                probe.lag += 1
            self._outstanding = [probe for probe in self._outstanding if probe.lag <= LAGS]
        self._next_step = step + 1

    def drop(self) -> None:
        """Drop the probe of the next step, which is recorded without its whole gradient, with a warning."""
        if self._taken is not None:
            self._taken = None
            warn(_DROPPED, RecordingWarning)

    def skip(self, step: int) -> None:
        """Pass over a step that changed no weights."""
        if step == self._next_step:
            self._next_step = step + 1


@quiet
def _product(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> float:
    """Return the inner product over all tensors."""
    return float(sum(float(np.dot(x, y)) for x, y in zip(first, second, strict=True)))


def _add_row(data: dict[str, np.ndarray], step: int) -> int:
    """Make a row of unknown products for the probe of a step, and return its index."""
    if "probe" not in data:
        data |= {
            "probe": np.full((_ROOM, LAGS + 1), np.nan),
            "probe_step": np.full(_ROOM, -1, np.int64),
        }
    row = count(data)
    if row == len(data["probe_step"]):
        data["probe"] = np.concatenate([data["probe"], np.full_like(data["probe"], np.nan)])
        data["probe_step"] = np.concatenate(
            [data["probe_step"], np.full_like(data["probe_step"], -1)]
        )
    data["probe_step"][row] = step
    return row


def count(data: Mapping[str, np.ndarray]) -> int:
    """Return how many probes the columns hold."""
    return int(np.count_nonzero(data["probe_step"] >= 0)) if "probe_step" in data else 0


def filled(data: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the columns without their empty rows; an empty dict where there is no probe."""
    rows = count(data)
    return {name: data[name][:rows] for name in COLUMNS} if rows else {}


def products(data: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return copies of both columns, the steps first."""
    columns = filled(data)
    if not columns:
        return np.zeros(0, np.int64), np.zeros((0, LAGS + 1))
    return columns["probe_step"].copy(), columns["probe"].copy()


def check(saved: Mapping[str, np.ndarray], seen: int) -> None:
    """Raise ValueError for columns that can't be of a run of `seen` steps."""
    if not any(name in saved for name in COLUMNS):
        return
    if not all(name in saved for name in COLUMNS):
        raise ValueError("it has only one of the two columns of probes")
    products, step = saved["probe"], saved["probe_step"]
    if step.dtype != np.int64 or step.ndim != 1 or (np.diff(step) <= 0).any():
        raise ValueError("it does not say which steps its probes are of")
    if len(step) and not 0 <= step[0] <= step[-1] < seen:
        raise ValueError(f"its probes are of steps that are not among {seen}")
    if products.dtype != np.float64 or products.shape != (len(step), LAGS + 1):
        raise ValueError(
            f"the products of its probes must have shape {(len(step), LAGS + 1)}, got "
            f"{products.shape}"
        )
