"""Each of the 19 optimizers from its message to its rule and back, field by field."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab.tpu import OptimizationParameters, parameters_of, rule_of
from gradlab.tpu.engine.optimizer_messages import BY_MESSAGE, FORMS, Form, accumulates, slot_names
from gradlab.tpu.engine.proto import GradientAccumulationStatus

WRITTEN = [f for f in FORMS if f.rule is not gl.rules.UserDefined]
# Fields of rules that no message has, and need not: initial values come with the slots, orders of operations change
# last bits only, powers change at each step, and the others are readings of what is not public.
FREE = {
    "initial_accumulator_value",
    "initial_momentum_value",
    "initial_linear_value",
    "initial_counter_value",
    "order",
    "beta1_power",
    "beta2_power",
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
    return st.fixed_dictionaries({}, optional=given).map(lambda x: OptimizationParameters(**{name: x}))


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
        ({"adam": {"beta1": 0.5, "beta2": 0.75}}, gl.rules.Adam(0.5, 0.75, 0.0, bias_correction=False, order="sparse")),
        (
            {"adam": {"use_non_lazy_adam": True, "use_sum_inside_sqrt": True, "epsilon": 0.25}},
            gl.rules.Adam(0.0, 0.0, 0.25, "inside", bias_correction=False, lazy=False, order="sparse"),
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
        (gl.rules.Adam(), r"Adam\(bias_correction=True\) cannot be written.*put the correction into the rate"),
        (gl.rules.Adam(bias_correction=False, use_nesterov=True), r"Adam\(use_nesterov=True\)"),
        (gl.rules.Adagrad(), r"Adagrad\(epsilon=1e-07\).*initial accumulator"),
        (gl.rules.Adagrad(epsilon=0.0, update_slots=False), r"update_slots=False"),
        (gl.rules.Ftrl(l2_shrinkage=0.5), r"l2_shrinkage=0.5.*use l2"),
        (gl.rules.AdaMax(), r"TPU embeddings have no AdaMax; they have StochasticGradientDescent, Momentum"),
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
    rule = gl.rules.FrequencyAwareAdagrad(0.0, 0.0, float("inf"), np.float64(0.5), initial_accumulator_value=1)
    assert rule_of(parameters_of(rule)) == rule


def test_no_optimizer_and_a_compiled_program_are_refused() -> None:
    with pytest.raises(ValueError, match="name no optimizer; set one of stochastic_gradient_descent, momentum"):
        rule_of(OptimizationParameters())
    with pytest.raises(ValueError, match=r"compiled programs are not run here.*rules="):
        rule_of(OptimizationParameters(user_defined_program={}))


@pytest.mark.parametrize(("status", "hidden"), [("UNSPECIFIED", True), ("ENABLED", True), ("DISABLED", False)])
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
