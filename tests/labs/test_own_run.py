"""How every lab on a run takes a recording: from memory, from a file, and what it says of those it
cannot take.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._own_run import MOST_DRAWN, in_sight, limit_slider, reach

LABS = {
    name: gl.labs.catalog()[name]
    for name in ("clipping", "run_layers", "run_adagrad", "run_staleness")
}
every_lab = pytest.mark.parametrize("make", LABS.values(), ids=LABS)


def recorded(
    steps: int = 40, room: int = 64, names: int = 3, entries: int = 32, scale: float = 1.0
) -> gl.Recorder:
    rec, rng = gl.Recorder(steps=room, entries=entries), np.random.default_rng(0)
    for _ in range(steps):
        rec.record(
            {
                f"layer{k // 2}/{k}": scale * rng.normal(size=5).astype(np.float32)
                for k in range(names)
            }
        )
    return rec


def shown(lab: gl.labs.Lab) -> None:
    """Paint it, and put it into words and numbers."""
    view, trace = lab.make_view(), lab.compute(lab.params)
    lab.draw(view, trace)
    lab.items(view, trace)
    assert lab.describe(trace).alt.endswith(".")
    assert len(lab.describe(trace).table) < 40
    assert lab.columns(trace)


@every_lab
def test_a_recorder_a_path_and_a_string_are_one(make: Any, tmp_path: Path) -> None:
    rec, path = recorded(), tmp_path / "run.npz"
    rec.save(path)
    labs = [make(rec), make(path), make(str(path))]
    assert len({lab.description.summary for lab in labs}) == 1
    assert labs[0].code() == f"gl.labs.{make.__name__}(recording)"
    assert labs[1].code() == labs[2].code() == f"gl.labs.{make.__name__}({str(path)!r})"
    assert eval(labs[1].code(), {"gl": gl}).description == labs[1].description
    assert labs[1].link().startswith(f"#gl=1&lab={make.__name__}&")


@every_lab
def test_what_is_no_recording_is_refused_kindly(make: Any, tmp_path: Path) -> None:
    for name, content in (("text.npz", b"no recording"), ("empty.npz", b"")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(
            ValueError, match=rf"{name} is no recording of gradlab's, or it is damaged"
        ):
            make(tmp_path / name)
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    with pytest.raises(ValueError, match="is no recording"):
        make(str(tmp_path / "other.npz"))
    with pytest.raises(FileNotFoundError):
        make(tmp_path / "nowhere.npz")
    with pytest.raises(ValueError, match=r"nothing is recorded yet: call rec\.record"):
        make(gl.Recorder())
    with pytest.raises(TypeError, match=r"a recording is a gl\.Recorder, or the path of a file"):
        make([1.0, 2.0])


@every_lab
@pytest.mark.parametrize(
    "rec",
    [
        recorded(scale=0.0),
        recorded(1),
        recorded(300, room=16),
        recorded(names=1),
        recorded(scale=1e-30),
    ],
    ids=["all zero", "one step", "merged", "one tensor", "tiny"],
)
def test_every_run_can_be_looked_at(make: Any, rec: gl.Recorder) -> None:
    shown(make(rec))


@every_lab
def test_nan_inf_and_overflow_can_be_looked_at(make: Any) -> None:
    rec = recorded()
    for value in (np.nan, np.inf, 1e30):
        with np.errstate(all="ignore"):
            rec.record({f"layer{k // 2}/{k}": np.full(5, value, np.float32) for k in range(3)})
    with np.errstate(all="ignore"):
        shown(make(rec))


@every_lab
def test_a_thousand_tensors_are_shown_in_a_few_words(make: Any) -> None:
    rec = gl.Recorder(steps=8)
    rec.prepare({f"block{k // 10}/layer_with_a_long_name_{k}/kernel": (4, 4) for k in range(1000)})
    norm = np.random.default_rng(0).random((20, 1000)) + np.arange(1000)
    rec.extend(
        {
            "norm": norm,
            "largest": norm,
            "nonfinite": 0 * norm,
            "entry": np.ones((20, len(rec.sampled[0]))),
        }
    )
    shown(make(rec))


def test_a_recording_of_the_first_version_has_no_entries_to_ask_for() -> None:
    from gradlab.models import char_rnn

    rec = char_rnn.shipped()[None]
    shown(gl.labs.run_layers(rec))
    lab = gl.labs.run_staleness(rec)
    shown(lab)
    assert (
        "all the same, for no times were recorded"
        in dict(lab.description.table)["how long steps take"]
    )
    assert (
        dict(lab.description.table)["agreement of gradients 1 update apart"]
        == "not known without probes"
    )
    with pytest.raises(ValueError, match="holds no single entries"):
        gl.labs.run_adagrad(rec)


def test_very_many_rows_are_joined_before_they_are_drawn() -> None:
    rec = gl.Recorder(steps=5000, entries=4)
    rec.prepare({"w": (9,)})
    ones = np.ones((5000, 1))
    rec.extend({"norm": ones, "largest": ones, "nonfinite": 0 * ones, "entry": np.ones((5000, 4))})
    assert len(in_sight(rec)) <= MOST_DRAWN and len(rec) == 5000
    assert dict(gl.labs.run_layers(rec).description.table)["shown as"] == "every bucket of 8 steps"


def test_sliders_fit_the_norms_and_stand_at_one_of_their_positions() -> None:
    assert reach(np.array([0.0, np.nan])) == (0.1, 10.0)
    assert reach(np.array([3e-12]), np.array([2e3])) == (2e-5, 2e3)
    slider = limit_slider((1e-3, 1e2), 0.0271828)
    assert slider.key(slider.value).isdigit()
    assert slider.value == pytest.approx(0.0272, rel=0.03)
    assert limit_slider((1e-3, 1e2), 1e9).value == 1e2
