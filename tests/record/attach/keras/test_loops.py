"""Keras 3 in the ways it trains, on its three backends: each row of the recording against gradients
by hand.

What must be recorded (T TensorFlow, J JAX, P PyTorch), where the optimizer clips the global norm:

| loop                                      | backends | row                                                          |
|-------------------------------------------|----------|--------------------------------------------------------------|
| `fit`, steps handed over in pieces        | T J P    | before the clip                                              |
| `fit`, the last batch is shorter          | T J P    | the same, and the loss of that batch alone                   |
| `fit`, built by the first batch, compiled | T J P    | the same, XLA or torch.compile                               |
| mixed_bfloat16                            | T J P    | the same                                                     |
| mixed_float16, scaler put in by `compile` | T J P    | without the scale, which is noted                            |
| mixed_float16, gradients overflow         | T J P    | marked as skipped, with the scale; several steps at once too |
| accumulated, a micro-batch overflows      | T J P    | mean of those taken; one more, skipped, for the micro-batch  |
| `loss_scale_factor`                       | T J P    | without the factor, which is noted                           |
| `train_on_batch`                          | T J P    | as with `fit`, and the loss of the batch                     |
| the same, built by its first batch        | T        | the same; J, P: refused, with what to do                     |
| MirroredStrategy, gradients overflow      | T        | summed over the replicas, which clip a part each             |
| the same, accumulated                     | T        | refused, with what to do                                     |
| DataParallel on 8 devices, with a scaler  | J        | that of the whole batch, before the clip                     |
| `steps_per_execution`                     | T J      | a row for each step; Keras has none on P                     |
| run eagerly, accumulated without a scaler | T        | test_recording.py                                            |
| as NumPy, optax and PyTorch record it     | T J P    | the same, and the same loss and histograms                   |

But for MirroredStrategy, which refuses it, all have the norms of weights and updates, too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from tests.record import hosts
from tests.record.attach.keras.loops import FACTOR, POISONED, SCALE, SHORT

pytestmark = pytest.mark.tensorflow

BACKENDS = ["tensorflow", "jax", pytest.param("torch", marks=pytest.mark.torch)]
NAMES = ("w1", "b1", "w2", "b2")
FLOAT16 = 65504.0  # the largest


@pytest.fixture(scope="module", params=BACKENDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all loops of a backend left; Keras takes its backend when it is imported, so each has
    one process.
    """
    place = tmp_path_factory.mktemp(request.param)
    environment = {**os.environ, "KERAS_BACKEND": request.param, "TF_CPP_MIN_LOG_LEVEL": "3"}
    if request.param == "tensorflow":  # each program that XLA makes of a train step is written down
        environment["XLA_FLAGS"] = (
            f"--xla_dump_to={place / 'programs'} --xla_dump_hlo_module_re=one_step"
        )
    done = subprocess.run(
        [sys.executable, "-m", "tests.record.attach.keras.loops", str(place)],
        env=environment, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[4],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return place


def gradients(
    w: dict[str, np.ndarray], x: np.ndarray, y: np.ndarray
) -> tuple[float, dict[str, np.ndarray], float]:
    """Loss, its gradients, and the largest entry of anything that comes about on the way back."""
    hidden = np.tanh(x @ w["w1"] + w["b1"])
    logits = hidden @ w["w2"] + w["b2"]
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = -np.log(p[np.arange(len(x)), y]).mean()
    p[np.arange(len(x)), y] -= 1
    p /= len(x)
    back = (p @ w["w2"].T) * (1 - hidden**2)
    found = {"w1": x.T @ back, "b1": back.sum(0), "w2": hidden.T @ p, "b2": p.sum(0)}
    return float(loss), found, max(float(np.abs(a).max()) for a in (p, back, *found.values()))


def by_hand(
    batch: int = hosts.BATCH,
    accumulate: int = 1,
    replicas: int = 1,
    scale: float = np.nan,
    limit: float = np.inf,
    poisoned: int | None = None,
) -> dict[str, np.ndarray]:
    """Columns of the rows that a run must have.

    Args:
        scale: the first loss scale. limit: above it gradients overflow. poisoned: a batch whose
            loss and gradients are NaN.
    """
    w, (x, y), rows, kept, losses = hosts.weights(), hosts.data(), [], [], []
    for k in range(-(-len(x) // batch)):
        some = slice(k * batch, (k + 1) * batch)
        parts = [
            gradients(w, *part)
            for part in zip(*(np.split(a[some], replicas) for a in (x, y)), strict=True)
        ]
        losses.append(float(np.mean([part[0] for part in parts])))
        if k == poisoned or max(part[2] for part in parts) / replicas * scale > limit:
            loss = losses.pop()
            rows.append(
                (
                    np.full(4, np.nan),
                    np.nan if k == poisoned else loss,
                    scale,
                    True,
                    np.zeros((2, 4)),
                    np.nan,
                )
            )
            scale /= 2
            continue
        kept.append([{name: g / replicas for name, g in part[1].items()} for part in parts])
        if len(kept) < accumulate:
            continue
        means = [
            {name: sum(mb[r][name] for mb in kept) / accumulate for name in NAMES}
            for r in range(replicas)
        ]
        norm = np.array([np.linalg.norm(sum(part[name] for part in means)) for name in NAMES])
        squares = np.mean([sum((g**2).sum() for g in mb[0].values()) for mb in kept])
        loss, kept, losses, own = np.mean(losses), [], [], w
        for part in means:  # each clips its own
            clipped, _ = gl.clip_by_global_norm([part[name] for name in NAMES], hosts.LIMIT)
            for name, g in zip(NAMES, clipped, strict=True):
                w = {**w, name: w[name] - np.float32(hosts.RATE) * g}
        moved = [[np.linalg.norm(own[name]), np.linalg.norm(w[name] - own[name])] for name in NAMES]
        rows.append((norm, loss, scale, False, np.transpose(moved), np.sqrt(squares)))
    columns = ("norm", "loss", "scale", "skipped", "moved", "micro_norm")
    return {name: np.array(x) for name, x in zip(columns, zip(*rows, strict=True), strict=True)}


def recorded(folder: Path, loop: str) -> gl.Recorder:
    refused = folder / f"{loop}.txt"
    assert not refused.exists(), refused.read_text()
    return gl.Recorder.load(folder / f"{loop}.npz")


def assert_rows(folder: Path, loop: str, rel: float = 1e-4, **kwargs: Any) -> None:
    got, expected = recorded(folder, loop), by_hand(**kwargs)
    assert [name.split("/")[-1] for name in got.names] == ["kernel", "bias"] * 2
    skipped = expected["skipped"]
    np.testing.assert_array_equal(got["skipped"], skipped)
    np.testing.assert_array_equal(got["scale"], expected["scale"])
    np.testing.assert_allclose(got["norm"][~skipped], expected["norm"][~skipped], rel)
    assert (got["nonfinite"].sum(1) > 0).tolist() == skipped.tolist()
    np.testing.assert_allclose(got["loss"], expected["loss"], rel)
    assert (got["seconds"] > 0).all()
    if "moved" in got.flush().columns:
        updates = got.updates()
        assert updates.step.tolist() == np.flatnonzero(~skipped).tolist()
        np.testing.assert_allclose(
            np.stack([updates.weight, updates.update], axis=1), expected["moved"][~skipped], rel
        )
    if "micro_norm" in got.scalars:
        np.testing.assert_allclose(
            got["micro_norm"][~skipped], expected["micro_norm"][~skipped], rel
        )


def assert_refused(folder: Path, loop: str, *words: str) -> None:
    assert not (folder / f"{loop}.npz").exists()
    message = (folder / f"{loop}.txt").read_text()
    assert all(word in message for word in words), message


def backend(folder: Path) -> str:
    return folder.name.rstrip("0123456789")


@pytest.mark.parametrize("loop", ["fit", "subclassed, jit_compile", "train_on_batch"])
def test_before_the_clip(folder: Path, loop: str) -> None:
    assert_rows(folder, loop)


def test_tensorflow_compiles_a_step_once_for_all_steps(folder: Path) -> None:
    """XLA compiles anew for each value of what it must know beforehand, such as the place that a
    step is written to.
    """
    if backend(folder) == "tensorflow":
        assert len([*folder.glob("programs/*.before_optimizations.txt")]) == 1


def test_it_is_what_all_hosts_record(folder: Path) -> None:
    hosts.assert_same(recorded(folder, "as on all hosts"))


def test_in_bfloat16(folder: Path) -> None:
    assert_rows(folder, "bfloat16", rel=5e-2)


def test_in_float16_without_the_scale(folder: Path) -> None:
    assert_rows(folder, "float16", rel=1e-2, scale=2.0**15)


def test_a_factor_is_taken_off(folder: Path) -> None:
    assert_rows(folder, "factor", scale=FACTOR)


def test_each_batch_has_its_own_loss(folder: Path) -> None:
    assert_rows(folder, "short last batch", batch=SHORT)


def test_steps_that_overflow_are_rows(folder: Path) -> None:
    assert_rows(folder, "float16, overflows", rel=1e-2, scale=SCALE, limit=FLOAT16)


def test_a_micro_batch_that_overflows_is_a_row_of_its_own(folder: Path) -> None:
    """Its loss is NaN, and that of no other."""
    kwargs = {"batch": hosts.BATCH // 2, "accumulate": 2, "scale": FACTOR, "poisoned": POISONED}
    assert_rows(folder, "accumulated, overflows", **kwargs)


def test_several_devices(folder: Path) -> None:
    if backend(folder) == "tensorflow":
        loop = "strategy, float16, overflows"
        assert_rows(folder, loop, rel=1e-2, replicas=2, scale=SCALE, limit=FLOAT16)
        assert_refused(
            folder, "strategy, accumulated", "gradient_accumulation_steps", "keras.distribution"
        )
    elif backend(folder) == "jax":
        assert_rows(folder, "mesh", scale=FACTOR)


def test_what_is_not_built_is_refused_where_it_cannot_wait(folder: Path) -> None:
    if backend(folder) != "tensorflow":
        assert_refused(
            folder, "train_on_batch, not built", "no variables yet", "call it on a batch"
        )
