"""A report: its sentences for every kind of recording, and the page around them."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.models import recordings
from tests.report.conftest import Page, Recorded

SHIPPED = Path(recordings.__file__).parent / "char_rnn-none.npz"


@pytest.fixture(scope="module")
def rec(recorded: Recorded) -> gl.Recorder:
    return recorded()


@pytest.fixture(scope="module")
def report(rec: gl.Recorder) -> gl.Report:
    return gl.Report(rec, labs=False)


@pytest.fixture(scope="module")
def html(report: gl.Report) -> str:
    return report.html()


def test_the_key_sentences_say_what_happened() -> None:
    report = gl.Report(SHIPPED)
    said = dict(zip((s.key for s in report.sections), report.sentences, strict=True))
    assert said["recorded"] == (
        "300 steps of 5 tensors with 16,286 entries; every step has a bucket of its own. "
        "readout has 98.3% of the squared norm in the median step."
    )
    assert "the largest, 16,402 times that, is 96,309 at step 258." in said["course"]
    assert (
        said["limits"] == "The suggested limit 7.65 on the global norm fires on 10.0% of 300 steps."
    )
    assert said["other"].startswith(
        "Half that limit, 3.83, would fire on 75.0% of the steps, and double, 15.3, on 2.0%;"
    )
    assert said["nonfinite"] == "No step of 300 held NaN or Inf."
    assert repr(report).splitlines() == ["char_rnn-none", *report.headlines]


@pytest.mark.exhaustive
def test_the_same_recording_gives_the_same_bytes(html: str, rec: gl.Recorder) -> None:
    assert gl.Report(rec, labs=False).html() == html


def test_the_page_stands_alone(html: str) -> None:
    assert "default-src 'none'" in html
    addresses = [a for a in Page(html).addresses if not a.startswith("#")]
    assert {a.partition(",")[0] for a in addresses} <= {"data:", "data:image/png;base64"}
    assert not re.findall(r"@import|url\((?!#)", html)
    assert set(re.findall(r"\b(?:https?|wss?):[^\s\"'`)]*", html)) <= {"http://www.w3.org/2000/svg"}


def test_ids_are_different_and_links_lead_somewhere(html: str) -> None:
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    assert {a[1:] for a in page.addresses if a.startswith("#")} <= set(page.ids)


def test_every_picture_says_what_it_shows(html: str, report: gl.Report) -> None:
    pictures = Page(html).pictures
    assert len(pictures) == 14  # seven, each for wide pages and for narrow ones
    assert all(re.search(r"\d", words) for words in pictures)
    assert [words for words in pictures if report.sentences[2] in words] != []


def spoiled(step: int, grads: dict[str, Any]) -> dict[str, Any]:
    grads["layer1/kernel"] *= np.nan if step in (12, 13) else 1.0
    grads["layer0/bias"][1] = np.inf if step == 13 else 1.0
    return grads


def huge_and_spoiled(step: int, grads: dict[str, Any]) -> dict[str, Any]:
    return spoiled(step, {name: np.float32(1e30) * g for name, g in grads.items()})


def times(factor: float) -> Any:
    return lambda _, grads: {name: np.float32(factor) * g for name, g in grads.items()}


CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "without loss": ({"loss": False}, ["No loss was recorded."]),
    "one step": ({"steps": 1}, ["The loss stays at 2.", "fires on 0% of 1 step."]),
    "merged buckets": (
        {"steps": 60, "rows": 16},
        [
            "60 steps of 3 tensors with 44 entries; in 15 buckets: each bucket stands for 4 steps",
            "at step 59.",
        ],
    ),
    "NaN": (
        {"change": spoiled},
        [
            "2 of 20 steps held NaN or Inf, first in step 12 in layer1/kernel.",
            "1 overflowed; 8 became NaN.",
        ],
    ),
    "all zero": (
        {"change": times(0.0)},
        ["No step has a gradient that is finite and not 0.", "No limit can be suggest"],
    ),
    "all NaN": (
        {"change": times(np.nan)},
        ["No limit can be suggested", "20 of 20 steps held NaN or Inf"],
    ),
    "squares beyond float32": (
        {"change": times(1e30)},
        ["1.33e+32 at step 19.", "Not counted: 44 overflowed."],
    ),
    "no single entries": ({"entries": 0}, ["The suggested limit"]),
    "1,000 tensors": (
        {"steps": 3, "shapes": {f"block{k}/kernel": (2,) for k in range(1000)}},
        [
            "3 steps of 1,000 tensors with 2,000 entries",
            "126 on the norm of each tensor alone never fires.",
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_recording_has_its_sentences(case: str, recorded: Recorded) -> None:
    options, expected = CASES[case]
    said = " ".join(gl.Report(recorded(**options)).sentences)
    for words in expected:
        assert words in said
    assert "nan" not in said


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "options",
    [{"change": huge_and_spoiled, "loss": False, "rows": 16, "steps": 60}, {"change": times(0.0)}],
    ids=["merged, NaN, squares beyond float32, no loss", "all zero"],
)
def test_awkward_recordings_can_be_drawn(options: dict[str, Any], recorded: Recorded) -> None:
    report = gl.Report(recorded(**options), labs=False)
    assert Page(report.html()).ids.count("caveats") == 1


def test_what_cannot_be_reported_is_refused(recorded: Recorded, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nothing is recorded yet: call rec.record"):
        gl.Report(gl.Recorder())
    for limit in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"limit must be positive and finite"):
            gl.Report(recorded(), limit=limit)
    with pytest.raises(ValueError, match=r"a report is an \.html file, got 'run\.npz'"):
        gl.Report(recorded()).save(tmp_path / "run.npz")


def test_a_page_is_written_whole_or_not_at_all(
    recorded: Recorded, tmp_path: Path, monkeypatch: Any
) -> None:
    def broken(self: gl.Report) -> str:
        raise RuntimeError("half way")

    path = tmp_path / "run.html"
    path.write_text("an earlier one")
    monkeypatch.setattr(gl.Report, "html", broken)
    with pytest.raises(RuntimeError, match="half way"):
        gl.Report(recorded()).save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["run.html"]
    assert path.read_text() == "an earlier one"
