"""The controls of a lab on the command line: which there are, what each takes, and KEY=VALUE as its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._base.notebooks import UsageError

if TYPE_CHECKING:
    from ...labs import Lab


def catalog() -> dict[str, type[Lab]]:
    """Every lab by name; they are loaded only by a command that needs them."""
    from ... import labs

    return labs.catalog()


def settable(lab: Any) -> dict[str, Any]:
    """The controls that hold a value; a button only acts in a page."""
    return {control.name: control for control in lab.controls if hasattr(control, "check")}


def read(text: str, controls: dict[str, Any]) -> tuple[str, Any]:
    """Read one KEY=VALUE.

    Raises:
        UsageError: no such key, or a value that its control does not take.
    """
    key, equals, value = text.partition("=")
    allowed = "; ".join(f"{name} ({taken(control)})" for name, control in controls.items())
    if not equals:
        raise UsageError(f"--set takes KEY=VALUE, got {text!r}; the keys are {allowed}")
    if key not in controls:
        raise UsageError(f"unknown key {key!r}: the keys are {allowed}")
    control = controls[key]
    try:
        return key, control.read(value)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{key} is {taken(control)}; got {value!r}") from error


def taken(control: Any) -> str:
    """What a control takes, as it is written on the command line."""
    kind = control.spec()["kind"]
    if kind == "menu":
        return f"one of {control.listed()}"
    if kind == "toggle":
        return "true or false"
    number = "whole number" if control.scale == "integer" else "number"
    ends = f"{control.minimum:g} to {control.maximum:g}{' ' * bool(control.unit)}{control.unit}"
    if kind == "range":
        return f"two {number}s LOW~HIGH from {ends}"
    return f"a {number} from {ends}" if control.scale == "integer" else ends
