"""What every notebook of the course has: minutes that add up, guesses before answers, functions to
write, a target.
"""

import re
from pathlib import Path

import nbformat
import pytest

import gradlab as gl
from tests.notebooks import save

FIRST = "00_start_here"
NOTEBOOKS = sorted(save.FOLDER.glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
MINUTES = r"(\d+) minutes?"
SHORTEST, LONGEST = 15, 30  # minutes: one sitting
TOLD = re.compile(
    r"\b(?:[Pp]ress|[Dd]rag|[Ss]et|[Cc]hoose|[Ss]elect|[Pp]ut|then|and|or|under|beside) \*([A-Z][^*]*)\*"
)
TOOLS = {"Copy link", "More", "Play", "Present", "Reset", "Reset view", "Reveal", "Values", "Zoom"}
LINES = 12  # of a cell: what is seen at once
# In this order.
PARTS = ("## What surprised people", "Exercises (", "## Differences from TensorFlow", "## Sources")


def cells(path: Path, kind: str) -> list[str]:
    return [
        cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind
    ]


def sections(path: Path) -> list[str]:
    """The headings of the numbered sections; what follows them is to look things up in."""
    return re.findall(r"^## \d+\..*$", "\n".join(cells(path, "markdown")), flags=re.M)


def checks(path: Path, argument: str) -> list[str]:
    """The exercises that check an argument of that form."""
    return re.findall(
        rf'exercises\.check\("([\w.]+)", {argument}\)', "\n".join(cells(path, "code"))
    )


@every_notebook
def test_the_minutes_of_the_sections_add_up_to_the_time_in_the_first_cell(path: Path) -> None:
    stated = re.search(rf"\*\*Time\*\* {MINUTES}", cells(path, "markdown")[0])
    each = [re.search(rf"\({MINUTES}\)$", heading) for heading in sections(path)]
    assert stated
    assert all(each), sections(path)
    assert abs(sum(int(found[1]) for found in each if found) - int(stated[1])) <= 1


@every_notebook
def test_it_takes_one_sitting(path: Path) -> None:
    stated = re.search(rf"\*\*Time\*\* {MINUTES}", cells(path, "markdown")[0])
    assert stated and SHORTEST <= int(stated[1]) <= LONGEST


@every_notebook
def test_no_cell_is_long(path: Path) -> None:
    long = [code for code in cells(path, "code") if len(code.splitlines()) > LINES]
    long += [
        text
        for text in cells(path, "markdown")
        if len([line for line in text.splitlines() if line]) > LINES
    ]
    assert not long, long[0]


@every_notebook
def test_the_parts_of_a_lesson_come_in_one_order(path: Path) -> None:
    text = "\n".join(cells(path, "markdown"))
    assert "**What you will be able to do**" in cells(path, "markdown")[0]
    places = [text.find(part) for part in PARTS]
    assert -1 not in places
    assert places == sorted(places)


@every_notebook
def test_the_story_is_that_of_the_reader(path: Path) -> None:
    assert "reader" in cells(path, "markdown")[0]


@every_notebook
def test_it_leads_on_to_the_next(path: Path) -> None:
    after = NOTEBOOKS[NOTEBOOKS.index(path) + 1 :][:1]
    assert all(f"]({other.name})" in "\n".join(cells(path, "markdown")) for other in after)


@every_notebook
def test_sections_are_numbered_without_a_gap(path: Path) -> None:
    numbers = [int(re.findall(r"\d+", heading)[0]) for heading in sections(path)]
    assert numbers == list(range(1, len(numbers) + 1))


@every_notebook
def test_it_asks_for_three_guesses_or_more_before_it_answers(path: Path) -> None:
    drawn = re.findall(r"exercises\.predict\(", "\n".join(cells(path, "code")))
    assert drawn
    assert len(drawn) + len(re.findall(r"exercises\.choose\(", "\n".join(cells(path, "code")))) >= 3
    assert "\n".join(cells(path, "markdown")).count("**Predict.**") >= 3


@every_notebook
def test_nothing_is_answered_in_what_is_published(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if "exercises." in cell.get("source", "") and cell.cell_type == "code":
            text = str(cell.outputs[0]["data"]["text/plain"])
            assert "Your turn." in text or "then press Reveal" in text or "Press (a)" in text, text


@every_notebook
def test_it_has_two_functions_or_more_to_write(path: Path) -> None:
    code = "\n".join(cells(path, "code"))
    written = re.findall(r"^def (\w+)\(", code, flags=re.M)
    assert len([name for name in written if checks(path, name)]) >= 2


@pytest.mark.exhaustive
@every_notebook
def test_what_is_to_be_pressed_or_dragged_is_there(path: Path) -> None:
    names = set(TOOLS)
    named = re.findall(r"gl\.labs\.(\w+)\(", "\n".join(cells(path, "code")))
    for name in gl.labs.catalog().keys() & set(named):
        lab = getattr(gl.labs, name)()
        names |= {*lab.presets, *(control.label for control in lab.make_controls())}
    told = set(TOLD.findall("\n".join(cells(path, "markdown"))))
    assert told <= names, told - names


@every_notebook
def test_it_has_a_target(path: Path) -> None:
    assert 'target="' in "\n".join(cells(path, "code"))
    assert "**Target.**" in "\n".join(cells(path, "markdown"))


def test_the_first_names_every_other_and_its_time() -> None:
    first = "\n".join(cells(save.FOLDER / f"{FIRST}.ipynb", "markdown"))
    for path in NOTEBOOKS[1:]:
        (minutes,) = re.findall(rf"\*\*Time\*\* {MINUTES}", cells(path, "markdown")[0])
        assert f"[{path.stem}]({path.name}) | {minutes} min |" in first
