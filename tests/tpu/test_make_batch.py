"""One call for both engines."""

import functools

import pytest

from gradlab.tpu import Feature, Ids, Plan, Table, make_batch, sparsecore
from gradlab.tpu.batch import make_classic_batch

PLAN = Plan((Table("t", 10, 1),), (Feature("f", 0, (4,)),))
IDS = {"f": Ids([0, 0, 3], [7, 3, 7])}


def test_each_engine_is_what_its_own_module_makes() -> None:
    for engine, make in (("classic", make_classic_batch), ("sparsecore", sparsecore.make_batch)):
        one, other = make_batch(PLAN, IDS, engine).tables[0], make(PLAN, IDS).tables[0]
        assert [x.tolist() for x in one] == [x.tolist() for x in other]


def test_options_are_the_engine_s() -> None:
    limits = sparsecore.Limits(1, 1)
    with pytest.raises(ValueError, match="the limit is 1"):
        make_batch(PLAN, IDS, "sparsecore", per_core=1, limits=limits)
    with pytest.raises(TypeError, match="limits"):
        make_batch(PLAN, IDS, limits=limits)


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match="engine must be"):
        make_batch(PLAN, IDS, "modern")


def test_a_function_may_stand_in_the_place_of_an_engine() -> None:
    alone = functools.partial(sparsecore.make_batch, per_core=1)
    assert make_batch(PLAN, IDS, alone).tables[0].inverse.size == 3
