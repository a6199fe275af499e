"""The table of optimizers leaves no field of a message or of a rule without a place."""

import dataclasses
from typing import Any

import pytest

import gradlab as gl
from gradlab.tpu import OptimizationParameters
from gradlab.tpu.config.optimizer_messages import BY_MESSAGE, FORMS, Either

WRITTEN = [f for f in FORMS if f.rule is not gl.rules.UserDefined]


def test_there_are_nineteen_and_every_field_has_a_place() -> None:
    (oneof,) = [o for o in OptimizationParameters.DESCRIPTOR.oneofs if o.name == "parameters"]
    assert {f.name for f in oneof.fields} == BY_MESSAGE.keys() and len(FORMS) == 19
    without = {"ftrl": {"allow_zero_accumulator"}, "frequency_aware_adagrad": {"step_counter"}}
    for field in oneof.fields:
        if field.name != "user_defined_program":
            numbers = {f.name for f in field.message_type.fields}
            assert numbers - without.get(field.name, set()) == set(BY_MESSAGE[field.name].fields)


@pytest.mark.parametrize("form", WRITTEN, ids=lambda f: f.message)
def test_every_field_of_a_rule_is_written_or_implied_or_free(form: Any) -> None:
    written = {f.field if isinstance(f, Either) else f for f in form.fields.values()}
    fields = {f.name for f in dataclasses.fields(form.rule)}
    assert fields == written | (set(form.implied) & fields) | (set(form.free) & fields)
    assert len(form.slots) == len(form.rule().slots)
