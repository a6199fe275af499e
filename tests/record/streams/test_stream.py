"""A stream sends each step once, in order, whatever its client does, and never costs more than it
may.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import RecordingWarning
from gradlab.record.streams.stream import Stream
from tests.record.streams.runs import SKIPPED, go_on, recorded, resumed


class Writer:
    """A client that takes scalars, and fails when it is told to."""

    def __init__(self) -> None:
        self.got: list[tuple[str, int]] = []
        self.skipped: list[int] = []
        self.broken = False

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        if self.broken:
            raise ConnectionError("no route to host")
        assert type(scalar_value) is float and type(global_step) is int
        self.got.append((tag, global_step))
        if tag == "gradlab/skipped" and scalar_value:
            self.skipped.append(global_step)

    def flush(self) -> None:
        pass

    @property
    def steps(self) -> list[int]:
        return [step for tag, step in self.got if tag == "gradlab/global_norm"]


def test_each_step_once_in_order_and_skipped_ones_marked() -> None:
    rec, writer = recorded(0), Writer()
    with rec.stream(writer, seconds=0) as stream:
        go_on(rec, 9)
        assert writer.steps == list(range(9)) and stream.sent == 9
    go_on(rec, 11)
    assert writer.steps == list(range(9)) and writer.skipped == [SKIPPED] and not rec.listeners
    with resumed(rec).stream(writer, seconds=0) as again:
        go_on(again.recorder, 13)  # type: ignore[arg-type]
    assert writer.steps == [*range(9), 11, 12]  # who was given a writer cannot know what is in it


def test_a_client_that_fails_is_said_once_and_gets_its_steps_later() -> None:
    rec, writer = recorded(0), Writer()
    with rec.stream(writer, seconds=0):
        go_on(rec, 2)
        writer.broken = True
        with pytest.warns(
            RecordingWarning, match="ConnectionError: no route to host.*1 step was not sent"
        ) as warned:
            go_on(rec, 6)
        assert len(warned) == 1 and rec.seen == 6
        writer.broken = False
        go_on(rec, 7)
    assert writer.steps == list(range(7))
    stream, writer.broken = rec.stream(writer, seconds=3600), True
    go_on(rec, 10)
    with pytest.warns(RecordingWarning) as warned:
        stream.close()
    assert "is closed, and 3 steps were not sent; the recorder has them" in str(warned[-1].message)


def test_steps_that_queue_up_hold_nobody_up_and_are_sent_at_the_end() -> None:
    rec, writer = recorded(0), Writer()
    with rec.stream(writer, seconds=3600) as stream:
        go_on(rec, 300)
        assert len(writer.steps) <= 1
        stream.flush()
        assert writer.steps == list(range(300))


def test_of_a_traced_run_it_follows_absorb_and_says_what_is_lost() -> None:
    rec, writer, grads = gl.Recorder(4, entries=2, sample_every=3, ring=4), Writer(), recorded(1)
    like = {"a": np.ones(2), "b": np.ones(1)}
    rec.init(like, loss=0.0)
    with rec.stream(writer, seconds=0) as stream:
        for steps, known in ((3, [0, 1, 2]), (5, [0, 1, 2, 3, 4])):
            go_on(grads, steps)
            grads.ring = 4
            rec = rec.absorb(grads.init(like, loss=0.0))
            assert writer.steps == known
        go_on(grads, 12)
        with pytest.warns(RecordingWarning, match="leaves out 3 steps from step 5 on"):
            rec = rec.absorb(grads.init(like, loss=0.0))
        assert writer.steps == [0, 1, 2, 3, 4, 8, 9, 10, 11] and stream.lost == 3
        other = gl.Recorder(4, entries=2, sample_every=3)
        for k in range(20):
            other.record({"a": np.full(2, k), "b": np.ones(1)}, loss=0.0)
        with pytest.warns(RecordingWarning, match="holds another run now"):
            rec.absorb(other.init(like, loss=0.0))
        with pytest.warns(RecordingWarning, match="8 steps were not sent"):
            stream.close()
    assert writer.steps[-1] == 11


def test_what_is_no_destination_is_said_with_those_there_are(tmp_path: Path) -> None:
    rec = recorded(1)
    for to, error in (
        ("run.json", ValueError),
        ("tensorboard:", ValueError),
        (3, TypeError),
        (tmp_path, ValueError),
    ):
        with pytest.raises(error, match=r"cannot stream to .*\.jsonl"):
            rec.stream(to)
    assert not rec.listeners


def test_a_missing_client_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for client, to in (
        ("tensorboard", "tensorboard:runs"),
        ("wandb", "wandb"),
        ("mlflow", "mlflow"),
    ):
        for name in [n for n in sys.modules if n.partition(".")[0] == client]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [_Without(client), *sys.meta_path])
        with pytest.raises(
            ModuleNotFoundError, match=rf"needs {client}, which is not installed.*\[{client}\]"
        ):
            recorded(1).stream(to)


class _Without:
    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] == self._name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_it_shows_how_far_it_is(tmp_path: Path) -> None:
    with recorded(2).stream(tmp_path / "run.jsonl") as stream:
        assert isinstance(stream, Stream) and repr(stream).startswith("<Stream: 2 steps to ")
