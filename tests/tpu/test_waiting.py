"""A loss that is linear in the activations costs no copy of the table, and no bit."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.rules import Adagrad
from gradlab.tpu import Feature, Ids, Plan, Table, create, make_batch, train_step
from gradlab.tpu.waiting import after_lookup, depends_on_own

ROWS = 4096


def linear(activations: Any, upstream: Any) -> Any:
    return (activations[0] * upstream).sum()


@pytest.mark.exhaustive
def test_a_table_is_not_copied_for_a_linear_loss() -> None:
    plan = Plan((Table("t", ROWS, 8, Adagrad()),), (Feature("f", 0, (4,)),))
    step = jax.jit(train_step, static_argnames="loss", donate_argnums=0)
    batch = make_batch(plan, {"f": Ids([0, 1], [3, 5])})
    need = step.lower(create(plan, [np.ones((ROWS, 8))]), batch, [], linear, jnp.ones((4, 8))).compile()
    assert need.memory_analysis().temp_size_in_bytes < 4 * 8 * ROWS


def test_gradients_are_those_that_they_were() -> None:
    """Where an activation isn't finite, too."""
    a, g = jnp.float32([1.0, jnp.nan, jnp.inf]), jnp.float32([2.0, 3.0, jnp.inf])
    assert after_lookup(lambda x: (g,), (a,), (g,))[0].tolist() == g.tolist()
    own = after_lookup(lambda x: (2 * x[0],), (a,), (g,))[0]
    assert own is g, "what depends on its activations is left alone"


def test_what_depends_on_other_activations_only_is_found_inside_calls() -> None:
    one = jnp.ones(2)
    crossed = jax.jit(lambda x: (x[1] * 2, x[1] * x[0]))
    assert depends_on_own(crossed, (one, one)) == [False, True]
