"""Tensor rules beside torch: at least as near to a float64 run as torch's own optimizers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradlab.rules import Adafactor, Muon
from tests.rules.relative_error import check, inputs, relative_error, run, run_jit

pytestmark = pytest.mark.torch

MUONS = {
    "default": ({}, {"adjust_lr": "original"}),
    "rms": ({"adjust_lr_fn": "match_rms_adamw"}, {}),
    "no nesterov": (
        {"adjust_lr_fn": "original", "nesterov": False, "momentum": 0.8},
        {"adjust_lr": "original", "momentum": 0.8, "use_nesterov": False},
    ),
    "coefficients": (
        {"adjust_lr_fn": "match_rms_adamw", "ns_coefficients": (1.5, -0.5, 0.0), "ns_steps": 8},
        {"coefficients": (1.5, -0.5, 0.0), "steps": 8},
    ),
    # The norm of the gradients is smaller, and so the floor counts.
    "epsilon": (
        {"adjust_lr_fn": "match_rms_adamw", "eps": 100.0},
        {"norm_epsilon": 100.0},
    ),
}


def torch_run(name: str, arguments: Any, w: Any, gradients: Any, dtype: str) -> np.ndarray:
    """Return the weights after each step of an optimizer of torch, as float64."""
    import torch

    kind = getattr(torch, dtype)
    parameter = torch.nn.Parameter(torch.tensor(w, dtype=kind))
    optimizer = getattr(torch.optim, name)([parameter], weight_decay=0.0, **arguments)
    after = []
    for g in gradients:
        parameter.grad = torch.tensor(g, dtype=kind)
        optimizer.step()
        after.append(parameter.detach().double().numpy().copy())
    return np.stack(after)


@pytest.mark.parametrize("shape", [(40, 30), (20, 50)])
@pytest.mark.parametrize("name", MUONS)
def test_muon_of_torch(name: str, shape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    arguments, fields = MUONS[name]
    rule = Muon(form="torch", **fields)
    w, gradients = inputs(0, shape)
    theirs = torch_run("Muon", arguments | {"lr": 0.1}, w, gradients, "float32")
    # torch orthogonalizes in bfloat16, which a float64 run must not.
    monkeypatch.setattr(torch.Tensor, "bfloat16", lambda matrix: matrix.clone())
    exact = torch_run("Muon", arguments | {"lr": 0.1}, w, gradients, "float64")
    in_float32 = torch_run("Muon", arguments | {"lr": 0.1}, w, gradients, "float32")

    check(run(rule, 0.1, w, gradients), in_float32, exact)
    check(run_jit(rule, 0.1, w, gradients), in_float32, exact)
    assert relative_error(in_float32, exact) < relative_error(theirs, exact)
    np.testing.assert_allclose(
        run(rule, 0.1, w, gradients, np.float64), exact, rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("shape", [(40, 30), (3, 20, 10), (500,)])
@pytest.mark.parametrize("epsilon", [float(np.finfo(np.float32).eps), 0.9])
def test_adafactor_of_torch(shape: Any, epsilon: float) -> None:
    rule = Adafactor(epsilon1=epsilon, epsilon_place="floor")
    w, gradients = inputs(0, shape)
    arguments = {"lr": 0.6, "eps": (epsilon, 1e-3)}
    exact = torch_run("Adafactor", arguments, w, gradients, "float64")

    theirs = torch_run("Adafactor", arguments, w, gradients, "float32")
    # torch computes its rates in float64, and XLA adds all squares in one row.
    check(run(rule, 0.6, w, gradients), theirs, exact, factor=1.1)
    check(run_jit(rule, 0.6, w, gradients), theirs, exact, factor=4.0)
    # The power of the step's number is computed from a float32 number.
    got = run(rule, 0.6, w, gradients, np.float64)
    np.testing.assert_allclose(got, exact, rtol=1e-7, atol=1e-8)
