"""torch.compile of the model, of the optimizer's step, and of both: the rows of the table in
`test_loops.py`.

The backend "aot_eager" runs the graphs that Dynamo takes without a compiler of C++.
"""

from __future__ import annotations

import contextlib

import pytest

import gradlab as gl
from tests.record.attach.torch.by_hand import NAMES, gradients, loss_of, model, norms
from tests.record.attach.torch.later import torch
from tests.record.attach.torch.test_loops import STEPS, assert_rows, clip, plain_loop

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("error::gradlab.errors.RecordingWarning"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.script_method:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning"),
]


@pytest.mark.parametrize(
    "inner", [True, False], ids=["attached to the inner one", "attached to the compiled one"]
)
def test_a_compiled_model(inner: bool) -> None:
    torch._dynamo.reset()
    net = model()
    compiled = torch.compile(net, backend="aot_eager")
    optimizer, expected = torch.optim.SGD(net.parameters(), 0.1), []
    with gl.record.torch(gl.Recorder(), net if inner else compiled, optimizer) as recording:
        for step in range(STEPS):
            optimizer.zero_grad()
            loss_of(compiled, step).backward()
            expected.append(norms(gradients(net, step)))
            clip(net)
            optimizer.step()
    assert_rows(recording.recorder, expected)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_a_compiled_step(kind: str) -> None:
    torch._dynamo.reset()
    net = model()
    optimizer = getattr(torch.optim, kind)(net.parameters(), 0.01)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        expected = plain_loop(
            net, optimizer, step_of=torch.compile(lambda o: o.step(), backend="aot_eager")
        )
    assert_rows(recording.recorder, expected)


def test_a_compiled_training_step() -> None:
    torch._dynamo.reset()
    net, expected = model(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    @torch.compile(backend="aot_eager")
    def train_step(step: int) -> None:
        optimizer.zero_grad()
        loss_of(net, step).backward()
        clip(net)
        optimizer.step()

    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):
            expected.append(norms(gradients(net, step)))
            train_step(step)
    assert_rows(recording.recorder, expected)


@pytest.mark.parametrize("told", [True, False])
def test_compiled_autograd_is_warned_of(told: bool) -> None:
    torch._dynamo.reset()
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        with torch._dynamo.config.patch(compiled_autograd=True):
            torch.compile(lambda: loss_of(net, 0).backward(), backend="aot_eager")()
        expected = [norms(gradients(net, 0))]
        if told:
            recording.measure()
        clip(net)
        message = "compiled autograd.* Call measure"
        with (
            contextlib.nullcontext()
            if told
            else pytest.warns(gl.errors.RecordingWarning, match=message)
        ):
            optimizer.step()
    if told:
        assert_rows(recording.recorder, expected)


def test_a_whole_graph_of_the_step_is_refused() -> None:
    torch._dynamo.reset()
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        loss_of(net, 0).backward()
        with pytest.raises(torch._dynamo.exc.Unsupported, match="fullgraph=True leaves no place"):
            torch.compile(optimizer.step, backend="aot_eager", fullgraph=True)()
    assert recording.recorder.seen == 0


def test_names_are_those_of_the_model_inside() -> None:
    net = torch.nn.ModuleDict({"module": model(), "other": torch.compile(torch.nn.Linear(2, 2))})
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    inside = (*(f"module.{name}" for name in NAMES), "other.weight", "other.bias")
    for wrapped in (
        net,
        torch.compile(net),
        torch.nn.DataParallel(net),
        torch.compile(torch.nn.DataParallel(net)),
    ):
        with gl.record.torch(gl.Recorder(), wrapped, optimizer) as recording:
            pass
        assert recording.recorder.names == inside
