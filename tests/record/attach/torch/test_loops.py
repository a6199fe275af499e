"""Loops as practitioners write them: each row of the recording against gradients computed by hand.

What must be recorded, where `record` is called as `record(recorder, model, optimizer)` and the loop
clips after backward:

| loop                                    | gradient of a row                                                   |
|-----------------------------------------|---------------------------------------------------------------------|
| plain, foreach, fused                   | after backward, before the clip                                     |
| `before_clip=False`                     | after the clip, what the optimizer uses                             |
| several micro-batches                   | their sum, before the clip                                          |
| bfloat16 autocast                       | after backward, before the clip                                     |
| GradScaler, `unscale_` before the clip  | without the scale, before the clip                                  |
| GradScaler, clip of scaled gradients    | without the scale, before the clip, and a warning                   |
| GradScaler, no clip, also fused         | without the scale                                                   |
| GradScaler, gradients overflow          | a row that is marked as skipped, with the tensors that overflowed   |
| a step that the loop skips              | a row that is marked as skipped, once it says so, or without a word |
|                                         | where gradients hold NaN or Inf; else a warning                     |
| `note` in each micro-batch              | the mean of the numbers, or their sum                               |
| a loss scale by hand                    | a warning; after `measure()` without the scale                      |
| DDP, `no_sync`, static graph            | averaged over processes, before the clip; the same in each process  |
| averaged by hand                        | a warning; after `measure()` averaged                               |
| FSDP2                                   | the whole gradient: parts summed over processes; the same in each   |
| FSDP1                                   | refused, with what to use in its place                              |
| compiled model, compiled step           | after backward, before the clip; names of the model inside          |
| LBFGS, other closures                   | of the closure's last call                                          |
| sparse                                  | rows summed (test_recording.py)                                     |
| layers unfrozen after attaching         | before the clip, from the first step on                             |
| parameter groups added after attaching  | with room, before the clip; without it refused, at the step         |
| attached twice                          | one row for each step, and a warning                                |
| two recorders                           | each as if alone                                                    |
| closed                                  | none, and no hook is left                                           |

With `weights=True` the norms of the weights before each step and of what it adds to them, and with
`noise_scale=True` those of the micro-batches' gradients, of replicas too (test_replicas.py), are
compared with weights and gradients by hand as well.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.record.attach.torch import recording as module
from gradlab.record.attach.torch import scaling
from gradlab.record.attach.torch.queues import DeviceSteps
from tests.record.attach.torch.by_hand import NAMES, gradients, loss_of, model, norms
from tests.record.attach.torch.later import torch

pytestmark = pytest.mark.torch

CLIP = 1e-3  # all gradients are larger
STEPS = 4


@pytest.fixture(autouse=True, params=["cpu", "as on an accelerator"])
def host_or_device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps as the CPU has them, and as an accelerator has, which torch's ops are the same for."""
    if request.param != "cpu":
        monkeypatch.setattr(
            module, "queue_on", lambda device, recorder: DeviceSteps(recorder, device)
        )


