"""What staleness does to deeper models and to methods with momentum: a published result, run small."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._base.numbers import percent
from ..figures.delays import DelaysView
from ..live import Description, Slider
from ..workers.studies import EVERY, GOAL, SEEDS, STALENESS, UPDATES, VARIANTS, recorded, updates_to
from ._lab import Control, Lab

GROUPS = {"depth": "Gradient descent, more layers", "optimizer": "Two hidden layers, other methods"}


class Slowed(NamedTuple):
    """Medians over the seeds: learning curves (variants, points) at one delay; updates to the goal at all of them."""

    delay: int
    curves: np.ndarray
    needed: np.ndarray


class staleness_models(Lab):
    """Networks that read digits, trained with gradients that are up to `delay` updates old.

    Each gradient's delay is drawn anew, from 0 to `delay` updates. Recorded runs, the median of five; a small version
    of what Dai et al. (2018) found with larger networks.

    Controls: `delay` (0 to 32 updates).

    >>> staleness_models(delay=32).params
    {'delay': 32}
    """

    label = "Staleness, depth and momentum"
    axis = "delay"
    presets: ClassVar = {"Fresh": {"delay": 0}, "Stale": {"delay": 16}, "Very stale": {"delay": 32}}

    def make_controls(self) -> list[Control]:
        step = STALENESS[1]
        return [Slider("delay", "Largest delay", 0, STALENESS[-1], 0, scale="integer", step=step, play=True)]

    def compute(self, values: dict[str, Any]) -> Slowed:
        curves = recorded()
        delay = STALENESS.index(values["delay"])
        needed = np.median(updates_to(GOAL, curves), axis=-1)
        return Slowed(delay, 100 * np.median(curves[:, delay], axis=1), needed)

    def make_view(self) -> DelaysView:
        labels = [[v.label for v in VARIANTS if v.group == group] for group in GROUPS]
        updates = np.arange(EVERY, UPDATES + 1, EVERY)
        return DelaysView(list(GROUPS.values()), labels, updates, STALENESS, GOAL)

    def draw(self, view: DelaysView, trace: Slowed) -> None:
        view.draw(trace.delay, [trace.curves[of] for of in _MEMBERS], [trace.needed[of] for of in _MEMBERS])

    def describe(self, trace: Slowed) -> Description:
        said = {v.label: _said(updates) for v, updates in zip(VARIANTS, trace.needed[:, trace.delay], strict=True)}
        delay = STALENESS[trace.delay]
        every = ", ".join(f"{label} {updates}" for label, updates in said.items())
        return Description(
            alt=f"Learning curves of networks that read digits, with gradients 0 to {delay} updates old. Updates until "
            f"{percent(GOAL)} of new digits are told right, the median of {SEEDS} runs: {every}.",
            summary=f"Delay up to {delay}: {percent(GOAL)} right after {every}.",
            table=(("largest delay", f"{delay} updates"), *said.items()),
        )

    def columns(self, trace: Slowed) -> dict[str, np.ndarray]:
        names = (v.label.lower().replace(" ", "_").replace(".", "_") for v in VARIANTS)
        return {"updates": np.arange(EVERY, UPDATES + 1, EVERY), **dict(zip(names, trace.curves, strict=True))}


_MEMBERS = [[k for k, v in enumerate(VARIANTS) if v.group == group] for group in GROUPS]


def _said(updates: float) -> str:
    return f"{updates:.0f}" if np.isfinite(updates) else "never"
