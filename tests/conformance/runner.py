"""Run one scenario: find the adapter of its family and list the deviations.

An adapter is a module in `adapters/` with

    accepts(scenario) -> bool            is this scenario of my family (decided by its content, never by its id)
    differences(scenario) -> list[str]   run it; an empty list means it passed; raise Unsupported for what I do not know

and one entry in `adapters/families.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import gradlab as gl
from tests.conformance import compare
from tests.conformance.scenarios import Scenario, Unsupported


def differences(scenario: Scenario) -> list[str]:
    """Run the scenario with the first adapter that accepts it."""
    from tests.conformance.adapters.families import ADAPTERS

    for adapter in ADAPTERS:
        if adapter.accepts(scenario):
            return quietly(adapter.differences, scenario)
    raise Unsupported(f"no adapter for group {scenario.group!r}, mode {scenario.mode!r}")


def quietly(f: Callable[..., Any], *args: Any) -> Any:
    """`f(*args)` without gradlab's warnings about suspicious input: they are tested elsewhere, here
    numbers count.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.errors.GradlabWarning)
        return f(*args)


def semantics(oracle: str) -> str:
    """The `semantics=` of an oracle's key: TensorFlow 2.3 stands for itself, 2.4 and later for
    "tf2.21".
    """
    if oracle == "both":
        return "tf2.21"
    major, _, rest = oracle.removeprefix("tf").partition(".")
    minor = rest.partition(".")[0]
    if not (oracle.startswith("tf") and major == "2" and minor.isdigit()):
        raise Unsupported(f"oracle {oracle!r}")
    return "tf2.3" if int(minor) <= 3 else "tf2.21"


def all_semantics(oracle: str) -> list[str]:
    """What to run for one key: "both" was seen in both versions, so both must give it."""
    return ["tf2.3", "tf2.21"] if oracle == "both" else [semantics(oracle)]


def replay(
    scenario: Scenario, run: Callable[[str], list[Any]], ignored: Iterable[tuple[str, str]] = ()
) -> list[str]:
    """Deviations of `run(semantics)`, one output per call, from every key of `expected`.

    `ignored` names (verb, output key) pairs that are not compared.
    """
    found = []
    for oracle, outputs in scenario.data["expected"].items():
        for meaning in all_semantics(oracle):
            found += _against(scenario, f"{oracle}/{meaning}", outputs, run(meaning), set(ignored))
    return found


def _against(
    scenario: Scenario,
    label: str,
    expected: list[Any],
    actual: list[Any],
    ignored: set[tuple[str, str]],
) -> list[str]:
    found = []
    for k, (call, want, got) in enumerate(zip(scenario.calls, expected, actual, strict=True)):
        want = {key: v for key, v in want.items() if (call["do"], key) not in ignored}
        where = f"{label} call {k} ({call['do']})"
        found += compare.differences(want, got, scenario.data["compare"], where)
    return found


def attempt(call: Callable[[], Any]) -> Any:
    """The result, or what was raised as a value to compare."""
    try:
        return call()
    except Unsupported:
        raise
    except Exception as error:  # which class it is, is the result
        return compare.Raised(error)
