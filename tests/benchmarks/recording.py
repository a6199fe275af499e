"""A step of a small and of a large network with and without the recorder, and a long run of a
thousand tensors.

Recorded as it is by default, gradients and loss alone, and with weights and updates as well.

Times are those of the processor, in all threads, of as many steps as there are from one look at all
entries, weights and updates to the next, so that whatever is put off is paid for. On a machine that
others use `taskset -c 0` takes the threads out of it. Beside it stands what no recorder can save:
the norm and the largest entry of each gradient, by the same library, with nothing kept.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import itertools
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tests.benchmarks.race import race
from tests.benchmarks.table import Row

# Batch, rounds, warm.
SIZES = {"small": ((784, 256, 128, 10), 128, 10, 2), "large": ((784, 2048, 2048, 10), 256, 3, 1)}
PASSES = "norms and largest entries alone"
WEIGHTS = "recorded with weights and updates"
TENSORS, STEPS, BATCH_STEPS = 1_000, 100_000, 1_000
LONG = f"{TENSORS:,} tensors x {STEPS:,} steps"
Weights = dict[str, Any]


def rows() -> Iterator[Row]:
    """Steps of NumPy, of JAX with optax under jit, and of PyTorch, then long runs."""
    hosts = {"NumPy": _numpy, "JAX and optax, jit": _jax}
    if importlib.util.find_spec("torch"):
        hosts["PyTorch"] = _torch
    for (size, (widths, batch, rounds, warm)), (host, runner) in itertools.product(
        SIZES.items(), hosts.items()
    ):
        what = f"a step of a {size} network, {'-'.join(map(str, widths))}, batch {batch}, {host}"
        yield from _dearer(what, functools.partial(runner, widths, batch), rounds, warm)
    yield _long("extend, 1,000 steps at once", _by_extend)
    yield _long("update, one scan, 4 entries each", _by_scan)


def _dearer(
    what: str, runner: Callable[[Any, bool], Callable[[], Any]], rounds: int, warm: int
) -> Iterator[Row]:
    """The race, and what recording adds to a step."""
    import gradlab as gl

    recorder, whole = gl.Recorder(), gl.Recorder()
    steps = {"gradlab": runner(None, False), "the same, recorded": runner(recorder, False)}
    steps |= {
        f"the same, {WEIGHTS}": runner(whole, True),
        f"the same, {PASSES}": runner(PASSES, False),
    }
    steps["the same, recorded"]()  # now it knows its tensors
    every = recorder.sample_every or 1
    blocks = {name: functools.partial(_repeat, step, every) for name, step in steps.items()}
    of_blocks = race(what, blocks, rounds, warm, time.process_time)
    plain, *others = (_of_one(row, every) for row in of_blocks)
    yield plain
    base = plain.median or 1.0
    for row in others:
        more = (row.median or 0.0) - base
        added = (
            f"adds {1000 * more:.0f} us, {100 * more / base:.1f} %; 1 of {every} steps is sampled"
        )
        yield dataclasses.replace(row, note=f"{row.note}; {added}")


def _repeat(step: Callable[[], Any], times: int) -> None:
    for _ in range(times):
        step()


def _of_one(row: Row, steps: int) -> Row:
    """A row of one step, of one of so many."""
    return dataclasses.replace(
        row, median=(row.median or 0.0) / steps, p95=(row.p95 or 0.0) / steps
    )


def _look(gradients: Iterable[np.ndarray]) -> None:
    """Read each gradient for its norm and its largest entry."""
    for g in gradients:
        flat = g.reshape(-1)
        _ = float(np.dot(flat, flat)) ** 0.5, max(float(flat.max()), -float(flat.min()))


def _weights(widths: Sequence[int]) -> Weights:
    draw, layers = np.random.default_rng(0), list(itertools.pairwise(widths))
    found = {
        f"w{k}": draw.normal(0, n**-0.5, (n, m)).astype(np.float32)
        for k, (n, m) in enumerate(layers)
    }
    return found | {f"b{k}": np.zeros(m, np.float32) for k, (_, m) in enumerate(layers)}


def _data(widths: Sequence[int], batch: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(1)
    return draw.normal(size=(batch, widths[0])).astype(np.float32), draw.integers(
        0, widths[-1], batch
    )


def _numpy(widths: Sequence[int], batch: int, recorder: Any, whole: bool) -> Callable[[], None]:
    x, y = _data(widths, batch)
    weights = _weights(widths)
    slots = {name: np.full_like(w, 0.1) for name, w in weights.items()}

    def step() -> None:
        loss, grads = _backprop(weights, x, y)
        if recorder == PASSES:
            _look(grads.values())
        elif recorder is not None:
            recorder.record(grads, weights=weights if whole else None, loss=loss)
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


def _torch(widths: Sequence[int], batch: int, recorder: Any, whole: bool) -> Callable[[], None]:
    import torch

    import gradlab as gl

    x, y = map(torch.from_numpy, _data(widths, batch))
    layers = [torch.nn.Linear(n, m) for n, m in itertools.pairwise(widths)]
    model = torch.nn.Sequential(
        *itertools.chain(*([layer, torch.nn.ReLU()] for layer in layers[:-1])), layers[-1]
    )
    optimizer = torch.optim.Adam(model.parameters())
    recording = None
    if isinstance(recorder, gl.Recorder):
        recording = gl.record.torch(recorder, model, optimizer, weights=whole)

    def step() -> None:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        if recording:
            recording.note(loss=loss)
        elif recorder == PASSES:
            _look(p.grad.numpy() for p in model.parameters())
        optimizer.step()

    return step


def _jax(widths: Sequence[int], batch: int, recorder: Any, whole: bool) -> Callable[[], None]:
    import jax
    import jax.numpy as jnp
    import optax

    x, y = map(jnp.asarray, _data(widths, batch))
    tx, last = optax.adam(1e-3), len(widths) - 2

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
        if recorder == PASSES:
            apart = jax.lax.optimization_barrier(jax.tree.leaves(grads))
            seen = jnp.stack(
                [f(g) for g in apart for f in (lambda g: (g * g).sum(), lambda g: abs(g).max())]
            )
        elif recorder is not None:
            moved = {"weights": weights, "updates": updates} if whole else {}
            seen = recorder.update(seen, grads, loss=loss, **moved)
        return optax.apply_updates(weights, updates), state, seen

    weights = jax.tree.map(jnp.array, _weights(widths))
    seen = jnp.zeros(2 * len(weights))
    if recorder not in (None, PASSES):
        seen = recorder.init(_weights(widths), loss=0.0, **({"weights": weights} if whole else {}))
    kept, compiled = [(weights, tx.init(weights), seen)], jax.jit(step, donate_argnums=0)

    def run() -> None:
        kept[0] = jax.block_until_ready(compiled(kept[0]))

    return run


def _long(who: str, run: Callable[[], Any]) -> Row:
    start = time.perf_counter()
    recorder = run()
    seconds = time.perf_counter() - start
    kept = sum(x.nbytes for x in recorder.flush().columns.values()) / 2**20
    asked = statistics.median(
        _milliseconds(lambda: recorder.what_if(clip_norm=1.0)) for _ in range(5)
    )
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
    columns = {
        "norm": norm,
        "largest": norm / 30,
        "nonfinite": np.zeros(norm.shape, np.int32),
        "entry": entry,
    }
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
    run = jax.jit(
        lambda state: jax.lax.scan(step, state, jnp.arange(float(STEPS)))[0], donate_argnums=0
    )
    return recorder.absorb(run(state))
