"""Everything that gradlab keeps in files: how to write the k-th of it, and how to read all of it
back as bytes.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

import gradlab as gl
from gradlab import tpu
from gradlab.exercises import _progress
from gradlab.labs import Lab
from gradlab.live import Description, Slider
from gradlab.report import Report
from gradlab.tpu import Feature, Plan, Table
from gradlab.workers import Bowl, Experiment, Round, Trace
from notebooks.site.shown import Shown

Content = Mapping[str, Any]  # "number" is the k of `Kept.write`
_ROWS, _WIDTH = 4000, 8


class Kept(NamedTuple):
    """One kind of file.

    Attributes:
        name: of the kind. file: of what is written, in a folder. write: the k-th content. read:
            what is there.
    """

    name: str
    file: str
    write: Callable[[Path, int], None]
    read: Callable[[Path], Content]


def lost(kept: Kept, path: Path) -> str:
    """Empty if what is there is all of one content, else what is wrong with it."""
    try:
        found = kept.read(path)
        return (
            ""
            if found == content(kept, found["number"])
            else "parts of it are not those of one save"
        )
    except Exception as error:  # whatever it is, nothing has been saved then
        return f"{type(error).__name__}: {error}"


@lru_cache(maxsize=64)
def content(kept: Kept, k: int) -> Content:
    """What a file of the k-th content gives."""
    with tempfile.TemporaryDirectory() as folder:
        kept.write(Path(folder) / kept.file, k)
        return kept.read(Path(folder) / kept.file)


def bits(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Dtype, shape and bytes of each."""
    return {
        name: (np.asarray(x).dtype.str, np.asarray(x).shape, np.asarray(x).tobytes())
        for name, x in arrays.items()
    }


def _write_recording(path: Path, k: int) -> None:
    rng, n = np.random.default_rng(k), 300
    rec = gl.Recorder(600, entries=8)
    rec.prepare({"w": (6, 5), "b": (3,)}, ["loss"])
    norm = rng.random((n, 2))
    rec.extend(
        {
            "norm": norm,
            "largest": norm / 2,
            "nonfinite": 0 * norm,
            "entry": rng.random((n, 8)),
            "loss": np.full(n, k),
        }
    )
    rec.save(path)


def read_recording(path: Path) -> Content:
    rec = gl.Recorder.load(path)
    columns = {name: x[: len(rec)] for name, x in rec.flush().columns.items()}
    loss = rec[rec.scalars[0]][0] if rec.scalars else 0
    return {
        "number": int(loss),
        "layout": rec.layout,
        "seen": rec.seen,
        "stride": rec.stride,
        **bits(columns),
    }


def _write_trace(path: Path, k: int) -> None:
    n = 2000
    rounds = {
        name: np.arange(n) % 4 if name == "worker" else np.arange(n) + k for name in Round._fields
    }
    moves = np.stack([np.zeros(n), np.arange(n) % 4], axis=1).astype(np.int32)
    weights = {"w": np.random.default_rng(k).random(5000)}
    Trace(Experiment(Bowl(), seed=k), "hand", "ticks", moves, np.arange(n), rounds, weights).save(
        path
    )


def read_trace(path: Path) -> Content:
    trace = Trace.load(path)
    arrays = bits({"moves": trace.moves, "times": trace.times, **trace.rounds, **trace.weights})
    return {
        "number": trace.experiment.seed,
        "experiment": trace.experiment,
        "engine": trace.engine,
        "arrays": arrays,
    }


def _embedding(rows: int = _ROWS) -> tpu.experimental.embedding.TPUEmbeddingForServing:
    table = tpu.experimental.embedding.TableConfig(rows, _WIDTH, name="t")
    return tpu.experimental.embedding.TPUEmbeddingForServing(
        [tpu.experimental.embedding.FeatureConfig(table)], tpu.experimental.embedding.Adagrad()
    )


def _write_embedding(path: Path, k: int) -> None:
    embedding = _embedding()
    w = np.random.default_rng(k).random((_ROWS, _WIDTH))
    w[0, 0] = k
    embedding.load({"t": dict.fromkeys(embedding.retrieve()["t"], w)})
    embedding.save(path)


def read_embedding(path: Path) -> Content:
    embedding = _embedding()
    embedding.restore(path)
    found = embedding.retrieve()["t"]
    return {"number": int(found["parameters"][0, 0]), **bits(found)}


PLAN = Plan((Table("t", 2000, _WIDTH, gl.rules.Adagrad()),), (Feature("f", 0, (2,)),))


def _write_tables(path: Path, k: int) -> None:
    w = np.random.default_rng(k).random((2000, _WIDTH))
    w[0, 0] = k
    tpu.save(tpu.create(PLAN, [w]), path)


def read_tables(path: Path) -> Content:
    return in_state(tpu.restore(PLAN, path))


def in_state(state: tpu.State) -> Content:
    """Its numbers."""
    names = {f"{k}/{n}": x for k, s in enumerate(state.slots) for n, x in enumerate(s)}
    pending = (
        {}
        if state.pending is None
        else {f"pending{k}": x.sums for k, x in enumerate(state.pending.rows)}
    )
    shared = {
        f"shared{k}/{name}": x for k, own in enumerate(state.shared) for name, x in own.items()
    }
    rates = {} if state.pending is None else {"rates": np.stack(state.pending.learning_rates)}
    arrays = bits(
        {**names, **pending, **shared, **rates, **{f"t{k}": x for k, x in enumerate(state.tables)}}
    )
    return {"number": int(state.tables[0][0, 0]), **arrays}


