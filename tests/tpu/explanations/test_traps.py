"""A step cut down to the rows it touches moves them as the whole step does."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from gradlab.rules import (
    Adagrad,
    Adam,
    FrequencyAwareAdagrad,
    Ftrl,
    Momentum,
    StochasticGradientDescent,
)
from gradlab.tpu import (
    Feature,
    Ids,
    Levels,
    Plan,
    Policy,
    Sent,
    StepRecord,
    Table,
    Tag,
    create,
    explain_missing,
    lookup,
    make_batch,
    update,
)
from gradlab.tpu.explanations.traps import make_excerpt

TWO_TABLES = (Feature("f", 0, (3,)), Feature("g", 1, (2,)), Feature("h", 1, (1,)))
IDS_OF_TWO = [
    {"f": Ids([0], [1]), "g": Ids([0, 0, 1], [90, 7, 90]), "h": Ids([0], [50])},
    {"g": Ids([1], [7])},
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("rule", [Adagrad(), Adam(), Adam(lazy=False), Momentum()], ids=str)
@pytest.mark.parametrize("accumulate", [True, False])
def test_rows_move_as_in_the_whole_table(rule: Any, accumulate: bool) -> None:
    table = Table("b", 100, 2, rule, Tag(0), accumulate=accumulate or not rule.lazy)
    check(Plan((Table("a", 4, 1), table), TWO_TABLES, cores=2), [0.5])


@pytest.mark.exhaustive
def test_a_counter_that_comes_with_the_step() -> None:
    table = Table("b", 100, 2, FrequencyAwareAdagrad(), Tag(0), step_counter=Tag(1))
    check(Plan((Table("a", 4, 1), table), TWO_TABLES, cores=2), [0.5, 8.0])


def check(plan: Plan, rates: Any) -> None:
    rng = np.random.default_rng(0)
    state = create(plan, [rng.normal(size=(t.rows, t.width)) for t in plan.tables])
    gradients = [rng.normal(size=plan.activation_shape(k)).astype(np.float32) for k in range(3)]
    whole = update(state, gradients, rates, lookup(state, make_batch(plan, IDS_OF_TWO))[1])
    cut = make_excerpt(StepRecord(state, Sent(gradients, rates, IDS_OF_TWO)), 1)
    assert cut.rows.tolist() == [7, 50, 90, 0] and cut.untouched
    weights, slots = cut.after()
    np.testing.assert_allclose(weights, np.asarray(whole.tables[1])[cut.rows], rtol=1e-6, atol=1e-7)
    for mine, all_rows in zip(slots, whole.slots[1], strict=True):
        np.testing.assert_allclose(mine, np.asarray(all_rows)[cut.rows], rtol=1e-6, atol=1e-7)


# Every trap

FEATURES = (Feature("f", 0, (3,)),)
PLAIN = {"f": Ids([0, 1, 2], [1, 2, 4])}
DOUBLED = {"f": Ids([0, 0, 0, 1], [2, 2, 1, 2])}


def step(
    table: Table, ids: Any = PLAIN, rates: Any = (), gradient: float = 0.5, **plan: Any
) -> StepRecord:
    whole = Plan((table,), FEATURES, **plan)
    rng = np.random.default_rng(0)
    state = create(whole, [rng.normal(size=(table.rows, table.width))])
    gradients = [np.full(whole.activation_shape(0), gradient, np.float32)]
    return StepRecord(state, Sent(gradients, rates, ids))


def table(rule: Any = StochasticGradientDescent(), **fields: Any) -> Table:  # noqa: B008 - frozen
    return Table("t", 6, 2, rule, **({"learning_rate": 0.1} | fields))


def after(record: StepRecord, **fields: Any) -> np.ndarray:
    """The whole table after the step, with other fields of the table."""
    plan = dataclasses.replace(
        record.plan, tables=(dataclasses.replace(record.plan.tables[0], **fields),)
    )
    state = dataclasses.replace(record.before, plan=plan)
    batch = make_batch(plan, record.sent.ids or {})
    return np.asarray(
        update(
            state, record.sent.gradients, record.sent.learning_rates, lookup(state, batch)[1]
        ).tables[0]
    )


FOUND: dict[str, Any] = {
    "FTRL shrinks the initial weight": lambda: step(table(Ftrl())),
    "Adam does not correct its bias": lambda: step(
        table(Adam(bias_correction=False), learning_rate=Tag(0)), rates=[0.1]
    ),
    "Adagrad has no epsilon": lambda: step(table(Adagrad(epsilon_place="none"))),
    "A sum of 0 is a touch": lambda: step(table(Ftrl())),
    "Rows that nobody looks up": lambda: step(table(Adam(lazy=False))),
    "Weights decay only where they are looked up": lambda: step(table(weight_decay=0.1)),
    "Quantization is for lookups only": lambda: step(table(levels=Levels(-1.0, 1.0, 3))),
    "A mean counts duplicates": lambda: step(table(), DOUBLED),
    "Gradients are summed first": lambda: step(table(Adagrad()), DOUBLED),
    "Gradients are not summed": lambda: step(table(Adagrad(), accumulate=False), DOUBLED),
    "Replicas are summed": lambda: step(table(), [PLAIN, PLAIN], cores=2),
    "A few rows get most gradients": lambda: step(table(), {"f": Ids([0] * 6, [1, 1, 1, 1, 2, 3])}),
    "Ids outside the table": lambda: step(
        table(), {"f": Ids([0], [9])}, policy=Policy(out_of_range="drop")
    ),
    "Lookups run one update ahead": lambda: step(table(), pipelined=True),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FOUND)
def test_a_trap_is_found(name: str) -> None:
    trap = explain_missing(FOUND[name](), table="t").named(name)
    assert trap.applies and trap.numbers
    assert all(
        np.isfinite(np.asarray(x)).all()
        for key, x in trap.numbers.items()
        if "accumulator is 0" not in key
    )
    assert str(trap).startswith(f"[x] {name}: ") and "To have it otherwise" in str(trap)


def test_a_plain_step_is_in_none() -> None:
    traps = explain_missing(step(table()))
    assert traps.applying == ()
    assert "[ ] Replicas are summed: there is one core." in str(traps)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "change", "key"),
    [
        ("Gradients are summed first", {"accumulate": False}, "the other way"),
        ("Gradients are not summed", {"accumulate": True}, "the other way"),
        ("Weights decay only where they are looked up", {"weight_decay": 0.0}, "without decay"),
        ("Adagrad has no epsilon", {"rule": Adagrad(epsilon=1e-7)}, "with Keras's epsilon"),
    ],
)
def test_both_ways_are_really_run(name: str, change: Any, key: str) -> None:
    record = FOUND[name]()
    numbers = explain_missing(record).named(name).numbers
    whole, other = after(record), after(record, **change)
    first = numbers.get("row after", numbers.get("touched row after"))
    assert (whole == first).all(axis=1).any() and (other == numbers[key]).all(axis=1).any()


def test_what_a_mean_would_be_without_duplicates() -> None:
    record = step(table(), DOUBLED)
    numbers = explain_missing(record).named("A mean counts duplicates").numbers
    other = after(
        dataclasses.replace(
            record, sent=Sent(record.sent.gradients, ids={"f": Ids([0, 0, 1], [2, 1, 2])})
        )
    )
    assert (other == numbers["each counted once"]).all(axis=1).any()
    assert not (numbers["each counted once"] == numbers["row after"]).all()


def test_the_rates_that_correct_adam() -> None:
    record = FOUND["Adam does not correct its bias"]()
    rates = explain_missing(record).named("Adam does not correct its bias").numbers["rates to send"]
    np.testing.assert_allclose(rates[0], 0.1 * np.sqrt(1 - 0.999) / (1 - 0.9))
    corrected = step(table(Adam(bias_correction=True)))
    sent = Sent(record.sent.gradients, [np.float32(rates[0])], PLAIN)
    np.testing.assert_allclose(
        after(dataclasses.replace(record, sent=sent)), after(corrected), atol=2e-6
    )


@pytest.mark.exhaustive
def test_a_row_that_stands_still_and_one_that_moves() -> None:
    numbers = (
        explain_missing(FOUND["A sum of 0 is a touch"]()).named("A sum of 0 is a touch").numbers
    )
    assert (numbers["looked up, gradient 0"] == 0).all() and (numbers["row before"] != 0).all()
    assert not explain_missing(step(table(Momentum()))).named("A sum of 0 is a touch").applies, (
        "momentum begins at 0"
    )


def test_where_ids_outside_would_go() -> None:
    numbers = (
        explain_missing(FOUND["Ids outside the table"]()).named("Ids outside the table").numbers
    )
    assert {key: x.tolist() for key, x in numbers.items()} == {
        "ids": [9],
        "rows by 'clamp'": [5],
        "rows by 'wrap'": [3],
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize(("gradient", "share"), [(0.0, 0.0), (1.0, 1 - np.sqrt(0.1 / 1.1))])
def test_the_share_of_the_initial_weight_that_ftrl_keeps(gradient: float, share: float) -> None:
    one_lookup = {"f": Ids([0], [2])}
    record = step(table(Ftrl(), learning_rate=0.1), one_lookup, gradient=gradient)
    start = np.asarray(record.before.tables[0])[2]
    pull = 0.1 * gradient / np.sqrt(0.1 + gradient**2)
    np.testing.assert_allclose(after(record)[2], share * start - pull, rtol=1e-5)
    trap = explain_missing(record, table="t").named("FTRL shrinks the initial weight")
    assert trap.applies
    assert "keeps the share 1 - sqrt(a0 / a1)" in str(trap)


def test_a_step_without_lookups() -> None:
    assert not any(
        t.applies
        for t in explain_missing(step(table(), {}))
        if t.name != "Rows that nobody looks up"
    )


def test_as_a_page_and_by_a_wrong_name() -> None:
    traps = explain_missing(step(table()))
    assert traps._repr_html_().count("<tr>") == len(traps) + 1
    with pytest.raises(KeyError, match="no trap 'x'; there are FTRL"):
        traps.named("x")
    with pytest.raises(ValueError, match="no table 'u'"):
        explain_missing(step(table()), table="u")
