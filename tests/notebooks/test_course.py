"""What every notebook of the course has: minutes that add up, guesses before answers, functions to write, a target."""

import re
from pathlib import Path

import nbformat
import pytest

from . import save

TOUR = "00_start_here"
NOTEBOOKS = sorted(save.FOLDER.glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
every_lesson = pytest.mark.parametrize(
    "path", [path for path in NOTEBOOKS if path.stem != TOUR], ids=lambda path: path.stem
)
MINUTES = r"(\d+) minutes?"


def cells(path: Path, kind: str) -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


def sections(path: Path) -> list[str]:
    """The headings of the numbered sections; what follows them is to look things up in."""
    return re.findall(r"^## \d+\..*$", "\n".join(cells(path, "markdown")), flags=re.M)


def checks(path: Path, argument: str) -> list[str]:
    """The exercises that check an argument of that form."""
    return re.findall(rf'exercises\.check\("([\w.]+)", {argument}\)', "\n".join(cells(path, "code")))


@every_notebook
def test_the_minutes_of_the_sections_add_up_to_the_time_in_the_first_cell(path: Path) -> None:
    stated = re.search(rf"\*\*Time\*\* {MINUTES}", cells(path, "markdown")[0])
    each = [re.search(rf"\({MINUTES}\)$", heading) for heading in sections(path)]
    assert stated
    assert all(each), sections(path)
    assert abs(sum(int(found[1]) for found in each if found) - int(stated[1])) <= 1


@every_notebook
def test_sections_are_numbered_without_a_gap(path: Path) -> None:
    numbers = [int(re.findall(r"\d+", heading)[0]) for heading in sections(path)]
    assert numbers == list(range(1, len(numbers) + 1))


@every_lesson
def test_a_lesson_asks_for_three_guesses_or_more_before_it_answers(path: Path) -> None:
    drawn = re.findall(r"exercises\.predict\(", "\n".join(cells(path, "code")))
    assert drawn
    assert len(drawn) + len(checks(path, "guess")) >= 3
    assert "\n".join(cells(path, "markdown")).count("**Predict.**") >= 3


@every_lesson
def test_nothing_is_answered_in_what_is_published(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if "exercises." in cell.get("source", "") and cell.cell_type == "code":
            text = str(cell.outputs[0]["data"]["text/plain"])
            assert "Not yet." in text or "then press Reveal" in text, text


@every_lesson
def test_a_lesson_has_two_functions_or_more_to_write(path: Path) -> None:
    code = "\n".join(cells(path, "code"))
    written = re.findall(r"^def (\w+)\(", code, flags=re.M)
    assert len([name for name in written if checks(path, name)]) >= 2


@every_lesson
def test_a_lesson_has_a_target(path: Path) -> None:
    assert 'target="' in "\n".join(cells(path, "code"))
    assert "**Target.**" in "\n".join(cells(path, "markdown"))


def test_the_tour_names_every_lesson_and_its_time() -> None:
    tour = "\n".join(cells(save.FOLDER / f"{TOUR}.ipynb", "markdown"))
    for path in NOTEBOOKS:
        if path.stem != TOUR:
            (minutes,) = re.findall(rf"\*\*Time\*\* {MINUTES}", cells(path, "markdown")[0])
            assert f"[{path.stem}]({path.name}) | {minutes} min |" in tour
