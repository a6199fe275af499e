"""Loops of Keras 3 on the backend in $KERAS_BACKEND:
`python -m tests.record.attach.keras.loops FOLDER` records them.

FOLDER/LOOP.npz is its recording, FOLDER/LOOP.txt what it was refused with. Network and data are
those of the hosts.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import gradlab as gl
from tests.record import hosts

SCALE = 2.0**24  # float16 overflows with it
FACTOR = 1024.0
POISONED = 5  # micro-batch with an infinite input
SHORT = 3 * hosts.BATCH // 2  # of such batches the last one is shorter

if __name__ == "__main__":
    os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    import keras

    BACKEND = keras.backend.backend()


def layers(dtype: str | None) -> list[Any]:
    logits = keras.layers.Dense(3, name="out", dtype=dtype)
    return [keras.layers.Dense(5, "tanh", name="hidden", dtype=dtype), logits]


def network(optimizer: Any = None, dtype: str | None = None, **compile_: Any) -> Any:
    """The model of the hosts, built and compiled."""
    model = keras.Sequential([keras.Input((6,)), *layers(dtype)])
    model.set_weights(list(hosts.weights().values()))
    return compiled(model, optimizer, **compile_)


def compiled(model: Any, optimizer: Any = None, **compile_: Any) -> Any:
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    compile_.setdefault("jit_compile", BACKEND == "jax")
    model.compile(optimizer or sgd(), loss, **compile_)
    return model


def sgd(**kwargs: Any) -> Any:
    return keras.optimizers.SGD(hosts.RATE, global_clipnorm=hosts.LIMIT, **kwargs)


def subclassed(**compile_: Any) -> Any:
    """A model whose variables come with its first batch, the same as the others'."""
    values = hosts.weights()

    class Model(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            constant = keras.initializers.Constant
            self.hidden = keras.layers.Dense(
                5,
                "tanh",
                kernel_initializer=constant(values["w1"]),
                bias_initializer=constant(values["b1"]),
            )
            self.out = keras.layers.Dense(
                3,
                kernel_initializer=constant(values["w2"]),
                bias_initializer=constant(values["b2"]),
            )

        def call(self, x: Any) -> Any:
            return self.out(self.hidden(x))

    return compiled(Model(), **compile_)


def fit(
    model: Any, batch: int = hosts.BATCH, x: Any = None, every: int = 64, **options: Any
) -> gl.Recorder:
    rec, (inputs, labels) = gl.Recorder(sample_every=1), hosts.data()
    recording = gl.record.keras(rec, every=every, **{"weights": True, **options})
    inputs = inputs if x is None else x
    model.fit(inputs, labels, batch, shuffle=False, verbose=0, callbacks=[recording])
    return rec


def by_batch(model: Any) -> gl.Recorder:
    with gl.record.keras(gl.Recorder(), model, every=7) as recording:
        for x, y in hosts.batches():
            model.train_on_batch(x, y)
    return recording.recorder


def poisoned() -> np.ndarray:
    x = hosts.data()[0].copy()
    x[POISONED * hosts.BATCH // 2] = np.inf
    return x


def scaled(scale: float = SCALE, **kwargs: Any) -> Any:
    return keras.optimizers.LossScaleOptimizer(sgd(**kwargs), initial_scale=scale)


def on_mesh(model_of: Callable[[], Any]) -> gl.Recorder:
    """Under keras.distribution on all devices that this process has."""
    keras.distribution.set_distribution(keras.distribution.DataParallel())
    try:
        return fit(model_of())
    finally:
        keras.distribution.set_distribution(None)


def mirrored(model_of: Callable[[], Any]) -> gl.Recorder:
    """On two replicas of TensorFlow."""
    import tensorflow as tf

    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        return fit(model_of(), weights=False)


def auto_scaled() -> gl.Recorder:
    """`compile` puts a LossScaleOptimizer around the optimizer of a model in mixed_float16."""
    keras.mixed_precision.set_dtype_policy("mixed_float16")
    try:
        model = network()
        assert isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer)
        return fit(model)
    finally:
        keras.mixed_precision.set_dtype_policy("float32")


def loops() -> dict[str, Callable[[], gl.Recorder]]:
    """By name, those that this backend has."""
    several = {} if BACKEND == "torch" else {"steps_per_execution": 3}
    found = {
        "fit": lambda: fit(network(), every=7),
        "short last batch": lambda: fit(network(**several), SHORT, every=7),
        "subclassed, jit_compile": lambda: fit(subclassed(jit_compile=True)),
        "bfloat16": lambda: fit(network(dtype="mixed_bfloat16")),
        "float16": auto_scaled,
        "float16, overflows": lambda: fit(network(scaled(), "mixed_float16", **several), every=7),
        "accumulated, overflows": lambda: fit(
            network(scaled(FACTOR, gradient_accumulation_steps=2)),
            hosts.BATCH // 2,
            poisoned(),
            noise_scale=True,
        ),
        "factor": lambda: fit(network(sgd(loss_scale_factor=FACTOR))),
        "as on all hosts": hosts.of_keras,
        "train_on_batch": lambda: by_batch(subclassed() if BACKEND == "tensorflow" else network()),
    }
    if BACKEND == "tensorflow":
        return found | {
            "strategy, float16, overflows": lambda: mirrored(
                lambda: network(scaled(), "mixed_float16")
            ),
            "strategy, accumulated": lambda: mirrored(
                lambda: network(sgd(gradient_accumulation_steps=2))
            ),
        }
    if BACKEND == "jax":
        found |= {"mesh": lambda: on_mesh(lambda: network(scaled(FACTOR)))}
    return found | {"train_on_batch, not built": lambda: by_batch(subclassed())}


def main(folder: Path, *names: str) -> None:
    if BACKEND == "tensorflow":
        import tensorflow as tf

        (cpu,) = tf.config.list_physical_devices("CPU")
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * 2
        )
    if BACKEND == "torch":
        import torch

        torch.set_num_threads(1)
        # What C++ makes of it takes long.
        torch.compile = functools.partial(torch.compile, backend="eager")
    known = loops()
    for name in names or known:
        try:
            known[name]().save(folder / f"{name}.npz")
        except Exception as error:
            (folder / f"{name}.txt").write_text(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
