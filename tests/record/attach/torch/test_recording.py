"""A recorder on a PyTorch loop: what is kept of a step, when it is measured, and what is refused."""

import copy
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.record.attach.torch import recording as module
from gradlab.record.attach.torch.queues import DeviceSteps
from tests.record.attach.torch.later import torch

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True, params=["cpu", "as on an accelerator"])
def host_or_device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps as the CPU has them, and as an accelerator has, which torch's ops are the same for."""
    if request.param != "cpu":
        monkeypatch.setattr(
            module, "queue_on", lambda device, recorder: DeviceSteps(recorder, device)
        )


def model() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))


def loss_of(net: Any, step: int, rows: slice = slice(None)) -> Any:
    rng = np.random.default_rng(step)
    x, y = (
        torch.from_numpy(rng.normal(size=(8, 5)).astype(np.float32)),
        torch.from_numpy(rng.integers(0, 3, 8)),
    )
    return torch.nn.functional.cross_entropy(net(x[rows])[..., :3], y[rows])


def train(
    net: Any, optimizer: Any, steps: int = 3, clip: float | None = None, **kwargs: Any
) -> tuple[Any, gl.Recorder]:
    """The recording of a loop, and one that a plain Recorder made of the gradients before the clip."""
    plain = gl.Recorder(sample_every=2)
    with gl.record.torch(gl.Recorder(sample_every=2), net, optimizer, **kwargs) as recording:
        for step in range(steps):
            optimizer.zero_grad()
            loss = loss_of(net, step)
            loss.backward()
            plain.record(
                {name: p.grad.float().numpy() for name, p in net.named_parameters()},
                loss=float(loss.detach()),
            )
            if clip:
                torch.nn.utils.clip_grad_norm_(net.parameters(), clip)
            recording.note(loss=loss)
            optimizer.step()
    return recording.recorder, plain


def assert_same(got: gl.Recorder, plain: gl.Recorder, rel: float = 1e-6) -> None:
    order = [got.names.index(name) for name in plain.names]
    for column in ("norm", "largest", "nonfinite", "histogram"):
        np.testing.assert_allclose(got[column][:, order], plain[column], rel)
    np.testing.assert_allclose(got["loss"], plain["loss"], rel)
    entries = {got.entry_name(k): got["entry"][:, k] for k in range(got["entry"].shape[1])}
    for k in range(plain["entry"].shape[1]):
        np.testing.assert_array_equal(entries[plain.entry_name(k)], plain["entry"][:, k])


@pytest.mark.parametrize("every", [1, 2, 64])
def test_steps_are_the_gradients_before_the_clip(every: int) -> None:
    net = model()
    got, plain = train(net, torch.optim.Adam(net.parameters()), clip=1e-3, every=every)
    assert got.names == tuple(name for name, _ in net.named_parameters())
    assert got.seen == 3
    assert_same(got, plain)
    assert np.isnan(got["seconds"][0]) and (got["seconds"][1:] > 0).all()


def test_after_the_clip_is_what_the_optimizer_gets() -> None:
    net = model()
    got, _ = train(net, torch.optim.SGD(net.parameters(), 0.1), clip=1e-3, before_clip=False)
    assert got.global_norm == pytest.approx(1e-3, rel=1e-3)


def test_micro_batches_add_up_to_one_step() -> None:
    nets, recorders = (model(), model()), []
    for net, parts in zip(nets, ([slice(0, 4), slice(4, 8)], [slice(None)]), strict=True):
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
            for step in range(2):
                optimizer.zero_grad()
                for part in parts:
                    (loss_of(net, step, part) / len(parts)).backward()
                optimizer.step()
        recorders.append(recording.recorder)
    assert recorders[0].seen == 2
    np.testing.assert_allclose(recorders[0]["norm"], recorders[1]["norm"], 1e-5)
    assert np.isnan(recorders[0]["loss"]).all()


@pytest.mark.parametrize(("dtype", "rel"), [("bfloat16", 1e-6), ("float64", 1e-6)])
def test_other_dtypes_are_measured_as_float32(dtype: str, rel: float) -> None:
    net = model().to(getattr(torch, dtype))
    net.register_forward_pre_hook(lambda _, inputs: inputs[0].to(getattr(torch, dtype)))
    got, plain = train(net, torch.optim.SGD(net.parameters(), 0.1))
    assert_same(got, plain, rel)