@pytest.fixture(autouse=True)
def warnings_are_errors() -> Iterator[None]:
    """A loop that is right is not warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", gl.errors.RecordingWarning)
        yield


def clip(net: Any, limit: float = CLIP) -> None:
    torch.nn.utils.clip_grad_norm_(net.parameters(), limit)


def assert_rows(recorder: gl.Recorder, expected: list[list[float]], rel: float = 1e-5) -> None:
    assert recorder.names == NAMES
    np.testing.assert_allclose(recorder["norm"], expected, rel)


def plain_loop(
    net: Any, optimizer: Any, steps: int = STEPS, step_of: Callable[[Any], Any] | None = None
) -> Any:
    """Norms by hand of a loop that clips."""
    expected = []
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(net, step).backward()
        expected.append(norms(gradients(net, step)))
        clip(net)
        (step_of or type(optimizer).step)(optimizer)
    return expected


@pytest.mark.parametrize("kwargs", [{}, {"foreach": True}, {"fused": True}], ids=str)
@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
def test_plain_foreach_and_fused(kind: str, kwargs: dict[str, bool]) -> None:
    net = model()
    optimizer = getattr(torch.optim, kind)(net.parameters(), 0.1, **kwargs)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        expected = plain_loop(net, optimizer)
    assert_rows(recording.recorder, expected)


def test_after_the_clip() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer, before_clip=False) as recording:
        before = plain_loop(net, optimizer)
    factors = CLIP / np.linalg.norm(before, axis=1, keepdims=True)
    assert_rows(recording.recorder, before * factors, 1e-2)  # the clip adds 1e-6 to the norm


@pytest.mark.parametrize("before_clip", [True, False])
def test_what_a_step_does_to_gradients_comes_after_the_row(before_clip: bool) -> None:
    class Spent(torch.optim.SGD):
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            for group in self.param_groups:
                for p in group["params"]:
                    p.grad.zero_()

    net = model()
    optimizer = Spent(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer, before_clip=before_clip) as recording:
        loss_of(net, 0).backward()
        optimizer.step()
    assert_rows(recording.recorder, [norms(gradients(net, 0))])


def test_micro_batches() -> None:
    net, expected = model(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):
            optimizer.zero_grad()
            for rows in (slice(0, 2), slice(2, 4), slice(4, 8)):
                (loss_of(net, step, rows) * (rows.stop - rows.start) / 8).backward()
            expected.append(norms(gradients(net, step)))
            clip(net)
            optimizer.step()
    assert_rows(recording.recorder, expected)


@pytest.mark.parametrize("kind", ["AdamW", "fused", "LBFGS"])
def test_weights_and_updates(kind: str) -> None:
    """Of steps that a scaler skips, or that move nothing, there are none."""
    net, before, moved = model(), [], []
    kwargs: dict[str, Any] = {"fused": True} if kind == "fused" else {}
    optimizer = getattr(torch.optim, "LBFGS" if kind == "LBFGS" else "AdamW")(
        net.parameters(), 1e-2, **kwargs
    )
    scaler = torch.amp.GradScaler("cpu", enabled=kind != "LBFGS")
    with gl.record.torch(
        gl.Recorder(sample_every=1), net, optimizer, weights=True, every=3
    ) as recording:
        for step in range(STEPS):
            own = [p.detach().double().numpy().copy() for p in net.parameters()]

            def closure(step: int = step) -> Any:
                optimizer.zero_grad()
                loss = loss_of(net, step) * (np.inf if step == 1 and kind != "LBFGS" else 1)
                scaler.scale(loss).backward()
                return loss

            if kind == "LBFGS":
                optimizer.step(closure)
            else:
                closure()
                scaler.step(optimizer)
                scaler.update()
            before.append(norms(own))
            moved.append(
                norms(
                    [
                        p.detach().double().numpy() - x
                        for p, x in zip(net.parameters(), own, strict=True)
                    ]
                )
            )
    found = recording.recorder.updates()
    taken = [k for k in range(STEPS) if kind == "LBFGS" or k != 1]
    assert found.step.tolist() == taken
    np.testing.assert_allclose(found.weight, np.array(before)[taken], 1e-5)
    np.testing.assert_allclose(found.update, np.array(moved)[taken], 1e-4)
    np.testing.assert_allclose(found.gradient, recording.recorder["norm"][taken], 1e-6)
    assert recording.groups == {"0": NAMES}


@pytest.mark.parametrize("rate", [0.1, 1e-3], ids=["ruinous", "good"])
def test_the_median_ratio_of_an_adamw_run_is_that_of_all_its_steps(rate: float) -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Embedding(40, 16),
        torch.nn.Flatten(),
        torch.nn.Linear(64, 64),
        torch.nn.LayerNorm(64),
        torch.nn.Tanh(),
        torch.nn.Linear(64, 40),
    )
    optimizer = torch.optim.AdamW(net.parameters(), rate)
    next_letter, ratios = torch.randperm(40), []
    with gl.record.torch(gl.Recorder(), net, optimizer, weights=True) as recording:
        for _ in range(120):
            letters = torch.randint(0, 40, (32, 4))
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(letters), next_letter[letters[:, -1]]).backward()
            clip(net, 1.0)
            before = [p.detach().double().clone() for p in net.parameters()]
            optimizer.step()
            moved = zip(before, net.parameters(), strict=True)
            ratios.append([float((p.detach().double() - w).norm() / w.norm()) for w, p in moved])
    found = recording.recorder.updates()
    off = found.median / np.median(ratios[1:], axis=0)  # the bias of LayerNorm is 0 before step 0
    assert (off < 1.3).all() and (off > 1 / 1.3).all(), off


@pytest.mark.parametrize("divided", [True, False])
def test_the_noise_scale_of_micro_batches(divided: bool) -> None:
    """Whether losses are divided by their number, or scaled, says nothing of the noise."""
    net, parts = model(), [slice(0, 2), slice(2, 4), slice(4, 6), slice(6, 8)]
    big, small = [], []
    optimizer = torch.optim.SGD(net.parameters(), 1e-2)
    scaler = torch.amp.GradScaler("cpu")
    loss_of(net, 9).backward()  # of no step: begun anew below
    with gl.record.torch(gl.Recorder(), net, optimizer, noise_scale=True, scalars=()) as recording:
        loss_of(net, 8).backward()  # of no step either, as is said once
        optimizer.zero_grad()
        with pytest.warns(
            gl.errors.RecordingWarning, match=r"optimizer\.step\(\) used some gradients"
        ):
            loss_of(net, 8).backward()
        for step in range(STEPS):
            optimizer.zero_grad()
            loss_of(net, step).backward()  # a batch that the loop drops
            optimizer.zero_grad()
            for rows in parts:
                scaler.scale(loss_of(net, step, rows) / (len(parts) if divided else 1)).backward()
            small.append(
                np.mean([np.square(norms(gradients(net, step, rows))).sum() for rows in parts])
            )
            big.append(np.square(norms(gradients(net, step))).sum())
            scaler.step(optimizer)
            scaler.update()
    n, found = len(parts), recording.recorder.noise_scale()
    noise, signal = (
        np.mean(np.subtract(small, big)) * n / (n - 1),
        np.mean(n * np.array(big) - small) / (n - 1),
    )
    assert found.steps == STEPS and found.value == pytest.approx(noise / signal, rel=1e-3)
    with pytest.raises(ValueError, match="before a clip"):
        gl.record.torch(gl.Recorder(), net, optimizer, noise_scale=True, before_clip=False)


def test_bfloat16_autocast() -> None:
    net, expected = model(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_of(net, step)
            loss.backward()
            expected.append(norms(gradients(net, step)))
            clip(net)
            optimizer.step()
    assert_rows(recording.recorder, expected, 2e-2)


def scaled_loop(
    net: Any, optimizer: Any, scaler: Any, order: str, dtype: Any = None
) -> list[list[float]]:
    """Norms by hand, without the scale, of a loop that clips where `order` says."""
    expected = []
    for step in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype) if dtype else contextlib.nullcontext():
            loss = loss_of(net, step)
        scaler.scale(loss).backward()
        expected.append(norms(gradients(net, step)))
        if order == "clip of scaled":
            clip(net)
        if order == "unscaled, clip":
            scaler.unscale_(optimizer)
            clip(net)
        scaler.step(optimizer)
        scaler.update()
    return expected


@pytest.mark.parametrize("order", ["unscaled, clip", "no clip"])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("before_clip", [True, False])
def test_a_grad_scaler(order: str, given: bool, fused: bool, before_clip: bool) -> None:
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), 0.1, fused=fused)
    scaler = torch.amp.GradScaler("cpu", growth_interval=2)  # the scale changes
    with gl.record.torch(
        gl.Recorder(sample_every=1),
        net,
        optimizer,
        before_clip=before_clip,
        scaler=scaler if given else None,
    ) as recording:
        expected = scaled_loop(net, optimizer, scaler, order)
    if not before_clip and order == "unscaled, clip":
        expected = expected * (CLIP / np.linalg.norm(expected, axis=1, keepdims=True))
        assert_rows(recording.recorder, expected, 1e-2)
    else:
        assert_rows(recording.recorder, expected)
        sizes = np.arange(64) - 32.0
        middle = (recording.recorder["histogram"] * sizes).sum((1, 2)) / recording.recorder[
            "histogram"
        ].sum((1, 2))
        assert (abs(middle) < 8).all()  # the scale is 2**16


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize(
    "unscaled", [True, False], ids=["unscaled after it", "never unscaled by hand"]
)
def test_a_clip_of_scaled_gradients_is_warned_of_and_comes_after_what_is_recorded(
    given: bool, unscaled: bool
) -> None:
    net, expected = model(), []
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), torch.amp.GradScaler("cpu")
    recorder = gl.Recorder(sample_every=1)
    with gl.record.torch(recorder, net, optimizer, scaler=scaler if given else None):
        for step in range(STEPS):
            optimizer.zero_grad()
            scaler.scale(loss_of(net, step)).backward()
            expected.append(norms(gradients(net, step)))
            clip(net)
            message = "loss scale of 65536: .* before the clip"
            with (
                pytest.warns(gl.errors.RecordingWarning, match=message)
                if step == 0
                else _nothing() as warned
            ):
                (scaler.unscale_ if unscaled else scaler.step)(optimizer)
            if step == 0:
                (said,) = warned
            if unscaled:
                scaler.step(optimizer)
            scaler.update()
    true = np.linalg.norm(expected[0])
    assert f"norm was {true:.3g} after backward" in str(said.message), (
        "what the clip saw, and the truth"
    )
    assert_rows(recorder, expected)
    sizes = np.arange(64) - 32.0
    middle = (recorder["histogram"] * sizes).sum((1, 2)) / recorder["histogram"].sum((1, 2))
    assert (abs(middle) < 8).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_autocast_and_a_grad_scaler(dtype: str) -> None:
    net = model()
    optimizer, scaler = (
        torch.optim.SGD(net.parameters(), 0.1),
        torch.amp.GradScaler("cpu", init_scale=1024.0),
    )
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        expected = scaled_loop(net, optimizer, scaler, "unscaled, clip", getattr(torch, dtype))
    assert_rows(recording.recorder, expected, 2e-2)


def test_a_disabled_grad_scaler() -> None:
    net = model()
    optimizer, scaler = (
        torch.optim.SGD(net.parameters(), 0.1),
        torch.amp.GradScaler("cpu", enabled=False),
    )
    with gl.record.torch(gl.Recorder(), net, optimizer, scaler=scaler) as recording:
        expected = scaled_loop(net, optimizer, scaler, "unscaled, clip")
    assert_rows(recording.recorder, expected)


@pytest.mark.parametrize("order", ["unscaled, clip", "no clip"])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("before_clip", [True, False])
def test_steps_that_a_grad_scaler_skips(
    order: str, given: bool, fused: bool, before_clip: bool
) -> None:
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), 0.1, fused=fused)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    backwards = iter([False, True, True, False])
    net[2].bias.register_hook(lambda g: g * float("inf") if next(backwards) else None)
    recorder = gl.Recorder()
    with gl.record.torch(
        recorder, net, optimizer, before_clip=before_clip, scaler=scaler if given else None
    ):
        expected = np.array(scaled_loop(net, optimizer, scaler, order))
    assert recorder.seen == STEPS and recorder.skipped_steps == 2
    assert recorder["skipped"].tolist() == [0, 1, 1, 0]
    assert recorder["scale"].tolist() == [1024, 1024, 512, 256]
    assert (recorder["nonfinite"] > 0).tolist() == [
        [False] * 4,
        *[[False] * 3 + [True]] * 2,
        [False] * 4,
    ]
    if before_clip or order == "no clip":
        expected[1:3, 3] = np.inf
        finite = np.isfinite(expected)
        np.testing.assert_allclose(recorder["norm"][finite], expected[finite], 1e-5)
        assert not np.isfinite(recorder["norm"][~finite]).any()


def test_of_a_hundred_steps_with_four_overflows_none_is_missing() -> None:
    net = model()
    optimizer, scaler = (
        torch.optim.SGD(net.parameters(), 1e-3),
        torch.amp.GradScaler("cpu", init_scale=1024.0),
    )
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(100):
            optimizer.zero_grad()
            loss = loss_of(net, step) * (float("inf") if step in (3, 20, 21, 90) else 1.0)
            scaler.scale(loss).backward()
            recording.note(loss=loss)
            scaler.step(optimizer)
            scaler.update()
    recorder = recording.recorder
    assert (recorder.seen, recorder.skipped_steps) == (100, 4)
    assert np.flatnonzero(recorder["skipped"]).tolist() == [3, 20, 21, 90]
    assert np.flatnonzero(~np.isfinite(recorder["loss"])).tolist() == [3, 20, 21, 90]


def test_steps_that_the_loop_itself_skips() -> None:
    net, expected = model(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):
            optimizer.zero_grad()
            loss_of(net, step).backward()
            expected.append(norms(gradients(net, step)))
            clip(net)
            if step == 1:
                recording.skip()
            else:
                optimizer.step()
    assert_rows(recording.recorder, expected)
    assert recording.recorder["skipped"].tolist() == [0, 1, 0, 0]
    assert np.isnan(recording.recorder["scale"]).all()


@pytest.mark.parametrize("set_to_none", [True, False])
@pytest.mark.parametrize("bad", [1, STEPS - 1], ids=["in the middle", "the last one"])
def test_a_step_with_nan_that_the_loop_leaves_out_is_a_skipped_row(
    bad: int, set_to_none: bool
) -> None:
    net, expected, losses = model(), [], []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):
            optimizer.zero_grad(set_to_none=set_to_none)
            loss = loss_of(net, step) * (float("nan") if step == bad else 1.0)
            loss.backward()
            expected.append(
                [float("nan")] * len(NAMES) if step == bad else norms(gradients(net, step))
            )
            recording.note(loss=loss)
            losses.append(float(loss.detach()))
            norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            if torch.isfinite(norm):
                optimizer.step()
    recorder = recording.recorder
    assert_rows(recorder, expected)
    assert recorder["skipped"].tolist() == [int(step == bad) for step in range(STEPS)]
    assert (recorder.seen, recorder.skipped_steps, recorder.nonfinite_steps) == (STEPS, 1, 0)
    np.testing.assert_allclose(recorder["loss"], losses, 1e-6)


def test_numbers_noted_before_backward_are_of_the_step_that_is_left_out() -> None:
    net, losses = model(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):
            optimizer.zero_grad()
            loss = loss_of(net, step)
            recording.note(loss=loss)
            losses.append(float(loss.detach()))
            (loss * (float("inf") if step == 1 else 1.0)).backward()
            if all(p.grad.isfinite().all() for p in net.parameters()):
                optimizer.step()
    np.testing.assert_allclose(recording.recorder["loss"], losses, 1e-6)
    assert recording.recorder["skipped"].tolist() == [0, 1, 0, 0]


def test_micro_batches_with_nan_that_the_loop_leaves_out_are_one_skipped_row() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(3):
            for part in (slice(0, 4), slice(4, 8)):
                (
                    loss_of(net, step, part) * (float("nan") if step == 1 and part.start else 1.0)
                ).backward()
            if all(p.grad.isfinite().all() for p in net.parameters()):
                optimizer.step()
            optimizer.zero_grad()
    assert recording.recorder["skipped"].tolist() == [0, 1, 0]


def test_finite_gradients_that_no_step_uses_are_warned_of_once_and_left_out() -> None:
    net, expected = model(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):
            loss_of(net, step + 10).backward()  # an evaluation's
            optimizer.zero_grad()
            warned = step == 0
            message = r"no optimizer\.step\(\) used.*call skip\(\)"
            with pytest.warns(gl.errors.RecordingWarning, match=message) if warned else _nothing():
                loss_of(net, step).backward()
            expected.append(norms(gradients(net, step)))
            optimizer.step()
            optimizer.zero_grad()
    assert_rows(recording.recorder, expected)
    assert recording.recorder.skipped_steps == 0


def test_a_clip_of_each_micro_batch_does_not_look_like_a_new_start() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):
            for part in (slice(0, 4), slice(4, 8)):
                loss_of(net, step, part).backward()
                clip(net, 1e3)
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
    assert recording.recorder.seen == STEPS and recording.recorder.skipped_steps == 0


@pytest.mark.parametrize(("notes", "share"), [("mean", 1.0), ("sum", 0.5)])
def test_numbers_of_micro_batches_are_those_of_the_step(notes: Any, share: float) -> None:
    net, losses = model(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer, notes=notes) as recording:
        for step in range(STEPS):
            losses.append(float(loss_of(net, step).detach()))
            for part in (slice(0, 4), slice(4, 8)):
                loss = loss_of(net, step, part) * share
                loss.backward()
                recording.note(loss=loss)
            optimizer.step()
            optimizer.zero_grad()
    np.testing.assert_allclose(recording.recorder["loss"], losses, 1e-5)
    assert f"loss: {notes} over the micro-batches of a step, of this process" in repr(recording)


def test_other_objects_may_be_given_to_a_scaler() -> None:
    class Unhashable:
        __slots__ = ("param_groups",)
        __hash__ = None  # type: ignore[assignment]

    net, other = model(), Unhashable()
    other.param_groups = []
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), torch.amp.GradScaler("cpu")
    with gl.record.torch(gl.Recorder(), net, optimizer):
        scaler.scale(torch.ones(()))
        scaler.unscale_(other)


class OwnScaler:
    """A loss scale of somebody's own, with a GradScaler's methods; skips where a gradient is not
    finite.
    """

    def __init__(self) -> None:
        self.factor = 2.0**12

    def scale(self, loss: Any) -> Any:
        return loss * self.factor

    def get_scale(self) -> float:
        return self.factor

    def unscale_(self, optimizer: Any) -> None:
        for group in optimizer.param_groups:
            for p in group["params"]:
                p.grad /= self.factor

    def step(self, optimizer: Any) -> None:
        if all(
            p.grad.isfinite().all() for group in optimizer.param_groups for p in group["params"]
        ):
            optimizer.step()

    def update(self) -> None:
        self.factor /= 2


def test_a_scaler_of_ones_own() -> None:
    net = model()
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), OwnScaler()
    with gl.record.torch(gl.Recorder(), net, optimizer, scaler=scaler) as recording:
        expected = scaled_loop(net, optimizer, scaler, "unscaled, clip")
    assert_rows(recording.recorder, expected)
    assert "_listeners" not in vars(OwnScaler) and OwnScaler.step.__qualname__ == "OwnScaler.step"


@pytest.mark.parametrize("told", [True, False])
def test_a_loss_scale_by_hand(told: bool) -> None:
    net, expected = model(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):
            optimizer.zero_grad()
            (loss_of(net, step) * 65536).backward()
            expected.append(norms(gradients(net, step)))
            for p in net.parameters():
                p.grad /= 65536
            if told:
                recording.measure()
                clip(net)
            warned = not told and step == 0
            with (
                pytest.warns(gl.errors.RecordingWarning, match=r"2\*\*-16.*loss scale")
                if warned
                else _nothing()
            ):
                optimizer.step()
    assert_rows(recording.recorder, np.array(expected) * (1 if told else 65536))


_nothing = contextlib.nullcontext


def test_gradients_that_grow_before_the_step_are_warned_of() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer):
        loss_of(net, 0).backward()
        for p in net.parameters():
            p.grad += 1
        with pytest.warns(gl.errors.RecordingWarning, match="have grown, which no clip does"):
            optimizer.step()


@pytest.mark.parametrize("kind", ["SGD", "LBFGS"])
def test_closures(kind: str) -> None:
    net, step, expected = model(), 0, []
    optimizer = getattr(torch.optim, kind)(
        net.parameters(), 0.1, **({"max_iter": 3} if kind == "LBFGS" else {})
    )

    def closure() -> Any:
        optimizer.zero_grad()
        loss = loss_of(net, step)
        loss.backward()
        last[:] = norms(gradients(net, step))
        clip(net, 0.1)
        return loss

    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        for step in range(STEPS):  # noqa: B007, the closure reads it
            last: list[float] = []
            optimizer.step(closure)
            expected.append(last)
    assert_rows(recording.recorder, expected)


@pytest.mark.parametrize("order", ["whole first", "head first"])
def test_layers_unfrozen_after_attaching(order: str) -> None:
    net, expected = model(), []
    net[0].requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        assert not net[0].weight.requires_grad
        for step in range(STEPS):
            if step == 2:
                net[0].requires_grad_(True)
                net[2].requires_grad_(order == "whole first")
            optimizer.zero_grad()
            loss_of(net, step).backward()
            trained = [p.requires_grad for p in net.parameters()]
            expected.append(np.where(trained, norms(gradients(net, step)), 0))
            clip(net)
            optimizer.step()
    assert_rows(recording.recorder, expected)


def test_parameter_groups_added_after_attaching() -> None:
    net, expected = model(), []
    optimizer = torch.optim.SGD(net[2].parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer, all_parameters=True) as recording:
        for step in range(STEPS):
            if step == 2:
                optimizer.add_param_group({"params": net[0].parameters()})
            net.zero_grad()
            loss_of(net, step).backward()
            expected.append(
                np.where([step >= 2, step >= 2, True, True], norms(gradients(net, step)), 0)
            )
            clip(net)
            optimizer.step()
    assert_rows(recording.recorder, expected)


def test_a_parameter_group_without_room_is_refused_before_the_step() -> None:
    net = model()
    optimizer = torch.optim.SGD(net[2].parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        optimizer.add_param_group({"params": net[0].parameters()})
        loss_of(net, 0).backward()
        before = net[0].weight.detach().clone()
        with pytest.raises(
            ValueError,
            match=r"of shapes \(4, 5\), \(4,\) after .* attach it with all_parameters=True",
        ):
            optimizer.step()
        assert torch.equal(net[0].weight, before) and recording.flush().seen == 0
    optimizer.step()
    assert recording.recorder.seen == 0


def test_attached_twice_it_goes_on_with_the_second() -> None:
    net = model()
    optimizer, recorder = torch.optim.SGD(net.parameters(), 0.1), gl.Recorder()
    gl.record.torch(recorder, net, optimizer)
    expected = plain_loop(net, optimizer, 2)
    with pytest.warns(
        gl.errors.RecordingWarning, match="attached before; that recording is closed"
    ):
        recording = gl.record.torch(recorder, net, optimizer)
    expected += plain_loop(net, optimizer, 3)
    assert_rows(recorder, expected)
    with pytest.raises(ValueError, match="this recorder holds tensors"):
        gl.record.torch(recorder, net[0], torch.optim.SGD(net[0].parameters(), 0.1))
    expected += plain_loop(net, optimizer, 1)
    assert_rows(recording.close(), expected)


def test_two_recorders_are_each_as_if_alone() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    before = gl.record.torch(gl.Recorder(), net, optimizer)
    after = gl.record.torch(gl.Recorder(), net, optimizer, before_clip=False)
    expected = plain_loop(net, optimizer)
    assert_rows(before.close(), expected)
    expected += plain_loop(net, optimizer, 1)
    assert after.close().global_norm == pytest.approx([CLIP] * (STEPS + 1), rel=1e-2)
    assert before.recorder.seen == STEPS


def test_closed_it_leaves_no_hook() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    step, unscale_ = torch.amp.GradScaler.step, torch.amp.GradScaler.unscale_
    with gl.record.torch(gl.Recorder(), net, optimizer):
        assert torch.amp.GradScaler.step is not step
        plain_loop(net, optimizer)
    assert (torch.amp.GradScaler.step, torch.amp.GradScaler.unscale_) == (step, unscale_)
    assert not scaling._listeners and not scaling._wrapped
    assert not optimizer._optimizer_step_pre_hooks and not optimizer._optimizer_step_post_hooks
    assert not any(p._post_accumulate_grad_hooks for p in net.parameters())


def test_a_step_without_any_gradient_is_a_row_of_zeros() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        optimizer.step()
    assert_rows(recording.recorder, [[0, 0, 0, 0]])


def test_a_backward_that_raised_does_not_stop_the_recording() -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    def broken(_: Any) -> None:
        raise RuntimeError("broken")

    with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
        hook = net[0].weight.register_post_accumulate_grad_hook(broken)
        with pytest.raises(RuntimeError, match="broken"):
            loss_of(net, 0).backward()
        hook.remove()
        expected = plain_loop(net, optimizer)
    assert_rows(recording.recorder, expected)


def test_recomputed_activations() -> None:
    from torch.utils.checkpoint import checkpoint

    for reentrant in (False, True):
        net, expected = model(), []
        optimizer = torch.optim.SGD(net.parameters(), 0.1)

        def forward(x: Any, net: Any = net, reentrant: bool = reentrant) -> Any:
            return checkpoint(net, x.requires_grad_(), use_reentrant=reentrant)

        with gl.record.torch(gl.Recorder(), net, optimizer) as recording:
            for step in range(STEPS):
                optimizer.zero_grad()
                loss_of(forward, step).backward()
                expected.append(norms(gradients(net, step)))
                clip(net)
                optimizer.step()
        assert_rows(recording.recorder, expected)
