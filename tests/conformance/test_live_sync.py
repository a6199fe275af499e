"""gradlab's SyncReplicasOptimizer beside TensorFlow's on schedules drawn at random."""

from __future__ import annotations

import pytest

from tests.conformance.adapters import sync_replicas
from tests.conformance.scenarios import Scenario
from tests.golden import sync_oracle, sync_scenarios

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize("seed", range(12))
def test_a_drawn_schedule_gives_what_tensorflow_gives(seed: int) -> None:
    asked = sync_scenarios.drawn(seed)
    told = {**asked, "expected": {"now": sync_oracle.outputs(asked)}}
    assert sync_replicas.differences(Scenario("live", asked["group"], asked["id"], told)) == []
