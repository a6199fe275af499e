"""Whole steps through the operations only, from the bytes of a configuration to tables retrieved,
beside NumPy.
"""

from __future__ import annotations

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab as gl
from gradlab import raw_ops, tpu
from gradlab.errors import DTypeError, FailedPreconditionError, InvalidArgumentError
from tests.differences import differs

CORES, BATCH, ROWS, WIDTH = 2, 3, 7, 2
# optimizer: the message's fields, the operation's name, the slots' first values, and the step in
# NumPy
OPTIMIZERS: dict[str, Any] = {
    "stochastic_gradient_descent": (
        {},
        "StochasticGradientDescent",
        [],
        lambda w, s, g, lr: (w - lr * g, s),
    ),
    "adagrad": (
        {},
        "Adagrad",
        [0.1],
        lambda w, s, g, lr: (w - lr * g / np.sqrt(s[0] + g * g), [s[0] + g * g]),
    ),
    "momentum": (
        {"momentum": 0.5},
        "Momentum",
        [0.0],
        lambda w, s, g, lr: (w - lr * (0.5 * s[0] + g), [0.5 * s[0] + g]),
    ),
    "adam": (
        {"beta1": 0.5, "beta2": 0.75, "epsilon": 0.125},
        "ADAM",
        [0.0, 0.0],
        lambda w, s, g, lr: (
            w - lr * (0.5 * s[0] + 0.5 * g) / (np.sqrt(0.75 * s[1] + 0.25 * g * g) + 0.125),
            [0.5 * s[0] + 0.5 * g, 0.75 * s[1] + 0.25 * g * g],
        ),
    ),
}


def configured(optimizer: str, cores: int = CORES, **changes: Any) -> bytes:
    config = tpu.TPUEmbeddingConfiguration(mode="TRAINING", num_tensor_cores=cores, **changes)
    table = config.table_descriptor.add(name="t", vocabulary_size=ROWS, dimension=WIDTH)
    message = getattr(table.optimization_parameters, optimizer)
    message.SetInParent()
    for name, value in OPTIMIZERS[optimizer][0].items():
        setattr(message, name, value)
    table.optimization_parameters.learning_rate.dynamic.tag = 0
    config.feature_descriptor.add(name="f", table_id=0, input_shape=[BATCH])
    config.feature_descriptor.add(name="s", table_id=0, input_shape=[BATCH, 2])
    return config.SerializeToString()


def enqueue(core: int, seed: int) -> list[list[tuple[int, int, float]]]:
    """Enqueue ids of a core, ragged for "f" and sparse for "s"; gives (sample, id, gain) by
    feature.
    """
    rng = np.random.default_rng([seed, core])
    splits = np.array([0, 2, 2, 4])
    ids, weights = rng.integers(0, ROWS, 4), rng.uniform(0.5, 2, 4)
    places = np.array([[0, 0, 0], [0, 1, 0], [2, 1, 0], [2, 2, 0]])  # the last is past the end
    sequence = rng.integers(0, ROWS, 4)
    raw_ops.EnqueueTPUEmbeddingArbitraryTensorBatch(
        sample_indices_or_row_splits=[splits, places],
        embedding_indices=[ids, sequence],
        aggregation_weights=[weights, []],
        mode_override="train",
        device_ordinal=core,
        combiners=["mean"],
    )
    gains = weights / np.repeat([weights[:2].sum(), weights[2:].sum()], 2)
    pooled = list(zip([0, 0, 2, 2], ids.tolist(), gains.tolist(), strict=True))
    ordered = list(zip([0, 1, 5], sequence[:3].tolist(), [1.0] * 3, strict=True))
    return [pooled, ordered]


def expected_activations(
    w: np.ndarray, looked_up: list[list[tuple[int, int, float]]]
) -> list[np.ndarray]:
    found = [np.zeros((BATCH, WIDTH)), np.zeros((BATCH * 2, WIDTH))]
    for out, entries in zip(found, looked_up, strict=True):
        for sample, row, gain in entries:
            out[sample] += gain * w[row]
    return [found[0], found[1].reshape(BATCH, 2, WIDTH)]


