"""The lab of two tables: training and traffic are the library's, presets tell what they are named
for.
"""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._tpu_embedding_run.lab import (
    DEVICES,
    ROWS,
    STEPS,
    TpuEmbeddingRunTrace,
    _batches,
    _plan,
)
from gradlab.labs._tpu_embedding_run.picture import _MOST, _MOST_ASKED


def shown(**params: object) -> TpuEmbeddingRunTrace:
    lab = gl.labs.tpu_embedding_run(**params)
    return lab.compute(lab.params)


def preset(name: str) -> TpuEmbeddingRunTrace:
    return shown(**gl.labs.tpu_embedding_run().presets[name])


@pytest.mark.exhaustive
def test_each_table_follows_its_own_rate() -> None:
    base, words, users = shown(), shown(rate_words=0.1), shown(rate_users=0.5)
    assert (base.moved[0] != words.moved[0]).any() and (base.moved[0] == users.moved[0]).all()
    assert (base.moved[1] == words.moved[1]).all() and (base.moved[1] != users.moved[1]).any()


@pytest.mark.parametrize("strategy", ["div", "mod"])
def test_the_traffic_is_the_librarys_and_counts_every_distinct_row(strategy: str) -> None:
    trace = shown(strategy=strategy, step=5)
    batch = _batches(1.5)[4]
    expected = gl.tpu.traffic(_plan("sgd", False), batch, strategy=strategy)  # type: ignore[arg-type]
    np.testing.assert_array_equal(
        trace.so_far - shown(strategy=strategy, step=4).so_far, expected.sum(axis=0)
    )
    words, users = ((t.unique < rows).sum() for t, rows in zip(batch.tables, ROWS, strict=True))
    assert (trace.so_far - shown(strategy=strategy, step=4).so_far).sum() == words + users
    asked = np.bincount(trace.owner, trace.asked, DEVICES)
    assert (
        trace.served - asked
        == shown(strategy=strategy, step=5, zipf=0.3).served
        - np.bincount(trace.owner, shown(step=5, zipf=0.3).asked, DEVICES)
    ).all(), "the rest are users, the same for all words"


def test_nothing_has_happened_before_the_first_step() -> None:
    trace = shown(step=0)
    assert not trace.so_far.any() and not trace.asked.any()
    assert not trace.moved[0][0].any() and len(trace.loss) == STEPS
    assert (
        gl.labs.tpu_embedding_run(step=0).description.summary
        == "After 0 of 30 steps no device has served a row."
    )


@pytest.mark.parametrize(
    ("preset", "said"),
    [
        (
            "Two rates",
            "Words learn at rate 0.5, users at 0.1: loss 0.0433 and 7.08e-05 after 30 steps.",
        ),
        (
            "One update late",
            "One update late, the loss of words is 264,106 after 30 steps; on time, 0.0433.",
        ),
        (
            "Adam without correction",
            "Adam without bias correction: the first step is 3.2 times the learning rate.",
        ),
    ],
)
def test_a_preset_on_training_says_what_it_does_to_the_training(preset: str, said: str) -> None:
    lab = gl.labs.tpu_embedding_run(**gl.labs.tpu_embedding_run().presets[preset])
    assert lab.description.summary == said
    corrected = gl.labs.tpu_embedding_run(rule="adam_corrected").description.summary
    assert (
        corrected == "Adam with bias correction: the first step is as large as the learning rate."
    )


def test_equally_popular_words_are_not_said_to_be_popular() -> None:
    lab = gl.labs.tpu_embedding_run(zipf=0.0)
    said = lab.description.summary
    assert said == (
        "All words are equally popular: the busiest device, 6, serves 14% of all rows, 1.1 "
        "times its share."
    )
    view = lab.make_view()
    lab.draw(view, lab.compute(lab.params))
    assert view._why.get_text() == "All words are equally popular"


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
    corrected = shown(
        **{
            **gl.labs.tpu_embedding_run().presets["Adam without correction"],
            "rule": "adam_corrected",
        }
    )
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
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, object], missed: dict[str, object]
) -> None:
    lab = gl.labs.tpu_embedding_run(target=target)
    lab.set(**reached)
    assert lab.description.goal.endswith("reached.")
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")


def test_the_message_names_the_busiest_device_and_why() -> None:
    said = gl.labs.tpu_embedding_run(
        **gl.labs.tpu_embedding_run().presets["Popular rows on one device"]
    )
    trace = said.compute(said.params)
    assert trace.owner[:2].tolist() == [0, 0] and trace.asked.argsort()[-2:].tolist() == [1, 0]
    assert said.description.summary == (
        "Device 0 serves 36% of all rows: it holds the two most popular words."
    )
    assert trace.elsewhere == ("dealt out in turn", pytest.approx(2.15, abs=0.01))


def test_popular_words_are_the_reason_only_where_they_make_a_device_busy() -> None:
    even, apart = (gl.labs.tpu_embedding_run(**x) for x in ({"zipf": 0.2}, {"strategy": "mod"}))
    assert even.description.summary == "Device 0 serves 15% of all rows, 1.2 times its share."
    assert apart.description.summary.endswith("of all rows: it holds the most popular word.")


def test_no_state_is_beyond_the_figures_axes() -> None:
    lab = gl.labs.tpu_embedding_run()
    for zipf, strategy in ((2.0, "div"), (2.0, "mod"), (1.7, "div"), (0.0, "div")):
        trace = lab.compute({**lab.params, "zipf": zipf, "strategy": strategy})
        for step in range(1, STEPS + 1):
            now = trace._replace(step=step)
            assert (now.served / now.served.mean()).max() < _MOST
            assert (now.asked / now.asked.sum()).max() < _MOST_ASKED


@pytest.mark.filterwarnings("error")
def test_rows_that_diverge_have_moved() -> None:
    trace = shown(zipf=2.0, rate_words=1.0, rule="momentum")
    assert trace.loss[-1, 0] > 1e20 and (trace.moved[0][-1][trace.asked > 0] > 1).all()
    table = dict(gl.labs.tpu_embedding_run(**trace.settings).description.table)
    assert table["rows that have moved"].startswith(f"{(trace.asked > 0).sum()} of 16 words")
