"""Loops as practitioners write them: each row of the recording against gradients computed by hand.

What must be recorded, where `record` is in front of a clip, and what follows uses its state as
optax has it:

| loop                                       | gradient of a row                                              |
|--------------------------------------------|----------------------------------------------------------------|
| jit, donated, scan                         | what `update` is given, before the clip                        |
| MultiSteps around the recorder             | the mean of the micro-batches, one row for each update         |
| the recorder in front of MultiSteps        | of each micro-batch                                            |
| MultiSteps that leaves batches out         | of the others, and a warning; around it: all, marked           |
| masked                                     | of the tensors in the mask                                     |
| multi_transform                            | of the tensors of each label, under the names given            |
| inject_hyperparams                         | before the clip                                                |
| apply_if_finite around the recorder        | of finite steps; how many are missing, and a warning           |
| the recorder around apply_if_finite        | of all steps; those that it refuses are marked as skipped      |
| a loss scale by hand                       | what `update` is given; scale and skipped as extra arguments   |
| pmap, shard_map, averaged                  | the average, once                                              |
| pmap, of each device                       | refused by `absorb`; one replica can be read                   |
| shard_map, of each device                  | refused when it is traced; by `absorb` if JAX does not check   |
| auto and explicit meshes, any sharding     | the whole gradient                                             |
| vmap                                       | run by run (test_recording.py)                                 |
| flax.nnx and equinox modules               | before the clip (test_modules.py)                              |
| trees such as theirs                       | of each array (test_recording.py)                              |
"""

from __future__ import annotations

import functools
import math
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import gradlab as gl
from gradlab.record.measure import BINS
from tests.record.attach.by_hand import NAMES, batch, by_hand, gradients_of, norms, weights

STEPS, CLIP = 4, 1e-3  # all gradients are larger
DEVICES = 8


@pytest.fixture(autouse=True)
def warnings_are_errors() -> Iterator[None]:
    """A loop that is right is not warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", gl.errors.RecordingWarning)
        yield


def assert_rows(
    recorder: gl.Recorder, expected: list[list[float]], names: tuple[str, ...] = NAMES
) -> None:
    assert recorder.names == names
    np.testing.assert_allclose(recorder["norm"], expected, 1e-5)
    np.testing.assert_allclose(recorder.global_norm, np.linalg.norm(expected, axis=1), 1e-5)


def clipped(rec: gl.Recorder, **options: Any) -> Any:
    return optax.chain(
        gl.record.optax(rec, **options), optax.clip_by_global_norm(CLIP), optax.sgd(0.1)
    )


def step_of(tx: Any) -> Callable[..., Any]:
    """A training step, compiled, that takes over its arguments' memory."""

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(w: Any, state: Any, x: Any, y: Any, factor: Any = 1.0, **extra: Any) -> Any:
        grads = jax.tree.map(lambda g: g * factor, gradients_of(w, x, y))
        updates, state = tx.update(grads, state, w, **extra)
        return optax.apply_updates(w, updates), state

    return step


def trained(
    tx: Any, steps: int = STEPS, factors: Any = (), **extra: Any
) -> tuple[Any, list[list[float]]]:
    """State of a loop, and norms by hand of what it gave to `update`."""
    w, step, expected = weights(), step_of(tx), []
    state = tx.init(w)
    for k in range(steps):
        expected.append(norms(by_hand(w, k)))
        factor = np.float32(factors[k] if factors else 1)
        w, state = step(w, state, *batch(k), factor, **{name: x[k] for name, x in extra.items()})
    return state, expected


@pytest.mark.exhaustive
def test_a_compiled_step_that_takes_over_memory() -> None:
    rec = gl.Recorder()
    state, expected = trained(clipped(rec))
    assert_rows(gl.record.absorb(rec, state), expected)


