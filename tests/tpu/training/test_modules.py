"""Towers that are modules of flax and equinox: trained as their arrays alone, and put back into the
module.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from gradlab.tpu import Training, create
from tests.tpu.training.towers import WIDTH, batch_of, examples, plan_of, rate, row

pytestmark = pytest.mark.modules
STEPS = 10


def trained(apply: Any, params: Any) -> tuple[list[float], Any]:
    """Losses of a tower that is a function of parameters, and the state after the last step."""
    plan = plan_of(1)
    tables = create(plan, [row(t.rows, t.width)(np.arange(t.rows)) for t in plan.tables])

    def loss(activations: Any, params: Any, clicked: Any) -> Any:
        scores = apply(params, activations[0] * activations[1])
        return optax.sigmoid_binary_cross_entropy(scores, clicked).mean()

    one, losses = Training(loss, optax.adam(0.05), [rate]), []
    state = one.init(tables, params)
    for users, items, clicked in examples(STEPS):
        value, state = one.step(state, batch_of(plan, tables.placement, users, items), clicked)
        losses.append(float(value))
    return losses, state


def plain_layer(params: Any, x: Any) -> Any:
    return x @ params["w"][:, 0] + params["b"][0]


def test_a_module_of_flax_is_trained_as_its_arrays_are() -> None:
    from flax import nnx

    model = nnx.Linear(WIDTH, 1, rngs=nnx.Rngs(0))
    graph, params = nnx.split(model, nnx.Param)
    same = {"w": jnp.array(model.kernel[...]), "b": jnp.array(model.bias[...])}
    losses, state = trained(lambda p, x: nnx.merge(graph, p)(x)[:, 0], params)
    expected, last = trained(plain_layer, same)
    np.testing.assert_allclose(losses, expected, rtol=1e-6)
    nnx.update(model, state.params)
    np.testing.assert_allclose(model.kernel[...], last.params["w"], rtol=1e-5)


def test_a_module_of_equinox_is_trained_as_its_arrays_are() -> None:
    import equinox as eqx

    model = eqx.nn.Linear(WIDTH, 1, key=jax.random.key(0))
    params, static = eqx.partition(model, eqx.is_array)
    same = {"w": jnp.array(model.weight.T), "b": jnp.array(model.bias)}
    losses, state = trained(lambda p, x: jax.vmap(eqx.combine(p, static))(x)[:, 0], params)
    expected, last = trained(plain_layer, same)
    np.testing.assert_allclose(losses, expected, rtol=1e-6)
    after = eqx.combine(state.params, static)
    np.testing.assert_allclose(after.weight.T, last.params["w"], rtol=1e-5)
    with pytest.raises(TypeError, match=r"must be an array, got .*; .*eqx.partition"):
        trained(lambda p, x: x.sum(1), eqx.nn.MLP(WIDTH, 1, 4, 1, key=jax.random.key(0)))
