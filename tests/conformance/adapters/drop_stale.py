"""DropStaleGradientOptimizer: schedules of workers, in two modes; what was observed; the same on a
cluster of threads.

Observations told in words are run by `drop_stale_words.py`, cross checks by
`drop_stale_cluster.py`.
"""

from __future__ import annotations

import gradlab as gl
from tests.conformance.adapters import drop_stale_cluster, drop_stale_words
from tests.conformance.adapters.drop_stale_schedule import RACES, Played
from tests.conformance.scenarios import Scenario


def accepts(scenario: Scenario) -> bool:
    return scenario.group.partition(".")[0] == "drop_stale"


def differences(scenario: Scenario) -> list[str]:
    if scenario.group.endswith("cluster_cross_check"):
        return drop_stale_cluster.differences(scenario)
    if "setup" not in scenario.data:
        return drop_stale_words.differences(scenario)
    return at_once(scenario) + in_a_graph(scenario)


def at_once(scenario: Scenario) -> list[str]:
    """Outside a Graph, without the races unless the scenario is one; slots are there from the first
    update on.
    """
    races = RACES.keys() & {event["event"] for event in scenario.data["events"]}
    switches = {switch: event not in races for event, switch in RACES.items()}
    with gl.variable_collection():
        return Played(scenario.data, **switches).differences("at once")


def in_a_graph(scenario: Scenario) -> list[str]:
    """In a Graph, open to both races as the original is; slots are there from the start."""
    with gl.Graph().as_default():
        return Played(scenario.data, **dict.fromkeys(RACES.values(), False)).differences("graph")
