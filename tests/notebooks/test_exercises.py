"""Every exercise is in a notebook, and the key solves every notebook: its cells then print
"Right.".
"""

import inspect
import re
from typing import Any

import nbformat
import numpy as np
import pytest

import gradlab as gl
from gradlab.exercises.catalog import EXERCISES, NOTEBOOKS, PREDICTIONS, notebook
from gradlab.exercises.key import checked, chosen, filled, value
from gradlab.exercises.starters import is_starter
from tests.notebooks import save

every_notebook = pytest.mark.parametrize("stem", NOTEBOOKS.values())


def codes(stem: str) -> list[str]:
    path = save.FOLDER / f"{stem}.ipynb"
    return [
        cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"
    ]


@every_notebook
def test_a_notebook_asks_what_the_catalogue_has_for_it(stem: str) -> None:
    asked = re.findall(r"exercises\.(?:check|choose|predict)\(\"([\w.]+)\"", "\n".join(codes(stem)))
    assert sorted(asked) == sorted(
        name for name in (*EXERCISES, *PREDICTIONS) if notebook(name) == stem
    )


@every_notebook
def test_a_notebook_is_solved_by_the_key(stem: str) -> None:
    space: dict[str, Any] = {"gl": gl, "np": np}
    for cell in codes(stem):
        if not checked(cell) and not chosen(cell):
            continue
        *before, last = filled(cell).rpartition("\n")
        exec("".join(before), space)
        assert repr(eval(last, space)).startswith("Right."), cell


@every_notebook
def test_starters_have_the_names_and_arguments_of_the_key(stem: str) -> None:
    for cell in codes(stem):
        for name, variable in checked(cell):
            exec(cell, space := {"gl": gl, "np": np})
            exercise = EXERCISES[name]
            assert is_starter(exercise, space[variable]) and not is_starter(
                exercise, value(name)
            ), name
            if callable(space[variable]):
                solved = value(name)
                assert (variable, inspect.signature(space[variable])) == (
                    solved.__name__,
                    inspect.signature(solved),
                )
