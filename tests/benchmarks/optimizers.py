"""Adam, Momentum and RMSProp: dense beside optax and the plain formula, rows of a table beside
PyTorch's SparseAdam, and many small variables beside PyTorch and Keras.

The group `oracle` brings Keras. PyTorch is large and in no extra: `pip install torch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tests.benchmarks.adagrad import (
    IDS,
    NUMBERS,
    ROUNDS,
    SPARSE_ROUNDS,
    TABLE,
    is_installed,
    missing,
    repeat_step,
    slices,
    step_shell,
)
from tests.benchmarks.race import Runner, race
from tests.benchmarks.table import Row

RATE, BETA1, BETA2, EPSILON, DECAY = 0.001, 0.9, 0.999, 1e-8, 0.9
SMALL_VARIABLES, SMALL_SIZE, SMALL_ROUNDS = 100, 100, 100


def rows() -> Iterator[Row]:
    """Two races for each of the dense optimizers, one for rows, one for small variables."""
    for name in ("Adam", "Momentum"):
        what = f"{name}, {NUMBERS // 10**6} M float32"
        yield from race(f"{what}, jit", _dense_jit(name), ROUNDS)
        yield from missing(f"{what}, jit", {"optax": "optax"})
        yield from race(f"{what}, NumPy", _dense_numpy(name), ROUNDS)
    ids, values = slices()
    what = f"lazy Adam and RMSProp, {IDS:,} Zipf ids in a table of 1 M x {TABLE[1]}"
    yield from race(what, _rows_of_a_table(ids, values), SPARSE_ROUNDS)
    yield from missing(what, {"PyTorch, SparseAdam": "torch"})
    what = f"Adam, {SMALL_VARIABLES} variables of {SMALL_SIZE} float32"
    yield from race(what, _small_variables(), SMALL_ROUNDS)
    yield from missing(what, {"PyTorch": "torch", "Keras legacy": "tf_keras", "Keras 3": "keras"})


def _optimizer(name: str) -> Any:
    import gradlab as gl

    if name == "Adam":
        return gl.train.AdamOptimizer(RATE, BETA1, BETA2, EPSILON)
    return gl.train.MomentumOptimizer(RATE, DECAY)


def _dense_jit(name: str) -> dict[str, Runner]:
    """The shell steps a Variable; the pure form and optax are jitted, with donated arguments.

    The gradient is an argument, or XLA would compute with it while it compiles.
    """
    import jax
    import jax.numpy as jnp

    import gradlab as gl

    g = jnp.asarray(np.random.default_rng(0).standard_normal(NUMBERS, dtype=np.float32))
    shell, pure = _optimizer(name), _optimizer(name)

    def pure_step(state: Any, g: Any) -> Any:
        return pure.step(*state, g)

    w = jnp.zeros(NUMBERS)
    pure_jit = jax.jit(pure_step, donate_argnums=0)
    runners = {
        "gradlab": step_shell(shell, gl.Variable(jnp.zeros(NUMBERS)), g),
        "gradlab, pure form": repeat_step(lambda state: pure_jit(state, g), (w, pure.init(w))),
    }
    if is_installed("optax"):
        import optax

        peer = optax.adam(RATE, BETA1, BETA2, EPSILON) if name == "Adam" else optax.sgd(RATE, DECAY)

        def optax_step(state: Any, g: Any) -> Any:
            updates, new = peer.update(g, state[1], state[0])
            return optax.apply_updates(state[0], updates), new

        w = jnp.zeros(NUMBERS)
        optax_jit = jax.jit(optax_step, donate_argnums=0)
        runners["optax"] = repeat_step(lambda state: optax_jit(state, g), (w, peer.init(w)))
    return runners


def _dense_numpy(name: str) -> dict[str, Runner]:
    import gradlab as gl

    g = np.random.default_rng(0).standard_normal(NUMBERS, dtype=np.float32)
    v = gl.Variable(np.zeros(NUMBERS, np.float32))
    opt = _optimizer(name)
    plain = _PlainAdam(g) if name == "Adam" else _PlainMomentum(g)
    return {"gradlab": lambda: opt.apply_gradients([(g, v)]), "plain formula": plain.step}


class _PlainAdam:
    """Adam as its paper's page is typed off."""

    def __init__(self, g: np.ndarray) -> None:
        self.g = g
        self.w, self.m, self.v = (np.zeros_like(g) for _ in range(3))
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        self.m = BETA1 * self.m + (1 - BETA1) * self.g
        self.v = BETA2 * self.v + (1 - BETA2) * self.g**2
        m_hat = self.m / (1 - BETA1**self.steps)
        v_hat = self.v / (1 - BETA2**self.steps)
        self.w = self.w - RATE * m_hat / (np.sqrt(v_hat) + EPSILON)