def loss(activations: list[Any]) -> Any:
    return sum(jnp.sum(jnp.sin(a + 0.5) * (1 + k)) for k, a in enumerate(activations))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_steps_equal_numpy(optimizer: str) -> None:
    config, (_, name, starts, step) = configured(optimizer), OPTIMIZERS[optimizer]
    raw_ops.ConfigureTPUEmbedding(config=config)
    w = np.random.default_rng(0).normal(size=(ROWS, WIDTH))
    slots = [np.full_like(w, start) for start in starts]
    load, retrieve = (
        getattr(raw_ops, f"{verb}TPUEmbedding{name}Parameters") for verb in ("Load", "Retrieve")
    )
    names = [
        n
        for n in inspect.signature(load).parameters
        if n not in "num_shards shard_id table_id table_name config name"
    ]
    load(
        **dict(zip(names, [w, *slots], strict=True)),
        num_shards=1,
        shard_id=0,
        table_id=0,
        config=config,
    )
    for t in range(3):
        lr, rows = 0.5 / (t + 1), {}
        looked_up = [enqueue(k, t) for k in range(CORES)]
        sent = []
        for k in range(CORES):
            with tpu.replica(k):
                dedup = raw_ops.XlaRecvTPUEmbeddingDeduplicationData(config=config)
                activations = raw_ops.XlaRecvTPUEmbeddingActivations(
                    deduplication_data=dedup, num_tables=2, config=config
                )
                for own, want in zip(
                    activations, expected_activations(w, looked_up[k]), strict=True
                ):
                    np.testing.assert_allclose(own, want, rtol=1e-5, atol=1e-6)
                sent.append((jax.grad(loss)(activations), dedup))
        for k, (gradients, dedup) in enumerate(sent):
            with tpu.replica(k):
                raw_ops.XlaSendTPUEmbeddingGradients(
                    gradients=gradients,
                    learning_rates=[lr],
                    deduplication_data=dedup,
                    config=config,
                )
            for g, entries in zip(gradients, looked_up[k], strict=True):
                for sample, row, gain in entries:
                    flat = np.asarray(g, np.float64).reshape(-1, WIDTH)
                    rows[row] = rows.get(row, 0) + gain * flat[sample]
        for row, g in rows.items():
            w[row], new = step(w[row], [s[row] for s in slots], g, lr)
            for s, value in zip(slots, new, strict=True):
                s[row] = value
        found = retrieve(num_shards=1, shard_id=0, table_name="t", config=config)
        for own, want in zip(found if starts else [found], [w, *slots], strict=True):
            np.testing.assert_allclose(own, want, rtol=2e-5, atol=2e-6)


def test_the_pair_without_deduplication_data_gives_the_same() -> None:
    config = configured("adagrad", cores=1)
    results = []
    for is_xla in (True, False):
        tpu.initialize_system(config)
        raw_ops.LoadTPUEmbeddingAdagradParameters(
            parameters=np.ones((ROWS, WIDTH)),
            accumulators=np.ones((ROWS, WIDTH)),
            num_shards=1,
            shard_id=0,
            table_id=0,
        )
        enqueue(0, 1)
        if is_xla:
            dedup = raw_ops.XlaRecvTPUEmbeddingDeduplicationData(config=config)
            more = {"deduplication_data": dedup}
            got = raw_ops.XlaRecvTPUEmbeddingActivations(num_tables=2, config=config, **more)
            raw_ops.XlaSendTPUEmbeddingGradients(
                gradients=got, learning_rates=[0.1], config=config, **more
            )
        else:
            got = raw_ops.RecvTPUEmbeddingActivations(num_outputs=2, config=config)
            raw_ops.SendTPUEmbeddingGradients(inputs=got, learning_rates=[0.1], config=config)
        results.append(
            raw_ops.RetrieveTPUEmbeddingAdagradParameters(num_shards=1, shard_id=0, table_id=0)
        )
    assert all((a == b).all() for a, b in zip(*results, strict=True))
    assert (results[0].parameters != 1).any()


