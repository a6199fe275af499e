"""The end of a backward, when .grad holds what a clip and the optimizer will find there."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# What a backward puts off to its end may put off more: DDP's all-reduce of a static graph does so
# twice.
_DEFERRALS = 3


class AfterBackward:
    """Calls a function after each backward, when gradients are accumulated, and all-reduced where there are replicas.

    `begin` is called as well, when the first gradient of a backward is there: with its parameter,
    or with another tensor where parameters are sharded.

    A hook of a parameter runs before the all-reduce of DDP, and where parameters are sharded
    (FSDP2) it never runs. Hence hooks here only ask to be called when the backward they are in is
    over.

    Attributes:
        is_awaited: a backward has begun that did not call: it raised, or runs as a graph of
            compiled autograd, which leaves out such calls.
    """

    def __init__(
        self,
        call: Callable[[], object],
        parameters: Iterable[torch.nn.Parameter],
        model: torch.nn.Module | None,
        begin: Callable[[Any], object],
    ) -> None:
        self._call, self._begin = call, begin
        self._backward, self.is_awaited = -1, False
        heard = self._first_in_backward(outside_graphs(self._heard))
        self._hooks = [
            _on_gradient(p, heard) for p in parameters if p.is_leaf and p.is_floating_point()
        ]
        for module in model.modules() if model is not None else ():
            if hasattr(module, "set_requires_gradient_sync"):  # a module of fully_shard
                self._hooks.append(module.register_forward_hook(outside_graphs(self._listen)))

    def remove(self) -> None:
        """Take all hooks off."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def _listen(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        """Hear of the backward that begins at this module's output."""
        import torch
        from torch.utils._pytree import tree_leaves

        for leaf in tree_leaves(output):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                leaf.register_hook(outside_graphs(self._heard))

    def _first_in_backward(self, heard: Callable[[Any], None]) -> Callable[[Any], None]:
        """A hook that calls `heard` for the first parameter of a backward alone: each such call
        costs 2 us.
        """
        import torch

        running = torch._C._current_graph_task_id

        def hook(p: Any) -> None:
            if self._backward != running():
                heard(p)

        return hook

    def _heard(self, first: Any) -> None:
        """Ask to be called at the end of this backward, once; one that raised never came to its
        end.
        """
        import torch

        if self._hooks and self._backward != (this := torch._C._current_graph_task_id()):
            self._backward, self.is_awaited = this, True
            self._begin(first)
            self._defer(_DEFERRALS)

    def _defer(self, times: int) -> None:
        import torch

        if times:
            later: Any = torch.autograd.Variable._execution_engine
            later.queue_callback(lambda: self._defer(times - 1))
        elif self._hooks:
            self.is_awaited = False
            self._call()


def outside_graphs(function: Callable[..., Any]) -> Any:
    """The function where torch.compile calls it, and does not take it for a part of its graph."""
    import torch

    if "reason" not in inspect.signature(torch.compiler.disable).parameters:  # until torch 2.7
        return torch.compiler.disable(function)
    return torch.compiler.disable(
        function, reason="gradlab records here, which fullgraph=True leaves no place for"
    )


def _on_gradient(p: torch.nn.Parameter, heard: Callable[[Any], None]) -> Any:
    """A hook on a parameter that is called when its .grad is complete."""
    return _unfrozen(p, lambda: p.register_post_accumulate_grad_hook(heard))


def on_each_gradient(p: torch.nn.Parameter, heard: Callable[[Any], None]) -> Any:
    """A hook on a parameter that is called with what a backward is about to add to its .grad."""
    return _unfrozen(p, lambda: p.register_hook(outside_graphs(heard)))


def _unfrozen(p: torch.nn.Parameter, hook: Callable[[], Any]) -> Any:
    """A hook of a frozen parameter too: it may be unfrozen later."""
    frozen = not p.requires_grad
    if frozen:
        p.requires_grad_(True)
    handle = hook()
    if frozen:
        p.requires_grad_(False)
    return handle
