"""A step of a small and of a large network with and without the recorder, and a long run of a thousand tensors.

The recorder looks at norms in every step, and at the rest, here with weights and updates, in every k-th. What a step
costs in the mean is a median step with norms alone, and a k-th of what one with all of it costs more.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tests.benchmarks.race import race
from tests.benchmarks.table import Row

SIZES = {"small": ((784, 256, 128, 10), 128, 512), "large": ((784, 2048, 2048, 10), 256, 48)}  # batch and rounds
TENSORS, STEPS, BATCH_STEPS = 1_000, 100_000, 1_000
LONG = f"{TENSORS:,} tensors x {STEPS:,} steps"
Weights = dict[str, Any]


def rows() -> Iterator[Row]:
    """Steps of NumPy, of JAX with optax under jit, and of PyTorch, then long runs."""
    hosts = {"NumPy": _numpy, "JAX and optax, jit": _jax}
    if importlib.util.find_spec("torch"):
        hosts["PyTorch"] = _torch
    for (size, (widths, batch, rounds)), (host, runner) in itertools.product(SIZES.items(), hosts.items()):
        what = f"a step of a {size} network, {'-'.join(map(str, widths))}, batch {batch}, {host}"
        yield from _dearer(what, functools.partial(runner, widths, batch), rounds)
    yield _long("extend, 1,000 steps at once", _by_extend)
    yield _long("update, one scan, 4 entries each", _by_scan)


def _dearer(what: str, runner: Callable[[Any], Callable[[], Any]], rounds: int) -> Iterator[Row]:
    """The race, and what recording adds to a step."""
    import gradlab as gl

    recorder = gl.Recorder()
    runners = {
        "gradlab": runner(None),
        "the same, recorded": runner(recorder),
        "the same, all in every step": runner(gl.Recorder(sample_every=1)),
    }
    plain, recorded, all_ = race(what, runners, rounds)
    yield plain
    base, norms, everything, k = plain.median or 1.0, recorded.median or 0.0, all_.median or 0.0, recorder.sample_every
    rest = max(0.0, everything - norms) / (k or 1)
    added = (
        f"recording adds {1000 * (norms - base + rest):.0f} us, {100 * (norms - base + rest) / base:.1f} %, of which "
        f"{100 * rest / base:.1f} % for 1 in {k} steps with all"
    )
    yield dataclasses.replace(recorded, note=f"{recorded.note}; {added}")
    yield all_


def _weights(widths: Sequence[int]) -> Weights:
    draw, layers = np.random.default_rng(0), list(itertools.pairwise(widths))
    found = {f"w{k}": draw.normal(0, n**-0.5, (n, m)).astype(np.float32) for k, (n, m) in enumerate(layers)}
    return found | {f"b{k}": np.zeros(m, np.float32) for k, (_, m) in enumerate(layers)}


def _data(widths: Sequence[int], batch: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(1)
    return draw.normal(size=(batch, widths[0])).astype(np.float32), draw.integers(0, widths[-1], batch)


def _numpy(widths: Sequence[int], batch: int, recorder: Any) -> Callable[[], None]:
    x, y = _data(widths, batch)
    weights = _weights(widths)
    slots = {name: np.full_like(w, 0.1) for name, w in weights.items()}
    moved = recorder is not None and recorder.sample_every == 1

    def step() -> None:
        loss, grads = _backprop(weights, x, y)
        if recorder is not None:
            recorder.record(grads, weights=weights if moved else None, loss=loss)
        for name, g in grads.items():
            slots[name] += g * g
            weights[name] -= np.float32(0.01) * g / np.sqrt(slots[name])

    return step


def _backprop(w: Weights, x: np.ndarray, y: np.ndarray) -> tuple[float, Weights]:
    """Loss and gradients of a network with rectifiers and a softmax, written plainly."""
    inputs, last = [x], len(w) // 2 - 1
    for k in range(last):
        inputs.append(np.maximum(inputs[-1] @ w[f"w{k}"] + w[f"b{k}"], 0))
    scores = inputs[-1] @ w[f"w{last}"] + w[f"b{last}"]
    scores -= scores.max(axis=1, keepdims=True)
    share = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    at = np.arange(len(y)), y
    loss, delta = -float(np.log(share[at]).mean()), share
    delta[at] -= 1
    delta /= len(y)
    grads = {}
    for k in range(last, -1, -1):
        grads[f"w{k}"], grads[f"b{k}"] = inputs[k].T @ delta, delta.sum(axis=0)
        if k:
            delta = (delta @ w[f"w{k}"].T) * (inputs[k] > 0)
    return loss, grads


def _torch(widths: Sequence[int], batch: int, recorder: Any) -> Callable[[], None]:
    import torch

    import gradlab as gl

    x, y = map(torch.from_numpy, _data(widths, batch))
    layers = [torch.nn.Linear(n, m) for n, m in itertools.pairwise(widths)]
    model = torch.nn.Sequential(*itertools.chain(*([layer, torch.nn.ReLU()] for layer in layers[:-1])), layers[-1])
    optimizer = torch.optim.Adam(model.parameters())
    recording = None
    if recorder is not None:
        recording = gl.torch.record(recorder, model, optimizer, weights=recorder.sample_every == 1)

    def step() -> None:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        if recording:
            recording.note(loss=loss)
        optimizer.step()

    return step


def _jax(widths: Sequence[int], batch: int, recorder: Any) -> Callable[[], None]:
    import jax
    import jax.numpy as jnp
    import optax

    x, y = map(jnp.asarray, _data(widths, batch))
    tx, last = optax.adam(1e-3), len(widths) - 2
    moved = recorder is not None and recorder.sample_every == 1

    def loss_of(w: Weights) -> Any:
        h = x
        for k in range(last):
            h = jax.nn.relu(h @ w[f"w{k}"] + w[f"b{k}"])
        scores = h @ w[f"w{last}"] + w[f"b{last}"]
        return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()

    def step(carry: Any) -> Any:
        weights, state, seen = carry
        loss, grads = jax.value_and_grad(loss_of)(weights)
        updates, state = tx.update(grads, state, weights)
        if recorder is not None:
            moves = {"weights": weights, "updates": updates} if moved else {}
            seen = recorder.update(seen, grads, loss=loss, **moves)
        return optax.apply_updates(weights, updates), state, seen

    weights = jax.tree.map(jnp.array, _weights(widths))
    seen = None
    if recorder is not None:
        seen = recorder.init(_weights(widths), weights=weights if moved else None, loss=0.0)
    kept, compiled = [(weights, tx.init(weights), seen)], jax.jit(step, donate_argnums=0)

    def run() -> None:
        kept[0] = jax.block_until_ready(compiled(kept[0]))

    return run


def _long(who: str, run: Callable[[], Any]) -> Row:
    start = time.perf_counter()
    recorder = run()
    seconds = time.perf_counter() - start
    kept = sum(x.nbytes for x in recorder._data.values()) / 2**20
    asked = statistics.median(_milliseconds(lambda: recorder.what_if(clip_norm=1.0)) for _ in range(5))
    note = f"{kept:.0f} MiB, {seconds:.0f} s in all; {recorder!r}; what_if {asked:.0f} ms"
    return Row(LONG, who, median=1000 * seconds / STEPS, note=note)


def _milliseconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - start)


def _by_extend() -> Any:
    import gradlab as gl

    recorder, draw = gl.Recorder(), np.random.default_rng(0)
    recorder.prepare({f"w{k}": (1000, 1000) for k in range(TENSORS)})
    norm = np.exp(draw.normal(size=(BATCH_STEPS, TENSORS))).astype(np.float32)
    entry = draw.normal(size=(BATCH_STEPS, len(recorder.sampled[0]))).astype(np.float32)
    columns = {"norm": norm, "largest": norm / 30, "nonfinite": np.zeros(norm.shape, np.int32), "entry": entry}
    for _ in range(STEPS // BATCH_STEPS):
        recorder.extend(columns)
    return recorder


def _by_scan() -> Any:
    import jax
    import jax.numpy as jnp

    import gradlab as gl

    recorder = gl.Recorder()
    names = [f"w{k}" for k in range(TENSORS)]

    def step(state: Any, k: Any) -> Any:
        all_ = jnp.sin(k + jnp.arange(4.0 * TENSORS)).reshape(TENSORS, 4)
        return recorder.update(state, dict(zip(names, all_, strict=True))), None

    state = recorder.init({name: np.zeros(4, np.float32) for name in names})
    run = jax.jit(lambda state: jax.lax.scan(step, state, jnp.arange(float(STEPS)))[0], donate_argnums=0)
    return recorder.absorb(run(state))
