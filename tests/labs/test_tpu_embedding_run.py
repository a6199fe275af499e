"""The lab of two tables: training and traffic are the library's, presets tell what they are named for."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._tpu_embedding_run import DEVICES, ROWS, STEPS, Trained, _batches, _plan


def shown(**params: object) -> Trained:
    lab = gl.labs.tpu_embedding_run(**params)
    return lab.compute(lab.params)


def preset(name: str) -> Trained:
    return shown(**gl.labs.tpu_embedding_run.presets[name])


def test_each_table_follows_its_own_rate() -> None:
    base, words, users = shown(), shown(rate_words=0.1), shown(rate_users=0.5)
    assert (base.moved[0] != words.moved[0]).any() and (base.moved[0] == users.moved[0]).all()
    assert (base.moved[1] == words.moved[1]).all() and (base.moved[1] != users.moved[1]).any()


@pytest.mark.parametrize("strategy", ["div", "mod"])
def test_the_traffic_is_the_librarys_and_counts_every_distinct_row(strategy: str) -> None:
    trace = shown(strategy=strategy, step=5)
    expected = gl.tpu.traffic(_plan("sgd", False), _batches(1.0)[4], strategy=strategy)  # type: ignore[arg-type]
    np.testing.assert_array_equal(trace.now, expected.sum(axis=0))
    assert trace.now.sum() == sum(
        (t.unique < rows).sum() for t, rows in zip(_batches(1.0)[4].tables, ROWS, strict=True)
    )


def test_nothing_has_happened_before_the_first_step() -> None:
    trace = shown(step=0)
    assert not trace.now.any() and not any(t.size for t in trace.touched)
    assert not trace.moved[0][0].any() and len(trace.loss) == STEPS
    assert gl.labs.tpu_embedding_run(step=0).description.summary.startswith("Step 0: loss none yet of words")


@pytest.mark.exhaustive
def test_presets_show_what_their_names_say() -> None:
    rates, late = preset("Two rates"), preset("One update late")
    assert rates.loss[-1].max() < 0.1 < 100 < late.loss[-1, 0]
    np.testing.assert_array_equal(rates.loss[0], late.loss[0])
    one, dealt = preset("Popular rows on one device"), preset("Rows dealt out in turn")
    assert one.served[0] == one.served.max() > dealt.served.max()
    assert one.loss[-1].max() < 2, "its words learn, too"
    assert one.served.sum() == dealt.served.sum()
    adam = preset("Adam without correction")
    corrected = shown(**{**gl.labs.tpu_embedding_run.presets["Adam without correction"], "rule": "adam_corrected"})
    assert np.median(adam.moved[1][1]) > 3 * np.median(corrected.moved[1][1]) > 0


def test_the_numbers_of_steps_are_columns() -> None:
    columns = gl.labs.tpu_embedding_run().columns(shown())
    assert list(columns)[:3] == ["step", "loss_words", "loss_users"] and len(columns) == 3 + DEVICES


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("late_but_low", {"pipelined": True, "zipf": 0.0, "rate_words": 0.4}, {"pipelined": False}),
        ("one_device", {"zipf": 2.0}, {"strategy": "mod"}),
    ],
)
def test_targets_can_be_reached_and_missed(target: str, reached: dict[str, object], missed: dict[str, object]) -> None:
    lab = gl.labs.tpu_embedding_run(target=target)
    lab.set(**reached)
    assert lab.description.goal.endswith("reached.")
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")
