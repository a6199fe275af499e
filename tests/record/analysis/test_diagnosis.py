"""What is wrong with a run: found in runs that are sick, and not in those that ship or are healthy."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.models import char_rnn, reader_run
from gradlab.record.analysis.diagnosis import (
    dominant,
    explosion,
    first_nonfinite_step,
    frontier,
    frontier_in,
    peak,
    trouble_in_tensors,
    why_no_limit,
    without_gradient,
)
from tests import sick_runs

SHIPPED = {
    **{f"char_rnn {limit}": rec for limit, rec in char_rnn.shipped().items()},
    "reader": reader_run.shipped(),
}


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("scale", [1.0, 64.0])
def test_no_shipped_run_is_sick(name: str, scale: float) -> None:
    rec = scaled(SHIPPED[name], scale)
    assert why_no_limit(rec) == "" and explosion(rec) is None


def scaled(rec: gl.Recorder, scale: float) -> gl.Recorder:
    """The same run with the loss, and so its gradients, in another unit."""
    found = gl.Recorder(rec.capacity, entries=0)
    found.prepare(dict(zip(rec.names, rec.shapes, strict=True)), ["loss"])
    columns = {
        "norm": rec["norm"] * scale,
        "largest": rec["largest"] * scale,
        "nonfinite": rec["nonfinite"],
    }
    found.extend({**columns, "loss": rec["loss"] * scale})
    return found


def test_growing_norms_are_an_explosion_in_every_unit() -> None:
    found, large = explosion(sick_runs.exploding()), explosion(scaled(sick_runs.exploding(), 64.0))
    assert found is not None and large is not None
    assert found.times > 100 and large.times == pytest.approx(found.times, rel=1e-4)
    assert found.after_steps == (108, 119)
    assert str(found).startswith("the gradient norm explodes: its median grows by a factor of ")


def test_norms_that_grow_while_the_loss_falls_are_no_explosion() -> None:
    growing = sick_runs.record(
        120, lambda step, g, loss: (sick_runs.scaled(g, 1.1 ** max(0, step - 60)), loss)
    )
    assert explosion(growing) is None and why_no_limit(growing) == ""


def test_a_run_that_is_mostly_nan_says_so_with_its_first_step() -> None:
    said = why_no_limit(sick_runs.diverged())
    assert said.startswith(
        "72 of 80 steps held NaN or Inf (first: step 8), which no limit "
        "mends; the gradient norm explodes"
    )


@pytest.mark.parametrize(
    "run", [sick_runs.healthy, sick_runs.bad_batch, sick_runs.nan_from_step_51]
)
def test_a_run_with_most_steps_finite_may_have_a_limit(run: object) -> None:
    assert callable(run) and why_no_limit(run()) == ""


def test_the_first_step_that_is_not_finite_is_known_though_steps_are_merged() -> None:
    rec = gl.Recorder(750, entries=0)
    rec.prepare({"a": (2,), "b": (2,)})
    bad = np.zeros((12_000, 2), int)
    bad[7001, 1] = 1
    norm = np.where(bad > 0, np.nan, 1.0)
    rec.extend({"norm": norm, "largest": np.ones((12_000, 2)), "nonfinite": bad})
    assert rec.stride == 16 and first_nonfinite_step(rec) == 7001


def test_the_frontier_of_nan_is_the_last_tensor_that_has_it() -> None:
    rec = sick_runs.nan_from_step_51()
    said = frontier(rec.names, rec["nonfinite"][50] > 0)
    assert said == (
        "In recorded order, everything up to blocks.1.down.bias has NaN or Inf, and everything "
        "from blocks.2.ln.weight on is finite: look at the output of blocks.1.down.bias."
    )


def test_a_tensor_that_no_gradient_reaches_hides_no_frontier() -> None:
    rec = gl.Recorder(entries=0)
    rec.prepare(dict.fromkeys(("wte", "unused", "up", "head"), (2,)))
    bad = np.array([[1, 0, 1, 0]])
    rec.extend(
        {
            "norm": np.where(bad, np.nan, [[1.0, 0.0, 1.0, 1.0]]),
            "largest": 1.0 - bad,
            "nonfinite": bad,
        }
    )
    assert (
        "everything up to up has NaN or Inf, and everything from head on is finite"
        in frontier_in(rec, 0)
    )


def test_a_frontier_is_not_made_up() -> None:
    names = ["b", "a", "d", "c"]
    assert frontier(names, np.array([False, True, False, False])) == ""
    assert frontier(names, np.array([True, True, True, True])).startswith("Every tensor has it")
    assert "weren't recorded in the order of the forward pass" in frontier(
        names, np.array([True, False, True, False])
    )
    said = frontier(sorted(names), np.array([True, True, False, False]))
    assert "Names are in alphabetical order: if that is the order of the forward pass" in said


def test_a_bad_batch_is_told_from_a_bad_layer() -> None:
    batch, layer = peak(sick_runs.bad_batch()), peak(sick_runs.bad_layer())
    assert batch is not None and batch.step == 70 and batch.rises_everywhere and batch.jumps
    assert "There, all 18 tensors have " in str(
        batch
    ) and "so it isn't one layer; wte.weight has " in str(batch)
    assert "The loss there is 5.43, 2.38 in the step before, 2.46 in the step after." in str(batch)
    assert (
        "It lasts one step, then the norm is back to its usual size: look "
        "at the examples of that batch"
    ) in str(batch)
    assert layer is not None and layer.step == 70 and not layer.jumps
    assert "There, only blocks.1.up.weight (" in str(
        layer
    ) and "of 18 tensors rises: look at that layer" in str(layer)


def test_a_peak_of_merged_buckets_gives_the_least_share() -> None:
    found = peak(sick_runs.bad_batch(buckets=60))
    assert found is not None and found.step == 70 and "has at least " in str(found)
    single = peak(sick_runs.bad_batch())
    assert single is not None and (found.share <= single.share + 1e-6).all()


@pytest.mark.parametrize("name", ["char_rnn 1.0", "reader"])
def test_nothing_is_said_of_a_largest_norm_that_is_usual(name: str) -> None:
    found = peak(SHIPPED[name])
    assert found is not None and not found.stands_out and str(found) == ""


def test_what_comes_after_a_peak_is_not_called_usual_where_it_is_nan() -> None:
    found = peak(sick_runs.diverged())
    assert found is not None and "After it the norm is NaN or Inf." in str(found)
    assert "back to its usual size" not in str(found)
    assert "blocks.0.qkv.weight has " in str(found)


def test_a_tensor_without_a_gradient_and_one_with_all_of_it_are_named() -> None:
    assert without_gradient(sick_runs.dead_block()) == ("blocks.1 (5 tensors)",)
    assert "The gradient of blocks.1 (5 tensors) is 0 in every step" in trouble_in_tensors(
        sick_runs.dead_block()
    )
    found = dominant(sick_runs.dominated())
    assert found is not None and found[0] == "blocks.0.qkv.weight" and found[1] > 0.98
    assert trouble_in_tensors(sick_runs.healthy()) == ""
