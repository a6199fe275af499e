"""Runs beside each other: the first step that differs, factors of tensors, and what cannot be
compared.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.record import step_totals
from gradlab.record.analysis.compare import Comparison, run_names
from tests import sick_runs


def run(
    steps: int = 40,
    room: int = 1000,
    change: Callable[[int, Any], Any] = lambda t, g: g,
    loss: bool = True,
) -> gl.Recorder:
    """Gradients of two tensors, the same for all who ask, as `change` leaves them."""
    rec, rng = gl.Recorder(room, entries=4), np.random.default_rng(0)
    for t in range(steps):
        grads = {"w": rng.normal(size=5).astype(np.float32), "b": np.float32([t + 1.0])}
        rec.record(change(t, grads), **({"loss": 1 / (t + 1)} if loss else {}))
    return rec


def compared(*recs: gl.Recorder) -> Comparison:
    return Comparison(run_names(recs), recs)


def tripled(first: int, of: str = "w") -> Callable[[int, Any], Any]:
    return lambda t, g: g | ({of: 3 * g[of]} if t >= first else {})


def test_the_first_difference_is_found_step_by_step_however_runs_were_merged() -> None:
    both = compared(run(room=8), run(change=tripled(17)))
    a, b = (rec.every_step("global_norm")[17] for rec in both.recs)
    assert (
        both.first() == f"run 1 and run 2 first differ at step 17: global norm {a:.3g} and {b:.3g}."
    )
    assert both.parting["loss"].first is None
    same = compared(run(), run(room=8), run())
    assert same.first() == "The 3 runs are the same in all 40 steps: loss and global norm."
    assert same.first_step is None


def test_rounding_is_told_from_what_can_be_seen() -> None:
    def nudged(t: int, g: Any) -> Any:
        return {
            name: x * np.float32(1 + 1e-6 * (t >= 3)) * (2 if t == 30 else 1)
            for name, x in g.items()
        }

    said = compared(run(), run(change=nudged)).first()
    assert said.startswith(
        "run 1 and run 2 first differ at step 3: by 1e-06 of global norm, and by more than 1% at st"
    )
    assert "more than 1% at step 30: global norm 31 and 62" in said.replace("31.0", "31")


def test_nan_is_the_same_as_nan_and_not_as_a_number() -> None:
    def spoiled(t: int, g: Any) -> Any:
        return {name: x * np.nan for name, x in g.items()} if t == 5 else g

    assert compared(run(change=spoiled), run(change=spoiled)).first_step is None
    both = compared(run(), run(change=spoiled))
    assert both.first_step == 5 and both.first().endswith(" and nan.")
    np.testing.assert_array_equal(both.factor[1], 1.0)  # that step is left out


def test_factors_are_medians_over_the_steps_that_all_have() -> None:
    longer = run(
        60,
        change=lambda t, g: (
            tripled(0)(t, g) if t < 40 else {name: 100 * x for name, x in g.items()}
        ),
    )
    both = compared(run(), longer)
    np.testing.assert_allclose(both.factor, [[1, 1], [1, 3]], rtol=1e-6)  # of b and w
    assert [both.tensors[k] for k in both.order] == ["w", "b"]
    assert both.notes[0].startswith(
        "run 1 has 40 steps and run 2 has 60 steps: steps are compared up to step 39"
    )
    merged = compared(run(room=8), run(room=8, change=tripled(0)))
    np.testing.assert_allclose(merged.factor, [[1, 1], [1, 3]], rtol=1e-6)
    assert "tensors are compared by the largest norm in every 8 steps" in merged.notes[-1]
    never = compared(
        run(), run(change=lambda t, g: g | {"w": 0 * g["w"]}), run(change=tripled(0, "b"))
    )
    np.testing.assert_allclose(never.factor, [[1, 1], [1, 0], [3, 1]], rtol=1e-6)
    assert never.apart[1] == np.inf


def test_what_cannot_be_compared_is_said() -> None:
    other = run(change=lambda t, g: {"w": g["w"][:3], "c": g["b"]}, loss=False)
    both = compared(run(), other)
    assert both.tensors == () and both.order == [] and both.factor.shape == (2, 0)
    assert both.notes == (
        "run 1 has no tensor c.",
        "run 2 has no tensor b.",
        "tensor w has different sizes, so that norms are not compared.",
        (
            "Global norms are of different tensors: a difference may come from those that are not "
            "in all runs."
        ),
        "No loss was recorded in run 2, so losses are not compared.",
    )
    assert both.first().startswith("run 1 and run 2 first differ at step 0: global norm ")


def test_steps_that_a_ring_has_lost_are_not_taken_for_the_same() -> None:
    def forgetful(change: Callable[[int, Any], Any] = lambda t, g: g) -> gl.Recorder:
        rec = run(change=change, loss=False)
        rec.flush().columns["each"][:, :20] = step_totals.unknown(len(step_totals.NAMES), 20)
        return rec

    both = compared(forgetful(), forgetful(tripled(5, "b")))
    assert both.first_step == 20 and both.parting["global_norm"].unknown == 20
    assert both.first().endswith(" or earlier, where single steps are not known.")
    assert (
        compared(forgetful(), forgetful()).first()
        == "run 1 and run 2 are the same in all 20 known steps: global norm."
    )


def test_runs_have_names_of_their_own() -> None:
    with pytest.raises(ValueError, match="a comparison takes 2 to 6 recordings, got 1"):
        run_names(["a.npz"])
    with pytest.raises(
        ValueError, match=r"2 runs are called 'run' \(x/run.npz and y/run.npz\); give each a name"
    ):
        run_names(["x/run.npz", "y/run.npz"])
    with pytest.raises(ValueError, match="2 runs are called 'x'; give each"):
        run_names([1, 2], ["x", "x"])
    with pytest.raises(ValueError, match="names must be 2 texts, one for each recording, got 'ab'"):
        run_names([1, 2], "ab")
    assert run_names(["x/lr0.1", "y/lr0.3.npz"]) == ("lr0.1", "lr0.3")


def test_a_factor_that_all_tensors_share_is_found_at_the_first_step() -> None:
    both = Comparison(("fine", "wrong"), (sick_runs.healthy(), sick_runs.times_four()))
    assert both.one_factor(1) == pytest.approx(4.0)
    layer = Comparison(("fine", "wrong"), (sick_runs.healthy(), sick_runs.dead_block()))
    assert layer.one_factor(1) is None and len(layer.without_gradient(1, 0)) == 5
    assert layer.without_gradient(0, 1) == ()
    same = Comparison(("fine", "again"), (sick_runs.healthy(), sick_runs.healthy()))
    assert same.one_factor(1) is None


def test_a_loss_that_is_missing_is_told_from_one_that_is_nan() -> None:
    def late(loss_of_first: float | None, scale: float = 1.0) -> gl.Recorder:
        rec = gl.Recorder()
        rec.prepare({"w": (2,)}, ["loss"])
        for t in range(4):
            loss = loss_of_first if t == 0 else 1.0
            rec.record(
                {"w": np.full(2, scale if t == 0 else 1.0)},
                **({} if loss is None else {"loss": loss}),
            )
        return rec

    missing = compared(late(None), late(1.0))
    assert missing.first() == "run 1 and run 2 first differ at step 0: loss not recorded and 1."
    diverged = compared(late(np.nan, scale=np.nan), late(1.0))
    assert (
        diverged.first()
        == "run 1 and run 2 first differ at step 0: loss nan and 1, global norm nan and 1.41."
    )
