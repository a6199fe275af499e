"""Measurement of how far an optimizer's step moves the weights, in sampled steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ... import Recorder
from ...updates import next_after
from .sharded import local
from .waiting import DeviceSteps, HostSteps

if TYPE_CHECKING:
    import torch


class Moving:
    """Copies the weights before such a step, and compares them after it. Nothing waits for an accelerator."""

    def __init__(self, recorder: Recorder, parameters: Sequence[torch.nn.Parameter]) -> None:
        recorder.sampler.start()
        self._recorder, self._parameters = recorder, parameters
        self._next = recorder.sampler.next_due
        self._step, self._before, self._gradient = -1, [], None  # type: tuple[int, list[Any], Any]

    def begin(self, step: int) -> None:
        """A step begins; copy the weights if it is due."""
        self._before, self._gradient = [], None
        if step >= self._next:
            self._step, self._before = step, [local(p.detach()).clone() for p in self._parameters]

    def measured(self, steps: HostSteps | DeviceSteps, found: Any) -> None:
        """The gradients of the step that has begun are measured, and with `steps`."""
        if self._before:
            self._gradient = steps.last_norms(found)

    def end(self, steps: HostSteps | DeviceSteps) -> None:
        """The step is done; note how far the weights have moved."""
        before, self._before = self._before, []
        now = [local(p.detach()) for p in self._parameters]
        if self._gradient is None or not before or any(a.device != b.device for a, b in zip(now, before, strict=True)):
            return
        change = [a.float() - b.float() for a, b in zip(now, before, strict=True)]
        steps.sample(self._step, [self._gradient, steps.norms_of(before), steps.norms_of(change)])
        self._next = next_after(self._step, self._recorder.sampler.every)
