"""Eager, traced and in batches: the same columns, whatever the gradients hold and however long the
run is.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradlab as gl
from gradlab.record.sketch import FIRST, ZEROS

SHAPES = {"a": (3, 2), "b": (), "c": (5,)}
EXACT = ("largest", "nonfinite", "histogram", "entry", "peak", "step", "bucket_steps")
CLOSE = ("norm", "norm_low", "global_norm", "global_norm_low", "square", "loss")
CAPACITIES = [1, 2, 3, 4, 7, 100]
# Buckets, and steps between two histograms.
PAIRS = [(capacity, 1 + k % 3) for k, capacity in enumerate(CAPACITIES)]
LONGEST = 30
ODD = [0.0, np.nan, np.inf, -np.inf, 1e-30, 1e30, 3e38, -7.0]


def column(rec: gl.Recorder, name: str) -> np.ndarray:
    return getattr(rec, name) if name in ("step", "bucket_steps") else rec[name]


def gradients(seed: int, odd: dict[int, float]) -> dict[str, np.ndarray]:
    """Stacked steps; in some of them an entry, or all of them where it is 0, is odd."""
    rng, steps = np.random.default_rng(seed), 2 + seed
    found = {
        name: rng.normal(size=(steps, *shape)).astype(np.float32) for name, shape in SHAPES.items()
    }
    for step, value in odd.items():
        for name in SHAPES if value == 0 else ("a",):
            found[name][step % steps, ...] = value
    return found


def eager(rec: gl.Recorder, grads: dict[str, np.ndarray], loss: np.ndarray) -> gl.Recorder:
    for k, x in enumerate(loss):
        rec.record({name: g[k] for name, g in grads.items()}, loss=x)
    return rec


@functools.cache
def traced_run() -> Callable[..., dict[Any, Any]]:
    """Return a compiled loop over the first steps of `gradients`, for one recorder of each size."""
    recorders = {pair: gl.Recorder(pair[0], entries=8, sample_every=pair[1]) for pair in PAIRS}
    for rec in recorders.values():
        rec.prepare(SHAPES, ["loss"])

    def run(states: Any, steps: Any, grads: Any, loss: Any) -> Any:
        def step(k: Any, states: Any) -> Any:
            now = {name: g[k] for name, g in grads.items()}
            return {
                pair: rec.update(states[pair], now, loss=loss[k]) for pair, rec in recorders.items()
            }

        return jax.lax.fori_loop(0, steps, step, states)

    return jax.jit(run)


def traced(grads: dict[str, np.ndarray], loss: np.ndarray) -> dict[tuple[int, int], gl.Recorder]:
    """Return what recorders of all sizes hold after these steps; the arrays are as long as the
    longest run.
    """
    recorders = {pair: gl.Recorder(pair[0], entries=8, sample_every=pair[1]) for pair in PAIRS}
    states = {
        pair: rec.init({name: g[0] for name, g in grads.items()}, loss=0.0)
        for pair, rec in recorders.items()
    }
    padded = {
        name: np.concatenate([g, np.ones((LONGEST - len(g), *g.shape[1:]), g.dtype)])
        for name, g in grads.items()
    }
    after = traced_run()(states, len(loss), padded, np.resize(loss, LONGEST))
    return {pair: rec.absorb(after[pair]) for pair, rec in recorders.items()}


def in_batches(rec: gl.Recorder, grads: dict[str, np.ndarray], loss: np.ndarray) -> gl.Recorder:
    """What an adapter hands in, taken from a recorder that keeps every step."""
    all_ = eager(
        gl.Recorder(len(loss), entries=rec.entries, sample_every=rec.sample_every), grads, loss
    )
    rec.prepare(SHAPES, ["loss"])
    counts = np.zeros((len(loss), 3, 64), np.int32)
    counts[:: rec.sample_every] = all_["histogram"]
    names = ("norm", "largest", "nonfinite", "entry", "loss")
    for some in (slice(0, 1), slice(1, 7), slice(7, None)):
        rec.extend({name: all_[name][some] for name in names} | {"histogram": counts[some]})
    return rec


def check_same(got: gl.Recorder, want: gl.Recorder) -> None:
    assert (got.seen, got.stride, len(got), got.shapes) == (
        want.seen,
        want.stride,
        len(want),
        want.shapes,
    )
    for name in EXACT:
        np.testing.assert_array_equal(column(got, name), column(want, name), err_msg=name)
    for name in CLOSE:
        np.testing.assert_allclose(column(got, name), column(want, name), rtol=2e-6, err_msg=name)
    assert got.flush().columns["sketch"][:, 2:].sum() == want.flush().columns["sketch"][:, 2:].sum()
    for name in ("global_norm", "leading_norm", "largest", "loss"):
        np.testing.assert_allclose(
            got.every_step(name), want.every_step(name), rtol=2e-6, err_msg=name
        )


odd_entries = st.dictionaries(st.integers(0, 30), st.sampled_from(ODD), max_size=4)


@pytest.mark.exhaustive
@given(seed=st.integers(0, LONGEST - 2), odd=odd_entries)
@settings(max_examples=6)
def test_a_traced_run_records_what_an_eager_one_does(seed: int, odd: dict[int, float]) -> None:
    grads, loss = gradients(seed, odd), np.float32(np.arange(2 + seed))
    for (capacity, every), got in traced(grads, loss).items():
        check_same(got, eager(gl.Recorder(capacity, entries=8, sample_every=every), grads, loss))


@given(
    seed=st.integers(0, LONGEST - 2),
    capacity=st.sampled_from(CAPACITIES),
    every=st.sampled_from([1, 2, 3]),
    odd=odd_entries,
)
@settings(max_examples=6)
def test_batches_record_what_single_steps_do(
    seed: int, capacity: int, every: int, odd: dict[int, float]
) -> None:
    grads, loss = gradients(seed, odd), np.float32(np.arange(2 + seed))
    want, got = (
        run(gl.Recorder(capacity, entries=8, sample_every=every), grads, loss)
        for run in (eager, in_batches)
    )
    check_same(got, want)


@given(
    seed=st.integers(0, 60),
    capacity=st.integers(1, 9),
    odd=st.dictionaries(st.integers(0, 70), st.sampled_from(ODD), max_size=6),
)
def test_no_extreme_is_lost_when_buckets_merge(
    seed: int, capacity: int, odd: dict[int, float]
) -> None:
    grads, loss = gradients(seed, odd), np.float32(np.arange(2 + seed))
    every, merged = (
        eager(gl.Recorder(len(loss)), grads, loss),
        eager(gl.Recorder(capacity), grads, loss),
    )
    assert merged.bucket_steps.sum() == merged.seen == len(loss) and len(merged) <= capacity
    assert merged.stride == 1 or len(merged) > capacity // 2
    for k, first, n in zip(range(len(merged)), merged.step, merged.bucket_steps, strict=True):
        steps = slice(first, first + n)
        np.testing.assert_array_equal(merged["norm"][k], every["norm"][steps].max(axis=0))
        np.testing.assert_array_equal(merged["norm_low"][k], np.fmin.reduce(every["norm"][steps]))
        np.testing.assert_array_equal(merged["largest"][k], every["largest"][steps].max(axis=0))
        np.testing.assert_array_equal(merged["nonfinite"][k], every["nonfinite"][steps].sum(axis=0))
        np.testing.assert_array_equal(merged["entry"][k], every["entry"][first])
        np.testing.assert_array_equal(merged.global_norm[k], every.global_norm[steps].max())
        np.testing.assert_array_equal(every.global_norm[merged.peak[k]], merged.global_norm[k])
        np.testing.assert_allclose(merged["loss"][k], loss[steps].mean(), rtol=1e-6)
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(
                merged["square"][k], (every["entry"][steps] ** 2).sum(axis=0), rtol=1e-5
            )
    counts, others = (rec.flush().columns["sketch"] for rec in (merged, every))
    np.testing.assert_array_equal(counts[:, ZEROS], others[:, ZEROS])
    np.testing.assert_array_equal(counts[:, -1], others[:, -1])
    np.testing.assert_array_equal(counts[:, FIRST:].sum(axis=1), others[:, FIRST:].sum(axis=1))


@pytest.mark.exhaustive
def test_a_traced_step_calls_nobody_back_and_copies_no_buffer() -> None:
    rec = gl.Recorder(777)
    grads = {name: np.ones(shape, np.float32) for name, shape in SHAPES.items()}
    state = rec.init(grads, loss=0.0)
    lowered = jax.jit(lambda s, g: rec.update(s, g, loss=1.0), donate_argnums=0).lower(state, grads)
    assert "callback" not in lowered.as_text()
    compiled = lowered.compile()
    main = compiled.as_text().rpartition("ENTRY")[2]
    assert "777" in main and not [
        line for line in main.splitlines() if " copy(" in line and "[777," in line
    ]
    sizes = [x.nbytes for x in jax.tree.leaves(state)]
    assert [x.nbytes for x in jax.tree.leaves(compiled(state, grads))] == sizes


@pytest.mark.exhaustive
def test_a_run_goes_on_after_it_was_absorbed() -> None:
    rec, grads, loss = gl.Recorder(4), gradients(10, {3: np.nan}), np.float32(np.arange(12))
    first, second = (
        jax.tree.map(lambda x, part=part: x[part], (grads, loss))
        for part in (slice(0, 6), slice(6, None))
    )
    rec.prepare(SHAPES, ["loss"])

    @jax.jit
    def scan(state: Any, steps: Any) -> Any:
        return jax.lax.scan(
            lambda s, now: (rec.update(s, now[0], loss=now[1]), None), state, steps
        )[0]

    def start(rec: gl.Recorder) -> Any:
        return rec.init({name: g[0] for name, g in grads.items()}, loss=0.0)

    half = scan(start(rec), first)
    whole, again = rec.absorb(scan(half, second)), rec.absorb(half)
    again = again.absorb(scan(start(again), second))
    for name in (*EXACT, *CLOSE):
        np.testing.assert_allclose(
            column(again, name), column(whole, name), rtol=1e-6, err_msg=name
        )
    check_same(whole, eager(gl.Recorder(4), grads, loss))


@pytest.mark.parametrize(
    ("tensors", "options", "buckets", "bins"),
    [
        (5, {}, 1000, 512),
        (300, {}, 27, 256),
        (300, {"steps": 250, "entries": 300, "state_bytes": 1 << 25}, 250, 512),
        (3, {"ring": 7, "steps": 9}, 9, 512),
        (30, {"state_bytes": 1}, 16, 256),
    ],
)
def test_a_traced_state_is_as_large_as_the_docstring_says(
    tensors: int, options: dict[str, int], buckets: int, bins: int
) -> None:
    rec = gl.Recorder(**options)
    shapes = {f"w{k}": np.zeros(9, np.float32) for k in range(tensors)}
    state = rec.init(shapes, loss=0.0)
    t, s, b, e, w = (
        tensors,
        1,
        len(state["values"]),
        len(rec.sampled[0]),
        state["sketch"].shape[1] - 5,
    )
    assert (b, w) == (buckets, bins)
    counts = 256 * t * -(-b // rec.sample_every)
    bins = 4 * (w + 5) * (t + 2) + 4 * (w // 2 + 5) * (t + 1)
    said = 4 * (b + 1) * (4 * t + 2 * e + 2 * s + 8) + counts + bins + 4 * rec.ring * (s + 5) + 16
    assert sum(x.nbytes for x in state.values()) == said
    assert b == 16 or said <= rec.state_bytes
    moved = rec.init(shapes, weights=shapes, loss=0.0)
    assert sum(x.nbytes for x in moved.values()) == said + 3072 * t + 1036


@pytest.mark.exhaustive
def test_a_small_state_keeps_what_is_exact_and_says_what_is_not() -> None:
    """Few buckets and bins for many steps: extremes and the global norm are those of the eager
    recording.
    """
    grads = gradients(90, {7: 1e4})
    small, all_, loss = gl.Recorder(64, state_bytes=1), gl.Recorder(64), np.float32(np.arange(92))
    small.record({name: g[0] for name, g in grads.items()}, loss=loss[0])
    state = small.init({name: g[0] for name, g in grads.items()}, loss=0.0)
    rest = jax.tree.map(lambda x: x[1:], (grads, loss))

    @jax.jit
    def scan(state: Any, steps: Any) -> Any:
        return jax.lax.scan(
            lambda s, now: (small.update(s, now[0], loss=now[1]), None), state, steps
        )[0]

    got, exact = small.absorb(scan(state, rest)), eager(all_, grads, loss)
    assert len(state["values"]) == 16 and (got.capacity, got.stride, exact.stride) == (64, 8, 2)
    assert len(got["norm"]) == 12
    for name, extreme in (("norm", np.max), ("norm_low", np.min), ("largest", np.max)):
        np.testing.assert_allclose(
            extreme(got[name], axis=0), extreme(exact[name], axis=0), rtol=1e-6
        )
    again = got.absorb(got.init({name: g[0] for name, g in grads.items()}, loss=0.0))
    for limit in (0.5, 2.0, 100.0):
        a, b, c = (
            rec.what_if(clip_global_norm=limit).fraction_fired for rec in (got, again, exact)
        )
        assert a == b == c
        found = got.what_if(clip_norm=limit)
        true = np.mean(
            [[np.linalg.norm(g[k]) > limit for g in grads.values()] for k in range(92)], axis=0
        )
        assert (found.bounds_by_tensor[0] <= true).all() and (
            true <= found.bounds_by_tensor[1]
        ).all()
    assert (got.quantile_error >= exact.quantile_error).all() and got.quantile_error.max() < 0.2