def test_a_gradient_that_is_not_there_has_norm_0_and_its_name_stays() -> None:
    net = model()
    net[0].bias.requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(2):
            optimizer.zero_grad()
            loss_of(net, step).backward()
            if step == 0:
                net[2].bias.grad = None
            optimizer.step()
            net[0].bias.requires_grad_(True)  # what no hook saw is measured at the step
    assert recording.recorder.names == ("0.weight", "0.bias", "2.weight", "2.bias")
    assert (recording.recorder["norm"] > 0).tolist() == [[True, False, True, False], [True] * 4]


@pytest.mark.parametrize("twice", [False, True])
def test_sparse_gradients_are_summed_by_row_and_their_entries_found(twice: bool) -> None:
    recorders = []
    for sparse in (False, True):
        table = torch.nn.Embedding(50, 3, sparse=sparse)
        torch.nn.init.ones_(table.weight)
        optimizer = torch.optim.SGD(table.parameters(), 0.1)
        with gl.record.torch(
            gl.Recorder(entries=40, sample_every=1), table, optimizer
        ) as recording:
            for ids in ([7, 42, 7] if twice else [7, 42], []):
                optimizer.zero_grad()
                (table(torch.tensor(ids, dtype=torch.long)) ** 2).sum().backward()
                optimizer.step()
        recorders.append(recording.recorder)
    for column in ("norm", "largest", "nonfinite", "histogram", "entry"):
        np.testing.assert_array_equal(recorders[1][column], recorders[0][column])
    assert recorders[1]["entry"].any()


def test_what_is_not_finite_or_very_large_or_small() -> None:
    p = torch.nn.Parameter(torch.zeros(4))
    optimizer = torch.optim.SGD([p], 0.0)
    with gl.record.torch(gl.Recorder(), [("p", p)], optimizer) as recording:
        for g in (
            [3.0, -4.0, np.nan, np.inf],
            [3e30, 4e30, 0.0, 0.0],
            [3e-30, -4e-30, 0.0, 0.0],
            [0.0] * 4,
        ):
            p.grad = torch.tensor(g)
            optimizer.step()
    rec = recording.recorder
    assert rec["largest"][:, 0] == pytest.approx(np.float32([4, 4e30, 4e-30, 0]))
    assert rec["norm"][1:, 0] == pytest.approx(np.float32([5e30, 5e-30, 0]))
    assert not np.isfinite(rec["norm"][0, 0])
    assert rec["nonfinite"][:, 0].tolist() == [2, 0, 0, 0]


@pytest.mark.parametrize("fused", [False, True])
def test_at_the_step_a_grad_scaler_has_taken_its_scale_off(fused: bool) -> None:
    net = model()
    optimizer, scaler = (
        torch.optim.Adam(net.parameters(), fused=fused),
        torch.amp.GradScaler("cpu", init_scale=1024.0),
    )
    with gl.record.torch(gl.Recorder(), net, optimizer, before_clip=False) as recording:
        loss = loss_of(net, 0)
        scaler.scale(loss).backward()
        scaled = [float(p.grad.norm()) for p in net.parameters()]
        scaler.step(optimizer)
        scaler.update()
    np.testing.assert_allclose(recording.recorder["norm"][0], np.array(scaled) / 1024, 1e-5)


@pytest.mark.parametrize("before_clip", [False, True])
def test_a_closure_is_recorded_with_what_its_last_call_left(before_clip: bool) -> None:
    net = model()
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)
    norms: list[float] = []

    def closure() -> Any:
        optimizer.zero_grad()
        loss = loss_of(net, 0)
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(net.parameters(), float("inf"))))
        return loss

    with gl.record.torch(gl.Recorder(), net, optimizer, before_clip=before_clip) as recording:
        optimizer.step(closure)
    assert recording.recorder.global_norm == pytest.approx([norms[-1]], rel=1e-6)


def test_a_closed_recording_leaves_nothing_behind() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    recording = gl.record.torch(gl.Recorder(), net, optimizer)
    assert pickle_of(net) and copy.deepcopy(net)
    loss_of(net, 0).backward()
    optimizer.step()
    assert recording.recorder.seen == 1  # reading hands over what waits
    assert copy.copy(recording.recorder).attachment is None
    assert recording.close() is recording.close()
    optimizer.step()
    assert recording.flush().seen == 1
    for late in (recording.measure, recording.skip):
        with pytest.raises(ValueError, match="this recording is closed; attach its recorder again"):
            late()


