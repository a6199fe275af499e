"""The recorder on Lightning's Trainer and on the Hugging Face Trainer, against gradients computed
by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.record.attach.torch.by_hand import batch, gradients, loss_of, model, norms
from tests.record.attach.torch.later import lightning, torch, transformers

pytestmark = [
    pytest.mark.trainers,
    pytest.mark.filterwarnings("default"),  # those of the trainers are theirs
    pytest.mark.filterwarnings("error::gradlab.errors.RecordingWarning"),
]

CLIP, STEPS = 1e-3, 4


def by_hand(parts: int = 1) -> tuple[np.ndarray, list[float]]:
    """Norms and losses of a loop that clips; the mean of micro-batches of one size is that of the
    batch.
    """
    net, expected, losses = model(), [], []
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(STEPS):
        grads = [gradients(net, step * parts + part) for part in range(parts)]
        expected.append(norms([np.mean(g, axis=0) for g in zip(*grads, strict=True)]))
        optimizer.zero_grad()
        loss = sum(loss_of(net, step * parts + part) for part in range(parts)) / parts
        losses.append(float(loss.detach()))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), CLIP)
        optimizer.step()
    return np.array(expected), losses


def module(optimizers: int = 1) -> Any:
    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = model()
            self.automatic_optimization = optimizers == 1

        def training_step(self, step: Any, number: int) -> Any:
            return loss_of(self.net, int(step))

        def configure_optimizers(self) -> Any:
            found = [torch.optim.SGD(self.net.parameters(), 0.1) for _ in range(optimizers)]
            return found[0] if optimizers == 1 else found

    return Module()


def fit(callback: Any, parts: int = 1, optimizers: int = 1, others: Any = (), **kwargs: Any) -> Any:
    trainer = lightning.Trainer(
        accelerator="cpu",
        max_epochs=1,
        gradient_clip_val=CLIP if optimizers == 1 else None,
        accumulate_grad_batches=parts,
        callbacks=[callback, *others],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **kwargs,
    )
    steps = torch.utils.data.DataLoader(list(range(STEPS * parts)), batch_size=1, shuffle=False)
    trainer.fit(module(optimizers), steps)
    return trainer


@pytest.mark.parametrize("parts", [1, 2])
def test_lightning(parts: int) -> None:
    recorder = gl.Recorder()
    fit(callback := gl.record.lightning(recorder), parts)
    expected, losses = by_hand(parts)
    assert recorder.names == ("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias")
    np.testing.assert_allclose(recorder["norm"], expected, 1e-5)
    np.testing.assert_allclose(recorder["loss"], losses, 1e-5)
    fit(callback, parts)  # again, after it was closed
    np.testing.assert_allclose(recorder["norm"], np.tile(expected, (2, 1)), 1e-5)


def test_lightning_with_a_scaler() -> None:
    from lightning.pytorch.plugins import MixedPrecision

    recorder = gl.Recorder()
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**125)  # the first steps overflow
    plugin = MixedPrecision("bf16-mixed", "cpu")
    plugin.scaler = scaler
    fit(gl.record.lightning(recorder), plugins=[plugin])
    taken = recorder["skipped"] == 0
    assert recorder.seen == STEPS and recorder["scale"][0] == 2.0**125
    assert np.isfinite(recorder["norm"][taken]).all() and (recorder["norm"][taken] < 10).all()
    assert (recorder["loss"] < 10).all()


def test_lightning_that_ends_by_an_error_before_a_backward_is_not_warned_of_its_note() -> None:
    class Broken(lightning.Callback):  # type: ignore[misc, name-defined]
        def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
            raise RuntimeError("broken")

    recorder = gl.Recorder()
    with pytest.raises(RuntimeError, match="broken"):
        fit(gl.record.lightning(recorder), others=[Broken()])
    assert recorder.seen == 0


def test_lightning_with_several_optimizers() -> None:
    with pytest.raises(ValueError, match="the module has 2 optimizers: give optimizer=0 to 1"):
        fit(gl.record.lightning(gl.Recorder()), optimizers=2)
    with pytest.raises(ValueError, match="optimizer must be below 2, their number, got 2"):
        fit(gl.record.lightning(gl.Recorder(), optimizer=2), optimizers=2)


def of_transformers() -> Any:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = model()

        def forward(self, x: Any, y: Any) -> dict[str, Any]:
            return {"loss": ((self.net(x) - y) ** 2).sum(dim=1).mean() / 2}

    return Net()


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("bf16", [False, True])
def test_the_hugging_face_trainer(parts: int, bf16: bool, tmp_path: Path) -> None:
    rows = [
        {"x": x, "y": y}
        for step in range(STEPS * parts)
        for x, y in zip(*(list(t) for t in batch(step)), strict=True)
    ]
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path),
        num_train_epochs=1,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=parts,
        max_grad_norm=CLIP,
        use_cpu=True,
        bf16=bf16,
        train_sampling_strategy="sequential",
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        remove_unused_columns=False,
    )
    net, recorder = of_transformers(), gl.Recorder()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.ConstantLR(optimizer, 1.0)
    transformers.Trainer(
        net,
        arguments,
        train_dataset=rows,
        optimizers=(optimizer, schedule),
        callbacks=[gl.record.trainer(recorder)],
    ).train()
    assert recorder.names == ("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias")
    np.testing.assert_allclose(recorder["norm"], by_hand(parts)[0], 2e-2 if bf16 else 1e-5)
