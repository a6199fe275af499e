"""The README's tour and the guides run and print what their comments say; the commands they name
exist.
"""

import contextlib
import importlib.util
import io
import re
import tomllib
from pathlib import Path
from typing import Any

import jax
import pytest

import gradlab as gl

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / ".github/CONTRIBUTING.md",
    *sorted(ROOT.glob("notebooks/site/guide/*.md")),
]
README = PAGES[0].read_text("utf-8")
MOST_LINES = 100


def programs(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)


def printed(program: str) -> list[str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(program, "a page", "exec"), {})
    return said.getvalue().splitlines()


(TOUR,) = programs("README.md")
(OPTIMIZERS,) = programs("notebooks/site/guide/optimizers.md")
(GRAPH,) = programs("notebooks/site/guide/tensorflow1.md")
# The others are run on Ray: workers/test_on_ray.py.
WORKERS, CLUSTER, SHARDS = programs("notebooks/site/guide/asynchronous.md")
TPU, RECOMMENDER, PLANNER = programs("notebooks/site/guide/tpu_embeddings.md")
LAB, LAB_FUNCTION = programs("notebooks/site/guide/your_lab.md")
(ADAGRADS,) = programs("notebooks/site/guide/adagrads.md")


def test_the_tour_runs_and_is_short() -> None:
    said = "\n".join(printed(TOUR))
    assert "13.0 [0.23076925 0.30769232]" in said
    assert "clip_global_norm=10 fires on 50.0% of 2 steps" in said
    assert len([line for line in TOUR.splitlines() if line.strip()]) <= 32


def test_the_optimizers_print_what_their_comments_say() -> None:
    lines = printed(OPTIMIZERS)
    assert lines[0] == "[4.1 1.1 0.1]"
    assert lines[2:] == ["legacy [-0.6 -0.8]", "keras3 [-1. -1.]"]


def test_the_graph_prints_what_its_comments_say() -> None:
    assert printed(GRAPH) == re.findall(r"# (norm .*|\[.*)", GRAPH)


def test_asynchronous_training_prints_what_its_comments_say() -> None:
    mean, comparison, waiting, accepted, same, outcomes, shape = printed(WORKERS)
    assert (mean, comparison, waiting, same) == (
        "[3. 2.]",
        "0 < 1",
        "needs 2, has 0, position 1",
        "True",
    )
    assert accepted.endswith(" 0]")
    assert outcomes.startswith("20 orders, 3 different results; 1 to 2 of 2 gradients accepted")
    assert shape == "(16, 16)"


def test_tpu_embeddings_print_what_their_comments_say() -> None:
    falls, step, *configuration = printed(TPU)
    assert (falls, step) == ("True", "[3 7] [1 0 1] [-0.02]")
    assert any("table words" in line and "8 x 1" in line for line in configuration)


@pytest.mark.filterwarnings("ignore:Keras 3 does not sum slices")
def test_the_four_adagrads_print_what_the_table_below_says() -> None:
    page = (ROOT / "notebooks/site/guide/adagrads.md").read_text("utf-8")
    rows = re.findall(r"^\| (\w[\w.]*) \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    moves = [line.split() for line in printed(ADAGRADS)]
    assert [[name, small] for name, small, _ in rows] == moves[: len(rows)]
    assert [[name, twice] for name, _, twice in rows] == moves[len(rows) :]
    assert len(rows) == 7


@pytest.mark.exhaustive
def test_the_recommender_is_short_and_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "device_count", lambda: 2)  # of those of tests/conftest.py
    assert printed(RECOMMENDER) == ["True"]
    assert len([line for line in RECOMMENDER.splitlines() if line.strip()]) <= 40


def test_the_planner_of_the_tpu_page_says_what_the_page_says() -> None:
    layouts, *table = printed(PLANNER)
    assert layouts == "('rows', 'copies') 850000476"
    assert "users" in "".join(table)


def test_the_lab_in_30_lines_is_one_and_works(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(compile(LAB, "README.md", "exec"), names)
    exec(compile(LAB_FUNCTION, "README.md", "exec"), names)
    lines = [line for line in LAB.partition("class Descent(Lab)")[2].splitlines() if line.strip()]
    assert len(lines) <= 30
    lab = names["descent"](learning_rate=0.3)
    assert isinstance(lab, names["Descent"]) and lab.params == {
        "learning_rate": 0.3,
        "momentum": 0.5,
    }
    before = lab.live.frame()
    lab.live.momentum = 0.9
    assert lab.live.frame() != before and lab.params == {"learning_rate": 0.3, "momentum": 0.9}
    assert lab.code() == "Descent(learning_rate=0.3, momentum=0.9)"
    for suffix in ("html", "png", "csv", "gif"):
        lab.save(tmp_path / f"x.{suffix}")
        assert (tmp_path / f"x.{suffix}").stat().st_size > 400


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_lab_extra_and_module_named_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    for lab in re.findall(r"gradlab run (\w+)", text):
        assert lab in gl.labs.catalog()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for extras in re.findall(r'-e "\.\[([\w,-]+)\]"', text):
        assert set(extras.split(",")) <= settings["project"]["optional-dependencies"].keys()
    for group in re.findall(r"--group ([\w-]+)", text):
        assert group in settings["dependency-groups"]
    for module in re.findall(r"python -m ((?:tests|notebooks)[\w.]*)", text):
        assert importlib.util.find_spec(module), module


def test_the_readme_says_how_close_the_proof_found_the_numbers() -> None:
    page = (ROOT / "notebooks/site/guide/proof.md").read_text("utf-8")
    (row,) = re.findall(r"^\| all \| (.+) \|$", page, re.MULTILINE)
    _, arrays, equal, worst, jit_arrays, jit_equal, jit_worst = row.split(" | ")
    said = " ".join(README.split())
    assert (
        f"Of {int(arrays):,} arrays that were computed by the originals, {equal} are equal to "
        "the last bit"
    ) in said
    assert f"and all within {worst} unit in the last place" in said
    assert (
        f"of {jit_arrays} under `jax.jit`, {jit_equal} are equal, and all within {jit_worst} units"
        in said
    )
    assert "bit for bit where" not in said


def test_the_readme_is_short_and_says_early_that_tensorflow_is_not_needed() -> None:
    assert len(README.splitlines()) <= MOST_LINES
    assert "don't need TensorFlow" in README.partition("## ")[0]


def test_ci_begins_with_the_test_command_of_the_readme() -> None:
    (command,) = re.findall(
        r'^(pip install -e "\.\[test\]" && \S.*?)(?:  +#.*)?$', README, re.MULTILINE
    )
    steps = (ROOT / ".ci/run").read_text("utf-8").splitlines()
    assert command == 'pip install -e ".[test]" && python -m pytest'
    assert (
        next(line for line in steps if "pytest" in line and not line.startswith("say ")) == command
    )


def test_every_guide_is_linked() -> None:
    for page in PAGES[1:]:
        assert f"({page.relative_to(ROOT).as_posix()})" in README


def test_what_the_readme_shows_is_there_and_has_words() -> None:
    for words, path in re.findall(r"!\[([^\]]*)\]\((notebooks/[^)]*)\)", README):
        assert len(words) > 40
        assert 0 < (ROOT / path).stat().st_size < 2_500_000