def test_a_note_after_the_last_step_is_warned_of_when_the_recording_is_closed() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    recording = gl.record.torch(gl.Recorder(), net, optimizer)
    for step in range(3):
        optimizer.zero_grad()
        loss = loss_of(net, step)
        loss.backward()
        optimizer.step()
        recording.note(loss=loss)  # too late: it is recorded with the next step
    with pytest.warns(
        gl.errors.RecordingWarning, match=r"^loss: .*before optimizer\.step\(\)"
    ) as warned:
        recorder = recording.close()
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recording.close()
    assert np.isnan(recorder["loss"]).tolist() == [True, False, False]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("note_first", [True, False])
def test_a_loop_that_ends_within_a_step_is_not_warned_of_its_notes(note_first: bool) -> None:
    net = model()
    with gl.record.torch(gl.Recorder(), net, torch.optim.SGD(net.parameters(), 0.1)) as recording:
        loss = loss_of(net, 0)
        if note_first:
            recording.note(loss=loss)
        loss.backward()
        if not note_first:
            recording.note(loss=loss)


@pytest.mark.filterwarnings("error")
def test_a_loop_that_is_interrupted_is_not_warned_of_its_notes() -> None:
    net = model()

    def interrupted() -> None:
        with gl.record.torch(
            gl.Recorder(), net, torch.optim.SGD(net.parameters(), 0.1)
        ) as recording:
            recording.note(loss=1.0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


def pickle_of(net: Any) -> bytes:
    torch.save(net.state_dict(), buffer := io.BytesIO())
    return buffer.getvalue()


def test_two_optimizers_of_one_model_have_a_recorder_each() -> None:
    net = model()
    optimizers = [torch.optim.SGD(part.parameters(), 0.1) for part in (net[0], net[2])]
    recordings = [gl.record.torch(gl.Recorder(), net, o) for o in optimizers]
    loss_of(net, 0).backward()
    for o in optimizers:
        o.step()
    assert [r.close().names for r in recordings] == [("0.weight", "0.bias"), ("2.weight", "2.bias")]
    assert all((r.recorder["norm"] > 0).all() for r in recordings)


def test_bad_arguments_are_refused_by_name() -> None:
    net = model()
    sgd: Callable[..., Any] = torch.optim.SGD
    ours = sgd(net.parameters(), 0.1)
    elsewhere = [net[0].weight, torch.nn.Parameter(torch.zeros(7, device="meta"))]
    for model_, optimizer, kwargs, error, message in (
        (net, "adam", {}, TypeError, "must be a torch.optim.Optimizer, got str"),
        (
            3,
            ours,
            {},
            TypeError,
            r"model must be a torch.nn.Module or \(name, parameter\) pairs, got int",
        ),
        (
            net[0],
            ours,
            {},
            ValueError,
            r"parameters that the model does not name, of shapes \(3, 4\), \(3,\)",
        ),
        (net, ours, {"every": 0}, ValueError, "every must be >= 1, got 0"),
        (
            net,
            ours,
            {"scaler": 1024.0},
            TypeError,
            "scaler must have the methods of torch.amp.GradScaler, got float",
        ),
        (net, ours, {"scalars": ["norm"]}, ValueError, "norm cannot be the name of a scalar"),
        (
            enumerate(elsewhere),
            sgd(elsewhere, 0.1),
            {},
            ValueError,
            "must be on one device, got 0 on cpu, 1 on meta",
        ),
    ):
        with pytest.raises(error, match=message):
            gl.record.torch(gl.Recorder(), model_, optimizer, **kwargs)
    tensor = torch.nn.Parameter(torch.zeros(2, dtype=torch.complex64))
    with pytest.raises(
        TypeError, match=r"w is torch.complex64; complex gradients are not recorded"
    ):
        gl.record.torch(gl.Recorder(), [("w", tensor)], sgd([tensor], 0.1))
    with gl.record.torch(gl.Recorder(), net, ours) as recording:
        with pytest.raises(ValueError, match=r"lr is not among scalars=.*add it"):
            recording.note(lr=0.1)
        with pytest.raises(
            ValueError, match=r"loss must be one number for each step, got shape \(2,\)"
        ):
            recording.note(loss=torch.zeros(2))
