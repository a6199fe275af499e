"""The run that explodes: what ships, and what a fresh one has in common with it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab.datasets import python_docs
from gradlab.models import char_rnn


def test_the_shipped_recording_tells_the_story_of_the_notebook() -> None:
    runs = char_rnn.shipped()
    assert tuple(runs) == char_rnn.LIMITS
    end = {limit: float(rec["loss"][-30:].mean()) for limit, rec in runs.items()}
    free = runs[None].global_norm
    assert free.max() > 1000 * np.median(free), "without a limit gradients explode"
    assert end[1.0] < end[0.1] < end[3.0] < end[None], "1 is better than a tighter and than a looser limit"
    for rec in runs.values():
        assert len(rec) == 300 and rec["nonfinite"].sum() == 0 and rec.global_norm[0] == runs[None].global_norm[0]


def test_the_shipped_recording_is_small() -> None:
    assert sum(p.stat().st_size for p in (char_rnn._file(None).parent).glob("char_rnn-*.npz")) <= 300_000


@pytest.mark.exhaustive
def test_a_fresh_run_learns_with_a_limit_and_starts_where_the_shipped_one_does() -> None:
    said: list[str] = []
    runs = char_rnn.record(steps=300, limits=(None, 1.0), progress=said.append)
    assert said == ["training with no limit", "training with limit 1"]
    shipped = char_rnn.shipped()
    for limit, rec in runs.items():
        assert (len(rec), rec.stride) == (300, 1) and rec.names == shipped[limit].names
    assert runs[1.0]["loss"][-10:].mean() < 0.8 * runs[1.0]["loss"][0]
    assert runs[None].global_norm[0] == runs[1.0].global_norm[0], "gradients are recorded before the clip"


def test_the_gradient_of_the_loss_is_right() -> None:
    codes, alphabet = python_docs()
    weights = jax.tree.map(jnp.asarray, char_rnn.initial_weights(1, len(alphabet)))
    batch = np.stack([codes[k : k + 6] for k in (0, 500)])
    value_and_slope = jax.jit(jax.value_and_grad(char_rnn.loss))
    slope = value_and_slope(weights, batch)[1]["hidden"]
    step = np.zeros_like(weights["hidden"])
    step[3, 5] = 1e-2
    up, down = (value_and_slope({**weights, "hidden": weights["hidden"] + s * step}, batch)[0] for s in (1, -1))
    assert (up - down) / 2e-2 == pytest.approx(float(slope[3, 5]), abs=2e-5)


def test_no_limit_passes_gradients_on_bit_for_bit() -> None:
    limit = np.float32(char_rnn._NO_LIMIT)
    assert limit * (np.float32(1) / limit) == 1
