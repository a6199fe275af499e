"""The run that explodes: what ships, and what a fresh one has in common with it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradlab._base.paired import paired_difference
from gradlab.models import char_rnn
from gradlab.models.datasets import python_docs


def test_the_runs_at_one_rate_tell_the_story_of_the_notebook() -> None:
    runs = char_rnn.shipped()
    assert tuple(runs) == char_rnn.LIMITS
    free = runs[None].global_norm
    assert free.max() > 1000 * np.median(free), "without a limit gradients explode"
    for rec in runs.values():
        assert (
            len(rec) == 300
            and rec["nonfinite"].sum() == 0
            and rec.global_norm[0] == runs[None].global_norm[0]
        )


def test_each_rate_is_the_best_of_its_sweep_and_not_at_an_edge() -> None:
    for limit in char_rnn.LIMITS:
        final = char_rnn.sweep_losses(limit)
        rates = list(final)
        assert rates == sorted(rates) == list(char_rnn.SWEPT[limit])
        assert all(losses.shape == (10,) and np.isfinite(losses).all() for losses in final.values())
        assert char_rnn.best_rate(limit) == char_rnn.TUNED[limit]
        assert rates[0] < char_rnn.TUNED[limit] < rates[-1]


def test_the_table_of_the_sweep_is_the_sweep() -> None:
    for limit in char_rnn.LIMITS:
        means = {rate: losses.mean() for rate, losses in char_rnn.sweep_losses(limit).items()}
        best = min(means, key=lambda rate: means[rate])
        cells = [f"{rate:g}: {mean:.2f}{'*' * (rate == best)}" for rate, mean in means.items()]
        assert f"{'none' if limit is None else f'{limit:g}':<6} {', '.join(cells)}" in str(
            char_rnn.__doc__
        )


def test_two_rates_without_a_limit_cannot_be_told_apart() -> None:
    assert "0.14 and 0.2 can't be told apart" in str(char_rnn.__doc__)
    final = char_rnn.sweep_losses(None)
    assert not paired_difference(final[0.14], final[0.2]).holds


def test_runs_that_are_judged_had_no_part_in_the_sweep() -> None:
    assert not {*char_rnn.TUNING_SEEDS} & {*char_rnn.FRESH_SEEDS}
    for limit in char_rnn.LIMITS:
        for rate in (char_rnn.TUNED[limit], char_rnn.ONE_RATE):
            losses = char_rnn.seed_losses(limit, rate)
            assert losses.shape == (10, 300) and not losses.flags.writeable
    starts = [char_rnn.seed_losses(limit, 0.4)[:, 0] for limit in char_rnn.LIMITS]
    np.testing.assert_array_equal(starts[0], starts[1])  # the same weights and batches


def test_a_run_that_ends_above_its_start_counts_with_its_start() -> None:
    losses = np.full((3, 60), 4.0)
    losses[0, 1:], losses[1, 1:], losses[2, 1:] = 2.0, 40.0, np.nan
    np.testing.assert_array_equal(char_rnn._final(losses), [2.0, 4.0, 4.0])


def test_the_tuned_runs_are_those_of_one_seed_closest_to_the_medians() -> None:
    final = np.array(
        [char_rnn.final_losses(limit, char_rnn.TUNED[limit]) for limit in char_rnn.LIMITS]
    )
    distance = np.abs(np.log(final / np.median(final, axis=1, keepdims=True))).sum(axis=0)
    typical = int(distance.argmin())
    assert char_rnn.FRESH_SEEDS[typical] == char_rnn.TYPICAL_SEED
    for limit, rec in char_rnn.tuned().items():
        np.testing.assert_array_equal(
            rec["loss"], char_rnn.seed_losses(limit, char_rnn.TUNED[limit])[typical]
        )
        assert len(rec) == 300 and rec.stride == 1


def test_the_recordings_are_small() -> None:
    folder = char_rnn._file(None).parent
    assert sum(path.stat().st_size for path in folder.glob("char_rnn-*.npz")) <= 1_000_000


@pytest.mark.exhaustive
def test_the_code_trains_the_runs_that_ship() -> None:
    """The first steps: what rounding adds to them is small yet."""
    runs = char_rnn.record(
        steps=8, seed=char_rnn.TYPICAL_SEED, limits=(None, 0.3), rate=char_rnn.TUNED
    )
    for limit, rec in runs.items():
        shipped = char_rnn.tuned()[limit]
        np.testing.assert_allclose(rec["loss"], shipped["loss"][:8], rtol=1e-4)
        np.testing.assert_allclose(rec.global_norm, shipped.global_norm[:8], rtol=1e-3)
    (one_rate,) = char_rnn.record(steps=8, limits=(1.0,)).values()
    np.testing.assert_allclose(one_rate["loss"], char_rnn.shipped()[1.0]["loss"][:8], rtol=1e-4)


@pytest.mark.exhaustive
def test_a_fresh_run_learns_with_a_limit_and_starts_where_the_shipped_one_does() -> None:
    said: list[str] = []
    runs = char_rnn.record(steps=300, limits=(None, 1.0), progress=said.append)
    assert said == ["training with no limit at rate 0.4", "training with limit 1 at rate 0.4"]
    shipped = char_rnn.shipped()
    for limit, rec in runs.items():
        assert (len(rec), rec.stride) == (300, 1) and rec.names == shipped[limit].names
    assert runs[1.0]["loss"][-10:].mean() < 0.8 * runs[1.0]["loss"][0]
    assert runs[None].global_norm[0] == runs[1.0].global_norm[0], (
        "gradients are recorded before the clip"
    )


@pytest.mark.exhaustive
def test_the_gradient_of_the_loss_is_right() -> None:
    codes, alphabet = python_docs()
    weights = jax.tree.map(jnp.asarray, char_rnn.initial_weights(1, len(alphabet)))
    batch = np.stack([codes[k : k + 6] for k in (0, 500)])
    value_and_slope = jax.jit(jax.value_and_grad(char_rnn.loss))
    slope = value_and_slope(weights, batch)[1]["hidden"]
    step = np.zeros_like(weights["hidden"])
    step[3, 5] = 1e-2
    up, down = (
        value_and_slope({**weights, "hidden": weights["hidden"] + s * step}, batch)[0]
        for s in (1, -1)
    )
    assert (up - down) / 2e-2 == pytest.approx(float(slope[3, 5]), abs=2e-5)


def test_no_limit_passes_gradients_on_bit_for_bit() -> None:
    limit = np.float32(char_rnn._NO_LIMIT)
    assert limit * (np.float32(1) / limit) == 1
