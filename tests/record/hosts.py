"""The same small network and data trained by NumPy, optax, PyTorch and Keras 3, each recorded in
its own way.

All clip the global norm at LIMIT, and all record what comes before that. Keras has the backend in
$KERAS_BACKEND.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradlab as gl

STEPS, BATCH, RATE, LIMIT = 20, 16, 0.5, 0.3
NAMES = ("w1", "b1", "w2", "b2")
SIZE = f"{STEPS} steps of 4 tensors with 53 entries"  # as reports say it


def weights() -> dict[str, np.ndarray]:
    """Input 6, hidden 5, output 3."""
    rng = np.random.default_rng(0)
    shapes = {"w1": (6, 5), "b1": (5,), "w2": (5, 3), "b2": (3,)}
    return {name: rng.normal(size=shape).astype(np.float32) / 2 for name, shape in shapes.items()}


def data() -> tuple[np.ndarray, np.ndarray]:
    """STEPS batches, one after the other."""
    rng = np.random.default_rng(1)
    return rng.normal(size=(STEPS * BATCH, 6)).astype(np.float32), rng.integers(0, 3, STEPS * BATCH)


def batches() -> list[tuple[np.ndarray, np.ndarray]]:
    x, y = data()
    return [(x[k : k + BATCH], y[k : k + BATCH]) for k in range(0, len(x), BATCH)]


def of_numpy() -> gl.Recorder:
    rec, w = gl.Recorder(), weights()
    for x, y in batches():
        hidden = np.tanh(x @ w["w1"] + w["b1"])
        logits = hidden @ w["w2"] + w["b2"]
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(BATCH), y]).mean()
        p[np.arange(BATCH), y] -= 1
        back = (p @ w["w2"].T) * (1 - hidden**2)
        grads = [x.T @ back / BATCH, back.mean(0), hidden.T @ p / BATCH, p.mean(0)]
        rec.record(dict(zip(NAMES, grads, strict=True)), loss=loss)
        clipped, _ = gl.clip_by_global_norm(grads, LIMIT)
        w = {name: w[name] - np.float32(RATE) * g for name, g in zip(NAMES, clipped, strict=True)}
    return rec


def of_optax() -> gl.Recorder:
    import jax
    import jax.numpy as jnp
    import optax

    def loss_of(w: Any, x: Any, y: Any) -> Any:
        logits = jnp.tanh(x @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    rec, w = gl.Recorder(), weights()
    tx = optax.chain(
        gl.record.optax(rec, scalars=["loss"]), optax.clip_by_global_norm(LIMIT), optax.sgd(RATE)
    )

    @jax.jit
    def step(w: Any, state: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(w, x, y)
        updates, state = tx.update(grads, state, w, loss=loss)
        return optax.apply_updates(w, updates), state

    state = tx.init(w)
    for x, y in batches():
        w, state = step(w, state, x, y)
    return gl.record.absorb(rec, state)


def of_torch() -> gl.Recorder:
    import torch

    w = {name: torch.nn.Parameter(torch.from_numpy(x)) for name, x in weights().items()}
    optimizer = torch.optim.SGD(w.values(), RATE)
    with gl.record.torch(gl.Recorder(), w.items(), optimizer) as recording:
        for x, y in batches():
            logits = torch.tanh(torch.from_numpy(x) @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]
            loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(y))
            optimizer.zero_grad()
            loss.backward()
            recording.note(loss=loss)
            torch.nn.utils.clip_grad_norm_(w.values(), LIMIT)
            optimizer.step()
    return recording.recorder


def of_keras(**compile_: Any) -> gl.Recorder:
    import keras

    layers = [keras.layers.Dense(5, "tanh", name="hidden"), keras.layers.Dense(3, name="out")]
    model = keras.Sequential([keras.Input((6,)), *layers], name="net")
    model.set_weights(list(weights().values()))
    optimizer = keras.optimizers.SGD(RATE, global_clipnorm=LIMIT)
    model.compile(
        optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), **compile_
    )
    rec = gl.Recorder()
    model.fit(*data(), BATCH, shuffle=False, verbose=0, callbacks=[gl.record.keras(rec)])
    return rec


HOSTS = {"optax": of_optax, "torch": of_torch}


def assert_same(got: gl.Recorder) -> None:
    """That a host recorded the run of NumPy.

    The order of tensors is each host's own; that of JAX goes by name.
    """
    plain = of_numpy()
    names = [name.rpartition("/")[2] for name in got.names]
    order = (
        [names.index(name) for name in plain.names] if set(names) == set(NAMES) else [1, 3, 0, 2]
    )
    assert got.seen == plain.seen == STEPS
    np.testing.assert_allclose(got["norm"][:, order], plain["norm"], 1e-4, 1e-6)
    np.testing.assert_allclose(got["largest"][:, order], plain["largest"], 1e-4, 1e-6)
    np.testing.assert_allclose(got["loss"], plain["loss"], 1e-4)
    np.testing.assert_array_equal(got["histogram"][:, order].sum(2), plain["histogram"].sum(2))
    fired = [rec.what_if(clip_global_norm=LIMIT).fraction_fired for rec in (got, plain)]
    np.testing.assert_allclose(fired[0], fired[1], 1e-6)
    assert 0 < fired[1] < 1
    assert SIZE in str(gl.Report(got))