@pytest.mark.exhaustive
def test_a_scan() -> None:
    rec, w = gl.Recorder(), weights()
    tx = clipped(rec)
    batches = jax.tree.map(lambda *x: jnp.stack(x), *map(batch, range(STEPS)))

    def step(carry: Any, now: Any) -> Any:
        w, state = carry
        updates, state = tx.update(gradients_of(w, *now), state, w)
        return (optax.apply_updates(w, updates), state), w

    (_, state), every = jax.jit(lambda start: jax.lax.scan(step, start, batches))((w, tx.init(w)))
    expected = [norms(by_hand({name: x[k] for name, x in every.items()}, k)) for k in range(STEPS)]
    assert_rows(gl.record.absorb(rec, state), expected)


@pytest.mark.exhaustive
def test_multi_steps() -> None:
    """Four micro-batches of one batch make its gradient, which is what the recorder inside sees;
    each in front.
    """
    inside, before, w = gl.Recorder(), gl.Recorder(), weights()
    accumulated = optax.MultiSteps(clipped(inside, name="inside"), 4).gradient_transformation()
    tx = optax.chain(gl.record.optax(before, name="before"), accumulated)
    state, step, expected, micro = tx.init(w), step_of(tx), [], []
    for k in range(3):
        expected.append(norms(by_hand(w, k)))
        for rows in (slice(start, start + 4) for start in range(0, 16, 4)):
            micro.append(norms(by_hand(w, k, rows)))
            w, state = step(w, state, *batch(k, rows))
    assert_rows(gl.record.absorb(inside, state, "inside"), expected)
    assert_rows(gl.record.absorb(before, state, "before"), micro)


@pytest.mark.exhaustive
def test_multi_steps_that_leave_batches_out() -> None:
    factors = [1.0, np.nan, 1.0, 1.0, 1.0]

    def accumulated(tx: Any) -> Any:
        return optax.MultiSteps(
            tx, 2, should_skip_update_fn=optax.skip_not_finite
        ).gradient_transformation()

    rec = gl.Recorder()
    state, _ = trained(accumulated(clipped(rec)), 5, factors)
    with pytest.warns(
        gl.errors.RecordingWarning, match=r"leaves out batches .* around=optax.MultiSteps"
    ):
        assert gl.record.absorb(rec, state).seen == 2
    state, expected = trained(gl.record.optax(rec, around=accumulated(optax.sgd(0.1))), 5, factors)
    got = gl.record.absorb(rec, state)
    assert got.every_step("skipped").tolist() == [0, 1, 0, 0, 0]
    np.testing.assert_allclose(
        got["norm"][got.taken > 0], [expected[k] for k in (0, 2, 3, 4)], 1e-5
    )


@pytest.mark.exhaustive
def test_weights_and_updates() -> None:
    """Of steps that are skipped there are none, nor of micro-batches that move nothing."""
    rec, other, w = gl.Recorder(sample_every=1), gl.Recorder(sample_every=1), weights()
    tx = gl.record.optax(
        rec, around=optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.01)), weights=True
    )
    accumulated = optax.MultiSteps(optax.sgd(0.01), 2).gradient_transformation()
    micro = gl.record.optax(other, around=accumulated, weights=True)
    state, second, step, before, moved = tx.init(w), micro.init(w), step_of(tx), [], []
    for k in range(STEPS):
        own = jax.tree.map(np.array, w)
        _, second = jax.jit(micro.update)(gradients_of(w, *batch(k)), second, w)
        w, state = step(w, state, *batch(k))
        before.append(norms(own))
        moved.append(norms({name: np.asarray(w[name], np.float64) - own[name] for name in NAMES}))
    found = gl.record.absorb(rec, state).updates()
    np.testing.assert_allclose(found.weight, before, 1e-5)
    np.testing.assert_allclose(found.update, moved, 1e-3)
    np.testing.assert_allclose(found.gradient, gl.record.absorb(rec, state)["norm"], 1e-6)
    assert gl.record.absorb(other, second).updates().step.tolist() == [1, 3]
    with pytest.raises(ValueError, match=r"give record\(..., around="):
        gl.record.optax(rec, weights=True)
    with pytest.raises(ValueError, match="needs params"):
        tx.update(weights(), state)


