"""Observations of accumulators told in words: most of them are code, the rest is recognised by its
words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance.adapters.accumulator_code import World
from tests.conformance.adapters.accumulator_outcomes import Outcome, error, value
from tests.conformance.adapters.accumulator_tales import TALES
from tests.conformance.scenarios import Scenario, Unsupported

Told = dict[str, Any]
REMARKS = {"do", "error", "id", "title", "earlier", "note", "notes"}


def differences(scenario: Scenario) -> list[str]:
    """Those of the last observation: the ones before it in its group are what it starts from."""
    data = scenario.data
    world = World(
        "graph" if data.get("title", "").startswith("GRAPH") else data.get("mode", "eager")
    )
    for earlier in data.get("earlier", []):
        observed(world, earlier)
    return observed(world, data)


def observed(world: World, told: Told) -> list[str]:
    """Deviations from what is told; every key but remarks must be accounted for."""
    got = outcome(world, told["do"])
    found = error(told.get("error"), got.pop("error", None), told["do"])
    for key in told.keys() - REMARKS:
        if key == "num_accumulated" and key not in got:
            got[key] = counts(world, told[key])
        if key in got:
            found += same(told[key], got[key], f"{told['do']} {key}")
        elif not found:
            raise Unsupported(f"{key} of {told['do']!r}")
    return found


def outcome(world: World, text: str) -> Outcome:
    try:
        for pattern, tale in TALES.items():
            if match := pattern.search(text):
                return tale(world, match)
        return {"out": world.run(text)}
    except Unsupported:
        raise
    except Exception as raised:  # which class it is, is the result
        return {"error": raised}


def counts(world: World, asked: Any) -> Any:
    if isinstance(asked, dict):
        return {name: int(world.names[name].num_accumulated()) for name in asked}
    return int(world.it().num_accumulated())


def same(want: Any, got: Any, where: str) -> list[str]:
    if type(got).__name__ == "Receipt":  # in TensorFlow an apply returns nothing
        got = None
    if isinstance(got, np.dtype):
        got = got.name
    if want == "constructed" and hasattr(got, "num_accumulated"):
        return []
    if hasattr(got, "dtype") or (
        isinstance(want, list | int | float) and isinstance(got, tuple | int | float)
    ):
        return value(want, np.asarray(got), where)
    return [] if want == got else [f"{where}: {got!r}, expected {want!r}"]
