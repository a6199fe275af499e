"""The README's tour runs and prints what its comments say; its paths exist."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import gradlab as gl

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


# The last is run where Ray runs: workers/test_on_ray.py.
TOUR, OPTIMIZERS, WORKERS, TPU, LAB, CLUSTER = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_tour_runs_and_is_short() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(TOUR, "README.md", "exec"), {})
    assert "13.0 [0.23076925 0.30769232]" in printed.getvalue() and "('a',)\n" in printed.getvalue()
    assert len([line for line in TOUR.splitlines() if line.strip()]) <= 32


def test_the_optimizers_print_what_their_comments_say() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(OPTIMIZERS, "README.md", "exec"), {})
    lines = printed.getvalue().splitlines()
    assert lines[0] == "[4.1 1.1 0.1]"
    assert lines[2:] == ["legacy [-0.6 -0.8]", "keras3 [-1. -1.]"]


def test_asynchronous_training_prints_what_its_comments_say() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(WORKERS, "README.md", "exec"), {})
    mean, comparison, waiting, accepted, same, outcomes, shape = printed.getvalue().splitlines()
    assert (mean, comparison, waiting, same) == ("[3. 2.]", "0 < 1", "needs 2, has 0, position 1", "True")
    assert accepted.endswith(" 0]")
    assert "20 interleavings" in outcomes and shape == "(16, 16)"


def test_tpu_embeddings_print_what_their_comments_say() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(TPU, "README.md", "exec"), {})
    falls, step, *configuration = printed.getvalue().splitlines()
    assert (falls, step) == ("True", "[3 7] [1 0 1] [-0.02]")
    assert any("table words" in line and "8 x 1" in line for line in configuration)


def test_the_lab_in_30_lines_is_one_and_works(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(compile(LAB, "README.md", "exec"), names)
    lines = [line for line in LAB.partition("class descent(Lab)")[2].splitlines() if line.strip()]
    assert len(lines) <= 30
    lab = names["descent"](learning_rate=0.3)
    before = lab.live.frame()
    lab.live.momentum = 0.9
    assert lab.live.frame() != before and lab.params == {"learning_rate": 0.3, "momentum": 0.9}
    assert lab.code() == "descent(learning_rate=0.3, momentum=0.9)"
    for suffix in ("html", "png", "csv", "gif"):
        lab.save(tmp_path / f"x.{suffix}")
        assert (tmp_path / f"x.{suffix}").stat().st_size > 400


def test_every_file_and_folder_named_exists() -> None:
    for path in re.findall(r"`((?:gradlab|tests|notebooks|binder|\.ci)/[\w/.]*)`", README):
        assert (ROOT / path).exists() or "x." in path, path
    for path in re.findall(r"\]\(([\w/.]+)\)", README):
        assert (ROOT / path).exists(), path


def test_the_commands_of_the_readme_name_real_labs_and_extras() -> None:
    for lab in re.findall(r"gradlab run (\w+)", README):
        assert lab in gl.labs.catalogue()
    extras = set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE))
    for group in re.findall(r'-e "\.\[([\w,]+)\]"', README):
        assert set(group.split(",")) <= extras


def test_the_owner_placeholder_stands_in_one_place() -> None:
    assert README.count("OWNER") == 1
