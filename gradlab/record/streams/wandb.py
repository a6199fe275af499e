"""Steps in a run of Weights & Biases."""

from __future__ import annotations

from typing import Any

from ..._base.extras import need
from .sink import PREFIX, Steps

_STEP = f"{PREFIX}step"


class WeightsAndBiases:
    """A run whose charts of these numbers are over `gradlab/step`: its own steps are those of other logging."""

    most = 1

    def __init__(self, run: Any, own: bool = False) -> None:
        self._run, self._own = run, own
        self.name = "Weights & Biases"

    def begin(self, steps: Steps) -> int:
        self._run.define_metric(_STEP)
        self._run.define_metric(f"{PREFIX}*", step_metric=_STEP)
        last = self._run.summary.get(_STEP)
        return 0 if last is None else int(last) + 1

    def write(self, steps: Steps) -> None:
        for step, values in steps:
            self._run.log({_STEP: step, **{PREFIX + name: x for name, x in values.items()}})

    def flush(self) -> None:
        """The client sends them by itself."""

    def close(self) -> None:
        if self._own:
            self._run.finish()


def current() -> WeightsAndBiases:
    """The run that was begun in this process, or a new one."""
    wandb = need("wandb", "rec.stream to Weights & Biases", "wandb")
    return (
        WeightsAndBiases(wandb.init(), own=True)
        if wandb.run is None
        else WeightsAndBiases(wandb.run)
    )
