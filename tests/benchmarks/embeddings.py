"""A train step of an embedding table, batch to update, beside plain JAX, TensorFlow, PyTorch,
FBGEMM and TorchRec.

The group `oracle` brings TensorFlow. The others are in no extra:
`pip install torch fbgemm-gpu-cpu torchrec`, and `jax-tpu-embedding` for what the host does.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tests.benchmarks.adagrad import EXPONENT
from tests.benchmarks.race import Runner, race
from tests.benchmarks.table import Row

ROWS, TALL, WIDTH, SAMPLES, LOOKUPS = 1_000_000, 10_000_000, 64, 16_384, 65_536
RATE, START, ROUNDS = 0.05, 0.1, 25
PEERS = {
    "plain JAX": "jax",
    "TensorFlow (Keras legacy)": "tf_keras",
    "PyTorch": "torch",
    "FBGEMM": "fbgemm_gpu",
    "FBGEMM, row-wise": "fbgemm_gpu",
    "TorchRec": "torchrec",
}


@dataclasses.dataclass(frozen=True)
class Problem:
    """Ids as often as words are used, spread over the table, in samples; and a gradient for each
    sample.
    """

    rows: int
    samples: np.ndarray
    ids: np.ndarray
    upstream: np.ndarray

    @property
    def words(self) -> str:
        return (
            f"train step, {self.rows // 10**6} M x {WIDTH} Adagrad, {self.ids.size:,} Zipf ids "
            f"({np.unique(self.ids).size:,} rows) in {len(self.upstream):,} samples"
        )


def problem(rows: int = ROWS, share: int = 1) -> Problem:
    numbers = np.random.default_rng(0)
    often = np.arange(1, ROWS + 1) ** -EXPONENT
    words = np.searchsorted(np.cumsum(often / often.sum()), numbers.random(LOOKUPS // share)).clip(
        max=ROWS - 1
    )
    ids = numbers.permutation(rows)[words].astype(np.int32)
    samples = np.sort(numbers.integers(0, SAMPLES // share, ids.size)).astype(np.int32)
    return Problem(
        rows, samples, ids, numbers.standard_normal((SAMPLES // share, WIDTH), dtype=np.float32)
    )


def rows() -> Iterator[Row]:
    """A race with the peers; the same step with fewer ids and with more rows; and a GPU where there
    is one.
    """
    whole = problem()
    everybody = _all(whole)
    yield from race(whole.words, everybody, ROUNDS)
    yield from race(
        f"processor time of this {whole.words}", everybody, ROUNDS, clock=time.process_time
    )
    del everybody
    yield from host_rows(whole)
    for who, module in PEERS.items():
        if not _is_installed(module):
            yield Row(whole.words, who, note="not installed")
    quarter = problem(share=4)
    runners = {
        "gradlab": _ours(whole),
        "a quarter of the ids": _ours(quarter),
        "ten times the rows": _ours(problem(TALL)),
    }
    yield from race("train step, as ids and rows grow", runners, ROUNDS)
    yield from race(
        "five steps of a table and a tower of 64-256-64, batches included", _ahead(whole), 10
    )
    yield Row("train step, memory beside table and slots", "gradlab", note=_memory(whole))
    yield from _on_gpu(whole)


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _all(p: Problem) -> dict[str, Runner]:
    runners = {
        "gradlab": _ours(p),
        "gradlab, train_step": _in_one_call(p),
        "gradlab, row-wise": _ours(p, True),
    }
    row_wise = partial(_fbgemm, optimizer="EXACT_ROWWISE_ADAGRAD")
    makers = dict(
        zip(PEERS, (_plain, _tensorflow, _torch, _fbgemm, row_wise, _torchrec), strict=True)
    )
    return runners | {who: makers[who](p) for who, module in PEERS.items() if _is_installed(module)}


def _start(p: Problem, row_wise: bool = False) -> tuple[Any, Any]:
    """The plan and the state; Adagrad keeps a number for each entry, or for each row."""
    import jax.numpy as jnp

    import gradlab as gl

    rule = (gl.rules.RowWiseAdagrad if row_wise else gl.rules.Adagrad)(START)
    table = gl.tpu.Table("t", p.rows, WIDTH, rule, RATE)
    plan = gl.tpu.Plan((table,), (gl.tpu.Feature("f", 0, (len(p.upstream),)),))
    return plan, gl.tpu.create(plan, [jnp.zeros((p.rows, WIDTH))])


def _loss(activations: Any, upstream: Any) -> Any:
    """Its gradient needs the activations, as that of a model does; else XLA copies the table: see
    `train_step`.
    """
    return ((activations[0] - upstream) ** 2).sum()


def _in_one_call(p: Problem) -> Runner:
    """Loss and gradient are in it, too."""
    import jax

    import gradlab as gl

    plan, state = _start(p)
    step, kept = jax.jit(gl.tpu.train_step, static_argnames="loss", donate_argnums=0), [state]
    upstream = jax.device_put(p.upstream)

    def run() -> None:
        batch = gl.tpu.make_batch(plan, {"f": gl.tpu.Ids(p.samples, p.ids)})
        _, kept[0] = jax.block_until_ready(step(kept[0], batch, [], _loss, upstream))

    return run


def _ahead(p: Problem) -> dict[str, Runner]:
    """Batches made in turn, and made in a thread while the tower computes."""
    import jax
    import jax.numpy as jnp
    import optax

    import gradlab as gl

    def loss(activations: Any, params: Any, upstream: Any) -> Any:
        x = activations[0]
        for w in params:
            x = jnp.tanh(x @ w)
        return ((x - upstream) ** 2).sum()

    numbers, sizes = np.random.default_rng(0), (WIDTH, 256, WIDTH)
    tower = [
        numbers.normal(0, n**-0.5, (n, m)).astype(np.float32) for n, m in itertools.pairwise(sizes)
    ]
    training, upstream = gl.tpu.Training(loss, optax.sgd(1e-6)), jax.device_put(p.upstream)

    def runner(batches: Callable[[Any, Any], Any]) -> Runner:
        plan, tables = _start(p)
        kept = [training.init(tables, tower)]

        def run() -> None:
            made = batches(
                lambda _: gl.tpu.make_batch(plan, {"f": gl.tpu.Ids(p.samples, p.ids)}), range(5)
            )
            for batch in made:
                _, kept[0] = training.step(kept[0], batch, upstream)
            jax.block_until_ready(kept[0])

        return run

    return {"gradlab": runner(gl.tpu.prefetch), "gradlab, batches made in turn": runner(map)}


def _ours(p: Problem, row_wise: bool = False) -> Runner:
    """All of it is timed, what the host does with the ids, too; the model lies between, and
    gradients are there.
    """
    import jax

    import gradlab as gl

    plan, state = _start(p, row_wise)
    look, update, kept = jax.jit(gl.tpu.lookup), jax.jit(gl.tpu.update, donate_argnums=0), [state]
    upstream = jax.device_put(p.upstream)

    def run() -> None:
        batch = gl.tpu.make_batch(plan, {"f": gl.tpu.Ids(p.samples, p.ids)})
        _, dedup = jax.block_until_ready(look(kept[0], batch))
        kept[0] = jax.block_until_ready(update(kept[0], [upstream], [], dedup))

    return run


def _plain(p: Problem) -> Runner:
    """Gradients of distinct rows as sums over segments, and rows moved by index; all of it in one
    compiled function.
    """
    import jax
    import jax.numpy as jnp

    counts = np.bincount(p.samples, minlength=len(p.upstream))
    shares = jax.device_put((1 / np.maximum(counts, 1)).astype(np.float32)[p.samples])

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(w: Any, slots: Any, samples: Any, ids: Any, upstream: Any) -> Any:
        pooled = jax.ops.segment_sum(
            w[ids] * shares[:, None], samples, len(p.upstream), indices_are_sorted=True
        )
        unique, inverse = jnp.unique(ids, return_inverse=True, size=ids.size, fill_value=p.rows)
        g = jax.ops.segment_sum(upstream[samples] * shares[:, None], inverse, ids.size)
        s = slots.at[unique].get(mode="clip") + g * g
        new = w.at[unique].get(mode="clip") - RATE * g / jnp.sqrt(s)
        return w.at[unique].set(new, mode="drop"), slots.at[unique].set(s, mode="drop"), pooled

    kept = [jnp.zeros((p.rows, WIDTH)), jnp.full((p.rows, WIDTH), START)]
    upstream = jax.device_put(p.upstream)

    def run() -> None:
        kept[:] = jax.block_until_ready(step(*kept, p.samples, p.ids, upstream))[:2]

    return run


def _tensorflow(p: Problem) -> Runner:
    import tensorflow as tf
    import tf_keras

    v, opt = tf.Variable(tf.zeros((p.rows, WIDTH))), tf_keras.optimizers.legacy.Adagrad(RATE, START)
    place = np.arange(p.samples.size) - np.searchsorted(p.samples, p.samples)
    indices, ids, upstream = (
        tf.constant(np.stack([p.samples, place], 1), tf.int64),
        tf.constant(p.ids),
        p.upstream,
    )
    # Makes its slots.
    opt.apply_gradients([(tf.IndexedSlices(tf.zeros((1, WIDTH)), [0], v.shape), v)])

    @tf.function
    def step(indices: Any, ids: Any, upstream: Any) -> Any:
        with tf.GradientTape() as tape:
            sparse = tf.SparseTensor(indices, ids, (SAMPLES, 1 << 20))
            out = tf.nn.embedding_lookup_sparse(v, sparse, None, combiner="mean")
        g = tape.gradient(out, v, output_gradients=upstream[: tf.shape(out)[0]])
        opt.apply_gradients([(g, v)])
        return out

    return lambda: step(indices, ids, upstream).numpy()


def _torch(p: Problem) -> Runner:
    import torch

    bags = torch.nn.EmbeddingBag(p.rows, WIDTH, mode="mean", sparse=True)
    opt = torch.optim.Adagrad(bags.parameters(), RATE, initial_accumulator_value=START)
    ids, offsets, upstream = _bags(p)

    def run() -> None:
        opt.zero_grad()
        bags(ids, offsets[:-1]).backward(upstream)
        opt.step()

    return run


def _fbgemm(p: Problem, optimizer: str = "EXACT_ADAGRAD") -> Runner:
    """Its accumulator starts at 0, which costs the same."""
    from fbgemm_gpu.split_embedding_configs import EmbOptimType
    from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation, PoolingMode
    from fbgemm_gpu.split_table_batched_embeddings_ops_training import (
        ComputeDevice,
        SplitTableBatchedEmbeddingBagsCodegen,
    )

    bags = SplitTableBatchedEmbeddingBagsCodegen(
        [(p.rows, WIDTH, EmbeddingLocation.HOST, ComputeDevice.CPU)],
        optimizer=EmbOptimType[optimizer],
        learning_rate=RATE,
        pooling_mode=PoolingMode.MEAN,
    )
    ids, offsets, upstream = _bags(p)
    return lambda: bags(ids, offsets).backward(upstream)


def _torchrec(p: Problem) -> Runner:
    """Its collection with the optimizer in the backward pass, which FBGEMM makes."""
    import torch
    from torchrec import EmbeddingBagConfig, KeyedJaggedTensor, PoolingType
    from torchrec.modules.fused_embedding_modules import FusedEmbeddingBagCollection

    config = EmbeddingBagConfig(
        name="t",
        embedding_dim=WIDTH,
        num_embeddings=p.rows,
        feature_names=["f"],
        pooling=PoolingType.MEAN,
    )
    bags = FusedEmbeddingBagCollection(
        [config], torch.optim.Adagrad, {"lr": RATE}, device=torch.device("cpu")
    )
    ids, offsets, upstream = _bags(p)
    features = KeyedJaggedTensor(["f"], ids, offsets=offsets)
    return lambda: bags(features)["f"].backward(upstream)


def host_rows(p: Problem) -> Iterator[Row]:
    """What the host does with the ids before a step, in processor time."""
    import gradlab as gl

    plan, _ = _start(dataclasses.replace(p, rows=ROWS))
    ids, core = {"f": gl.tpu.Ids(p.samples, p.ids)}, gl.tpu.sparsecore
    what = f"ids of a batch: {p.ids.size:,}, made ready by the host, processor time"
    yield from race(
        what, {"gradlab": lambda: gl.tpu.make_batch(plan, ids)}, ROUNDS, clock=time.process_time
    )
    runners: dict[str, Runner] = {"gradlab": lambda: core.preprocess(plan, ids)}
    if _is_installed("jax_tpu_embedding"):
        runners["jax-tpu-embedding"] = _preprocessing(p)
    yield from race(f"{what}, for four SparseCores", runners, ROUNDS, clock=time.process_time)


def _preprocessing(p: Problem) -> Runner:
    """The library's own, compiled; from its lists of ids."""
    import jax
    from jax_tpu_embedding.sparsecore.lib.nn import embedding, embedding_spec

    most = p.ids.size
    table = embedding_spec.TableSpec(
        name="t",
        vocabulary_size=p.rows,
        embedding_dim=WIDTH,
        initializer=jax.nn.initializers.zeros,
        optimizer=embedding_spec.AdagradOptimizerSpec(RATE, START),
        combiner="mean",
        max_ids_per_partition=most,
        max_unique_ids_per_partition=most,
        suggested_coo_buffer_size_per_device=2 * most,
    )
    shape = (len(p.upstream), 1)
    feature = embedding_spec.FeatureSpec(
        name="f", table_spec=table, input_shape=shape, output_shape=(shape[0], WIDTH)
    )
    embedding.prepare_feature_specs_for_training({"f": feature}, 1, num_sc_per_device=4)
    lists = np.empty(shape[0], object)
    lists[:] = np.split(p.ids, np.searchsorted(p.samples, np.arange(1, shape[0])))
    weights = np.empty(shape[0], object)
    weights[:] = [np.ones(x.size, np.float32) for x in lists]
    return lambda: embedding.preprocess_sparse_dense_matmul_input(
        {"f": lists}, {"f": weights}, {"f": feature}, 1, 1, num_sc_per_device=4
    )