@pytest.mark.exhaustive
def test_the_noise_scale_of_micro_batches() -> None:
    rec, w, parts = gl.Recorder(), weights(), [slice(start, start + 4) for start in range(0, 16, 4)]
    tx = optax.chain(gl.record.optax(rec, scalars=["micro_norms"]), optax.sgd(0.01))
    state, step, big, small = tx.init(w), step_of(tx), [], []
    for k in range(STEPS):
        each = [np.linalg.norm(norms(by_hand(w, k, rows))) for rows in parts]
        big.append(np.square(norms(by_hand(w, k))).sum())
        small.append(np.square(each).mean())
        w, state = step(w, state, *batch(k), micro_norms=jnp.float32(each))
    noise, signal = np.subtract(small, big).mean() * 4 / 3, (4 * np.mean(big) - np.mean(small)) / 3
    found = gl.record.absorb(rec, state).noise_scale(4)
    assert found.value == pytest.approx(4 * noise / signal, rel=1e-3)


@pytest.mark.exhaustive
def test_masked() -> None:
    rec = gl.Recorder()
    tx = optax.chain(
        optax.masked(gl.record.optax(rec), {"b": False, "w1": True, "w2": True}), optax.sgd(0.1)
    )
    state, expected = trained(tx)
    assert_rows(gl.record.absorb(rec, state), [row[1:] for row in expected], NAMES[1:])


@pytest.mark.exhaustive
def test_multi_transform() -> None:
    recorders = {"slow": gl.Recorder(), "fast": gl.Recorder()}
    parts = {name: clipped(rec, name=name) for name, rec in recorders.items()}
    state, expected = trained(
        optax.multi_transform(parts, {"b": "fast", "w1": "slow", "w2": "slow"})
    )
    slow, fast = (gl.record.absorb(rec, state, name) for name, rec in recorders.items())
    assert_rows(slow, [row[1:] for row in expected], NAMES[1:])
    assert_rows(fast, [row[:1] for row in expected], NAMES[:1])


def test_one_recorder_for_two_labels_is_refused() -> None:
    tx = gl.record.optax(gl.Recorder())
    with pytest.raises(ValueError, match="this recorder holds tensors"):
        optax.multi_transform({"a": tx, "b": tx}, {"b": "a", "w1": "b", "w2": "b"}).init(weights())


@pytest.mark.exhaustive
def test_inject_hyperparams() -> None:
    rec = gl.Recorder()

    def optimizer(learning_rate: float) -> Any:
        return optax.chain(
            gl.record.optax(rec), optax.clip_by_global_norm(CLIP), optax.sgd(learning_rate)
        )

    tx = optax.inject_hyperparams(optimizer)(learning_rate=optax.linear_schedule(0.1, 0.0, 10))
    state, expected = trained(tx)
    assert_rows(gl.record.absorb(rec, state), expected)


FACTORS = [1.0, np.inf, 1.0, np.nan, 1.0, 1.0]  # by which gradients are wrong
FINITE = [0, 2, 4, 5]
# Of all tests here, so that they share programs: after two in a row the next step is taken.
finite = functools.partial(optax.apply_if_finite, max_consecutive_errors=2)


@pytest.mark.exhaustive
def test_apply_if_finite_around_the_recorder_says_how_many_steps_are_missing() -> None:
    rec = gl.Recorder()
    state, expected = trained(finite(clipped(rec)), 6, FACTORS)
    with pytest.warns(
        gl.errors.RecordingWarning, match=r"2 steps whose gradients .* around=optax.apply_if_finite"
    ):
        got = gl.record.absorb(rec, state)
    assert_rows(got, [expected[k] for k in FINITE])
    assert (got.seen, got.missing_steps, got.nonfinite_steps, got.skipped_steps) == (4, 2, 0, 0)


@pytest.mark.exhaustive
def test_the_recorder_around_apply_if_finite_has_them_all() -> None:
    rec = gl.Recorder()
    state, expected = trained(gl.record.optax(rec, around=finite(optax.sgd(0.1))), 6, FACTORS)
    got = gl.record.absorb(rec, state)
    assert got.every_step("skipped").tolist() == [0, 1, 0, 1, 0, 0]
    assert (got.seen, got.missing_steps, got.nonfinite_steps, got.overflows.tolist()) == (
        6,
        0,
        0,
        [2, 2, 2],
    )
    np.testing.assert_allclose(got["norm"][FINITE], [expected[k] for k in FINITE], 1e-5)


