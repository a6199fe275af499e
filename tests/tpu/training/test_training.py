"""Tables and a tower move together as in plain JAX, on any mesh; what does not fit is refused
before it is compiled.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from gradlab.errors import InvalidArgumentError
from gradlab.optax import from_rule
from gradlab.rules import RowWiseAdagrad, UserDefined
from gradlab.tpu import Ids, OneDevice, Training, create, create_placed, make_batch, place
from tests.tpu.training.towers import (
    BATCH,
    OPTIMIZER,
    STEPS,
    WIDTH,
    batch_of,
    examples,
    loss,
    plain,
    plan_of,
    rate,
    row,
    tower,
)


@cache
def plain_losses() -> list[float]:
    return plain(STEPS)


def training(**options: Any) -> Training:
    return Training(loss, OPTIMIZER, [rate], **options)


def tables_on(mesh: Any, cores: int) -> Any:
    plan = plan_of(cores)
    initializers = [row(t.rows, t.width) for t in plan.tables]
    if mesh is None:
        return create(
            plan,
            [made(np.arange(t.rows)) for made, t in zip(initializers, plan.tables, strict=True)],
        )
    return create_placed(plan, mesh, initializers, "mod")


def trained(one: Training, state: Any, steps: int = STEPS) -> tuple[list[float], Any]:
    plan, losses = state.tables.plan, []
    for users, items, clicked in examples(steps):
        value, state = one.step(
            state, batch_of(plan, state.tables.placement, users, items), clicked
        )
        losses.append(float(value))
    return losses, state


def explicit(*shape: int) -> Any:
    return jax.make_mesh(
        shape, tuple("ab"[: len(shape)]), devices=jax.devices("cpu")[: int(np.prod(shape))]
    )


@pytest.mark.exhaustive
def test_losses_are_those_of_plain_jax_and_the_tower_given_is_left_alone() -> None:
    one, given = training(), jax.tree.map(jnp.asarray, tower())
    losses, state = trained(one, one.init(tables_on(None, 1), given))
    np.testing.assert_allclose(losses, plain_losses(), rtol=1e-6)
    assert losses[-1] < losses[0]
    assert int(state.step) == STEPS
    assert not any(x.is_deleted() for x in jax.tree.leaves(given))


def halved(w: Any, slots: Any, g: Any, lr: Any) -> Any:
    """A rule of a user: every second gradient counts half."""
    count = slots[0] + 1
    return w - lr * g / (1 + count % 2), (count,)


@pytest.mark.exhaustive
def test_the_tower_takes_optimizers_that_ask_for_the_loss_and_rules_of_users() -> None:
    plateau = optax.chain(optax.sgd(0.5), optax.contrib.reduce_on_plateau(factor=0.5, patience=1))
    own = from_rule(UserDefined(halved, {"count": 0.0}), lambda step: 0.3 / (1 + step))
    row_wise = from_rule(RowWiseAdagrad(), 0.1)
    for optimizer in (plateau, own, row_wise):
        one = Training(loss, optimizer, [rate])
        losses, state = trained(one, one.init(tables_on(None, 1), tower()), 8)
        np.testing.assert_allclose(losses, plain(8, optimizer), rtol=1e-6)
        if optimizer is plateau:
            assert float(state.optimizer[1].scale) < 1, "no loss was told"
        if optimizer is row_wise:
            assert state.optimizer.slots["row_accumulator"]["user"].shape == (WIDTH, 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("devices", [4, 8])
@pytest.mark.parametrize("axes", ["auto", "explicit"])
def test_they_are_on_a_mesh_where_a_step_is_compiled_once(devices: int, axes: str) -> None:
    mesh = (
        explicit(2, devices // 2)
        if axes == "explicit"
        else Mesh(np.array(jax.devices("cpu")[:devices]), ("x",))
    )
    one = training()
    state = one.init(tables_on(mesh, devices), tower())
    users, items, clicked = next(examples(1))
    batch = batch_of(state.tables.plan, state.tables.placement, users, items)
    _, state = one.step(state, batch, clicked)
    compiled: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda name, _, **__: compiled.append(name)
    )
    try:
        one.step(state, batch, clicked)
    finally:
        jax.monitoring.clear_event_listeners()
    assert not [name for name in compiled if "backend_compile" in name], (
        "the second step has a program of its own"
    )
    np.testing.assert_allclose(
        trained(one, one.init(tables_on(mesh, devices), tower()))[0], plain_losses(), rtol=1e-6
    )


@pytest.mark.exhaustive
def test_an_explicit_mesh_may_be_the_context_and_hold_the_tower_and_the_data() -> None:
    mesh = explicit(4)
    one = training()
    with jax.set_mesh(mesh):
        state = one.init(
            tables_on(mesh, 4), jax.device_put(tower(), NamedSharding(mesh, PartitionSpec()))
        )
        users, items, clicked = next(examples(1))
        batch = batch_of(state.tables.plan, state.tables.placement, users, items)
        value = one.evaluate(
            state, batch, jax.device_put(clicked, NamedSharding(mesh, PartitionSpec("a")))
        )
        found, state = one.step(state, batch, clicked)
        scores = one.evaluate(
            state, batch, clicked, lambda activations, params, data: activations[0].sum(-1)
        )
    assert float(value) == float(found) == pytest.approx(plain_losses()[0], rel=1e-6)
    assert scores.shape == (BATCH,)
    assert scores.is_fully_replicated


@pytest.mark.exhaustive
def test_accumulated_gradients_are_those_of_one_batch() -> None:
    one = training()
    whole = one.init(tables_on(None, 2), tower())
    users, items, clicked = next(examples(1))
    value, after = one.step(
        whole, batch_of(plan_of(2), whole.tables.placement, users, items), clicked
    )
    halves = plan_of(1)
    halves = dataclasses.replace(
        halves, features=tuple(dataclasses.replace(f, shape=(BATCH // 2,)) for f in halves.features)
    )
    state = one.init(dataclasses.replace(tables_on(None, 1), plan=halves), tower())
    n = np.arange(BATCH // 2)
    batches = [
        make_batch(
            halves, {"user": Ids(n, users[k]), "item": Ids(np.repeat(n, 2), items[k].ravel())}
        )
        for k in np.arange(BATCH).reshape(2, -1)
    ]
    found, state = one.step(state, batches, list(clicked.reshape(2, -1)))
    assert float(found) == pytest.approx(float(value), rel=1e-6)
    for a, b in zip(jax.tree.leaves(after), jax.tree.leaves(state), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


@pytest.mark.exhaustive
def test_bfloat16_is_for_activations_and_gradients_and_sums_stay_float32() -> None:
    seen: list[Any] = []

    def noting(activations: Any, params: Any, data: Any) -> Any:
        seen.append([x.dtype for x in jax.tree.leaves((activations, params))])
        return loss(activations, params, data), {"scores": activations[0].sum()}

    one = Training(noting, OPTIMIZER, [rate], dtype=jnp.bfloat16, has_aux=True)
    state = one.init(tables_on(None, 1), tower())
    users, items, clicked = next(examples(1))
    (value, aux), state = one.step(
        state, batch_of(plan_of(1), state.tables.placement, users, items), clicked
    )
    assert {str(dtype) for dtype in seen[0]} == {"bfloat16"}
    assert {x.dtype.name for x in jax.tree.leaves((state.params, state.tables))} == {"float32"}
    assert float(value) == pytest.approx(plain_losses()[0], rel=0.02)
    assert aux["scores"].dtype == jnp.bfloat16


def test_all_memory_of_the_state_is_used_again() -> None:
    one = training()
    state = one.init(tables_on(None, 1), tower())
    users, items, clicked = next(examples(1))
    batch = batch_of(plan_of(1), state.tables.placement, users, items)
    need = one._compiled_step.lower(state, batch, clicked, None).compile().memory_analysis()
    assert need.alias_size_in_bytes == sum(x.nbytes for x in jax.tree.leaves(state))


def vector(step: Any) -> Any:
    return jnp.ones(2) * step


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learning_rates": [vector]}, r"learning rate 0 must be a scalar, got shape \(2,\)"),
        ({"learning_rates": []}, "the plan has 1 learning-rate tags, got 0 rates"),
    ],
)
def test_rates_that_do_not_fit_are_refused(change: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        dataclasses.replace(training(), **change).init(tables_on(None, 1), tower())


def test_towers_that_do_not_fit_are_refused() -> None:
    one, tables = training(), tables_on(None, 1)
    with pytest.raises(
        TypeError, match=r"params\['act'\] must be an array, got custom_jvp; .* eqx.partition"
    ):
        one.init(tables, tower() | {"act": jax.nn.relu})
    with pytest.raises(
        InvalidArgumentError, match=r"params\['count'\] is int32, which has no gradient"
    ):
        one.init(tables, tower() | {"count": np.int32(3)})
    with pytest.raises(TypeError, match="optimizer must be an optax transformation, got 'adam'"):
        Training(loss, "adam")  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match="loss must be a function of activations, params and data, got None"
    ):
        Training(None, OPTIMIZER)  # type: ignore[arg-type]


def test_another_mesh_and_data_that_do_not_divide_are_refused() -> None:
    devices = np.array(jax.devices("cpu"))
    one, two, four = training(), Mesh(devices[:2], "x"), Mesh(devices[:4], "x")
    far = jax.device_put(np.zeros((4, WIDTH), np.float32), NamedSharding(two, PartitionSpec("x")))
    with pytest.raises(
        InvalidArgumentError, match=r"params\['far'\] is on 2 devices, the tables are on one"
    ):
        one.init(tables_on(None, 4), tower() | {"far": far})
    tables = place(tables_on(None, 4), four)
    with pytest.raises(
        InvalidArgumentError, match=r"params\['far'\] is on NamedSharding.*the tables are on Mesh"
    ):
        one.init(tables, tower() | {"far": far})
    state = one.init(tables, tower())
    users, items, clicked = next(examples(1))
    with pytest.raises(
        InvalidArgumentError,
        match=r"data\['y'\] has shape \(15,\), and 4 devices cannot share its 15",
    ):
        one.step(state, batch_of(plan_of(4), tables.placement, users, items), {"y": clicked[1:]})
    with pytest.raises(InvalidArgumentError, match="the batch is arranged for one device"):
        one.step(state, batch_of(plan_of(4), OneDevice(), users, items), clicked)
    with pytest.raises(
        InvalidArgumentError,
        match="a list of batches needs a list of data as long; got 1 batches, 2",
    ):
        one.step(state, [None], [clicked, clicked])  # type: ignore[list-item]


def test_a_loss_is_a_scalar() -> None:
    one = Training(lambda activations, params, data: activations[0], optax.sgd(0.1), [rate])
    state = one.init(tables_on(None, 1), tower())
    users, items, clicked = next(examples(1))
    with pytest.raises(
        InvalidArgumentError, match=r"the loss must be a scalar, got shape \(16, 4\)"
    ):
        one.step(state, batch_of(plan_of(1), state.tables.placement, users, items), clicked)
