"""A model of two layers, its data, and its gradients written out in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.record.attach.torch.later import torch

ROWS = 8
NAMES = ("0.weight", "0.bias", "2.weight", "2.bias")


def model(seed: int = 0) -> Any:
    """tanh between two layers."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))


def batch(step: int, rows: slice = slice(None)) -> tuple[Any, Any]:
    """Inputs and targets of a step."""
    rng = np.random.default_rng(step)
    x, y = rng.normal(size=(ROWS, 5)), rng.normal(size=(ROWS, 3))
    return torch.from_numpy(x[rows].astype(np.float32)), torch.from_numpy(
        y[rows].astype(np.float32)
    )


def loss_of(net: Any, step: int, rows: slice = slice(None)) -> Any:
    """Half the squared distance from the targets, the mean over the batch."""
    x, y = batch(step, rows)
    return ((net(x) - y) ** 2).sum(dim=1).mean() / 2


def gradients(net: Any, step: int, rows: slice = slice(None)) -> list[np.ndarray]:
    """Of each parameter, in float64.

    h = tanh(x W' + b),  d = (h V' + c - y) / n;  dV = d' h,  dc = sum d,  dW = e' x,  db = sum e,
    e = (d V)(1 - h h)
    """
    values = [p.detach().double().numpy() for p in net.parameters()]
    w, b, v, c = values
    x, y = (t.double().numpy() for t in batch(step, rows))
    h = np.tanh(x @ w.T + b)
    d = (h @ v.T + c - y) / len(x)
    e = (d @ v) * (1 - h * h)
    return [e.T @ x, e.sum(axis=0), d.T @ h, d.sum(axis=0)]


def norms(grads: list[np.ndarray]) -> list[float]:
    """Of each."""
    return [float(np.linalg.norm(g)) for g in grads]