@pytest.mark.exhaustive
@pytest.mark.parametrize("around", [True, False])
def test_a_step_that_apply_if_finite_lets_through_was_taken(around: bool) -> None:
    rec, factors = gl.Recorder(), [1.0, np.inf, np.inf, np.inf]
    if around:
        tx = gl.record.optax(rec, around=finite(optax.sgd(0.1)))
        got = gl.record.absorb(rec, trained(tx, 4, factors)[0])
        assert got.every_step("skipped").tolist() == [0, 1, 1, 0]
    else:
        state, _ = trained(finite(clipped(rec)), 4, factors)
        with pytest.warns(gl.errors.RecordingWarning, match="2 steps"):
            got = gl.record.absorb(rec, state)
        assert (got.seen, got.missing_steps) == (2, 2)
    assert got.nonfinite_steps == 1


@pytest.mark.exhaustive
def test_missing_steps_of_a_run_that_goes_on() -> None:
    """Absorbed now and then, and begun again from what was absorbed: each is counted once."""
    rec = gl.Recorder()
    tx = finite(clipped(rec))
    w, step, state = weights(), step_of(tx), tx.init(weights())
    for k, factor in enumerate(FACTORS):
        w, state = step(w, state, *batch(k), np.float32(factor))
        if k > 1:
            with pytest.warns(gl.errors.RecordingWarning):
                rec = gl.record.absorb(rec, state)
    assert (rec.seen, rec.missing_steps) == (4, 2)
    with pytest.warns(gl.errors.RecordingWarning, match="3 steps"):
        again = gl.record.absorb(rec, trained(finite(clipped(rec)), 2, FACTORS)[0])
    assert (again.seen, again.missing_steps) == (5, 3)
    assert "3 more steps held NaN or Inf and are missing" in again.summary().reason


@pytest.mark.exhaustive
def test_a_loss_scale_by_hand() -> None:
    rec = gl.Recorder()
    scales, skipped = np.float32([8, 4, 4, 2]), np.array([True, False, True, False])
    factors = [np.inf if skip else 1.0 for skip in skipped]
    state, expected = trained(clipped(rec), 4, factors, scale=scales, skipped=skipped)
    got = gl.record.absorb(rec, state)
    np.testing.assert_array_equal(got.every_step("scale"), scales)
    np.testing.assert_array_equal(got.every_step("skipped"), skipped)
    assert got.overflows.tolist() == [2, 2, 2]
    np.testing.assert_allclose(got["norm"][0], np.inf)
    np.testing.assert_allclose(expected[0], norms(by_hand(weights(), 0)))
    with pytest.raises(ValueError, match="scale marks a step and is always taken"):
        gl.record.optax(rec, scalars=["scale", "loss"])


def parts_of(step: int) -> Any:
    """A batch dealt out over all devices."""
    return jax.tree.map(lambda x: x.reshape(DEVICES, -1, x.shape[1]), batch(step))


@pytest.mark.exhaustive
@pytest.mark.parametrize("averaged", [True, False])
@pytest.mark.filterwarnings("ignore:.*pmap:DeprecationWarning")
def test_pmap(averaged: bool) -> None:
    rec = gl.Recorder()
    tx = clipped(rec)

    @functools.partial(jax.pmap, axis_name="device")
    def step(w: Any, state: Any, x: Any, y: Any) -> Any:
        grads = gradients_of(w, x, y)
        if averaged:
            grads = jax.lax.pmean(grads, "device")
        updates, state = tx.update(grads, state, w)
        return optax.apply_updates(w, updates), state

    w, state = (
        jax.tree.map(lambda x: jnp.stack([x] * DEVICES), x) for x in (weights(), tx.init(weights()))
    )
    expected = []
    for k in range(STEPS):
        rows = slice(None) if averaged else slice(2)
        expected.append(norms(by_hand({name: x[0] for name, x in w.items()}, k, rows)))
        w, state = step(w, state, *parts_of(k))
    if not averaged:
        with pytest.raises(
            ValueError, match=r"8 recordings that differ: .*jax.lax.pmean\(grads, axis\)"
        ):
            gl.record.absorb(rec, state)
        state = jax.tree.map(lambda x: x[0], state)
    assert_rows(gl.record.absorb(rec, state), expected)


