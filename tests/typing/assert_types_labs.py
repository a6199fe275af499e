"""What type checkers know of the labs, as `assert_type` lines: and mistakes they find."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

from matplotlib.figure import Figure

import gradlab as gl


def calls(rec: gl.Recorder) -> None:
    """Every way to open a lab, and what is asked of one."""
    lab = gl.labs.clipping(limit=0.3, method="norm", run="1", target="keep_95")
    assert_type(lab, gl.labs.clipping)
    assert_type(gl.labs.clipping(rec, limit=2), gl.labs.clipping)
    assert_type(lab.runs, dict[str, gl.Recorder])
    assert_type(lab.figure(limit=1.0), Figure)
    assert_type(lab.link(), str)
    assert_type(gl.labs.adagrad("bottom_15", step=3, clip=None, surface="tumours"), gl.labs.adagrad)
    assert_type(gl.labs.run_layers(Path("run.npz"), tensor="embed", show="all"), gl.labs.run_layers)
    assert_type(gl.labs.compare(rec, "b.npz", names=("a", "b"), tensor=None), gl.labs.compare)
    assert_type(gl.labs.from_link("#gl=1&lab=clipping"), gl.labs.Lab)
    assert_type(gl.labs.catalog(), dict[str, type[gl.labs.Lab]])
    lab.set(limit=1.0, method="global")
    lab.save("x.png", theme="dark", limit=3.0)


def mistakes() -> None:
    """mypy is strict: an ignore of an error that is not there is an error too."""
    gl.labs.clipping(limt=1)  # type: ignore[call-arg]
    gl.labs.clipping(method="nrm")  # type: ignore[arg-type]
    gl.labs.clipping().set(limt=1)  # type: ignore[call-arg]
    gl.labs.adagrad(target="top")  # type: ignore[arg-type]
