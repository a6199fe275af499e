"""What came of a call of an accumulator, recorded and seen, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance import compare, decode
from tests.conformance.scenarios import Scenario

RESULTS = {"error", "out", "num_accumulated", "step_after", "completed", "still_blocked"}
Outcome = dict[str, Any]


def recorded(scenario: Scenario) -> list[tuple[dict[str, Any], Outcome]]:
    """(call, outcome): both in one object, or the outcomes apart, under the oracle's name."""
    if "expected" in scenario.data:
        (outcomes,) = scenario.data["expected"].values()
        return list(zip(scenario.calls, outcomes, strict=True))
    split = ((call, call.keys() & RESULTS) for call in scenario.calls)
    return [
        ({k: v for k, v in call.items() if k not in r}, {k: call[k] for k in r})
        for call, r in split
    ]


def compared(want: Outcome, got: Outcome, where: str) -> list[str]:
    """Deviations of every recorded outcome; an error that was not raised stands there as null or
    not at all.
    """
    found = error(want.get("error"), got.get("error"), where)
    if "out" in want or got.get("out") is not None:
        found += value(want.get("out"), got.get("out"), f"{where} out")
    for key in ("num_accumulated", "step_after"):
        if key in want and want[key] != got.get(key):
            found.append(f"{where}: {key} is {got.get(key)!r}, expected {want[key]!r}")
    waiting = [outcome.get("still_blocked", []) for outcome in (want, got)]
    if waiting[0] != waiting[1]:
        found.append(f"{where}: {waiting[1]} wait, expected {waiting[0]}")
    return found + _completed(want.get("completed", []), got.get("completed", []), where)


def error(want: Any, got: Exception | None, where: str) -> list[str]:
    if not want:
        return [] if got is None else [f"{where}: raised {type(got).__name__}: {got}"]
    return compare.differences(
        {"error": want}, got if got is None else compare.Raised(got), "bitwise", where
    )


def value(want: Any, got: Any, where: str) -> list[str]:
    """Numbers to the bit, and the shape also where there are none."""
    if isinstance(want, dict) and isinstance(got, dict):
        shape = want.get("values_shape_if_empty")
        want = {**want, **({} if shape is None else {"values": {"empty_shape": shape}})}
        return [
            d
            for k in ("indices", "values", "shape")
            for d in value(want[k], got[k], f"{where}.{k}")
        ]
    if isinstance(want, dict):
        want = np.zeros(want["empty_shape"])
        return (
            []
            if np.shape(got) == want.shape
            else [f"{where}: shape {np.shape(got)}, expected {want.shape}"]
        )
    return compare.differences(decode.numbers(want), got, "bitwise", where)


def _completed(want: list[Outcome], got: list[Outcome], where: str) -> list[str]:
    names = [[taker["taker"] for taker in takers] for takers in (want, got)]
    if names[0] != names[1]:
        return [f"{where}: {names[1]} came back, expected {names[0]}"]
    pairs = zip(want, got, strict=True)
    return [d for w, g in pairs for d in compared(w, g, f"{where} taker {w['taker']}")]