def mesh(kind: Any = AxisType.Auto) -> Any:
    return jax.make_mesh((DEVICES,), ("device",), axis_types=(kind,))


def varying(x: Any) -> Any:
    """The same on all devices, but free to differ: JAX says so in another way since 0.9."""
    return (
        jax.lax.pcast(x, "device", to="varying")
        if hasattr(jax.lax, "pcast")
        else jax.lax.pvary(x, "device")
    )


def sharded_map(tx: Any, averaged: bool, check: bool) -> Callable[..., Any]:
    """A training step in `shard_map`, with weights and state the same on all devices."""
    everywhere, dealt = PartitionSpec(), PartitionSpec("device")

    def step(w: Any, state: Any, x: Any, y: Any) -> Any:
        local = jax.tree.map(varying, w) if check else w
        grads = gradients_of(local, x, y)
        if averaged:
            grads = jax.lax.pmean(grads, "device")
        updates, state = tx.update(grads, state, w)
        return optax.apply_updates(w, updates), state

    specs = (everywhere, everywhere, dealt, dealt)
    mapped = jax.shard_map(
        step, mesh=mesh(), in_specs=specs, out_specs=(everywhere, everywhere), check_vma=check
    )
    return jax.jit(mapped)


@pytest.mark.exhaustive
@pytest.mark.parametrize("check", [True, False])
def test_shard_map_averaged(check: bool) -> None:
    rec, w = gl.Recorder(), weights()
    tx = clipped(rec)
    step, state, expected = sharded_map(tx, True, check), tx.init(w), []
    for k in range(STEPS):
        expected.append(norms(by_hand(w, k)))
        w, state = step(w, state, *batch(k))
    assert_rows(gl.record.absorb(rec, state), expected)


@pytest.mark.parametrize("check", [True, False])
def test_shard_map_of_each_device_is_refused(check: bool) -> None:
    rec, w = gl.Recorder(), weights()
    tx = clipped(rec)
    step = sharded_map(tx, False, check)
    if check:
        with pytest.raises(
            ValueError, match=r"b, w1 and w2 differ between the devices along device.*pmean"
        ):
            step(w, tx.init(w), *batch(0))
        return
    _, state = step(w, tx.init(w), *batch(0))
    with pytest.raises(
        ValueError, match=r"8 recordings that differ: .*jax.lax.pmean\(grads, axis\)"
    ):
        gl.record.absorb(rec, state)


# Of each run: a tensor that is whole on all devices, one by rows and one by columns.
SHARDINGS = {
    "the matrices": {"b": (None,), "w1": ("device", None), "w2": (None, "device")},
    "all others": {"b": ("device",), "w1": (None, "device"), "w2": (None, None)},
}
# Each with a mesh that is set around the loop or not: every kind and every sharding has both.
MESHES = [
    ("Auto", "the matrices", True),
    ("Auto", "all others", False),
    ("Explicit", "the matrices", False),
    ("Explicit", "all others", True),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("kind", "sharding", "ambient"), MESHES)
