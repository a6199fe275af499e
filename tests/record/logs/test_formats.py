"""Every format that `read_log` knows: what it reads of a sample, which the tool wrote where it installs here."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradlab import Recorder
from gradlab.record import read_log

SAMPLES = Path(__file__).parent / "samples"
NORMS = [1.6, 0.8319, 26.625, 0.5443]
LOSSES = [8.1525, 7.62585, 7.07623, 6.5]
IN_TABLE = {"norm": "gnorm of all", "loss": "ce", "step": "it"}


def check(
    rec: Recorder, tool: str, steps: Any, norms: Any, losses: Any = None, digits: int = 6
) -> None:
    assert rec.norms_only
    assert f"a log of {tool}" in rec.about[0]
    np.testing.assert_array_equal(rec.every_step("training_step"), steps)
    np.testing.assert_allclose(rec.every_step("global_norm"), norms, rtol=10.0**-digits)
    if losses is None:
        assert "loss" not in rec.scalars
    else:
        np.testing.assert_allclose(rec.every_step("loss"), losses, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "tool", "steps"),
    [
        ("torchtitan.log", "torchtitan", [1, 2, 3, 4]),
        ("llm_c.log", "llm.c or nanoGPT", [1, 2, 3, 4]),
        ("nanogpt_with_norm.log", "llm.c or nanoGPT", [0, 10, 20, 30]),
        ("llama_factory.jsonl", "LLaMA-Factory", [5, 10, 15, 20]),
        ("wandb_history.jsonl", "Weights & Biases", [10, 20, 30, 40]),
        ("wandb_history.json", "JSON", [10, 20, 30, 40]),
    ],
)
def test_a_sample_has_its_steps_norms_and_losses(name: str, tool: str, steps: list[int]) -> None:
    check(read_log(SAMPLES / name), tool, steps, NORMS, LOSSES)


def test_megatron_prints_nan_and_a_norm_of_the_parameters_too() -> None:
    rec = read_log(SAMPLES / "megatron.log")
    norms = [1.6, 0.832, np.nan, 0.544]
    check(rec, "Megatron-LM", [100, 200, 300, 400], norms, LOSSES)
    assert rec.nonfinite_steps == 1
    assert "before the clip by --clip-grad" in rec.about[1]


def test_megatron_deepspeed_prints_norms_with_three_digits() -> None:
    rec = read_log(SAMPLES / "megatron_deepspeed.log")
    check(rec, "Megatron-LM or Megatron-DeepSpeed", [10, 20, 30, 40], NORMS, LOSSES, digits=3)


def test_what_the_trainer_prints_has_no_steps() -> None:
    rec = read_log(SAMPLES / "trainer_console.log")
    np.testing.assert_allclose(rec.every_step("global_norm"), NORMS, rtol=1e-2)
    np.testing.assert_array_equal(rec.every_step("training_step"), range(4))
    assert "The log has no steps; its lines are counted from 0." in rec.about


def test_all_ranks_of_torchtitan_print_the_same() -> None:
    rec = read_log(SAMPLES / "torchtitan.log")
    assert "4 lines that repeat a step and its norm left out." in rec.about


def test_hugging_face_s_latest_checkpoint_is_read() -> None:
    rec = read_log(SAMPLES / "hugging_face")
    assert rec.every_step("training_step").tolist() == list(range(2, 21, 2))
    assert rec.global_norm[0] == np.float32(2.9330883026123047)
    assert rec["loss"][0] == np.float32(1.4610722064971924)
    assert "before the clip by max_grad_norm" in rec.about[1]
    earlier = read_log(SAMPLES / "hugging_face" / "checkpoint-10" / "trainer_state.json")
    assert earlier.seen == 5
    np.testing.assert_array_equal(earlier.global_norm, rec.global_norm[:5])


def test_lightning_logs_norms_and_losses_of_validation_apart() -> None:
    rec = read_log(SAMPLES / "lightning_metrics.csv")
    assert rec.every_step("training_step").tolist() == list(range(1, 20, 2))
    assert rec.global_norm[0] == np.float32(1.2001456022262573)
    assert rec["loss"][0] == np.float32(0.47712990641593933)


def test_an_export_of_a_panel_has_the_norm_alone() -> None:
    check(read_log(SAMPLES / "wandb_export.csv"), "Weights & Biases", [10, 20, 30, 40], NORMS)


def test_columns_name_the_columns_of_your_own_table() -> None:
    rec = read_log(SAMPLES / "table.csv", columns=IN_TABLE)
    check(rec, "CSV", [10, 20, 30, 40], NORMS, LOSSES)


def test_columns_name_the_words_before_a_number(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("at 5 |grad| = 2.5 ce 1.5\nat 6 |grad| = 3.5 ce 1.25\n")
    rec = read_log(tmp_path / "log", columns={"norm": "|grad|", "loss": "ce", "step": "at"})
    check(rec, "llm.c or nanoGPT", [5, 6], [2.5, 3.5], [1.5, 1.25])


@pytest.mark.parametrize(
    "writer",
    [
        pytest.param("tensorboard", marks=pytest.mark.trackers),
        pytest.param("torch", marks=pytest.mark.torch),
    ],
)
def test_events_of_tensorboard(tmp_path: Path, writer: str) -> None:
    folder = tmp_path / "runs" / "today"
    if writer == "torch":
        from torch.utils.tensorboard import SummaryWriter

        board: Any = SummaryWriter(str(folder))
    else:
        from tensorboard import summary

        board = summary.Writer(summary.DirectoryOutput(str(folder)))
    for k in range(4):
        board.add_scalar("train/grad_norm", NORMS[k], 10 * k)
        board.add_scalar("train/loss", LOSSES[k], 10 * k)
        board.add_scalar("eval/loss", 9.0, 10 * k)
    board.close()
    check(read_log(tmp_path), "TensorBoard", [0, 10, 20, 30], NORMS, LOSSES)
    (file,) = folder.iterdir()
    check(read_log(file), "TensorBoard", [0, 10, 20, 30], NORMS, LOSSES)


@pytest.mark.trackers
def test_a_local_run_of_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import wandb

    monkeypatch.setenv("WANDB_SILENT", "true")
    settings = wandb.Settings(
        disable_git=True, x_disable_stats=True, x_disable_meta=True, console="off"
    )
    run = wandb.init(mode="offline", dir=str(tmp_path), settings=settings)
    norms = [1.6, float("nan"), 26.625, *np.linspace(1, 2, 2000)]  # more than one block
    for norm in norms:
        run.log({"train": {"grad_norm": norm}, "train/loss": 2.0})
    run.finish()
    rec = read_log(tmp_path / "wandb")
    check(rec, "Weights & Biases", range(len(norms)), norms, [2.0] * len(norms))
    (file,) = tmp_path.rglob("*.wandb")
    check(read_log(file.parent), "Weights & Biases", range(len(norms)), norms, [2.0] * len(norms))


def test_what_a_recorder_streams_can_be_read_back(tmp_path: Path) -> None:
    rec = Recorder()
    with rec.stream(str(tmp_path / "run.jsonl")):
        for size in (1.0, 2.0, np.inf):
            rec.record({"w": size * np.array([3.0, 4.0])}, loss=size)
    read = read_log(tmp_path / "run.jsonl")
    check(read, "a gradlab stream", [0, 1, 2], [5.0, 10.0, np.inf], [1.0, 2.0, np.inf])


def test_powershell_writes_utf_16(tmp_path: Path) -> None:
    text = (SAMPLES / "torchtitan.log").read_text("utf-8")
    (tmp_path / "log").write_text(text, "utf-16")
    check(read_log(tmp_path / "log"), "torchtitan", [1, 2, 3, 4], NORMS, LOSSES)
