"""A function as a rule: its slots, its address, and what is refused."""

import json
from typing import Any

import numpy as np
import pytest

from gradlab import rules
from gradlab.rules import Momentum, StochasticGradientDescent, UserDefined
from tests.rules.recorded import GRADIENTS, F, W, steps


def heavy(w: Any, slots: Any, g: Any, lr: Any) -> Any:
    m = slots[0] * w.dtype.type(0.5) + g
    return w - m * lr, (m,)


def test_it_computes_what_the_function_says() -> None:
    rule = UserDefined(heavy, {"momentum": 0.0})
    for got, expected in zip(steps(rule, F(0.1)), steps(Momentum(0.5), F(0.1)), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_without_a_function_it_descends() -> None:
    expected = StochasticGradientDescent()(W, (), GRADIENTS[0], 0.1)
    np.testing.assert_array_equal(UserDefined()(W, (), GRADIENTS[0], 0.1)[0], expected[0])


def test_slots_in_order_with_initial_values() -> None:
    rule = UserDefined(heavy, {"b": 2.0, "a": 3.0})
    assert list(rule.slots.items()) == [("b", 2.0), ("a", 3.0)]
    assert [s.tolist() for s in rule.init(np.zeros(1, np.float16))] == [[2.0], [3.0]]
    assert rule == UserDefined(heavy, [("b", 2.0), ("a", 3.0)])
    assert hash(rule) == hash(UserDefined(heavy, {"b": 2.0, "a": 3.0}))


def test_a_config_is_text_and_names_the_function() -> None:
    rule = UserDefined(heavy, {"momentum": 0.25})
    config = json.loads(json.dumps(rule.get_config()))
    assert config["function"] == f"{__name__}:heavy"
    assert rules.from_config(config) == rule


def test_a_function_without_an_address_has_no_config() -> None:
    def local(w: Any, slots: Any, g: Any, lr: Any) -> Any:
        return w, slots

    for function in (local, lambda w, slots, g, lr: (w, slots)):
        with pytest.raises(
            ValueError, match=r"cannot be imported as .*define it at the top level of a module"
        ):
            UserDefined(function).get_config()


@pytest.mark.parametrize(
    "address", ["no_such_module:f", "gradlab.rules:no_such_name", "nothing", ""]
)
def test_an_address_that_leads_nowhere_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"is not the .module:qualname. of a function"):
        UserDefined(address)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match=r"function must be a function or .*, got 3"):
        UserDefined(3)


def test_results_of_other_shapes_are_refused() -> None:
    for wrong in (lambda w, slots, g, lr: (w, ()), lambda w, slots, g, lr: (w.sum(), slots)):
        rule = UserDefined(wrong, {"m": 0.0})
        with pytest.raises(
            ValueError, match=r"must return weights and slots of the shapes \[\(3,\), \(3,\)\]"
        ):
            rule(W, rule.init(W), GRADIENTS[0], 0.1)
