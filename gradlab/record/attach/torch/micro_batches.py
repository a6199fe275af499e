"""The gradients of micro-batches, and of replicas, before they are added up: what the gradient noise scale is from."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....errors import InvalidArgumentError
from ...analysis.noise import SCALARS
from .backward import on_each_gradient

if TYPE_CHECKING:
    import torch


class MicroBatches:
    """Sums the squared norms of what each backward adds to .grad, on its device, from hooks of the parameters.

    .grad begins again where it is None when a backward comes to it. Of DistributedDataParallel
    these are the gradients of the replica, before they are averaged.
    """

    def __init__(
        self, parameters: Sequence[torch.nn.Parameter], model: torch.nn.Module | None
    ) -> None:
        self._group, self._parameters = _replicas(model), parameters
        self._hooks = [
            on_each_gradient(p, functools.partial(self._add, k))
            for k, p in enumerate(parameters)
            if p.is_leaf and p.is_floating_point()
        ]
        self.begin()

    def begin(self) -> None:
        """Forget what was added up so far."""
        self._squares: dict[int, Any] = {}
        self._counts: dict[int, int] = {}

    def remove(self) -> None:
        """Take all hooks off."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def _add(self, k: int, g: torch.Tensor) -> None:
        import torch

        if self._parameters[k].grad is None:
            self._squares.pop(k, None)
            self._counts.pop(k, None)
        values = g.detach().coalesce().values() if g.is_sparse else g.detach()
        square = torch.linalg.vector_norm(values, dtype=torch.float32).double().square()
        self._squares[k] = square + self._squares.get(k, 0.0)
        self._counts[k] = self._counts.get(k, 0) + 1

    def numbers(self, scale: Any) -> dict[str, Any]:
        """The scalars of a step; `scale` is the loss scale that the gradients have, None for none.

        Of R replicas with M micro-batches each, whose gradients d are averaged over the replicas
        and summed over the micro-batches, the gradient is the mean of n = R M gradients M d, of
        which the mean square is M^2 sum d^2 / n.
        """
        if not self._squares:
            return {}
        import torch

        n, replicas = int(np.median(list(self._counts.values()))), 1
        square = torch.stack(list(self._squares.values())).sum()
        if self._group is not None:
            import torch.distributed as dist

            replicas = dist.get_world_size(self._group)
            dist.all_reduce(square, group=self._group)
        norm = (square * n / replicas).sqrt()
        return dict(
            zip(
                SCALARS, (norm if scale is None else norm / scale, float(n * replicas)), strict=True
            )
        )


def _replicas(model: torch.nn.Module | None) -> Any:
    """The group of processes that average their gradients; None for this one alone."""
    import torch
    import torch.distributed as dist

    for module in model.modules() if model is not None else ():
        if isinstance(module, torch.nn.parallel.DistributedDataParallel):
            return module.process_group
    if dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1:
        raise InvalidArgumentError(
            "torch.distributed runs several processes: for noise_scale give record the "
            "DistributedDataParallel, not the model inside it"
        )
    return None
