"""The lab of two engines: buffers are those of the library, sums make both move rows alike."""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._one_table import SAMPLES, asked
from gradlab.labs._tpu_engines.lab import CORES, Compared


def shown(**params: object) -> Compared:
    lab = gl.labs.tpu_engines(**params)
    return lab.compute(lab.params)


def preset(name: str) -> Compared:
    return shown(**gl.labs.tpu_engines().presets[name])


@pytest.mark.parametrize("rule", ["sgd", "adagrad", "adagrad_momentum", "adam", "ftrl"])
def test_both_engines_move_rows_alike(rule: str) -> None:
    moved = shown(rule=rule, zipf=1.5, limit=8).shown.moved
    np.testing.assert_allclose(moved[0], moved[1], rtol=1e-4, atol=1e-6)


def test_the_buffers_are_those_that_the_library_fills() -> None:
    batch = asked(0, 1.0, 0.3, "ordinary")
    table = gl.tpu.Table("t", 24, 4, combiner="mean")
    plan = gl.tpu.Plan((table,), (gl.tpu.Feature("id", 0, (SAMPLES,)),))
    ids = {"id": gl.tpu.Ids(batch.sample, batch.id, batch.weight)}
    buffers = gl.tpu.sparsecore.preprocess(plan, ids, per_core=CORES).buffers["t"]
    e = shown(limit=8).shown
    for core in range(CORES):
        half = np.split(buffers.embedding_ids[0], CORES)[core]
        mine = e.core == core
        np.testing.assert_array_equal(half[e.place[mine]], e.local[mine])
        np.testing.assert_array_equal(
            np.split(buffers.gains[0], CORES)[core][e.place[mine]], e.gain[mine]
        )
        np.testing.assert_array_equal(
            buffers.row_pointers[0].reshape(CORES, -1)[core, :CORES], e.ends[core]
        )
        assert mine.sum() + (e.padded[:, 0] == core).sum() == (
            half.size if e.ends[core, 1] > 8 else 8
        )


def test_repeated_ids_of_a_sample_are_one_lookup_of_a_sparsecore() -> None:
    assert (
        shown(duplicates=1.0, limit=8).lookups
        < shown(duplicates=0.0, limit=8).lookups
        <= len(shown().shown.inverse)
        == 16
    )


def test_samples_that_get_less_have_fewer_lookups_or_smaller_gains() -> None:
    lossy = shown(limit=2)
    e, half = lossy.shown, SAMPLES // CORES
    got = np.bincount(e.core * half + e.of, e.gain, SAMPLES)
    assert (
        lossy.short == tuple(np.flatnonzero(got < np.bincount(e.samples, e.weights) - 1e-5))
        and lossy.short
    )
    assert shown(limit=2, beyond="split").short == shown(limit=8).short == ()


def test_presets_show_what_their_names_say() -> None:
    np.testing.assert_allclose(*preset("Two ways, one answer").shown.moved[:2], rtol=1e-5)
    apart = preset("Accumulation off").shown.moved
    assert apart[2, 0] > 1.5 * apart[0, 0]
    lossy, split, refused = (
        preset(name) for name in ("Ids are dropped", "Split, and exact", "Refused")
    )
    assert lossy.dropped > 0 and np.abs(lossy.shown.moved[0] - lossy.shown.moved[1]).max() > 0.05
    assert split.minibatches > 1 and split.dropped == 0
    np.testing.assert_allclose(*split.shown.moved[:2], rtol=1e-5)
    assert "the limit is 2" in refused.refused and np.isnan(refused.shown.moved[1]).all()


def test_words_say_what_was_lost_and_what_was_refused() -> None:
    lab = gl.labs.tpu_engines(limit=2, row=0)
    lossy, trace = lab.description, lab.compute(lab.params)
    assert lossy.summary == "8 lookups are dropped: row 8 moves by 0 instead of 0.401."
    classic, sparse, _ = trace.shown.moved
    assert np.abs(classic - sparse).argmax() == 8 and sparse[8] == 0, (
        "the row that moves most otherwise"
    )
    assert "8 dropped (from samples 2, 3, 4, 6, 7)." in lossy.alt
    table = dict(lossy.table)
    assert [table[f"row 0 {how}"] for how in ("by SparseCores", "without accumulation")] == [
        "0.502",
        "0.98",
    ]
    assert table["samples that get less"] == "2, 3, 4, 6, 7"
    refused = gl.labs.tpu_engines(limit=2, beyond="refuse").description
    assert refused.summary == "A partition may get 2 lookups: the SparseCores refuse the batch."
    assert dict(refused.table)["refused"].startswith("SparseCore ")
    assert dict(gl.labs.tpu_engines().description.table)["minibatches"] == "1"
    room = gl.labs.tpu_engines(limit=8).description
    assert room.summary == "All lookups have room in the buffers, and every row moves alike."


@pytest.mark.parametrize("limit", [1, 2, 4, 8])
def test_what_is_dropped_is_what_no_buffer_holds(limit: int) -> None:
    trace = shown(limit=limit)
    e, half = trace.shown, SAMPLES // CORES
    held = set(zip((e.core * half + e.of).tolist(), e.owner.tolist(), strict=True))
    asked_for = list(zip(e.samples.tolist(), e.unique[e.inverse].tolist(), strict=True))
    assert e.lost.tolist() == [one not in held for one in asked_for]
    assert e.lost.sum() == trace.dropped and set(e.samples[e.lost].tolist()) == set(trace.short)
    assert not shown(limit=limit, beyond="split").shown.lost.any()


def test_a_clicked_row_is_marked_and_the_selection_follows_the_slider() -> None:
    lab = gl.labs.tpu_engines()
    lab.live.selected = 4
    assert lab.params["row"] == 4
    lab.live.row = 9
    assert lab.live.selected == 9


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        ("dropped", {"duplicates": 0.0, "limit": 5}, {"beyond": "split"}),
        ("four", {"duplicates": 0.0, "limit": 3, "beyond": "split"}, {"limit": 5}),
    ],
)
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, object], missed: dict[str, object]
) -> None:
    lab = gl.labs.tpu_engines(target=target)
    lab.set(**reached)
    assert lab.description.goal.endswith("reached.")
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")
