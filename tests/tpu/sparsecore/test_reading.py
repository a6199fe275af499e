"""From buffers back to rows and samples: the classic lookups, in the order of partitions."""

import numpy as np
import pytest

from gradlab.tpu import Lookups, make_batch
from gradlab.tpu.sparsecore import preprocess
from gradlab.tpu.sparsecore.preprocess import batch_of
from tests.tpu.sparsecore import cases


def triples(t: Lookups, core: int) -> list[tuple[int, int]]:
    """(sample, row) of each lookup of a core."""
    rows, each = t.unique.size // cases.CORES, t.inverse.size // cases.CORES
    unique, own = t.unique[core * rows :][:rows], slice(core * each, (core + 1) * each)
    made = t.inverse[own] < rows
    return sorted(zip(t.samples[own][made].tolist(), unique[t.inverse[own][made]].tolist(), strict=True))


@pytest.mark.parametrize("per_core", [1, 4])
def test_buffers_hold_the_classic_lookups_merged(per_core: int) -> None:
    plan, given_ids = cases.plan(), cases.ids(5)
    found = make_batch(plan, given_ids, "sparsecore", per_core=per_core)
    for k, classic in enumerate(make_batch(plan, given_ids).tables):
        for core in range(cases.CORES):
            assert triples(found.tables[k], core) == sorted(set(triples(classic, core)))


def test_what_the_buffers_say_is_what_is_looked_up() -> None:
    found = preprocess(cases.plan(), cases.ids(5), per_core=2)
    reads = {name: r._replace(gains=r.gains * 2) for name, r in found.reads.items()}
    doubled = batch_of(found.plan, found.layout, reads)
    for a, b in zip(found.batch.tables, doubled.tables, strict=True):
        assert np.array_equal(b.weights, 2 * a.weights)
        assert np.array_equal(b.unique, a.unique)