def _bags(p: Problem) -> tuple[Any, Any, Any]:
    """Ids, where each sample begins, and the gradient."""
    import torch

    offsets = np.searchsorted(p.samples, np.arange(len(p.upstream) + 1))
    return torch.tensor(p.ids.astype(np.int64)), torch.tensor(offsets), torch.tensor(p.upstream)


def _memory(p: Problem) -> str:
    """What the compiled step needs besides what it is given."""
    import jax

    import gradlab as gl

    plan, state = _start(p)
    batch = gl.tpu.make_batch(plan, {"f": gl.tpu.Ids(p.samples, p.ids)})
    step = jax.jit(gl.tpu.train_step, static_argnames="loss", donate_argnums=0)
    need = step.lower(state, batch, [], _loss, p.upstream).compile().memory_analysis()
    return (
        f"{need.temp_size_in_bytes / 2**20:.1f} MiB, {p.rows * WIDTH * 8 / 2**20:.0f} MiB given "
        "back in place"
    )


def _on_gpu(p: Problem) -> Iterator[Row]:
    """The update alone, by the bytes of rows and slots that it reads and writes, against a copy on
    the same device.
    """
    import jax
    import jax.numpy as jnp

    import gradlab as gl

    what = "update alone on a GPU, against a copy of as many bytes"
    if jax.default_backend() != "gpu":
        yield Row(
            what,
            "gradlab",
            note="no GPU; where there is one: python -m tests.benchmarks embeddings",
        )
        return
    plan, state = _start(p)
    (_, dedup), kept = (
        gl.tpu.lookup(state, gl.tpu.make_batch(plan, {"f": gl.tpu.Ids(p.samples, p.ids)})),
        [state],
    )
    update, upstream = jax.jit(gl.tpu.update, donate_argnums=0), jax.device_put(p.upstream)
    # Rows of table and slot, and of gradients, read once.
    touched = np.unique(p.ids).size * 2 + p.ids.size // 2
    block, copy = jnp.ones((touched, WIDTH)), jax.jit(lambda x: x + 1)

    def run() -> None:
        kept[0] = jax.block_until_ready(update(kept[0], [upstream], [], dedup))

    yield from race(
        what, {"gradlab": run, "copy": lambda: jax.block_until_ready(copy(block))}, ROUNDS
    )
