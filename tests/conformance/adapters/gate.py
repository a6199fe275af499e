"""How often TensorFlow raced: every outcome it was seen to give must be one that `GateRace` says is
possible.

The counts themselves belong to TensorFlow's scheduler and promise nothing; which outcomes occur at
all does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradlab as gl
from tests.conformance import decode
from tests.conformance.scenarios import Scenario, Unsupported

# The product of the recorded sessions: loss sum(a @ b), learning rate 0.1.
A, B, RATE = [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], 0.1


def accepts(scenario: Scenario) -> bool:
    return scenario.group == "v1" and scenario.mode == "statistics"


def differences(scenario: Scenario) -> list[str]:
    possible = {gate: _outcomes(gate) for gate in ("GATE_NONE", "GATE_OP", "GATE_GRAPH")}
    found = []
    for oracle, (counts,) in scenario.data["expected"].items():
        if not counts.keys() <= {"resource_variables", "ref_variables"}:
            raise Unsupported(f"statistics of {sorted(counts)}")
        for kind, threads in counts.items():
            seen = [
                (gate, outcome)
                for gates in threads.values()
                for gate, o in gates.items()
                for outcome in o
            ]
            found += [
                (
                    f"{oracle} {kind} {gate}: TensorFlow gave {outcome!r}, GateRace only "
                    f"{sorted(possible[gate])}"
                )
                for gate, outcome in seen
                if outcome not in possible[gate]
            ]
    return found


def outcomes(loss: Any, var_list: list[Any], rate: float, gate: int) -> list[dict[str, np.ndarray]]:
    """The variables after one step, by name, for each order that the gate allows."""
    race = gl.train.GateRace(loss, var_list, rate, gate)
    return [
        {name: np.array(x) for name, x in outcome.items()} for outcome in race.outcomes().values()
    ]


def _outcomes(gate: str) -> set[str]:
    """Possible outcomes in the words of the scenario: "a RACED, b ok"."""
    with gl.Graph().as_default():
        start = {"a": np.array(A, np.float32), "b": np.array(B, np.float32)}
        variables = {name: gl.Variable(x, name=name) for name, x in start.items()}
        loss = decode.loss({"matmul_sum": ["a", "b"]}, variables)
        optimizer = gl.train.GradientDescentOptimizer
        right = _right(start)
        found = outcomes(loss, list(variables.values()), RATE, getattr(optimizer, gate))
    return {
        ", ".join(f"{n} {'ok' if np.array_equal(o[n], right[n]) else 'RACED'}" for n in ("a", "b"))
        for o in found
    }


def _right(start: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """One step from gradients that were all computed before the first update."""
    ones, rate = np.ones((2, 2), np.float32), np.float32(RATE)
    a, b = start["a"], start["b"]
    return {"a": a - ones @ b.T * rate, "b": b - a.T @ ones * rate}
