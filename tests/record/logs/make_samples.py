"""Make the samples that tools write which install here; the others are written to the tools' formats.

python -m tests.record.logs.make_samples
"""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parent / "samples"


def hugging_face(folder: Path) -> None:
    """Train with Hugging Face's Trainer, and keep what its checkpoints say of the log."""
    import torch
    import transformers

    class Line(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x: Any, labels: Any) -> dict[str, Any]:
            out = self.layer(x)[:, 0]
            return {"loss": ((out - labels) ** 2).mean(), "logits": out}

    torch.manual_seed(0)
    data = [{"x": torch.randn(2), "labels": torch.randn(())} for _ in range(40)]
    args = transformers.TrainingArguments(
        str(folder),
        max_steps=20,
        logging_steps=2,
        save_steps=10,
        per_device_train_batch_size=4,
        report_to=[],
        max_grad_norm=1.0,
        use_cpu=True,
        disable_tqdm=True,
    )
    transformers.Trainer(Line(), args, train_dataset=data).train()
    for checkpoint in sorted(folder.glob("checkpoint-*")):
        kept = SAMPLES / "hugging_face" / checkpoint.name
        kept.mkdir(parents=True, exist_ok=True)
        state = json.loads((checkpoint / "trainer_state.json").read_text("utf-8"))
        text = json.dumps(state, indent=2)  # as it is, but for the folder of the best checkpoint
        (kept / "trainer_state.json").write_text(text + "\n", "utf-8")


def lightning(folder: Path) -> None:
    """Train with Lightning, its CSVLogger, and the hook of its documentation for norms."""
    import lightning
    import torch
    from lightning.pytorch.loggers import CSVLogger
    from lightning.pytorch.utilities import grad_norm

    class Line(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def training_step(self, batch: Any, _: int) -> Any:
            loss = (self.layer(batch) ** 2).mean()
            self.log("train_loss", loss)
            return loss

        def validation_step(self, batch: Any, _: int) -> None:
            self.log("val_loss", (self.layer(batch) ** 2).mean())

        def on_before_optimizer_step(self, _: Any) -> None:
            self.log_dict(grad_norm(self.layer, norm_type=2))

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    torch.manual_seed(0)
    data = torch.utils.data.DataLoader(torch.randn(40, 2), batch_size=4)
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        logger=CSVLogger(folder, flush_logs_every_n_steps=1),
        log_every_n_steps=2,
        enable_checkpointing=False,
        enable_progress_bar=False,
        gradient_clip_val=0.5,
    )
    trainer.fit(Line(), data, data)
    (found,) = folder.rglob("metrics.csv")
    shutil.copy(found, SAMPLES / "lightning_metrics.csv")


if __name__ == "__main__":
    SAMPLES.mkdir(exist_ok=True)
    for make in (hugging_face, lightning):
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder))
