"""A recorder on a PyTorch loop: what backward left in .grad, measured on its device, step by step."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._base.errors import InvalidArgumentError
from .._base.extras import need
from ..record import Recorder
from .measure import counted
from .waiting import waiting_on

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
) -> Recording:
    """Record the gradients of every step of `optimizer`, under the names of `model.named_parameters()`.

    What is recorded is what `optimizer.step()` finds in .grad: of micro-batches whose gradients add up, their sum.
    With `before_clip` each gradient is measured when backward has left it in .grad (of several backwards the last
    counts), before your own clip; without it, when `optimizer.step()` begins, as the optimizer gets it. A parameter
    without a gradient has norm 0 in that step. Nothing waits for an accelerator but every `every` steps. A step with a
    closure is recorded when it ends, with the gradients that the closure's last call left.

    Args:
        recorder: takes the steps, from the first step on.
        model: a module, or (name, parameter) pairs where one module does not hold all that the optimizer moves.
        optimizer: one that is a torch.optim.Optimizer. Two optimizers need a recorder each.
        before_clip: where to measure. With a GradScaler, False: after backward gradients still have its scale, at
            `scaler.step(optimizer)` they have not. To have them without the scale, or averaged over processes, and
            before the clip, call `measure()` of what comes back just before you clip.
        scalars: names that `note` may be given.
        every: steps between two hand-overs to the recorder.

    Returns: a `Recording`; its `close()` ends it and returns the recorder. It is a context manager, too.

    Raises:
        ValueError: the optimizer moves parameters that have no name, or parameters on several devices; every < 1; the
            recorder holds other tensors.
        TypeError: a model, optimizer or parameter of another kind; a complex parameter.
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
    torch = need("torch", "gl.torch", "torch")
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(
            f"optimizer must be a torch.optim.Optimizer, got {type(optimizer).__name__}; "
            "of a wrapper give the optimizer inside it"
        )
    if every < 1:
        raise InvalidArgumentError(f"every must be >= 1, got {every}")
    return Recording(recorder, _moved_by(optimizer, model), optimizer, before_clip, tuple(scalars), every)


