"""Which id became which lookup, and what became of the others."""

import numpy as np

from gradlab.tpu import Feature, Ids, Plan, Policy, Sent, Table, make_batch
from gradlab.tpu.explanations.contributions import contributions, given

PLAN = Plan((Table("t", 6, 1, combiner="sum"),), (Feature("f", 0, (2,)),), policy=Policy(out_of_range="drop"))
IDS = {"f": Ids([0, 0, 0, 1], [4, 4, 9, 4], [1.0, 2.0, 5.0, 3.0])}
GRADIENTS = [np.float32([[1.0], [10.0]])]


def test_every_id_of_a_row_is_a_lookup() -> None:
    found = contributions(PLAN, 0, 4, Sent(GRADIENTS, ids=IDS))
    assert [(c.sample, c.position, c.given_weight, c.product.item(), c.joined) for c in found] == [
        (0, 0, 1.0, 1.0, 1), (0, 1, 2.0, 2.0, 1), (1, 0, 3.0, 30.0, 1),
    ]  # fmt: skip


def test_equal_ids_that_the_engine_joined() -> None:
    joined = make_batch(PLAN, {"f": Ids([0, 1], [4, 4], [3.0, 3.0])})
    first, second = contributions(PLAN, 0, 4, Sent(GRADIENTS, ids=IDS, batch=joined))
    assert (first.joined, first.given_weight, first.gain, first.product.item()) == (2, 3.0, 3.0, 3.0)
    assert (second.joined, second.given_weight) == (1, 3.0)


def test_what_was_dropped_names_the_nearest_row() -> None:
    (out,) = (e for e in given(PLAN, 0, 5, Sent(GRADIENTS, ids=IDS)))
    assert (out.id, out.row, out.fate, out.weight) == (9, 5, "dropped", 5.0)
    assert len(list(given(PLAN, 0, None, Sent(GRADIENTS, ids=IDS)))) == 4
