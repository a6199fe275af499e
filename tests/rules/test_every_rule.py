"""What the contract of `step` promises, for every rule of the catalog and every choice of its
fields.
"""

import dataclasses
import functools
import itertools
from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import gradlab as gl
from tests import ways
from tests.rules import properties
from tests.rules.cases import ALL, DEFAULTS, INPUTS, SETS_WEIGHTS, VARIANTS, Case, W

# Rules with their usual constants, some of which 16 bits cannot hold; what is said of that is in
# test_rule.py.
pytestmark = pytest.mark.filterwarnings("ignore::gradlab.errors.PrecisionWarning")

DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]

every_rule = pytest.mark.parametrize("case", DEFAULTS.values(), ids=DEFAULTS)
every_variant = pytest.mark.parametrize("case", VARIANTS.values(), ids=VARIANTS)
every_case = pytest.mark.parametrize("case", ALL.values(), ids=ALL)

_RNG = np.random.default_rng(2)
# Every row alone, every two of them in one order or the other, and more in any order.
ROWS = [
    *([k] for k in range(8)),
    *(_RNG.permutation(pair).tolist() for pair in itertools.combinations(range(8), 2)),
    *(_RNG.permutation(8)[:n].tolist() for n in (3, 4, 5, 6, 7, 8, 8) * 2),
]
COLUMNS = [list(p) for n in (1, 2, 3) for p in itertools.permutations(range(3), n)]


@functools.cache
def results(way: str) -> dict[str, Any]:
    return properties.run(ways.ROW_LOCAL[way], DEFAULTS)


@functools.cache
def results_of_variants() -> dict[str, Any]:
    return properties.run(ways.jit, VARIANTS)


@functools.cache
def results_of_optax() -> list[dict[str, Any]]:
    return properties.run_optax(DEFAULTS)


@pytest.mark.parametrize("name", DEFAULTS)
@pytest.mark.parametrize(
    "way",
    [
        pytest.param(way, marks=[pytest.mark.exhaustive] * (way not in ("numpy", "jit")))
        for way in ways.ROW_LOCAL
    ],
)
def test_all_ways_agree(name: str, way: str) -> None:
    properties.check_way(DEFAULTS[name], results(way)[name])


@pytest.mark.parametrize("name", VARIANTS)
def test_jit_agrees(name: str) -> None:
    properties.check_way(VARIANTS[name], results_of_variants()[name])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", DEFAULTS)
def test_two_steps_through_optax_are_two_steps(name: str) -> None:
    properties.check_optax(DEFAULTS[name], [after[name] for after in results_of_optax()])


@every_rule
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("traced", [False, True], ids=["numpy", "jax"])
def test_the_dtype_of_the_weights_stays(case: Case, dtype: Any, traced: bool) -> None:
    for other in (*DTYPES, float):
        properties.check_dtype(case, dtype, other, traced)


@every_variant
@pytest.mark.parametrize("traced", [False, True], ids=["numpy", "jax"])
def test_bfloat16_stays_with_float64_gradients(case: Case, traced: bool) -> None:
    properties.check_dtype(case, ml_dtypes.bfloat16, np.float64, traced)


@every_case
def test_rows_do_not_know_of_one_another(case: Case) -> None:
    properties.check_rows(case, ROWS)


@every_case
def test_columns_do_not_know_of_one_another(case: Case) -> None:
    properties.check_columns(case, COLUMNS)


@every_case
def test_inputs_are_only_read(case: Case) -> None:
    properties.check_inputs(case)


@every_case
def test_denormal_gradients_count_as_zero_and_stay(case: Case) -> None:
    properties.check_denormals(case)


@every_case
@pytest.mark.parametrize("w", [np.zeros((4, 2), np.float32), W], ids=["zeros", "weights"])
def test_zero_gradients_keep_rows_finite(case: Case, w: np.ndarray) -> None:
    properties.check_zero_gradients(case, w)


@every_case
def test_the_first_step_goes_against_the_gradient(case: Case) -> None:
    properties.check_direction(case)


@every_rule
def test_slices_of_one_row_are_summed(case: Case) -> None:
    properties.check_duplicates(case)


@pytest.mark.exhaustive
def test_the_second_call_does_not_compile_again() -> None:
    properties.check_compiles_once(*DEFAULTS.values())


@every_case
def test_every_number_may_be_traced(case: Case) -> None:
    properties.check_traced_fields(case)


@every_case
def test_a_rule_is_a_value(case: Case) -> None:
    properties.check_value(case.rule)


@every_case
def test_a_config_gives_the_rule_back(case: Case) -> None:
    properties.check_config(case.rule)


@every_case
def test_what_changes_from_step_to_step_is_computed_purely(case: Case) -> None:
    properties.check_shared(case.rule)


def test_named_exceptions_are_rules() -> None:
    assert {*INPUTS, *SETS_WEIGHTS} <= DEFAULTS.keys()


def test_a_rule_without_step_says_so() -> None:
    class Empty(gl.rules.Rule):
        pass

    with pytest.raises(NotImplementedError, match="Empty must define step"):
        Empty()(W, (), W, 0.1)


def test_a_config_of_no_rule_is_refused() -> None:
    with pytest.raises(
        ValueError, match="config names the rule 'Nothing'; there are StochasticGradientDescent, "
    ):
        gl.rules.from_config({"rule": "Nothing"})
    with pytest.raises(ValueError, match="config names the rule None"):
        gl.rules.from_config({})
    with pytest.raises(TypeError, match="'speed'"):
        gl.rules.from_config({"rule": "Momentum", "speed": 1})


@pytest.mark.exhaustive
def test_a_hyperparameter_may_be_traced() -> None:
    """So that a sweep over it is one compiled call."""
    import jax

    def first(momentum: Any) -> Any:
        rule = gl.rules.AdagradMomentum(beta2=0.9).at({"momentum": momentum, "beta2": momentum})
        return rule(jnp.asarray(W), rule.init(jnp.asarray(W)), jnp.asarray(W), 0.1)[0]

    values = np.float32([0.5, 1.0])
    swept = jax.vmap(first)(jnp.asarray(values))
    for momentum, got in zip(values, swept, strict=True):
        np.testing.assert_allclose(got, first(momentum), rtol=2e-6)


def test_missing_slots_and_gradients_of_another_shape_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"Adagrad has the slots accumulator; got 0. rule.init\(w\) makes them"
    ):
        gl.rules.Adagrad()(W, (), W, 0.1)
    with pytest.raises(ValueError, match="StochasticGradientDescent has the slots none; got 1"):
        gl.rules.StochasticGradientDescent()(W, (W,), W, 0.1)
    with pytest.raises(
        gl.errors.InvalidArgumentError,
        match=r"the weights have shape \(8, 3\) but their gradient \(3,\)",
    ):
        gl.rules.StochasticGradientDescent()(W, (), W[0], 0.1)


def test_numpy_weights_stay_numpy_beside_jax_gradients() -> None:
    w = W.astype(np.float64)
    (got, (slot,)), (expected, _) = (
        gl.rules.Adagrad()(w, gl.rules.Adagrad().init(w), g, lr)
        for g, lr in ((jnp.asarray(W), jnp.float32(0.5)), (W, np.float32(0.5)))
    )
    assert isinstance(got, np.ndarray) and isinstance(slot, np.ndarray)
    np.testing.assert_array_equal(got, expected)


def test_a_config_holds_numbers_of_python() -> None:
    rule = gl.rules.Adagrad(np.float32(0.1), jnp.float32(0.5))
    properties.check_config(dataclasses.replace(rule, epsilon=0.5))
    assert rule.get_config()["epsilon"] == 0.5
