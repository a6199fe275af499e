"""Adagrad: dense beside memory, optax and the plain formula; rows of a table beside TensorFlow and
PyTorch.

The group `oracle` brings TensorFlow. PyTorch is large and in no extra: `pip install torch`.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.benchmarks.race import Runner, race
from tests.benchmarks.table import Row

NUMBERS, ROUNDS = 32_000_000, 15
TABLE, IDS, EXPONENT, SPARSE_ROUNDS = (1_000_000, 64), 65_536, 1.05, 30
RATE = np.float32(0.1)
DENSE, SPARSE = "Adagrad, 32 M float32", "Adagrad, 65,536 Zipf ids in a table of 1 M x 64"
TRIAD = "triad a = b + s * c"


def rows() -> Iterator[Row]:
    """Three races."""
    yield from _with_bandwidth(list(race(f"{DENSE}, jit", _dense_jit(), ROUNDS)))
    yield from missing(f"{DENSE}, jit", {"optax": "optax"})
    yield from race(f"{DENSE}, NumPy", _dense_numpy(), ROUNDS)
    ids, values = slices()
    what = f"{SPARSE} ({np.unique(ids).size:,} rows)"
    yield from race(what, _sparse(ids, values), SPARSE_ROUNDS)
    yield from missing(what, {"TensorFlow (Keras legacy)": "tf_keras", "PyTorch": "torch"})


def _with_bandwidth(found: list[Row]) -> Iterator[Row]:
    """Adagrad moves five arrays where the triad moves three."""
    median = {row.who: row.median or 0.0 for row in found}
    share = (5 / median["gradlab"]) / (3 / median[TRIAD])
    for row in found:
        note = f"{row.note}; gradlab moves {share:.2f} times as many bytes per second"
        yield dataclasses.replace(row, note=note) if row.who == TRIAD else row


def missing(what: str, peers: dict[str, str]) -> Iterator[Row]:
    """Yield a row for each peer whose module isn't installed."""
    for who, module in peers.items():
        if not is_installed(module):
            yield Row(what, who, note="not installed")


def is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _dense_jit() -> dict[str, Runner]:
    import jax
    import jax.numpy as jnp

    import gradlab as gl

    numbers = np.random.default_rng(0)
    g, a, b = (jnp.asarray(numbers.standard_normal(NUMBERS, dtype=np.float32)) for _ in range(3))
    triad = jax.jit(lambda out, x, y: x + RATE * y, donate_argnums=0, keep_unused=True)
    v, opt = gl.Variable(jnp.zeros(NUMBERS)), optimizer()
    runners = {
        "gradlab": step_shell(opt, v, g),
        TRIAD: repeat_step(lambda out: triad(out, a, b), jnp.zeros(NUMBERS)),
    }
    if is_installed("optax"):
        import optax

        rule = optax.adagrad(RATE)

        def step(state: Any) -> Any:
            updates, new = rule.update(g, state[1], state[0])
            return optax.apply_updates(state[0], updates), new

        w = jnp.zeros(NUMBERS)
        runners["optax"] = repeat_step(jax.jit(step, donate_argnums=0), (w, rule.init(w)))
    return runners


def repeat_step(step: Callable[[Any], Any], state: Any) -> Runner:
    """Return a runner that steps on from the state of its last call."""
    import jax

    kept = [state]

    def run() -> None:
        kept[0] = jax.block_until_ready(step(kept[0]))

    return run


def _dense_numpy() -> dict[str, Runner]:
    import gradlab as gl

    g = np.random.default_rng(0).standard_normal(NUMBERS, dtype=np.float32)
    v, opt = gl.Variable(np.zeros(NUMBERS, np.float32)), optimizer()
    state = [np.zeros(NUMBERS, np.float32), np.full(NUMBERS, 0.1, np.float32)]

    def plainly() -> None:
        w, accumulator = state
        accumulator = accumulator + g * g
        state[:] = w - RATE * g / (np.sqrt(accumulator) + np.float32(1e-7)), accumulator

    return {"gradlab": lambda: opt.apply_gradients([(g, v)]), "plain formula": plainly}


def optimizer() -> Any:
    """Adagrad in Keras's form, as all of these compute it."""
    import gradlab as gl

    return gl.train.RuleOptimizer(gl.rules.Adagrad(), float(RATE), False, "Adagrad")


def slices() -> tuple[np.ndarray, np.ndarray]:
    """Ids as often as words are used, spread over the table, and a row of gradients for each."""
    numbers = np.random.default_rng(0)
    often = np.arange(1, TABLE[0] + 1) ** -EXPONENT
    ids = np.searchsorted(np.cumsum(often / often.sum()), numbers.random(IDS)).clip(
        max=TABLE[0] - 1
    )
    values = numbers.standard_normal((IDS, TABLE[1]), dtype=np.float32)
    return numbers.permutation(TABLE[0])[ids].astype(np.int32), values


def _sparse(ids: np.ndarray, values: np.ndarray) -> dict[str, Runner]:
    """The measure is an optimizer of `gl.train`; `gl.keras` repeats the one of TensorFlow that is
    here.
    """
    import jax.numpy as jnp

    import gradlab as gl

    jax_slices = gl.IndexedSlices(jnp.asarray(values), jnp.asarray(ids), TABLE)
    numpy_slices = gl.IndexedSlices(values, ids, TABLE)
    runners = {}
    for who, make in {
        "gradlab": optimizer,
        "gradlab.keras": lambda: gl.keras.Adagrad(float(RATE)),
    }.items():
        runners[who] = step_shell(make(), gl.Variable(jnp.zeros(TABLE)), jax_slices)
        runners[f"{who}, NumPy"] = step_shell(
            make(), gl.Variable(np.zeros(TABLE, np.float32)), numpy_slices
        )
    if is_installed("tf_keras"):
        runners["TensorFlow (Keras legacy)"] = _tensorflow(ids, values)
    if is_installed("torch"):
        runners["PyTorch"] = _torch(ids, values)
    return runners


def step_shell(opt: Any, v: Any, g: Any) -> Runner:
    """Return a runner that applies the gradient and waits until all is written."""
    import jax

    opt.apply_gradients([(g, v)])
    variables = [v, *opt.variables()]

    def run() -> None:
        opt.apply_gradients([(g, v)])
        # Not `v.value`: memory that was handed out can't be used up by the next step.
        jax.block_until_ready([x._value for x in variables])

    return run


def _tensorflow(ids: np.ndarray, values: np.ndarray) -> Runner:
    import tensorflow as tf
    import tf_keras

    v, opt = tf.Variable(tf.zeros(TABLE)), tf_keras.optimizers.legacy.Adagrad(float(RATE))
    g = tf.IndexedSlices(tf.constant(values), tf.constant(ids), TABLE)
    opt.apply_gradients([(g, v)])

    @tf.function
    def step() -> Any:
        opt.apply_gradients([(g, v)])
        return opt.iterations

    return step


def _torch(ids: np.ndarray, values: np.ndarray) -> Runner:
    import torch

    w = torch.zeros(TABLE, requires_grad=True)
    opt = torch.optim.Adagrad([w], float(RATE), initial_accumulator_value=0.1)
    indices, rows = torch.tensor(ids.astype(np.int64))[None], torch.tensor(values)

    def run() -> None:
        # Not coalesced yet.
        w.grad = torch.sparse_coo_tensor(indices, rows, TABLE, check_invariants=False)
        opt.step()

    return run
