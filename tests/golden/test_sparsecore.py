"""Among the committed batches for SparseCores are all kinds."""

from tests.golden import write

COMMITTED = write.read("sparsecore")["scenarios"]


def test_every_way_to_preprocess_is_among_them() -> None:
    for name in ("allow_id_dropping", "minibatching", "stacking", "as_found", "buffer_size"):
        assert any(s.get(name) for s in COMMITTED)
    outcomes = [s["expected"] for s in COMMITTED]
    assert any(x["minibatches"] > 1 for x in outcomes)
    assert any(len(places) < 2 for x in outcomes for places in x["stacks"])
    assert any(stack["dropped"] for x in outcomes for stack in x["stacks"].values())
    assert any(rotation for x in outcomes for *_, rotation in x["places"].values())


def test_weights_and_all_combiners_are_among_them() -> None:
    assert {t["combiner"] for s in COMMITTED for t in s["tables"]} == {"sum", "mean", "sqrtn"}
    assert {f["weights"] is None for s in COMMITTED for f in s["features"]} == {True, False}
