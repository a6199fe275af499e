"""A table from its message: what happens around its rule."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab.tpu import Levels, OptimizationParameters, Tag, TPUEmbeddingConfiguration, table_of
from gradlab.tpu.engine.table_messages import descriptor_of, tags_in
from gradlab.tpu.plan import Table


def table(width: int = 4, optimizer: str = "adagrad", **parameters: Any) -> Table:
    given = {optimizer: {}, "learning_rate": {"constant": 0.5}} | parameters
    return table_of(
        TPUEmbeddingConfiguration.TableDescriptor(
            name="t", vocabulary_size=8, dimension=width, optimization_parameters=OptimizationParameters(**given)
        )
    )


def test_what_is_not_set_is_off() -> None:
    found = table()
    assert found == Table(
        "t", 8, 4, gl.rules.Adagrad(epsilon=0.0, epsilon_place="none"), learning_rate=0.5, combiner="sum"
    )
    assert found.accumulate and found.levels is None and not found.weight_decay


def test_a_limit_that_is_absent_is_open_and_one_that_is_0_is_0() -> None:
    found = table(clipping_limits={"lower": {}}, gradient_clipping_limits={"upper": {"value": 2.0}})
    assert found.weight_limits == (0.0, None)
    assert found.gradient_limits == (None, 2.0)
    assert table(clipping_limits={}).weight_limits == (None, None)


def test_decay_accumulation_and_quantization() -> None:
    found = table(
        weight_decay_factor=0.125,
        multiply_weight_decay_factor_by_learning_rate=True,
        gradient_accumulation_status="DISABLED",
        simulated_quantization={
            "enabled": True,
            "clipping_limits": {"lower": {"value": -1.0}, "upper": {"value": 1.0}},
            "num_buckets": 3,
        },
    )
    assert (found.weight_decay, found.weight_decay_times_rate, found.accumulate) == (0.125, True, False)
    assert found.levels == Levels(-1.0, 1.0, 3)


def test_quantization_that_is_not_enabled_is_none() -> None:
    assert table(simulated_quantization={"num_buckets": 3}).levels is None


def test_what_packs_or_replicates_changes_nothing() -> None:
    packed = table(low_dimensional_packing_status="ENABLED", hot_id_replication_configuration={"status": "ENABLED"})
    assert packed == table()


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"clipping_limits": {"lower": {"value": 2.0}, "upper": {}}}, "weight_limits of table 't'.*2.0 above 0.0"),
        ({"clipping_limits": {"lower": {"value": float("nan")}}}, "table 't': a limit must be a number, got lower nan"),
        ({"simulated_quantization": {"enabled": True, "num_buckets": 3}}, "lower None, upper None, num_buckets 3"),
        ({"adam": {"use_non_lazy_adam": True}, "gradient_accumulation_status": "DISABLED"}, "needs accumulate=True"),
        ({"learning_rate": {"constant": float("nan")}}, "table 't': the learning rate must be finite, got nan"),
        ({"weight_decay_factor": float("inf")}, "table 't': weight_decay_factor must be finite, got inf"),
        ({"adam": {"beta1": float("nan")}}, "table 't': adam.beta1 is not a number"),
        ({"learning_rate": {}}, "table 't': no learning rate is set"),
        ({"frequency_estimator": {}}, "table 't': a frequency estimator needs dimension 1, got 4"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_refused_by_name(parameters: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        table(**parameters)


@pytest.mark.parametrize(("lower", "upper", "buckets"), [(1.0, 1.0, 3), (2.0, 1.0, 3), (0.0, 1.0, 1)])
def test_levels_must_be_at_least_two_in_order(lower: float, upper: float, buckets: int) -> None:
    limits = {"lower": {"value": lower}, "upper": {"value": upper}}
    with pytest.raises(
        ValueError, match=f"at least 2 buckets, got lower {lower}, upper {upper}, num_buckets {buckets}"
    ):
        table(simulated_quantization={"enabled": True, "clipping_limits": limits, "num_buckets": buckets})


def test_assign_needs_no_learning_rate_and_a_frequency_estimator_width_1() -> None:
    assert table(optimizer="assign", learning_rate={}).learning_rate == 0.0
    assert table(1, "frequency_estimator", learning_rate={"dynamic": {"tag": 2}}).learning_rate == Tag(2)


LIMITS = st.tuples(st.none() | st.floats(-4, 0, width=32), st.none() | st.floats(0, 4, width=32))
TABLES = st.builds(
    Table,
    st.sampled_from(["t", "user"]),
    st.integers(1, 100),
    st.integers(1, 8),
    st.sampled_from([gl.rules.StochasticGradientDescent(), gl.rules.Lion(0.5, 0.25), gl.rules.Momentum(0.5, True)]),
    st.floats(0, 2, width=32) | st.builds(Tag, st.integers(0, 5)),
    st.just("sum"),
    LIMITS,
    LIMITS,
    st.floats(0, 1, width=32),
    st.booleans(),
    st.none() | st.just(Levels(-1.0, 1.0, 5)),
    st.booleans(),
)


@given(TABLES)
def test_a_table_comes_back_from_its_message(given_table: Table) -> None:
    assert table_of(descriptor_of(given_table)) == given_table


def test_a_step_counter_is_written() -> None:
    rule = gl.rules.FrequencyAwareAdagrad(initial_accumulator_value=0.5)
    given_table = Table("t", 8, 4, rule, Tag(0), "sum", step_counter=Tag(1))
    assert table_of(descriptor_of(given_table)) == given_table


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"learning_rate": 1e39}, "learning_rate of table 't' is more than float32"),
        ({"weight_decay": 1e39}, "weight_decay of table 't' is more than float32"),
        ({"weight_limits": (None, 1e39)}, r"the upper limit 1e\+39 is more than float32"),
        ({"rule": gl.rules.Adam()}, "bias_correction"),
    ],
)
def test_what_a_message_cannot_hold_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        descriptor_of(Table("t", 8, 4, **change))


def test_tags_of_one_table() -> None:
    def tags(rate: int, counter: int) -> list[int]:
        return tags_in(
            OptimizationParameters(
                learning_rate={"dynamic": {"tag": rate}}, frequency_aware_adagrad={"step_counter": {"tag": counter}}
            )
        )

    assert tags(0, 1) == [0, 1]
    assert tags(1, 1) == [1]
    assert tags_in(OptimizationParameters(learning_rate={"constant": 1.0}, adam={})) == []
