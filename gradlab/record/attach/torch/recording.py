"""A recorder on a PyTorch loop: what backward left in .grad, measured on its device, step by step."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...._base.extras import need
from ...._base.options import check_choice
from ....errors import InvalidArgumentError, RecordingWarning, warn
from ... import Recorder
from ...analysis import noise
from ..attachment import Attached
from .backward import AfterBackward, outside_graphs
from .measure import shift_counts
from .micro_batches import MicroBatches
from .notes import Notes, processes
from .parameters import device_of, is_sharded, local, moved_by, require_room, to_record
from .queues import DeviceSteps, HostSteps, ShardedSteps, WeightSamples, queue_on
from .scaling import (
    explain_change,
    explain_clip_with_scale,
    innermost,
    is_checked,
    listen,
    scale_of,
    stop_listening,
)

if TYPE_CHECKING:
    import torch


def record(
    recorder: Recorder,
    model: torch.nn.Module | Iterable[tuple[str, torch.nn.Parameter]],
    optimizer: torch.optim.Optimizer,
    *,
    before_clip: bool = True,
    scalars: Sequence[str] = ("loss",),
    every: int = 64,
    scaler: Any = None,
    all_parameters: bool = False,
    weights: bool = False,
    noise_scale: bool = False,
    notes: Literal["mean", "sum"] = "mean",
    across_processes: bool = False,
) -> Recording:
    """Record the gradients of every step of `optimizer`, under the names of `model.named_parameters()`.

    The gradients recorded are those that a clip gets: of micro-batches whose gradients add up,
    their sum; averaged over the processes of DistributedDataParallel; without the scale of a
    GradScaler. With `before_clip` they are measured when a backward is over (of several backwards
    the last counts), before your own clip; without it, when `optimizer.step()` begins, as the
    optimizer gets them. A parameter without a gradient has norm 0 in that step. A step with a
    closure is recorded when it ends, with the gradients that the closure's last call left. Of a
    model that `fully_shard` has sharded, each process records the norms of the whole gradients.

    Nothing waits for an accelerator but every `every` steps. `optimizer.step` may be compiled with
    torch.compile. Names are those of the model inside torch.compile and DistributedDataParallel.

    A step that a GradScaler skips because gradients overflowed is recorded as skipped, with its
    scale and the tensors that hold NaN or Inf. So is one that your own code skips, as
    `if norm.isfinite(): optimizer.step()` does, where its gradients hold NaN or Inf: with
    `before_clip`, once the next backward starts from gradients that are None, or zeroed in place.
    Where they are finite, it may as well be the backward of an evaluation. So it has no row, and a
    `gl.errors.RecordingWarning` says so once; where your code skips a step, call `skip()` of what
    comes back.

    Args:
        recorder: takes the steps, from the first step on.
        model: a module, or (name, parameter) pairs where one module does not hold all that the
            optimizer moves.
        optimizer: one that is a torch.optim.Optimizer. Two optimizers need a recorder each.
        before_clip: where to measure. If you take a loss scale off or average over processes
            yourself, call `measure()` of what comes back when you have; a change that looks like it
            is warned of.
        scalars: names that `note` may be given. Each is of this process alone, unless
            `across_processes` is set.
        every: steps between two hand-overs to the recorder.
        scaler: a GradScaler, or an object with its methods. torch's own are found by themselves at
            their first step.
        all_parameters: make room for all parameters of the model, for those that `add_param_group`
            gives the optimizer later. Until then their norm is 0.
        weights: norms of weights and updates as well, in every `recorder.sample_every`-th step,
            which holds a copy of the weights while it lasts: `Recorder.updates`.
        noise_scale: the norms of what each backward adds to .grad as well, on each replica of
            DistributedDataParallel, for `Recorder.noise_scale`: of steps of several micro-batches,
            or replicas. New gradients are to be None, as `zero_grad()` leaves them.
        notes: how the numbers that `note` is given for the micro-batches of a step are combined:
            their "mean", or their "sum", which is right where the loop divides each loss by the
            number of micro-batches.
        across_processes: record the mean of such a number over all processes of torch.distributed.
            Every process then needs a recording and must note the same names, because each step has
            an all-reduce.

    Returns:
        a `Recording`; its `close()` ends it and returns the recorder. It is a context manager, too.
        A recorder that was attached before goes on with the new one, with a warning.

    Raises:
        ValueError: the optimizer moves parameters that have no name, or parameters on several
            devices or meshes; every < 1; the recorder holds other tensors; a model of
            FullyShardedDataParallel; noise_scale of one that `fully_shard` has sharded, or with
            before_clip=False. From `optimizer.step()`: the optimizer has parameters that were not
            there and not made room for.
        TypeError: a model, optimizer, scaler or parameter of another kind; a complex parameter.
        ImportError: PyTorch is missing.

    Not in TensorFlow.

    >>> import torch
    >>> weight = torch.nn.Parameter(torch.zeros(2))
    >>> optimizer = torch.optim.SGD([weight], lr=0.1)
    >>> recording = record(Recorder(), [("weight", weight)], optimizer)
    >>> for scale in (1.0, 2.0):
    ...     loss = (weight * torch.tensor([3.0, 4.0])).sum() * scale
    ...     optimizer.zero_grad()
    ...     loss.backward()
    ...     norm = torch.nn.utils.clip_grad_norm_([weight], 1.0)
    ...     recording.note(loss=loss)
    ...     _ = optimizer.step()
    >>> recording.close().global_norm.tolist()
    [5.0, 10.0]
    """
    torch = need("torch", "gl.record.torch", "torch")
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(
            f"optimizer must be a torch.optim.Optimizer, got {type(optimizer).__name__}; "
            "of a wrapper give the optimizer inside it"
        )
    if every < 1:
        raise InvalidArgumentError(f"every must be >= 1, got {every}")
    check_choice("notes", notes, ("mean", "sum"))
    if scaler is not None and not all(
        hasattr(scaler, name) for name in ("unscale_", "step", "get_scale")
    ):
        raise TypeError(
            f"scaler must have the methods of torch.amp.GradScaler, got {type(scaler).__name__}"
        )
    optimizer = innermost(optimizer)
    parameters = to_record(optimizer, model, all_parameters)
    whole = model if isinstance(model, torch.nn.Module) else None
    if whole is None and before_clip and any(map(is_sharded, parameters.values())):
        raise InvalidArgumentError(
            "parameters are sharded: give the model in place of (name, parameter) pairs"
        )
    if noise_scale and (not before_clip or any(map(is_sharded, parameters.values()))):
        raise InvalidArgumentError(
            "noise_scale is of whole gradients, before a clip; leave it out here"
        )
    recorder.prepare(
        {name: p.shape for name, p in parameters.items()}, (*scalars, *noise.SCALARS * noise_scale)
    )
    _detach(recorder)
    named = tuple(parameters.values())
    micro = MicroBatches(named, whole) if noise_scale else None
    moving = WeightSamples(recorder, named) if weights else None
    noted = Notes(tuple(scalars), notes, across_processes)
    return Recording(
        recorder, named, optimizer, whole, before_clip, noted, every, scaler, moving, micro
    )


class Recording(Attached[Recorder]):
    """A recorder attached to a PyTorch loop; `gl.record.torch` makes it. Not in TensorFlow.

    Attributes:
        recorder: what the steps go to.
        scalars: the names that `note` takes.
        steps: how many there are so far, those that are not handed over included.

    >>> import torch
    >>> w = torch.nn.Parameter(torch.ones(4))
    >>> with record(Recorder(), [("w", w)], torch.optim.SGD([w], lr=0.1)) as recording:
    ...     w.sum().backward()
    >>> recording.recorder.seen  # a step is recorded when the optimizer steps
    0
    """

    def __init__(
        self,
        recorder: Recorder,
        parameters: tuple[torch.nn.Parameter, ...],
        optimizer: torch.optim.Optimizer,
        model: torch.nn.Module | None,
        before_clip: bool,
        notes: Notes,
        every: int,
        scaler: Any,
        moving: WeightSamples | None,
        micro: MicroBatches | None,
    ) -> None:
        self.recorder, self._moving, self._micro = recorder, moving, micro
        self._optimizer, self._parameters, self._scaler = optimizer, parameters, scaler
        self._known = {id(p) for p in self._parameters}
        self.scalars, self._every = notes.names, every
        self._notes = notes
        self._has_closure = False  # while a step runs that calls backward itself
        self._warned_of_unused = False  # gradients that no step used
        self._clock = float("nan")
        self.steps = recorder.seen
        self._doubted = False
        self._was_interrupted = False
        self._settle()
        self._join()
        self._hooks: list[Any] = [
            optimizer.register_step_pre_hook(outside_graphs(self._before_step)),
            optimizer.register_step_post_hook(outside_graphs(self._after_step)),
        ]
        self._backward: AfterBackward | None = None
        if before_clip:
            self._backward = AfterBackward(
                self._after_backward, self._parameters, model, self._backward_begins
            )
            self._hooks.append(self._backward)
        if micro:
            self._hooks.append(micro)
        listen(optimizer, self, scaler)

    def measure(self) -> None:
        """Measure the gradients as they are now, in place of what was measured before, for the step to come.

        >>> import torch
        >>> w = torch.nn.Parameter(torch.ones(2))
        >>> optimizer = torch.optim.SGD([w], lr=0.1)
        >>> with record(Recorder(), [("w", w)], optimizer) as recording:
        ...     (w * 8.0).sum().backward()
        ...     w.grad /= 8.0  # a loss scale of your own; that of a GradScaler is taken off for you
        ...     recording.measure()
        ...     _ = optimizer.step()
        >>> recording.recorder["largest"].tolist()
        [[1.0]]
        """
        self._require_open()
        self._measure_all()
        self._by_hand = True

    def skip(self) -> None:
        """Record a step that your own code skips, in place of `optimizer.step()`.

        Those of scalers are found.

        >>> import torch
        >>> w = torch.nn.Parameter(torch.ones(2))
        >>> optimizer = torch.optim.SGD([w], lr=0.1)
        >>> with record(Recorder(), [("w", w)], optimizer) as recording:
        ...     (w * float("inf")).sum().backward()
        ...     if w.grad.isfinite().all():
        ...         _ = optimizer.step()
        ...     else:
        ...         recording.skip()
        >>> recording.recorder.skipped_steps
        1
        """
        self._require_open()
        self._moved = require_room(self._optimizer, self._known)
        self._complete(None if self._unscaled else scale_of(self._scaler))
        self._commit(skipped=True)

    def note(self, **scalars: Any) -> None:
        """Numbers of the step to come, such as loss=loss, before `optimizer.step()`; a tensor stays on its device.

        Called for each micro-batch of a step, its mean is recorded, or the sum where `record` was
        given notes="sum". Called after `optimizer.step()`, it is of the step after that; where
        there is none, `close()` warns.

        Raises:
            ValueError: a name that `record` was not told, or more than one number.

        >>> import torch
        >>> w = torch.nn.Parameter(torch.ones(2))
        >>> optimizer = torch.optim.SGD([w], lr=0.1)
        >>> with record(Recorder(), [("w", w)], optimizer) as recording:
        ...     for scale in (1.0, 3.0):
        ...         loss = w.sum() * scale
        ...         loss.backward()
        ...         recording.note(loss=loss)
        ...     _ = optimizer.step()
        >>> recording.recorder["loss"].tolist()
        [4.0]
        """
        self._notes.add(scalars)

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Names of the tensors of each of the optimizer's parameter groups, for `Recorder.updates().by_group`.

        A group is called as its "name" says, else by its number.
        """
        names = {id(p): name for name, p in zip(self.recorder.names, self._parameters, strict=True)}
        groups = enumerate(self._optimizer.param_groups)
        return {
            str(g.get("name", k)): tuple(names[id(p)] for p in g["params"] if id(p) in names)
            for k, g in groups
        }

    def __repr__(self) -> str:
        return f"<gradlab.record.TorchRecording of {self.recorder.budget}; {self._notes.in_words}>"

    def flush(self) -> Recorder:
        """Hand the steps so far to the recorder, as reading it does, too, and return it.

        It waits for the device.
        """
        self._steps.flush()
        return self.recorder

    def close(self) -> Recorder:
        """Take all hooks off, hand over the last steps, and return the recorder."""
        for hook in self._hooks:
            hook.remove()
        stop_listening(self._optimizer, self)
        if self._hooks and self._found and self._steps.holds_nonfinite(self._found):
            self._commit(skipped=True)  # the last gradients, which the loop did not use
        if self._hooks and not self._was_interrupted:
            self._notes.warn_of_unused()
        self._hooks = []
        self.flush()
        self._leave()
        return self.recorder

    def __exit__(self, error: object = None, *_: object) -> None:
        self._was_interrupted = error is not None  # perhaps between a note and its step
        self.close()

    def _require_open(self) -> None:
        if not self._hooks:
            raise InvalidArgumentError(
                "this recording is closed; attach its recorder again with gl.record.torch"
            )

    def _settle(self) -> None:
        """Make room for steps on the device that the parameters are on."""
        named = dict(zip(self.recorder.names, self._parameters, strict=True))
        self._device = device_of(named)
        if is_sharded(self._parameters[0]):
            self._steps: HostSteps | DeviceSteps = ShardedSteps(self.recorder, self._device, named)
        else:
            self._steps = queue_on(self._device, self.recorder)
        self._begin()

    def _begin(self) -> None:
        """Be ready for another step."""
        self._found: dict[
            int, Any
        ] = {}  # of the step to come: what was measured, by number of the parameter,
        self._counted: dict[int, Any] = {}  # and counted,
        self._versions: dict[int, int] = {}  # how often its .grad was changed by then,
        self._measured_scale: Any = None  # the scale that was taken off,
        self._by_hand = False  # whether the user said when to measure,
        self._unscaled = False  # whether its scaler has taken the scale off,
        self._awaited = False  # and whether its scaler has begun the step, and might skip it
        self._counting = self.steps % self.recorder.layout.histogram_every == 0

    def _after_backward(self) -> None:
        self._notes.count_backward()
        self._measure_all()
        self._by_hand = False

    def _backward_begins(self, first: Any) -> None:
        """Settle what was measured before, if this backward starts from new gradients: no step has
        used it or will.

        `first`, the parameter whose gradient is ready first, already has its new gradient; the
        others don't.
        """
        if not self._found or self._has_closure or not self._gradients_were_reset(first):
            return
        if self._steps.holds_nonfinite(self._found):
            kept = self._notes.take_next()
            self._commit(skipped=True, next_has_begun=True)
            self._notes.put_back(kept)
            return
        if not self._warned_of_unused:
            self._warned_of_unused = True
            warn(
                "no optimizer.step() used some gradients: they were reset before the next "
                "backward. They are finite, so they are not recorded; they may be those of an "
                "evaluation or of another loss. If your loop skips steps on purpose, call skip() "
                "of the recording there; otherwise later steps are numbered too low",
                RecordingWarning,
            )
        self._notes.discard_unused()
        self._begin()

    def _gradients_were_reset(self, first: Any) -> bool:
        """Tell whether .grad of the parameters that were measured has been set to None, or to
        zeros, since.
        """
        import torch

        others = [k for k in self._found if self._parameters[k] is not first]
        # The only one has its new gradient: a tensor that was added to has changed since.
        if not others:
            (k,) = self._found
            grad = self._parameters[k].grad
            return (
                grad is not None
                and not grad.requires_grad
                and local(grad)._version <= self._versions.get(k, -1)
            )
        for k in others:
            grad = self._parameters[k].grad
            if grad is None:
                continue
            grad = local(grad.detach())
            if grad._version == self._versions.get(k):
                return False
            values = grad.coalesce().values() if grad.is_sparse else grad
            # Waits for the device, but only where the loop changed gradients.
            if torch.count_nonzero(values):
                return False
        return True

    def _measure_all(self) -> None:
        """Measure all gradients that the optimizer will use, without the scale that they may still
        have.
        """
        scale = None if self._unscaled else scale_of(self._scaler)
        self._measured_scale = scale
        self._moved = {id(p) for p in moved_by(self._optimizer)}
        for k, p in enumerate(self._parameters):
            self._measure(k, p, scale)

    def _measure(self, k: int, p: torch.nn.Parameter, scale: Any = None) -> None:
        """Note what is in .grad of parameter number k."""
        g = self._gradient(p, scale)
        if g is None:
            self._found.pop(k, None)
            self._counted.pop(k, None)
            return
        if g.device != self._device:
            self.flush()
            self._settle()
        self._found[k] = self._steps.measured(k, g)
        if p.grad is not None:
            self._versions[k] = local(p.grad)._version
        if self._counting:
            self._counted[k] = self._steps.counted(k, g)

    def _gradient(self, p: torch.nn.Parameter, scale: Any) -> Any:
        """Return what the optimizer has of a gradient on this process, divided by the scale."""
        if p.grad is None or id(p) not in self._moved:
            return None
        g = local(p.grad.detach())
        return g if scale is None else g / scale

    def _before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self._moved = require_room(optimizer, self._known)
        if self._moving:
            self._moving.begin(self.steps)
        self._has_closure = _has_closure(args, kwargs)
        if not self._has_closure:
            # That a GradScaler left to a fused optimizer.
            scale = getattr(optimizer, "grad_scale", None)
            self._require_measured()
            self._complete(scale)
            self._look_twice(scale)
            self._commit(skipped=getattr(optimizer, "found_inf", None))

    def _after_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if _has_closure(args, kwargs):  # whose last call has left its gradients
            self._has_closure = False
            self._complete()
            self._commit()
        if self._moving:
            self._moving.end(self._steps)

    def _scaler_unscales(self, scaler: Any) -> None:
        """`scaler.unscale_(optimizer)` begins: warn, once, if something has shrunk gradients with
        their scale on.
        """
        scale = scale_of(scaler)
        if (
            scale is None
            or self._doubted
            or self._by_hand
            or not self._found
            or not is_checked(self.steps)
        ):
            return
        measured, now = self._norms_then_and_now(self._measured_scale)
        if self._measured_scale is None:
            measured, now = measured / float(scale), now / float(scale)
        if message := explain_clip_with_scale(measured, now, float(scale)):
            self._doubted = True
            warn(message, RecordingWarning)

    def _scaler_unscaled(self, scaler: Any) -> None:
        """`scaler.unscale_(optimizer)` is done."""
        self._adopt_scaler(scaler)
        self._unscaled = True

    def _scaler_steps(self, scaler: Any) -> None:
        """`scaler.step(optimizer)` begins."""
        self._adopt_scaler(scaler)
        self._awaited = True

    def _adopt_scaler(self, scaler: Any) -> None:
        """Keep a scaler that `record` was not given, and divide what was measured after backward by
        its scale.

        .grad is not measured again, because gradients may have been clipped since.
        """
        is_new = self._scaler is None
        self._scaler = scaler
        scale = scale_of(scaler)
        if (
            not is_new
            or scale is None
            or not self._found
            or self._by_hand
            or self._measured_scale is not None
        ):
            return
        factor = 1 / float(scale)
        self._measured_scale = scale
        self._found = {k: self._steps.scaled(part, factor) for k, part in self._found.items()}
        self._counted = {
            k: shift_counts(counts, round(math.log2(factor))) for k, counts in self._counted.items()
        }

    def _scaler_stepped(self, scaler: Any) -> None:
        """`scaler.step(optimizer)` is done; where the optimizer heard nothing of it, it was
        skipped.
        """
        if self._awaited:
            self._moved = require_room(self._optimizer, self._known)
            self._complete()
            self._commit(skipped=True)

    def _complete(self, scale: Any = None) -> None:
        """Measure what was not measured yet, as it is in .grad now; `scale` is what that has still
        to be divided by.
        """
        for k, p in enumerate(self._parameters):
            if p.grad is None or k not in self._found:
                self._measure(k, p, scale)

    def _commit(self, skipped: Any = None, next_has_begun: bool = False) -> None:
        """Append a step of which all is measured; `next_has_begun` if the backward of the next one
        has.
        """
        now = time.perf_counter()
        noted = self._notes.take(self._device)
        numbers = {
            **noted,
            "seconds": now - self._clock,
            "scale": scale_of(self._scaler),
            "skipped": skipped,
        }
        if self._micro and not next_has_begun:
            numbers |= {} if self._by_hand else self._micro.numbers(numbers["scale"])
            self._micro.begin()
        self._steps.append(
            self._found, self._counted, {name: x for name, x in numbers.items() if x is not None}
        )
        if self._moving:
            self._moving.measured(self._steps, self._found)
        self._clock, self.steps = now, self.steps + 1
        self._begin()
        if len(self._steps) >= self._every:
            self.flush()

    def _require_measured(self) -> None:
        """Warn, once, if a backward was there whose end did not call."""
        if self._backward and self._backward.is_awaited and not self._found and not self._doubted:
            self._doubted = True
            warn(
                "a backward did not say when it was over, as those of compiled autograd: "
                "gradients are recorded as the optimizer gets them, after a clip. Call measure() "
                "of the recording before the clip",
                RecordingWarning,
            )

    def _look_twice(self, scale: Any) -> None:
        """Warn, once, if gradients have changed since backward as no clip changes them."""
        if self._doubted or self._by_hand or not self._found or not is_checked(self.steps):
            return
        after_backward, at_step = self._norms_then_and_now(scale)
        if message := explain_change(after_backward, at_step, processes()):
            self._doubted = True
            warn(message, RecordingWarning)

    def _norms_then_and_now(self, scale: Any) -> tuple[np.ndarray, np.ndarray]:
        """Norms of the gradients as they were measured, and as they are now, divided by the scale."""
        norms = []
        for k, part in self._found.items():
            g = self._gradient(self._parameters[k], scale)
            if g is not None:
                norms.append((self._steps.norm(part), self._steps.norm(self._steps.measured(k, g))))
        then, now = np.reshape(norms, (-1, 2)).T
        return then, now


def _has_closure(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Tell whether a step was given a closure; hooks get its function's arguments, the optimizer
    first.
    """
    return (args[1] if len(args) > 1 else kwargs.get("closure")) is not None


def _detach(recorder: Recorder) -> None:
    """End an earlier recording of this recorder, and say so."""
    if recorder.attachment is not None:
        recorder.attachment.close()
        warn(
            "this recorder was attached before; that recording is closed, and the recorder goes "
            "on with this one. Two optimizers need a recorder each",
            RecordingWarning,
        )
