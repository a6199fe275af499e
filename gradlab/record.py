"""Record what the gradients of a training run looked like, and ask what a clip would have done to them."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from os import PathLike
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ._arrays import Array, as_array
from .errors import InvalidArgumentError
from .leaves import named_leaves
from .measure import BINS, measure
from .what_if import EMPTY, Summary, WhatIf, summarise, what_if

_VERSION = 1
_RESERVED = {"norm", "largest", "nonfinite", "histogram", "seen", "header"}
_COLUMNS = {"norm": np.float32, "largest": np.float32, "nonfinite": np.int32}


class Recorder:
    """Per step and tensor: norm, largest entry, non-finite count and a log2 histogram, in arrays made beforehand.

        norm[t, k] = |g_k| at step t,  histogram[t, k, b] = number of entries with floor(log2|g|) = b - 32

    Args:
        steps: how many steps there is room for; later ones are counted but not kept.

    Eager: `rec.record(grads, loss=loss)` each step, with any tree of arrays, or a list of (gradient, variable) pairs.
    Inside `jit` or `scan`: `state = rec.init(grads, loss=0.0)`, then `state = rec.update(state, grads, loss=loss)` in
    the traced step, and `rec = rec.absorb(state)` at the end; no callback leaves the device.

    Raises:
        ValueError: steps < 1; a later step has other tensors; nothing recorded yet; a scalar that is a vector.
        TypeError: a scalar that is no number.

    Not in TensorFlow.

    >>> rec = Recorder(steps=10)
    >>> for scale in (1.0, 2.0, 10.0):
    ...     rec.record({"w": np.array([3.0, 4.0]) * scale}, loss=scale)
    >>> rec.global_norm.tolist(), rec.what_if(clip_global_norm=8.0).fired.tolist()
    ([5.0, 10.0, 50.0], [False, True, True])
    >>> import jax
    >>> rec = Recorder(steps=10)
    >>> step = jax.jit(lambda state, g: rec.update(state, {"w": g}, loss=g.sum()))
    >>> state = rec.init({"w": np.ones(2)}, loss=0.0)
    >>> for scale in (1.0, 2.0):
    ...     state = step(state, np.array([3.0, 4.0]) * scale)
    >>> rec = rec.absorb(state)
    >>> rec
    <gradlab.Recorder: 2 steps of w, loss>
    """

    def __init__(self, steps: int = 1000) -> None:
        if steps < 1:
            raise ValueError(f"steps must be >= 1, got {steps}")
        self.capacity, self.seen = int(steps), 0
        self.names: tuple[str, ...] = ()
        self.sizes: tuple[int, ...] = ()
        self._data: dict[str, np.ndarray] = {}

    def record(self, grads: Any, **scalars: float) -> None:
        """Add one step. `scalars`, such as loss=..., are kept as one float32 per step."""
        tensors = dict(named_leaves(grads))
        self._prepare(tensors, scalars)
        if self.seen < self.capacity:
            for k, g in enumerate(tensors.values()):
                for column, value in measure(np.asarray(g)).items():
                    self._data[column][self.seen, k] = value
            for name, value in scalars.items():
                self._data[name][self.seen] = value
        self.seen += 1

    def init(self, grads: Any, **scalars: Any) -> dict[str, Array]:
        """The state that `update` carries through traced code; `grads` and `scalars` show the shapes only."""
        import jax.numpy as jnp

        self._prepare(dict(named_leaves(grads)), scalars)
        return {"seen": jnp.int32(self.seen), **{name: jnp.asarray(a) for name, a in self._data.items()}}

    def update(self, state: Mapping[str, Array], grads: Any, **scalars: Any) -> dict[str, Array]:
        """A new state with one step more. Pure; steps beyond the capacity are dropped."""
        import jax.numpy as jnp

        tensors = dict(named_leaves(grads))
        self._prepare(tensors, scalars)
        rows = [measure(g) for g in tensors.values()]
        columns = {c: jnp.stack([r[c] for r in rows]) for c in (*_COLUMNS, "histogram")} | scalars
        step = state["seen"]
        new = {c: state[c].at[step].set(jnp.asarray(x, state[c].dtype), mode="drop") for c, x in columns.items()}
        return {**state, **new, "seen": step + 1}

    def absorb(self, state: Mapping[str, Array]) -> Recorder:
        """A recorder with what a traced run has recorded; this one stays as it is, ready for another run."""
        recorder = copy.copy(self)
        recorder.seen = int(state["seen"])
        recorder._data = {name: np.array(a) for name, a in state.items() if name != "seen"}
        return recorder

    def _prepare(self, tensors: Mapping[str, Any], scalars: Mapping[str, Any]) -> None:
        names, sizes = tuple(tensors), tuple(int(np.prod(np.shape(g))) for g in tensors.values())
        if not names:
            raise ValueError("there is no gradient to record: every entry is None, or the tree is empty")
        if taken := sorted(_RESERVED & set(scalars)):
            raise ValueError(f"{', '.join(taken)} cannot be the name of a scalar; call it something else")
        for name, x in scalars.items():
            if shape := tuple(as_array(x, name).shape):
                raise InvalidArgumentError(f"{name} must be one number for each step, got shape {shape}; give its mean")
        if not self.names:
            self.names, self.sizes = names, sizes
            shape = (self.capacity, len(names))
            self._data = {c: np.zeros(shape, dtype) for c, dtype in _COLUMNS.items()}
            self._data["histogram"] = np.zeros((*shape, BINS), np.int32)
            self._data |= {s: np.full(self.capacity, np.nan, np.float32) for s in scalars}
        if (names, sizes) != (self.names, self.sizes) or not set(scalars) <= set(self._data):
            raise ValueError(
                f"this recorder holds tensors {self.names} of sizes {self.sizes} and scalars {self.scalars}; "
                f"this step has {names} of sizes {sizes} and {tuple(scalars)}. Give init and the first step all of them"
            )

    @property
    def scalars(self) -> tuple[str, ...]:
        return tuple(c for c in self._data if c not in (*_COLUMNS, "histogram"))

    def __repr__(self) -> str:
        lost = f", {self.seen - len(self)} later ones not kept" if self.seen > len(self) else ""
        return f"<gradlab.Recorder: {len(self)} steps of {', '.join((*self.names, *self.scalars))}{lost}>"

    def __len__(self) -> int:
        return min(self.seen, self.capacity)

    def __getitem__(self, column: str) -> np.ndarray:
        """A column over the recorded steps: "norm", "largest", "nonfinite", "histogram", or a scalar such as "loss"."""
        if not self._data:
            raise ValueError(EMPTY)
        if column not in self._data:
            raise KeyError(f"no column {column!r}; there are {', '.join(self._data)}")
        return self._data[column][: len(self)]

    @property
    def global_norm(self) -> np.ndarray:
        """(steps,) norm of each step over all tensors."""
        with np.errstate(all="ignore"):
            return np.sqrt((self["norm"].astype(np.float64) ** 2).sum(axis=1)).astype(np.float32)

    def what_if(
        self,
        *,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        clip_global_norm: float | None = None,
    ) -> WhatIf:
        """What one limit would have done to these gradients: which steps it fires on, factor, norm after, turn angle.

        Exact for `clip_norm` (each tensor by itself) and `clip_global_norm`; an estimate from the histograms, and
        marked so, for `clip_value`.

        >>> rec = Recorder(2)
        >>> for g in ([3.0, 4.0], [30.0, 40.0]):
        ...     rec.record([np.array(g)])
        >>> rec.what_if(clip_global_norm=10.0).norm_after.tolist()
        [5.0, 10.0]
        """
        limits = {"clip_norm": clip_norm, "clip_value": clip_value, "clip_global_norm": clip_global_norm}
        return what_if(self, {kind: limit for kind, limit in limits.items() if limit is not None})

    def summary(self, percentile: float = 90.0) -> Summary:
        """How often limits would have fired, by tensor, with the limit that fires on (100 - percentile) % of steps."""
        return summarise(self, percentile)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a compressed .npz, without pickle."""
        header = {"version": _VERSION, "names": self.names, "sizes": self.sizes, "seen": self.seen}
        columns = {name: self[name] for name in self._data}
        counts = columns["histogram"]
        columns["histogram"] = counts.astype(np.min_scalar_type(counts.max(initial=0)))  # small files
        np.savez_compressed(path, header=np.array(json.dumps(header)), **columns)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Recorder:
        """Read what `save` wrote; ValueError if it is something else.

        >>> import tempfile, os
        >>> rec = Recorder(3); rec.record([np.ones(4)])
        >>> with tempfile.TemporaryDirectory() as d:
        ...     rec.save(os.path.join(d, "run.npz"))
        ...     Recorder.load(os.path.join(d, "run.npz")).global_norm.tolist()
        [2.0]
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                data = {name: file[name] for name in file.files if name != "header"}
        except (ValueError, KeyError, TypeError, BadZipFile) as error:
            raise ValueError(f"{path} is not a recording; write one with Recorder.save") from error
        if header.get("version") != _VERSION:
            raise ValueError(f"{path} is a recording of version {header.get('version')}, this gradlab reads {_VERSION}")
        rec = cls(max(1, len(data["norm"])))
        data["histogram"] = data["histogram"].astype(np.int32)
        rec.names, rec.sizes, rec.seen = tuple(header["names"]), tuple(header["sizes"]), header["seen"]
        rec._data = data
        return rec
