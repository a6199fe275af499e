"""Each of the 19 optimizers from its message to its rule and back, field by field."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab.tpu import (
    Levels,
    OptimizationParameters,
    Tag,
    TPUEmbeddingConfiguration,
    parameters_of,
    rule_of,
    table_of,
)
from gradlab.tpu.engine.messages import (
    BY_MESSAGE,
    FORMS,
    Form,
    accumulates,
    descriptor_of,
    slot_names,
    tags_in,
)
from gradlab.tpu.engine.proto import GradientAccumulationStatus
from gradlab.tpu.plan import Table

WRITTEN = [f for f in FORMS if f.rule is not gl.rules.UserDefined]
# Fields of rules that no message has, and need not: initial values come with the slots, orders of
# operations change last bits only, powers change at each step, and the others are readings of what
# is not public.
FREE = {
    "initial_accumulator_value",
    "initial_momentum_value",
    "initial_linear_value",
    "initial_counter_value",
    "order",
    "beta1_power",
    "beta2_power",
    "share",
    "share1",
    "share2",
    "bounded",
    "event_benefit",
}


def test_there_are_nineteen_and_every_field_has_a_place() -> None:
    (oneof,) = [o for o in OptimizationParameters.DESCRIPTOR.oneofs if o.name == "parameters"]
    assert {f.name for f in oneof.fields} == BY_MESSAGE.keys() and len(FORMS) == 19
    without = {"ftrl": {"allow_zero_accumulator"}, "frequency_aware_adagrad": {"step_counter"}}
    for field in oneof.fields:
        if field.name != "user_defined_program":
            numbers = {f.name for f in field.message_type.fields}
            form = BY_MESSAGE[field.name]
            written = {form.fields[name].message for name in form.written}
            assert numbers - without.get(field.name, set()) == written


@pytest.mark.parametrize("form", WRITTEN, ids=lambda f: f.message)
def test_every_field_of_a_rule_is_written_or_implied_or_free(form: Form) -> None:
    fields = {f.name for f in dataclasses.fields(form.rule)}
    assert fields - set(form.written) - set(form.implied) <= FREE
    assert len(form.slots) == len(form.rule().slots)


SINGLES = st.floats(-1e6, 1e6, width=32)


def messages(name: str) -> st.SearchStrategy[OptimizationParameters]:
    """Any message of an optimizer, every field of it given or left out."""
    fields = getattr(OptimizationParameters(), name).DESCRIPTOR.fields
    given = {
        f.name: st.booleans() if f.type == f.TYPE_BOOL else SINGLES
        for f in fields
        if f.type in (f.TYPE_BOOL, f.TYPE_FLOAT)
    }
    return st.fixed_dictionaries({}, optional=given).map(
        lambda x: OptimizationParameters(**{name: x})
    )


@pytest.mark.parametrize("name", [f.message for f in WRITTEN])
@given(data=st.data())
def test_a_message_comes_back_from_its_rule(name: str, data: Any) -> None:
    given_message = data.draw(messages(name))
    if name == "ftrl":
        given_message.ftrl.ClearField("allow_zero_accumulator")  # deprecated: no rule has it
    assert parameters_of(rule_of(given_message)) == given_message


@pytest.mark.parametrize("form", WRITTEN, ids=lambda f: f.message)
@given(data=st.data())
def test_a_rule_comes_back_from_its_message(form: Any, data: Any) -> None:
    rule = rule_of(data.draw(messages(form.message)))
    assert rule_of(parameters_of(rule)) == rule
    assert type(rule) is form.rule


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ({"adagrad": {}}, gl.rules.Adagrad(epsilon=0.0, epsilon_place="none")),
        (
            {"adam": {"beta1": 0.5, "beta2": 0.75}},
            gl.rules.Adam(0.5, 0.75, 0.0, bias_correction=False, order="sparse"),
        ),
        (
            {"adam": {"use_non_lazy_adam": True, "use_sum_inside_sqrt": True, "epsilon": 0.25}},
            gl.rules.Adam(
                0.0, 0.0, 0.25, "inside", bias_correction=False, lazy=False, order="sparse"
            ),
        ),
        ({"lion": {"use_non_lazy_lion": True}}, gl.rules.Lion(0.0, 0.0, lazy=False)),
        (
            {"ftrl": {"beta": 2.0, "lr_power": -0.5, "multiply_linear_by_lr": True}},
            gl.rules.Ftrl(beta=2.0, multiply_linear_by_lr=True, order="sparse"),
        ),
        ({"proximal_adagrad": {"l1": 1.0, "l2": 2.0}}, gl.rules.ProximalAdagrad(0.1, 1.0, 2.0)),
        ({"rms_prop": {"rho": 0.5}}, gl.rules.RMSProp(0.5, 0.0, 0.0, initial_rms=0.0)),
    ],
)
def test_what_a_message_means(message: dict[str, Any], rule: gl.rules.Rule) -> None:
    assert rule_of(OptimizationParameters(**message)) == rule


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (
            gl.rules.Adam(),
            r"Adam\(bias_correction=True\) cannot be written.*put the correction into the rate",
        ),
        (gl.rules.Adam(bias_correction=False, use_nesterov=True), r"Adam\(use_nesterov=True\)"),
        (gl.rules.Adagrad(), r"Adagrad\(epsilon=1e-07\).*initial accumulator"),
        (gl.rules.Adagrad(epsilon=0.0, update_slots=False), r"update_slots=False"),
        (gl.rules.Ftrl(l2_shrinkage=0.5), r"l2_shrinkage=0.5.*use l2"),
        (
            gl.rules.AdaMax(),
            r"TPU embeddings have no AdaMax; they have StochasticGradientDescent, Momentum",
        ),
        (gl.rules.UserDefined(), r"no UserDefined"),
        (gl.rules.Momentum(1e39), r"Momentum\(momentum=1e\+39\) is more than float32 can hold"),
    ],
)
def test_what_a_message_cannot_say_is_refused(rule: gl.rules.Rule, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parameters_of(rule)


def test_an_epsilon_of_0_has_no_place() -> None:
    assert parameters_of(gl.rules.Adagrad(epsilon=0.0)).WhichOneof("parameters") == "adagrad"


def test_numbers_of_numpy_and_infinities_are_written() -> None:
    rule = gl.rules.FrequencyAwareAdagrad(
        0.0, 0.0, float("inf"), np.float64(0.5), initial_accumulator_value=1
    )
    assert rule_of(parameters_of(rule)) == rule


def test_no_optimizer_and_a_compiled_program_are_refused() -> None:
    with pytest.raises(
        ValueError, match="name no optimizer; set one of stochastic_gradient_descent, momentum"
    ):
        rule_of(OptimizationParameters())
    with pytest.raises(ValueError, match=r"compiled programs are not run here.*rules="):
        rule_of(OptimizationParameters(user_defined_program={}))


@pytest.mark.parametrize(
    ("status", "hidden"), [("UNSPECIFIED", True), ("ENABLED", True), ("DISABLED", False)]
)
def test_the_hidden_slot_comes_last_where_gradients_accumulate(status: str, hidden: bool) -> None:
    p = OptimizationParameters(rms_prop={}, gradient_accumulation_status=status)
    assert slot_names(p) == ("ms", "mom", "gradient_accumulators")[: 2 + hidden]
    assert accumulates(p) is hidden


def test_a_status_that_is_not_known_is_refused() -> None:
    p = OptimizationParameters(adagrad={})
    p.gradient_accumulation_status = 7  # type: ignore[assignment]
    with pytest.raises(ValueError, match=r"UNSPECIFIED, ENABLED or DISABLED, got 7"):
        accumulates(p)
    assert GradientAccumulationStatus.Status.Name(2) == "DISABLED"


def table(width: int = 4, optimizer: str = "adagrad", **parameters: Any) -> Table:
    given = {optimizer: {}, "learning_rate": {"constant": 0.5}} | parameters
    return table_of(
        TPUEmbeddingConfiguration.TableDescriptor(
            name="t",
            vocabulary_size=8,
            dimension=width,
            optimization_parameters=OptimizationParameters(**given),
        )
    )


def test_what_is_not_set_is_off() -> None:
    found = table()
    assert found == Table(
        "t",
        8,
        4,
        gl.rules.Adagrad(epsilon=0.0, epsilon_place="none"),
        learning_rate=0.5,
        combiner="sum",
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
    assert (found.weight_decay, found.weight_decay_times_rate, found.accumulate) == (
        0.125,
        True,
        False,
    )
    assert found.levels == Levels(-1.0, 1.0, 3)


def test_quantization_that_is_not_enabled_is_none() -> None:
    assert table(simulated_quantization={"num_buckets": 3}).levels is None


def test_what_packs_or_replicates_changes_nothing() -> None:
    packed = table(
        low_dimensional_packing_status="ENABLED",
        hot_id_replication_configuration={"status": "ENABLED"},
    )
    assert packed == table()


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        (
            {"clipping_limits": {"lower": {"value": 2.0}, "upper": {}}},
            "weight_limits of table 't'.*2.0 above 0.0",
        ),
        (
            {"clipping_limits": {"lower": {"value": float("nan")}}},
            "table 't': a limit must be a number, got lower nan",
        ),
        (
            {"simulated_quantization": {"enabled": True, "num_buckets": 3}},
            "lower None, upper None, num_buckets 3",
        ),
        (
            {"adam": {"use_non_lazy_adam": True}, "gradient_accumulation_status": "DISABLED"},
            "needs accumulate=True",
        ),
        (
            {"learning_rate": {"constant": float("nan")}},
            "table 't': the learning rate must be finite, got nan",
        ),
        (
            {"weight_decay_factor": float("inf")},
            "table 't': weight_decay_factor must be finite, got inf",
        ),
        ({"adam": {"beta1": float("nan")}}, "table 't': adam.beta1 is not a number"),
        ({"learning_rate": {}}, "table 't': no learning rate is set"),
        ({"frequency_estimator": {}}, "table 't': a frequency estimator needs dimension 1, got 4"),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(parameters: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        table(**parameters)


@pytest.mark.parametrize(
    ("lower", "upper", "buckets"), [(1.0, 1.0, 3), (2.0, 1.0, 3), (0.0, 1.0, 1)]
)
def test_levels_must_be_at_least_two_in_order(lower: float, upper: float, buckets: int) -> None:
    limits = {"lower": {"value": lower}, "upper": {"value": upper}}
    with pytest.raises(
        ValueError,
        match=f"at least 2 buckets, got lower {lower}, upper {upper}, num_buckets {buckets}",
    ):
        table(
            simulated_quantization={
                "enabled": True,
                "clipping_limits": limits,
                "num_buckets": buckets,
            }
        )


def test_assign_needs_no_learning_rate_and_a_frequency_estimator_width_1() -> None:
    assert table(optimizer="assign", learning_rate={}).learning_rate == 0.0
    assert table(
        1, "frequency_estimator", learning_rate={"dynamic": {"tag": 2}}
    ).learning_rate == Tag(2)


LIMITS = st.tuples(st.none() | st.floats(-4, 0, width=32), st.none() | st.floats(0, 4, width=32))
TABLES = st.builds(
    Table,
    st.sampled_from(["t", "user"]),
    st.integers(1, 100),
    st.integers(1, 8),
    st.sampled_from(
        [
            gl.rules.StochasticGradientDescent(),
            gl.rules.Lion(0.5, 0.25),
            gl.rules.Momentum(0.5, True),
        ]
    ),
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
                learning_rate={"dynamic": {"tag": rate}},
                frequency_aware_adagrad={"step_counter": {"tag": counter}},
            )
        )

    assert tags(0, 1) == [0, 1]
    assert tags(1, 1) == [1]
    assert tags_in(OptimizationParameters(learning_rate={"constant": 1.0}, adam={})) == []
