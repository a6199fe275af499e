"""Rules broken on purpose: the properties and TensorFlow's numbers notice each of them.

A test that cannot fail proves nothing. Here every mistake is held against the checks that should catch it, and the
rules without mistakes against all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

from gradlab.rules import Adagrad, Adam, Rule, apply
from gradlab.rules.adagrad import LIBRARIES
from tests import ways
from tests.rules import mutants, properties
from tests.rules.cases import Case
from tests.rules.recorded import check_bits

ADAM = 0.5, 0.75, 1e-3
INTACT: list[tuple[Rule, str]] = [
    (LIBRARIES["TensorFlow 1"], "Adagrad"),
    (Adagrad(epsilon=0.25), "AdagradV2"),
    (mutants.Plain(), "AdagradV2"),
    (Adam(*ADAM), "Adam"),
]
# TensorFlow 2.21: AdagradOptimizer(0.1); ResourceApplyAdagradV2(lr=0.1, epsilon=0.25);
# AdamOptimizer(0.1, 0.5, 0.75, 1e-3).
ACCUMULATOR = [[0.19, 0.59, 1.3100001], [0.35000002, 0.59999996, 1.6700001], [0.35000002, 1.4099998, 3.36]]
TENSORFLOW: dict[str, list[Any]] = {
    "Adagrad": [
        ([0.9311753, -1.9088677, 0.15389255], ACCUMULATOR[0]),
        ([0.99878764, -1.9217776, 0.10746315], ACCUMULATOR[1]),
        ([0.99878764, -1.9975712, 0.17838398], ACCUMULATOR[2]),
    ],
    "AdagradV2": [
        ([0.9562612, -1.9312454, 0.17112163], ACCUMULATOR[0]),
        ([1.0037893, -1.9410053, 0.1322183], ACCUMULATOR[1]),
        ([1.0037893, -2.0036168, 0.19462737], ACCUMULATOR[2]),
    ],
    "Adam": [
        ([0.90066224, -1.9002849, 0.15018147], [0.15, -0.35, 0.55], [0.0225, 0.122499995, 0.3025]),
        ([0.94669425, -1.8645166, 0.06025639], [-0.125, -0.125, 0.57500005], [0.056875005, 0.094375, 0.316875]),
        ([0.9728637, -1.9288061, 0.09897799], [-0.0625, 0.3875, -0.36249995], [0.042656254, 0.27328122, 0.66015625]),
    ],
}
CHECKS: dict[str, Callable[[Case], Any]] = {
    "direction": properties.check_direction,
    "rows": lambda case: properties.check_rows(case, [[2, 5]]),
    "columns": lambda case: properties.check_columns(case, [[1]]),
    "inputs": properties.check_inputs,
    "jit": lambda case: properties.check_way(case, properties.run(ways.jit, {"rule": case})["rule"]),
    "optax": lambda case: properties.check_optax(case, [x["rule"] for x in properties.run_optax({"rule": case})]),
    "compiles once": properties.check_compiles_once,
    "dtype": lambda case: properties.check_dtype(case, np.float32, np.float32, traced=True),
    "denormals": properties.check_denormals,
    "zero gradients": lambda case: properties.check_zero_gradients(case, np.zeros((2, 2), np.float32)),
    "value": lambda case: properties.check_value(case.rule),
    "shared": lambda case: properties.check_shared(case.rule),
    "duplicates": properties.check_duplicates,
}


# A rule, whose numbers of TensorFlow's should notice it, and which properties.
MUTANTS: list[tuple[Rule, str, str]] = [
    (mutants.WrongSign(), "AdagradV2", "direction"),
    (mutants.EpsilonInsideTheRoot(), "AdagradV2", ""),
    (mutants.EpsilonForgotten(), "AdagradV2", ""),
    (mutants.RootForgotten(), "AdagradV2", ""),
    (mutants.NormOfARow(), "AdagradV2", "columns"),
    (mutants.NormOfAllRows(), "AdagradV2", "columns, rows"),
    (mutants.GradientsNotSquared(), "AdagradV2", ""),
    (mutants.UsedBeforeItIsAddedTo(), "AdagradV2", ""),
    (mutants.NothingKept(), "AdagradV2", "inputs"),
    (mutants.WrittenInPlace(), "", "inputs, jit"),
    (mutants.OnlyForNumPy(), "", "jit, optax, dtype"),
    (mutants.BranchesOnValues(), "", "jit, optax, dtype"),
    (mutants.WiderNumber(), "", "jit, dtype"),
    (Adagrad(0.0, 0.0), "", "zero gradients"),
    (mutants.NoBiasCorrection(*ADAM), "Adam", ""),
    (mutants.PowersStandStill(*ADAM), "Adam", "shared"),
    (mutants.PowersMultipliedInPlace(*ADAM), "", "shared"),
    (mutants.CountsInPythonNumbers(), "", "shared, compiles once"),
    (mutants.Unhashable(), "", "value"),
]
REFUSALS = (  # what NumPy and JAX say to rules that break the contract
    AssertionError,
    ValueError,  # "output array is read-only"; dtypes that JAX does not promote
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerBoolConversionError,
)
CAUGHT = [(rule, check) for rule, _, checks in MUTANTS for check in checks.split(", ") if check]


def _name(x: Any) -> str:
    return x if isinstance(x, str) else type(x).__name__


@pytest.mark.parametrize(("rule", "check"), CAUGHT, ids=_name)
def test_a_property_catches(rule: Rule, check: str) -> None:
    with pytest.raises(REFUSALS):
        CHECKS[check](Case(rule))


@pytest.mark.parametrize(("rule", "numbers"), [(r, n) for r, n, _ in MUTANTS if n], ids=_name)
def test_tensorflows_numbers_catch(rule: Rule, numbers: str) -> None:
    with pytest.raises(AssertionError, match="Mismatched elements"):
        check_bits(rule, 0.1, TENSORFLOW[numbers])


def test_every_mutant_is_caught() -> None:
    assert all(numbers or checks for _, numbers, checks in MUTANTS)


@pytest.mark.parametrize(("rule", "numbers"), INTACT, ids=_name)
def test_a_rule_without_mistakes_passes_all(rule: Rule, numbers: str) -> None:
    check_bits(rule, 0.1, TENSORFLOW[numbers])
    for check in CHECKS.values():
        check(Case(rule))


@pytest.mark.parametrize("update", [mutants.last_slice_counts, apply.each], ids=lambda f: f.__name__)
def test_unsummed_duplicates_are_caught(update: Any) -> None:
    with pytest.raises(AssertionError, match="Mismatched elements"):
        properties.check_duplicates(Case(Adagrad()), update)