@differs(
    "`ComputeDedupDataSize`",
    tensorflow="known from the configuration alone",
    gradlab="of the batch that is enqueued: vectors are as long as it asks",
)
def test_deduplication_data_may_be_split_and_merged_on_the_way() -> None:
    config = configured("adagrad", cores=1)
    tpu.initialize_system(config)
    enqueue(0, 1)
    dedup = raw_ops.XlaRecvTPUEmbeddingDeduplicationData(config=config)
    mask = raw_ops.ComputeDedupDataTupleMask(config=config)
    attribute = tpu.write_tuple_mask(mask)
    whole, floats = raw_ops.SplitDedupData(
        input=dedup, integer_type=np.uint32, float_type=np.float32, tuple_mask=attribute
    )
    assert raw_ops.ComputeDedupDataSize(config=config) == whole.size + floats.size
    merged = raw_ops.MergeDedupData(integer_tensor=whole, float_tensor=floats, tuple_mask=attribute)
    got = raw_ops.XlaRecvTPUEmbeddingActivations(
        deduplication_data=merged, num_tables=2, config=config
    )
    raw_ops.XlaSendTPUEmbeddingGradients(
        gradients=got, learning_rates=[0.1], deduplication_data=merged, config=config
    )


def received(config: bytes) -> tuple[Any, list[Any]]:
    enqueue(0, 1)
    dedup = raw_ops.XlaRecvTPUEmbeddingDeduplicationData(config=config)
    return dedup, raw_ops.XlaRecvTPUEmbeddingActivations(
        deduplication_data=dedup, num_tables=2, config=config
    )


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"gradients": [np.zeros((3, 2), np.float32)]}, InvalidArgumentError, "2 features, got 1"),
        (
            {"gradients": [np.zeros((3, 2)), np.zeros((3, 2, 3))]},
            InvalidArgumentError,
            r"feature 's'.*\(3, 2, 2\).*\(3, 2, 3\)",
        ),
        (
            {"gradients": [np.zeros((3, 2), int), np.zeros((3, 2, 2))]},
            DTypeError,
            "float32, got int64",
        ),
        ({"learning_rates": []}, InvalidArgumentError, "1 learning-rate tags, got 0"),
        ({"learning_rates": [[0.1]]}, InvalidArgumentError, "learning rate 0 must be a scalar"),
        ({"deduplication_data": ()}, InvalidArgumentError, "a tuple with one tuple of 4 vectors"),
        ({"deduplication_data": None}, InvalidArgumentError, "a tuple with one tuple of 4 vectors"),
        (
            {"config": configured("adam")},
            FailedPreconditionError,
            "config is not that of the running system",
        ),
    ],
)
def test_what_cannot_be_sent_changes_nothing(
    change: dict[str, Any], error: type[Exception], words: str
) -> None:
    config = configured("adagrad", cores=1)
    system = tpu.initialize_system(config)
    dedup, got = received(config)
    right = {
        "gradients": got,
        "learning_rates": [0.1],
        "deduplication_data": dedup,
        "config": config,
    }
    with pytest.raises(error, match=words):
        raw_ops.XlaSendTPUEmbeddingGradients(**{**right, **change})
    assert not system.retrieve(0)[0].any()
    raw_ops.XlaSendTPUEmbeddingGradients(**right)  # the step can still be finished


def test_deduplication_data_of_another_step_are_refused() -> None:
    config = configured("adagrad", cores=1)
    tpu.initialize_system(config)
    old, got = received(config)
    raw_ops.SendTPUEmbeddingGradients(inputs=got, learning_rates=[0.1], config=config)
    enqueue(0, 2)
    raw_ops.XlaRecvTPUEmbeddingDeduplicationData(config=config)
    with pytest.raises(
        InvalidArgumentError, match="vector 0 of the deduplication data is not the one received"
    ):
        raw_ops.XlaRecvTPUEmbeddingActivations(deduplication_data=old, num_tables=2, config=config)


def test_operations_say_that_they_are_not_for_jit() -> None:
    config = configured("adagrad", cores=1)
    tpu.initialize_system(config)
    dedup, got = received(config)

    @jax.jit
    def inside(gradients: Any) -> Any:
        raw_ops.XlaSendTPUEmbeddingGradients(
            gradients=gradients, learning_rates=[0.1], deduplication_data=dedup, config=config
        )
        return gradients

    with pytest.raises(
        TypeError, match=r"inside jax\.jit .* use gl\.tpu\.lookup and gl\.tpu\.update"
    ):
        inside(got)


def test_without_a_system_operations_say_how_to_start_one() -> None:
    with pytest.raises(
        FailedPreconditionError, match=r"call gl\.tpu\.initialize_system\(config\) first"
    ):
        gl.raw_ops.RecvTPUEmbeddingActivations(num_outputs=2, config=configured("adagrad"))
