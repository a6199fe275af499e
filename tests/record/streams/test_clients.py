"""TensorBoard, Weights & Biases and MLflow get what their clients take, and a run that goes on goes
on there.

Stand-ins have the signatures of the clients, which the part `trackers` compares with the clients
themselves.
"""

import inspect
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from tests.record.streams.runs import go_on, recorded, resumed

NAMES = {"global_norm", "leading_norm", "largest", "skipped", "scale", "loss"}


class Run:
    """A run of Weights & Biases."""

    def __init__(self) -> None:
        self.summary: dict[str, Any] = {}
        self.rows: list[dict[str, Any]] = []
        self.axes: dict[str, Any] = {}
        self.ended = False

    def log(
        self, data: dict[str, Any], step: int | None = None, commit: bool | None = None
    ) -> None:
        assert step is None  # which others count, too
        self.rows.append(data)
        self.summary |= data

    def define_metric(
        self,
        name: str,
        step_metric: str | None = None,
        step_sync: bool | None = None,
        hidden: bool | None = None,
        summary: str | None = None,
        overwrite: bool | None = None,
    ) -> None:
        self.axes[name] = step_metric

    def finish(self, exit_code: int | None = None, quiet: bool | None = None) -> None:
        self.ended = True


class Metric:
    """A metric of MLflow."""

    def __init__(
        self,
        key: str,
        value: float,
        timestamp: int,
        step: int,
        model_id: str | None = None,
        dataset_name: str | None = None,
        dataset_digest: str | None = None,
        run_id: str | None = None,
    ) -> None:
        self.key, self.value, self.step = key, value, step


class Client:
    """A client of MLflow."""

    kept: ClassVar[list[Metric]] = []

    def log_batch(
        self,
        run_id: str,
        metrics: Any = (),
        params: Any = (),
        tags: Any = (),
        synchronous: bool | None = None,
    ) -> None:
        assert run_id == "r1" and len(metrics) <= 1000
        self.kept += metrics

    def get_metric_history(self, run_id: str, key: str) -> list[Metric]:
        return [metric for metric in self.kept if metric.key == key]


def module(name: str, monkeypatch: pytest.MonkeyPatch, **names: Any) -> ModuleType:
    found = ModuleType(name)
    vars(found).update(names)
    monkeypatch.setitem(sys.modules, name, found)
    return found


def test_a_run_of_wandb(monkeypatch: pytest.MonkeyPatch) -> None:
    rec, run = recorded(2), Run()
    wandb = module("wandb", monkeypatch, run=None, init=lambda: run)
    with rec.stream("wandb", seconds=0):
        go_on(rec, 7)
    assert run.axes == {"gradlab/step": None, "gradlab/*": "gradlab/step"} and run.ended
    assert [row["gradlab/step"] for row in run.rows] == list(range(7))
    assert {name.removeprefix("gradlab/") for name in run.rows[0]} == NAMES | {"step"}
    assert [row["gradlab/skipped"] for row in run.rows] == [0, 0, 0, 1, 0, 0, 0]
    later, run.ended, wandb.run = resumed(rec), False, run  # type: ignore[attr-defined]
    for to in ("wandb", run):
        with later.stream(to, seconds=0):
            go_on(later, later.seen + 2)
    # It is not the stream's.
    assert [row["gradlab/step"] for row in run.rows] == list(range(11)) and not run.ended


def test_a_run_of_mlflow(monkeypatch: pytest.MonkeyPatch) -> None:
    active = SimpleNamespace(info=SimpleNamespace(run_id="r1"))
    Client.kept = []
    entities = SimpleNamespace(Metric=Metric)
    module("mlflow", monkeypatch, MlflowClient=Client, entities=entities, active_run=lambda: active)
    rec = recorded(0)
    with rec.stream("mlflow", seconds=3600):
        go_on(rec, 400)
    with (later := resumed(rec)).stream(active, seconds=0):
        go_on(later, 402)
    norms = [m for m in Client.kept if m.key == "gradlab/global_norm"]
    assert [m.step for m in norms] == list(range(402))
    np.testing.assert_array_equal(
        np.float32([m.value for m in norms]), later.every_step("global_norm")
    )
    assert {m.key.removeprefix("gradlab/") for m in Client.kept} == NAMES


def parameters(f: Any) -> list[tuple[str, Any]]:
    return [(p.name, p.default) for p in inspect.signature(f).parameters.values()]


@pytest.mark.trackers
def test_stand_ins_have_the_signatures_of_the_clients() -> None:
    import mlflow
    import wandb

    for name in ("log", "define_metric"):
        assert parameters(getattr(wandb.sdk.wandb_run.Run, name)) == parameters(getattr(Run, name))
    for name in ("log_batch", "get_metric_history"):
        assert parameters(getattr(mlflow.MlflowClient, name)) == parameters(getattr(Client, name))
    assert parameters(mlflow.entities.Metric.__init__)[:5] == parameters(Metric.__init__)[:5]


@pytest.mark.trackers
def test_tensorboard_reads_every_step(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    rec, to = recorded(0), f"tensorboard:{tmp_path}"
    with rec.stream(to, seconds=0):
        go_on(rec, 8)
    with (later := resumed(rec)).stream(to, seconds=0) as stream:
        assert stream.sent == 8
        go_on(later, 10)
    events = EventAccumulator(str(tmp_path), size_guidance={"tensors": 0})
    events.Reload()
    assert {tag.removeprefix("gradlab/") for tag in events.Tags()["tensors"]} == NAMES
    for name in NAMES - {"scale"}:
        found = events.Tensors(f"gradlab/{name}")
        assert [event.step for event in found] == list(range(10))
        values = [float(make_ndarray(event.tensor_proto)) for event in found]
        np.testing.assert_array_equal(np.float32(values), later.every_step(name))


@pytest.mark.trackers
def test_mlflow_keeps_every_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        rec = recorded(3)
        with rec.stream(run, seconds=0):
            go_on(rec, 8)
        with (later := resumed(rec)).stream("mlflow") as stream:
            assert stream.sent == 8
            go_on(later, 10)
    for name in NAMES - {"scale"}:
        found = sorted(
            mlflow.MlflowClient().get_metric_history(run.info.run_id, f"gradlab/{name}"),
            key=lambda m: m.step,
        )
        assert [metric.step for metric in found] == list(range(10))
        np.testing.assert_array_equal(
            np.float32([metric.value for metric in found]), later.every_step(name)
        )


@pytest.mark.trackers
def test_wandb_writes_every_step_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import wandb
    from wandb.proto import wandb_internal_pb2

    run = wandb.init(
        mode="offline", dir=tmp_path, settings=wandb.Settings(console="off", silent=True)
    )
    rec = recorded(2)
    with rec.stream(run, seconds=0):
        run.log({"mine": 1.0})
        go_on(rec, 8)
    run.finish()
    wandb.teardown()  # waits for the process that writes the file, which `finish` may not do
    (path,) = tmp_path.rglob("*.wandb")
    steps = []
    for data in _records(path.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        items = {
            item.key or "/".join(item.nested_key): item.value_json for item in record.history.item
        }
        steps += [int(items["gradlab/step"])] if "gradlab/step" in items else []
    assert steps == list(range(8))


def _records(data: bytes) -> Iterator[bytes]:
    """Of a .wandb file, which has 7 bytes of its own and then is a log as LevelDB writes them."""
    at, record, block = 7, b"", 1 << 15
    while at + 7 <= len(data):
        if block - at % block < 7:  # the rest of a block that has no room for a head
            at += block - at % block
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        record += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # all of it, or its last part
            yield record
            record = b""
