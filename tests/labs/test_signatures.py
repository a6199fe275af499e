"""The function that makes a lab names its controls, their defaults and the values that they allow."""

import inspect
import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from IPython.core import completer

import gradlab as gl
from gradlab.live import Button, Menu, Slider
from gradlab.live.controls import Valued

every_lab = pytest.mark.parametrize("name", gl.labs.catalog())
NOT_CONTROLS = ("recording", "recordings", "names", "target")


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """Return the parameters that are controls."""
    found = inspect.signature(getattr(gl.labs, name)).parameters
    return {key: parameter for key, parameter in found.items() if key not in NOT_CONTROLS}


def controls(lab: gl.labs.Lab) -> dict[str, Valued]:
    """Return the controls that hold a value."""
    return {c.name: c for c in lab.controls if not isinstance(c, Button)}


def takes_recordings(name: str) -> bool:
    """Tell whether the ranges of controls depend on what is passed."""
    return bool(
        {"recording", "recordings"} & inspect.signature(getattr(gl.labs, name)).parameters.keys()
    )


def options(hint: Any) -> list[Any]:
    """Return the values of all `Literal` in a type, in their order."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [option for part in get_args(hint) for option in options(part)]


def test_a_reader_who_looks_finds_labs_only() -> None:
    assert dir(gl.labs) == sorted(gl.labs.__all__)
    frame = {"Lab", "PlacementPicture", "Target", "about", "catalog", "from_link", "glance"}
    assert {*frame, *gl.labs.catalog()} == set(gl.labs.__all__)


@every_lab
def test_a_function_makes_the_lab_that_is_called_like_it(name: str) -> None:
    assert getattr(gl.labs, name)().function == name


@every_lab
def test_parameters_are_the_controls_with_their_defaults(name: str) -> None:
    lab = getattr(gl.labs, name)()

    assert list(parameters(name)) == list(controls(lab))
    for key, parameter in parameters(name).items():
        depends_on_recording = takes_recordings(name) and parameter.default is None
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.default == lab.params[key] or depends_on_recording, key


@every_lab
def test_types_are_those_of_the_controls(name: str) -> None:
    make = getattr(gl.labs, name)
    lab = make()
    hints = get_type_hints(make)

    assert options(hints.get("target")) == list(lab.targets)
    for key, control in controls(lab).items():
        literals = options(hints[key])
        if literals:
            assert isinstance(control, Menu)
            assert sorted(literals) == sorted(control.values()), key
        else:
            kinds = get_args(hints[key]) or (hints[key],)
            assert all(isinstance(value, kinds) for value in control.values()), key


@every_lab
def test_documentation_has_every_parameter_and_the_range_of_a_slider(name: str) -> None:
    make = getattr(gl.labs, name)
    arguments = str(inspect.getdoc(make)).partition("\nArgs:\n")[2].partition("\n\n")[0]
    entries = dict(
        re.findall(r"^    \*?(\w+): (.*?)(?=^    \S|\Z)", arguments, re.MULTILINE | re.DOTALL)
    )

    assert list(entries) == list(inspect.signature(make).parameters)
    for key, control in controls(make()).items():
        if isinstance(control, Slider) and not takes_recordings(name):
            assert f"{control.minimum:g} to {control.maximum:g}" in " ".join(
                entries[key].split()
            ), key


@pytest.mark.exhaustive
def test_a_notebook_completes_the_names() -> None:
    complete, text = completer.IPCompleter(namespace={"gl": gl}), "gl.labs.clip_arrows(lim"
    with completer.provisionalcompleter():
        assert "limit=" in {found.text for found in complete.completions(text, len(text))}
