"""What a step was given, kept as it is: no copies, and what was applied in a pipelined plan."""

import numpy as np
import pytest

from gradlab.tpu import Feature, Ids, Plan, Sent, StepRecord, Table, create, make_batch


@pytest.mark.parametrize("pipelined", [False, True])
def test_what_is_applied(pipelined: bool) -> None:
    plan = Plan((Table("t", 4, 1),), (Feature("f", 0, (1,)),), pipelined=pipelined)
    state = create(plan, [np.ones((4, 1))])
    first, second = (Sent([np.ones((1, 1))], ids={"f": Ids([0], [k])}) for k in range(2))
    step = StepRecord(state, second, late=first)
    assert step.applied is (first if pipelined else second)
    assert step.before is state


def test_ids_become_a_batch_and_one_core_needs_no_list() -> None:
    plan = Plan((Table("t", 4, 1),), (Feature("f", 0, (1,)),))
    ids = {"f": Ids([0], [3])}
    sent = Sent([np.ones((1, 1))], ids=ids)
    assert sent.cores() == [ids]
    assert sent.lookups(plan).tables[0].unique.tolist() == [3]
    batch = make_batch(plan, ids)
    assert Sent([], batch=batch).lookups(plan) is batch
    assert Sent([], batch=batch).cores() == []