def _write_progress(path: Path, k: int) -> None:
    _progress.write(
        path.parent, {f"clipping.{n}": _progress.Entry("2026-11-22 14:05", k) for n in range(200)}
    )


def read_progress(path: Path) -> Content:
    entries = _progress.read(path.parent)
    return {"number": max((e.tries for e in entries.values()), default=0), "entries": entries}


class line(Lab):
    """A line that ends where it is told, in a color that tells where; films go along its way."""

    label, axis = "A line", "way"

    def make_controls(self) -> list[Any]:
        return [
            Slider("end", "End", 0, 100_000, 0, scale="integer"),
            Slider("way", "Way", 0, 3, 0, scale="integer"),
        ]

    def compute(self, values: dict[str, Any]) -> dict[str, Any]:
        return values

    def make_view(self) -> Any:
        return _View()

    def columns(self, trace: dict[str, Any]) -> Mapping[str, np.ndarray]:
        return {"end": np.full(2000, trace["end"])}

    def describe(self, trace: dict[str, Any]) -> Description:
        return Description(f"The end is {trace['end']}.", f"end {trace['end']}")


class _View:
    def __init__(self) -> None:
        self.figure = Figure(figsize=(2, 1))
        axes = self.figure.add_subplot(title="A short line")
        (self.line,) = axes.plot([0, 1], [0.5, 0.5], lw=30, animated=True)
        axes.set(xlim=(0.2, 0.8), ylim=(0, 1))

    def draw(self, trace: dict[str, Any]) -> None:
        self.line.set(xdata=[0, 1 + trace["way"]], color=f"#{trace['end'] + 1:06x}")


def _write_lab(path: Path, k: int) -> None:
    line(end=k).save(path)


def _read_numbers(path: Path) -> Content:
    text = path.read_text("utf-8")
    return {"number": int(text.split()[1]), "text": text}


def _read_page(path: Path) -> Content:
    text = path.read_text("utf-8")
    return {"number": int(text.partition("The end is ")[2].partition(".")[0]), "text": text}


def _read_picture(path: Path) -> Content:
    with Image.open(path) as picture:
        colors = np.asarray(picture.convert("RGB"))
    red, green, blue = colors[colors.shape[0] // 2, colors.shape[1] // 2].tolist()
    return {"number": red * 65536 + green * 256 + blue - 1, "bytes": path.read_bytes()}


def _read_vectors(path: Path) -> Content:
    text = path.read_text("utf-8")
    colors = {int(color, 16) for color in re.findall(r"stroke: #(0[0-9a-f]{5})", text)} - {0}
    return {"number": min(colors) - 1, "text": text}


def _read_film(path: Path) -> Content:
    """What it shows is said in it: as a comment of a .gif, as the title of an .mp4."""
    data = path.read_bytes()
    return {"number": int(data.partition(b"The end is ")[2].partition(b".")[0]), "bytes": data}


def _write_site_page(path: Path, k: int) -> None:
    program = f"from tests.faults.kept import line\nline(end={k})"
    Shown(0, repr(line(end=k)), program).save(path, 3, "lite/")


class _LongReport(Report):
    """A page without the seconds that figures take."""

    def __init__(self, k: int) -> None:
        self._k = k

    def html(self) -> str:
        return f"The run {self._k}.\n" * 20_000


def _write_report(path: Path, k: int) -> None:
    _LongReport(k).save(path)


def _read_report(path: Path) -> Content:
    text = path.read_text("utf-8")
    return {"number": int(text.partition("The run ")[2].partition(".")[0]), "text": text}


RECORDING = Kept("Recorder.save", "run.npz", _write_recording, read_recording)
TRACE = Kept("Trace.save", "trace.npz", _write_trace, read_trace)
EMBEDDING = Kept("TPUEmbedding.save", "tables.npz", _write_embedding, read_embedding)
TABLES = Kept("gl.tpu.save", "tables", _write_tables, read_tables)
PROGRESS = Kept("progress", _progress.FILE, _write_progress, read_progress)
NUMBERS = Kept("a lab's .csv", "lab.csv", _write_lab, _read_numbers)
PAGE = Kept("a lab's .html", "lab.html", _write_lab, _read_page)
REPORT = Kept("Report.save", "report.html", _write_report, _read_report)
PICTURE = Kept("a lab's .png", "lab.png", _write_lab, _read_picture)
VECTORS = Kept("a lab's .svg", "lab.svg", _write_lab, _read_vectors)
FILM = Kept("a lab's .gif", "lab.gif", _write_lab, _read_film)
VIDEO = Kept("a lab's .mp4", "lab.mp4", _write_lab, _read_film)
SITE = Kept("a lab's page of the site", "site.html", _write_site_page, _read_page)
CHECKED = (RECORDING, TRACE, EMBEDDING, TABLES, PROGRESS)
DRAWN = (
    NUMBERS,
    PICTURE,
    VECTORS,
    FILM,
    *([VIDEO] if find_spec("imageio_ffmpeg") else []),
    PAGE,
    SITE,
)
ALL = {kept.name: kept for kept in (*CHECKED, *DRAWN, REPORT)}
