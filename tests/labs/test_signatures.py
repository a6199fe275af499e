"""The names of a lab's controls are known to type checkers, to `inspect`, and so to completion."""

import inspect
from typing import Any

import pytest
from IPython.core import completer

import gradlab as gl
from tests.labs.signatures import STUB, stub


def test_what_type_checkers_read_is_what_the_labs_are() -> None:
    assert STUB.read_text("utf-8") == stub(), "run python -m tests.labs.signatures"


def test_a_reader_who_looks_finds_labs_only() -> None:
    assert dir(gl.labs) == sorted(gl.labs.__all__)
    assert {"Lab", "PlacementPicture", "Target", "catalog", "from_link", *gl.labs.catalog()} == set(gl.labs.__all__)


@pytest.mark.parametrize("make", gl.labs.catalog().values(), ids=gl.labs.catalog())
def test_a_signature_names_the_controls(make: Any) -> None:
    parameters = inspect.signature(make).parameters
    other = ("recording", "recordings", "names", "target")
    shown = {name: x.default for name, x in parameters.items() if name not in other}
    assert shown == make().params
    assert parameters["target"].default is None


def test_a_lab_of_ones_own_has_a_signature_and_a_frame_has_its_own() -> None:
    class mine(gl.labs.clip_arrows):
        def __init__(self, teacher: str, **initial: Any) -> None:
            super().__init__(**initial)

    assert list(inspect.signature(mine).parameters) == ["teacher", "initial"]  # nobody knows a teacher
    assert list(inspect.signature(gl.labs.Lab).parameters) == ["target", "initial"]


@pytest.mark.exhaustive
def test_a_notebook_completes_the_names() -> None:
    complete, text = completer.IPCompleter(namespace={"gl": gl}), "gl.labs.clip_arrows(lim"
    with completer.provisionalcompleter():
        assert "limit=" in {found.text for found in complete.completions(text, len(text))}