class Recording:
    """A recorder attached to a PyTorch loop; `gl.torch.record` makes it. Not in TensorFlow.

    Attributes:
        recorder: what the steps go to.

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
        parameters: dict[str, torch.nn.Parameter],
        optimizer: torch.optim.Optimizer,
        before_clip: bool,
        scalars: tuple[str, ...],
        every: int,
    ) -> None:
        recorder.prepare({name: p.shape for name, p in parameters.items()}, scalars)
        self.recorder = recorder
        self._parameters = tuple(parameters.values())
        self._scalars, self._every = scalars, every
        self._found: dict[int, Any] = {}  # of the step to come: what was measured, by number of the parameter,
        self._counted: dict[int, Any] = {}  # and counted,
        self._noted: dict[str, Any] = {}  # and noted
        self._clock = float("nan")
        self._number = recorder.seen  # of the step to come
        recorder._elsewhere = self.flush
        self._settle()
        self._hooks = [
            optimizer.register_step_pre_hook(self._before_step),
            optimizer.register_step_post_hook(self._after_step),
        ]
        if before_clip:
            for k, p in enumerate(self._parameters):
                if p.requires_grad:
                    self._hooks.append(p.register_post_accumulate_grad_hook(functools.partial(self._measure, k)))

    def measure(self) -> None:
        """Measure the gradients as they are now, in place of what was measured before, for the step to come.

        >>> import torch
        >>> w = torch.nn.Parameter(torch.ones(2))
        >>> optimizer = torch.optim.SGD([w], lr=0.1)
        >>> with record(Recorder(), [("w", w)], optimizer) as recording:
        ...     (w * 8.0).sum().backward()
        ...     w.grad /= 8.0  # as scaler.unscale_(optimizer) would
        ...     recording.measure()
        ...     _ = optimizer.step()
        >>> recording.recorder["largest"].tolist()
        [[1.0]]
        """
        for k, p in enumerate(self._parameters):
            self._measure(k, p)

    def note(self, **scalars: Any) -> None:
        """Numbers of the step to come, such as loss=loss, before `optimizer.step()`; a tensor stays on its device.

        Raises ValueError: a name that `record` was not told, or more than one number.
        """
        import torch

        for name, value in scalars.items():
            if name not in self._scalars:
                raise InvalidArgumentError(f"{name} is not among scalars={self._scalars} that record was given; add it")
            number = value.detach() if isinstance(value, torch.Tensor) else torch.as_tensor(value)
            if number.numel() != 1:
                shape = tuple(number.shape)
                raise InvalidArgumentError(f"{name} must be one number for each step, got shape {shape}; give its mean")
            self._noted[name] = number

    def flush(self) -> Recorder:
        """Hand the steps so far to the recorder, as reading it does, too, and return it. It waits for the device."""
        self._steps.flush()
        return self.recorder

    def close(self) -> Recorder:
        """Take all hooks off, hand over the last steps, and return the recorder."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self.flush()._elsewhere = None
        return self.recorder

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _settle(self) -> None:
        """Make room for steps on the device that the parameters are on."""
        self._device = _device_of(dict(zip(self.recorder.names, self._parameters, strict=True)))
        self._steps = waiting_on(self._device, self.recorder)
        self._begin()

    def _begin(self) -> None:
        """Be ready for another step."""
        self._found, self._counted, self._noted = {}, {}, {}
        self._counting = self._number % self.recorder.histogram_every == 0

    def _measure(self, k: int, p: torch.nn.Parameter, scale: Any = None) -> None:
        """Note what is in .grad of parameter number k."""
        g = p.grad
        if g is None:
            self._found.pop(k, None)
            self._counted.pop(k, None)
            return
        if g.device != self._device:
            self.flush()
            self._settle()
        g = g.detach() if scale is None else g.detach() / scale
        self._found[k] = self._steps.measured(k, g)
        if self._counting:
            self._counted[k] = counted(g)

    def _before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if not _has_closure(args, kwargs):
            self._commit(getattr(optimizer, "grad_scale", None))

    def _after_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if _has_closure(args, kwargs):  # whose last call has left its gradients
            self._commit()

    def _commit(self, scale: Any = None) -> None:
        """One step: of each parameter what was measured, else what is in .grad now, else nothing.

        `scale` is what a GradScaler left to a fused optimizer to divide by.
        """
        for k, p in enumerate(self._parameters):
            if p.grad is None or k not in self._found:
                self._measure(k, p, scale)
        now = time.perf_counter()
        self._steps.append(self._found, self._counted, {**self._noted, "seconds": now - self._clock})
        self._clock, self._number = now, self._number + 1
        self._begin()
        if len(self._steps) >= self._every:
            self.flush()


def _has_closure(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    return (args[0] if args else kwargs.get("closure")) is not None


def _moved_by(
    optimizer: torch.optim.Optimizer, model: torch.nn.Module | Iterable[tuple[str, torch.nn.Parameter]]
) -> dict[str, torch.nn.Parameter]:
    """Name -> parameter of all that the optimizer moves, in the model's order."""
    import torch

    pairs = model.named_parameters() if isinstance(model, torch.nn.Module) else model
    try:
        named = dict(pairs)
    except (TypeError, ValueError):
        kind = type(model).__name__
        raise TypeError(f"model must be a torch.nn.Module or (name, parameter) pairs, got {kind}") from None
    moved = {id(p): p for group in optimizer.param_groups for p in group["params"]}
    if missing := moved.keys() - {id(p) for p in named.values()}:
        shapes = ", ".join(str(tuple(moved[k].shape)) for k in moved if k in missing)
        raise InvalidArgumentError(
            f"the optimizer moves parameters that the model does not name, of shapes {shapes}; "
            "give (name, parameter) pairs of all of them in place of the model"
        )
    return {name: p for name, p in named.items() if id(p) in moved}


def _device_of(parameters: dict[str, torch.nn.Parameter]) -> torch.device:
    """The one device that all are on."""
    for name, p in parameters.items():
        if p.is_complex():
            raise TypeError(f"{name} is {p.dtype}; complex gradients are not recorded")
    devices = {p.device: name for name, p in parameters.items()}
    if len(devices) > 1:
        where = ", ".join(f"{name} on {device}" for device, name in devices.items())
        raise InvalidArgumentError(
            f"all parameters must be on one device, got {where}; record each with its own optimizer"
        )
    return next(iter(devices))