class _PlainMomentum:
    def __init__(self, g: np.ndarray) -> None:
        self.g = g
        self.w, self.m = (np.zeros_like(g) for _ in range(2))

    def step(self) -> None:
        self.m = DECAY * self.m + self.g
        self.w = self.w - RATE * self.m


def _rows_of_a_table(ids: np.ndarray, values: np.ndarray) -> dict[str, Runner]:
    import jax.numpy as jnp

    import gradlab as gl

    jax_slices = gl.IndexedSlices(jnp.asarray(values), jnp.asarray(ids), TABLE)
    numpy_slices = gl.IndexedSlices(values, ids, TABLE)
    makers = {
        "gradlab": partial(gl.train.RuleOptimizer, gl.rules.Adam(), RATE, False, "Adam"),
        "gradlab, RMSProp": partial(gl.train.RMSPropOptimizer, RATE, DECAY),
    }
    runners = {}
    for who, make in makers.items():
        runners[who] = step_shell(make(), gl.Variable(jnp.zeros(TABLE)), jax_slices)
        table = gl.Variable(np.zeros(TABLE, np.float32))
        runners[f"{who}, NumPy"] = step_shell(make(), table, numpy_slices)
    if is_installed("torch"):
        runners["PyTorch, SparseAdam"] = _torch_rows(ids, values)
    return runners


def _torch_rows(ids: np.ndarray, values: np.ndarray) -> Runner:
    import torch

    w = torch.zeros(TABLE, requires_grad=True)
    opt = torch.optim.SparseAdam([w], RATE)
    indices = torch.tensor(ids.astype(np.int64))[None]
    rows_of_ids = torch.tensor(values)

    def run() -> None:
        # A backward pass leaves slices, which the optimizer sums.
        w.grad = torch.sparse_coo_tensor(indices, rows_of_ids, TABLE, check_invariants=False)
        opt.step()

    return run


def _small_variables() -> dict[str, Runner]:
    """What a step costs where there is nothing to compute."""
    import jax.numpy as jnp

    import gradlab as gl

    numbers = np.random.default_rng(0)
    grads = [numbers.standard_normal(SMALL_SIZE, dtype=np.float32) for _ in range(SMALL_VARIABLES)]
    makers: dict[str, Callable[[], Any]] = {
        "gradlab": lambda: gl.train.AdamOptimizer(RATE),
        "gradlab.keras": lambda: gl.keras.Adam(RATE),
    }
    runners: dict[str, Runner] = {}
    for who, make in makers.items():
        for library, convert in {"": np.asarray, ", JAX": jnp.asarray}.items():
            pairs = [(convert(g), gl.Variable(convert(np.zeros_like(g)))) for g in grads]
            runners[f"{who}{library}"] = _apply(make(), pairs)
    if is_installed("torch"):
        runners["PyTorch"] = _torch_small(grads)
    if is_installed("tf_keras"):
        import tf_keras

        runners["Keras legacy"] = _keras_small(tf_keras.optimizers.legacy.Adam(RATE), grads)
        runners["Keras rewrite"] = _keras_small(
            tf_keras.optimizers.Adam(RATE, jit_compile=False), grads
        )
    if is_installed("keras"):
        import keras

        runners["Keras 3"] = _keras_small(keras.optimizers.Adam(RATE), grads)
    return runners


def _apply(opt: Any, pairs: list[Any]) -> Runner:
    import jax

    def run() -> None:
        opt.apply_gradients(pairs)
        jax.block_until_ready([v._value for _, v in pairs])

    return run


def _keras_small(opt: Any, grads: list[np.ndarray]) -> Runner:
    """Eager, as gradlab's shells are."""
    import tensorflow as tf

    pairs = [(tf.constant(g), tf.Variable(tf.zeros(g.shape))) for g in grads]
    return lambda: opt.apply_gradients(pairs)


def _torch_small(grads: list[np.ndarray]) -> Runner:
    import torch

    parameters = []
    for g in grads:
        w = torch.zeros(g.shape, requires_grad=True)
        w.grad = torch.tensor(g)
        parameters.append(w)
    return torch.optim.Adam(parameters, RATE).step
