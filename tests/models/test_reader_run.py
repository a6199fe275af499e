"""The run that ships to ask about: its gradients are those of its loss, it learns, and what is told
of it is in it.
"""

import numpy as np
import pytest

from gradlab._base.named_leaves import named_leaves
from gradlab.models import reader_run
from gradlab.models.reader_run import batch, initial_weights, loss_and_gradient, record, shipped
from gradlab.models.word_topics import shipped as lines


@pytest.mark.parametrize(
    "name", ["embed", "hidden1/b", "hidden1/w", "hidden2/w", "readout/b", "readout/w"]
)
def test_the_gradient_is_the_slope_of_the_mean_loss(name: str) -> None:
    def wide() -> dict[str, np.ndarray]:
        return {n: w.copy() for n, w in named_leaves(initial_weights())}

    def tree(flat: dict[str, np.ndarray]) -> dict[str, object]:
        layers = {
            layer: {part: flat[f"{layer}/{part}"] for part in "bw"} for layer in reader_run.LAYERS
        }
        return {"embed": flat["embed"], **layers}

    some, weights = batch(lines().train, 3), wide()
    gradient = dict(named_leaves(loss_and_gradient(tree(weights), some)[1]))[name]
    at = np.unravel_index(int(np.abs(gradient).argmax()), gradient.shape)
    losses = []
    for nudge in (1e-5, -1e-5):
        weights = wide()
        weights[name][at] += nudge
        losses.append(loss_and_gradient(tree(weights), some)[0])
    assert (losses[0] - losses[1]) / 2e-5 == pytest.approx(gradient[at], rel=1e-4)


@pytest.mark.exhaustive
def test_the_shipped_run_is_the_one_that_is_recorded_here() -> None:
    """All of it, on any machine: it is trained in float64."""
    here = record()
    np.testing.assert_allclose(here["norm"], shipped()["norm"], rtol=1e-5)
    np.testing.assert_allclose(here["loss"], shipped()["loss"], rtol=1e-5)
    for mine, other in zip(here.probe_products(), shipped().probe_products(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-6)
    assert len(shipped().durations()) == 256, "those of steps without a probe"


def test_the_other_seeds_are_those_that_are_recorded_here() -> None:
    step, products = record(steps=20, seed=3).probe_products()
    assert step.tolist() == list(range(0, 20, 2))
    here = reader_run.agreements()[3]
    assert (here.probes, len(reader_run.agreements())) == (256, 5)
    with np.load(str(reader_run._file("reader_run-probes"))) as stored:
        np.testing.assert_allclose(stored["products"][2, 0], products[0], rtol=1e-3, atol=1e-6)


def test_it_learns_and_loses_some_units_on_the_way() -> None:
    rec = shipped()
    assert rec["loss"][:10].mean() > 1.9 > 1.3 > rec["loss"][-20:].mean()
    grown = rec["square"][-100:].sum(axis=0)
    silent = [rec.entry_name(k) for k in np.flatnonzero(grown == 0)]
    assert "embed[0, 0]" in silent  # of words that are not known, which no line to learn from has
    assert sum(name.startswith("hidden2/b") for name in silent) >= 2
    first = rec["square"][:200].sum(axis=0)
    assert all(first[k] > 0 for k in range(128) if rec.entry_name(k) in silent[1:]), (
        "they had gradients before"
    )


def test_batches_go_round() -> None:
    text = lines().train
    assert len(batch(text, 0).topics) == 64
    for one, other in zip(batch(text, 1), batch(text, 65), strict=True):
        np.testing.assert_array_equal(one, other)
