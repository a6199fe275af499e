"""Runs of every optimizer that can be stopped: what they train, how, and what is left of them, to
the last bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import gradlab as gl
from gradlab.train.variable import enter_collection

LARGE = (2048, 40)  # so large that values are stepped in place, and JAX buffers donated
EXPONENTIAL = gl.schedules.ExponentialDecay(0.1, 2, 0.5)
# From the global step and a rate that is a variable.
Make = Callable[[gl.Variable, gl.Variable], Any]

TRAIN: dict[str, Make] = {
    "sgd": lambda step, rate: gl.train.GradientDescentOptimizer(0.1),
    "sgd, scheduled": lambda step, rate: gl.train.GradientDescentOptimizer(
        lambda: EXPONENTIAL(step.value)
    ),
    "sgd, variable rate": lambda step, rate: gl.train.GradientDescentOptimizer(rate),
    "momentum": lambda step, rate: gl.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda step, rate: gl.train.MomentumOptimizer(rate, 0.9, use_nesterov=True),
    "adagrad": lambda step, rate: gl.train.AdagradOptimizer(0.1),
    "adagrad da": lambda step, rate: gl.train.AdagradDAOptimizer(
        0.1, step, l1_regularization_strength=0.01
    ),
    "adadelta": lambda step, rate: gl.train.AdadeltaOptimizer(1.0),
    "adam": lambda step, rate: gl.train.AdamOptimizer(0.01),
    "adam, scheduled": lambda step, rate: gl.train.AdamOptimizer(
        lambda: EXPONENTIAL(step.value), use_own_namescope_for_non_slot_vars=True
    ),
    "ftrl": lambda step, rate: gl.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.01, beta=0.1
    ),
    "rms_prop": lambda step, rate: gl.train.RMSPropOptimizer(0.01, momentum=0.5),
    "rms_prop, centered": lambda step, rate: gl.train.RMSPropOptimizer(
        0.01, momentum=rate, centered=True
    ),
    "proximal adagrad": lambda step, rate: gl.train.ProximalAdagradOptimizer(
        0.1, l1_regularization_strength=0.01
    ),
    "proximal sgd": lambda step, rate: gl.train.ProximalGradientDescentOptimizer(
        0.1, l2_regularization_strength=0.1
    ),
}
CONTRIB: dict[str, Make] = {
    "ada max": lambda step, rate: gl.contrib.opt.AdaMaxOptimizer(rate),
    "nadam": lambda step, rate: gl.contrib.opt.NadamOptimizer(0.1),
    "lazy adam": lambda step, rate: gl.contrib.opt.LazyAdamOptimizer(0.1),
    "adam gs": lambda step, rate: gl.contrib.opt.AdamGSOptimizer(step, 0.1),
    "lazy adam gs": lambda step, rate: gl.contrib.opt.LazyAdamGSOptimizer(step, rate),
    "add sign": lambda step, rate: gl.contrib.opt.AddSignOptimizer(
        0.1, sign_decay_fn=gl.contrib.opt.get_linear_decay_fn(20)
    ),
    "power sign": lambda step, rate: gl.contrib.opt.PowerSignOptimizer(rate),
    "reg adagrad": lambda step, rate: gl.contrib.opt.RegAdagradOptimizer(0.1),
    "adam w": lambda step, rate: gl.contrib.opt.AdamWOptimizer(0.01, rate),
    "momentum w": lambda step, rate: gl.contrib.opt.MomentumWOptimizer(rate, 0.1, 0.9),
    "lars": lambda step, rate: gl.contrib.opt.LARSOptimizer(rate),
    "shampoo": lambda step, rate: gl.contrib.opt.ShampooOptimizer(
        step, 3, gbar_decay=0.5, learning_rate=rate, svd_interval=2
    ),
    "delay compensation": lambda step, rate: (
        gl.contrib.opt.DelayCompensatedGradientDescentOptimizer(rate, 0.5, num_workers=2)
    ),
    "moving average": lambda step, rate: gl.contrib.opt.MovingAverageOptimizer(
        gl.train.AdamOptimizer(rate), 0.5, num_updates=step
    ),
    "multitask": lambda step, rate: gl.contrib.opt.MultitaskOptimizerWrapper(
        gl.train.AdamOptimizer(rate)
    ),
}
TRAIN |= {f"contrib {name}": make for name, make in CONTRIB.items()}
KERAS: dict[str, Callable[..., Any]] = {
    "adagrad": lambda **kw: gl.keras.Adagrad(0.1, **kw),
    "adagrad, scheduled": lambda **kw: gl.keras.Adagrad(EXPONENTIAL, **kw),
    "adagrad, clipped": lambda **kw: gl.keras.Adagrad(0.1, clipnorm=0.5, **kw),
    "adam, amsgrad": lambda **kw: gl.keras.Adam(0.1, amsgrad=True, **kw),
    "rms_prop, centered": lambda **kw: gl.keras.RMSprop(0.1, momentum=0.5, centered=True, **kw),
    "adadelta": lambda **kw: gl.keras.Adadelta(1.0, **kw),
    "adamax": lambda **kw: gl.keras.Adamax(0.1, **kw),
    "ftrl": lambda **kw: gl.keras.Ftrl(0.1, l1_regularization_strength=0.01, **kw),
    "nadam": lambda **kw: gl.keras.Nadam(0.1, **kw),
    "sgd": lambda **kw: gl.keras.SGD(0.1, **kw),
    "sgd, momentum": lambda **kw: gl.keras.SGD(0.1, momentum=0.9, **kw),
    "sgd, nesterov, scheduled": lambda **kw: gl.keras.SGD(
        EXPONENTIAL, momentum=0.9, nesterov=True, **kw
    ),
}
NEWER_KERAS: dict[str, Callable[..., Any]] = {
    "adam_w": lambda **kw: gl.keras.AdamW(0.1, **kw),
    "lion": lambda **kw: gl.keras.Lion(0.1, **kw),
}
KERAS3: dict[str, Callable[..., Any]] = {
    "lamb": lambda **kw: gl.keras.Lamb(0.1, **kw),
    "schedule free": lambda **kw: gl.keras.ScheduleFreeAdamW(0.1, **kw),
}
for _makers, _versions in (
    (KERAS, ["tf2.3", "legacy", "rewrite", "keras3"]),
    (NEWER_KERAS, ["rewrite", "keras3"]),
    (KERAS3, ["keras3"]),
):
    for _name, _version in itertools.product(_makers, _versions):
        _make = _makers[_name]
        TRAIN[f"keras {_name}, {_version}"] = lambda step, rate, make=_make, version=_version: make(
            semantics=version
        )
for _version in ("tf2.3", "legacy"):
    TRAIN[f"keras adagrad, decay, {_version}"] = lambda step, rate, version=_version: (
        gl.keras.Adagrad(0.1, decay=0.3, semantics=version)
    )
for _name in ("adam", "adagrad da", "momentum"):
    TRAIN[f"drop stale {_name}"] = lambda step, rate, make=TRAIN[_name]: (
        gl.train.DropStaleGradientOptimizer(make(step, rate), staleness=1)
    )
TRAIN["drop stale twice"] = lambda step, rate: gl.train.DropStaleGradientOptimizer(
    TRAIN["drop stale adam"](step, rate), staleness=2
)
TRAIN["sync replicas"] = lambda step, rate: gl.train.SyncReplicasOptimizer(
    gl.train.AdamOptimizer(0.1), 2
)


class Run:
    """Two weights, a global step, a rate, an optimizer; gradients that depend on the number of the
    step only.
    """

    def __init__(self, name: str, module: Any = np, shape: tuple[int, ...] = (6, 3)) -> None:
        rng, self.module, self.shape = np.random.default_rng(0), module, shape
        with gl.variable_collection() as self.collection:
            self.weights = [
                gl.Variable(module.asarray(rng.normal(size=s).astype(np.float32)), name=n)
                for n, s in (("table", shape), ("bias", (shape[1],)))
            ]
            self.step = gl.get_or_create_global_step()
            self.rate = gl.Variable(np.float32(0.1), trainable=False, name="rate")
            self.opt, self.sync = TRAIN[name](self.step, self.rate), name == "sync replicas"
        self.is_keras = name.startswith("keras")

    @property
    def things(self) -> dict[str, Any]:
        return {"weights": self.weights, "opt": self.opt, "step": self.step, "rate": self.rate}

    def train(self, first: int, last: int) -> None:
        """Steps number `first` to `last` - 1: dense gradients and slices by turns, a rate that
        falls.
        """
        for k in range(first, last):
            self.rate.assign(0.1 / (1 + k))
            if k == 1 and self.is_keras and isinstance(self.opt.learning_rate, gl.Variable):
                self.opt.learning_rate = 0.07  # never told again
            with enter_collection(self.collection):
                self._apply(list(zip(self._gradients(k), self.weights, strict=True)), k)

    def _gradients(self, k: int) -> list[Any]:
        rng, (rows, columns) = np.random.default_rng(100 + k), self.shape
        dense = [rng.normal(size=s).astype(np.float32) for s in (self.shape, (columns,))]
        if k % 2:
            values, indices = (
                rng.normal(size=(4, columns)).astype(np.float32),
                rng.integers(0, rows, 4),
            )
            return [
                gl.IndexedSlices(self.module.asarray(values), indices, self.shape),
                self.module.asarray(dense[1]),
            ]
        return [self.module.asarray(g) for g in dense]

    def _apply(self, pairs: Any, k: int) -> None:
        if self.is_keras:
            self.opt.apply_gradients(pairs)
            self.step.assign_add(1)
        elif self.sync:
            kinds = [(g.to_dense() if isinstance(g, gl.IndexedSlices) else g, v) for g, v in pairs]
            self.opt.build(kinds, self.step)
            for worker in "ab":
                self.opt.push(kinds, worker)
                self.opt.try_token(worker)
            self.opt.try_sync()
            for worker in "ab":
                self.opt.try_token(worker)
        elif isinstance(self.opt, gl.train.DropStaleGradientOptimizer):
            workers = "ab" if k % 2 else "abc"  # of three the last comes too late
            for worker in workers:
                self.opt.compute_gradients(
                    lambda: self.weights[1].value.sum(), self.weights, worker=worker
                )
            for worker in workers:
                self.opt.apply_gradients(pairs, self.step, worker=worker)
        else:
            self.opt.apply_gradients(pairs, self.step)

    def load(self, path: Any) -> dict[str, Any]:
        with enter_collection(self.collection):
            return gl.load(path, **self.things)

    def bits(self) -> list[tuple[str, str, bytes]]:
        """Every variable there is: its name, dtype and bytes."""
        everything = [*self.weights, self.step, self.rate, *self.opt.variables()]
        if self.is_keras and isinstance(self.opt.learning_rate, gl.Variable):
            everything.append(self.opt.learning_rate)
        return [(v.name, v.dtype.name, v.numpy().tobytes()) for v in everything]
