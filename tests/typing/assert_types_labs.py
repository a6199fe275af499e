"""What type checkers know of the labs, as `assert_type` lines: and mistakes they find."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import assert_type

from matplotlib.figure import Figure

import gradlab as gl
from gradlab.labs._adagrad.lab import AdagradLab
from gradlab.labs._clipping.lab import ClippingLab
from gradlab.labs._compare import CompareLab
from gradlab.labs._run_layers.lab import RunLayersLab


def calls(rec: gl.Recorder) -> None:
    """Every way to open a lab, and what is asked of one."""
    lab = gl.labs.clipping(limit=0.3, method="norm", run="1", target="keep_95")
    assert_type(lab, ClippingLab)
    assert_type(gl.labs.clipping(rec, limit=2), ClippingLab)
    assert_type(lab.runs, dict[str, gl.Recorder])
    assert_type(lab.figure(limit=1.0), Figure)
    assert_type(lab.link(), str)
    assert_type(
        gl.labs.adagrad(target="bottom_15", step=3, clip=None, surface="tumors"), AdagradLab
    )
    assert_type(gl.labs.run_layers(Path("run.npz"), tensor="embed", show="all"), RunLayersLab)
    assert_type(gl.labs.compare(rec, "b.npz", names=("a", "b"), tensor=None), CompareLab)
    assert_type(gl.labs.from_link("#gl=1&lab=clipping"), gl.labs.Lab)
    assert_type(gl.labs.catalog(), dict[str, Callable[..., gl.labs.Lab]])
    lab.set(limit=1.0, method="global")
    lab.save("x.png", theme="dark", limit=3.0)


def mistakes() -> None:
    """mypy is strict: an ignore of an error that is not there is an error too."""
    gl.labs.clipping(limt=1)  # type: ignore[call-arg]
    gl.labs.clipping(method="nrm")  # type: ignore[arg-type]
    gl.labs.adagrad(target="top")  # type: ignore[arg-type]
    gl.labs.clipping().save("x.png", theme="drak")  # type: ignore[arg-type]