def test_meshes(kind: str, sharding: str, ambient: bool) -> None:
    """Batches dealt out, gradients as sharded as in data parallelism and in ZeRO."""
    own, rec = mesh(getattr(AxisType, kind)), gl.Recorder(sample_every=2)
    tx = gl.record.optax(rec, around=optax.apply_if_finite(optax.sgd(0.1), 5), weights=True)
    shardings = {
        name: NamedSharding(own, PartitionSpec(*spec)) for name, spec in SHARDINGS[sharding].items()
    }
    place = jax.sharding.reshard if kind == "Explicit" else jax.lax.with_sharding_constraint

    @jax.jit
    def step(w: Any, state: Any, x: Any, y: Any) -> Any:
        grads = {name: place(g, shardings[name]) for name, g in gradients_of(w, x, y).items()}
        if kind == "Explicit":
            assert all(
                jax.typeof(g).sharding.spec == shardings[name].spec for name, g in grads.items()
            )
        updates, state = tx.update(grads, state, w)
        return w, updates, state

    def run() -> tuple[Any, list[list[float]]]:
        everywhere, dealt = (NamedSharding(own, PartitionSpec(*spec)) for spec in ((), ("device",)))
        w = jax.device_put(weights(), everywhere)
        state, expected = tx.init(w), []
        for k in range(3):
            expected.append(norms(by_hand(w, k)))
            _, updates, state = step(w, state, *jax.device_put(batch(k), dealt))
            w = {
                name: jax.device_put(np.asarray(w[name]) + np.asarray(u), everywhere)
                for name, u in updates.items()
            }
        return state, expected

    if ambient:
        with jax.set_mesh(own):
            state, expected = run()
    else:
        state, expected = run()
    got = gl.record.absorb(rec, state)
    assert_rows(got, expected)
    assert got["histogram"].sum() == 2 * (8 + 64 + 128)  # of steps 0 and 2
    # All of the first steps.
    np.testing.assert_allclose(got.updates().update, 0.1 * np.array(expected), 1e-5)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "spec", [("device", None), (None, "device")], ids=["by rows", "by columns"]
)
def test_no_device_gathers_a_large_gradient(spec: tuple[str | None, str | None]) -> None:
    own, rec = mesh(), gl.Recorder()
    grads = jax.device_put(
        np.ones((1024, 256), np.float32), NamedSharding(own, PartitionSpec(*spec))
    )
    state = jax.device_put(rec.init(grads), NamedSharding(own, PartitionSpec()))
    compiled = jax.jit(rec.update).lower(state, grads).compile()
    text = compiled.as_text()
    assert "all-reduce" in text and "all-to-all" not in text
    gathered = [
        math.prod(map(int, shape.split(",")))
        for shape in re.findall(r"\[([\d,]+)\]\S* all-gather\(", text)
    ]
    # What each has counted.
    assert len(gathered) == text.count(" all-gather(") and max(gathered) <= DEVICES * BINS
    assert rec.absorb(compiled(state, grads)).global_norm.item() == pytest.approx(512)


@pytest.mark.exhaustive
def test_a_scan_on_an_explicit_mesh() -> None:
    """What goes into a step and what comes out of it have the same types."""
    own, rec = mesh(AxisType.Explicit), gl.Recorder()
    tx = gl.record.optax(rec)
    with jax.set_mesh(own):
        grads = jax.device_put(
            np.arange(48, dtype=np.float32).reshape(3, 16), PartitionSpec(None, "device")
        )
        state = tx.init(grads[0])
        state, _ = jax.jit(
            lambda s, g: jax.lax.scan(lambda s, g: (tx.update(g, s)[1], None), s, g)
        )(state, grads)
    assert_rows(
        gl.record.absorb(rec, state),
        np.linalg.norm(np.asarray(grads), axis=1)[:, None].tolist(),
        ("0",),
    )


def plain(x: Any) -> Any:
    """What flax's `to_bytes` makes of a tree: it knows dicts, lists, tuples, named tuples and
    arrays.
    """
    if isinstance(x, dict):
        assert all(isinstance(key, str) for key in x)
        return {key: plain(item) for key, item in x.items()}
    if isinstance(x, list | tuple):
        names = getattr(x, "_fields", map(str, range(len(x))))
        return {name: plain(item) for name, item in zip(names, x, strict=True)}
    assert isinstance(x, jax.Array)
    return np.asarray(x)


@pytest.mark.exhaustive
def test_the_state_is_a_tree_that_checkpoints_take() -> None:
    rec = gl.Recorder()
    state, expected = trained(gl.record.optax(rec, around=finite(optax.sgd(0.1))))
    leaves, tree = jax.tree.flatten(state)
    saved = plain(state)
    assert jax.tree.structure(state) == jax.tree.structure(tree.unflatten(jax.tree.leaves(saved)))
    assert_rows(gl.record.absorb(rec, tree.unflatten([np.asarray(x) for x in leaves])), expected)
