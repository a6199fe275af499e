"""The lab of one step: its presets tell what they are named for, a clicked row is explained,
targets can be reached.
"""

import numpy as np
import pytest

import gradlab as gl
from gradlab.labs._tpu_embedding.lab import _shown
from gradlab.labs._tpu_embedding.row_story import FORMULAS, Moved


def shown(**params: object) -> Moved:
    lab = gl.labs.tpu_embedding(**params)
    return lab.compute(lab.params)


def preset(name: str) -> Moved:
    return shown(**gl.labs.tpu_embedding().presets[name])


@pytest.mark.exhaustive
def test_presets_show_what_their_names_say() -> None:
    assert preset("A popular id").wanted >= 7
    doubled = preset("Mean counts duplicates").lookups
    sample = doubled.samples == 4
    assert doubled.unique[doubled.inverse[sample]].tolist() == [14, 14, 5]
    np.testing.assert_allclose(doubled.weights[sample], 1 / 3)
    padding = preset("A padding sample")
    assert not padding.run.trace.activations[0][0, 7].any() and 7 not in padding.lookups.samples
    assert [one.sample for one in preset("An id out of range").why.contributions] == [7]
    zero = preset("FTRL and a zero gradient")
    assert not zero.total.any()
    assert zero.why.weights_before.all()
    assert not zero.why.weights_after.any()


def test_a_clicked_row_is_explained_and_the_selection_follows_the_slider() -> None:
    lab = gl.labs.tpu_embedding()
    lab.live.selected = 5
    assert lab.params["row"] == 5 and "row 5" in lab.description.summary.lower()
    lab.live.row = 7
    assert lab.live.selected == 7
    lab.live.selected = None
    assert lab.params["row"] == 7


@pytest.mark.exhaustive
def test_rows_can_be_pointed_at_in_the_table_and_among_those_fetched() -> None:
    lab = gl.labs.tpu_embedding(rule="adam")
    items = lab.live.description.items
    assert items is not None and len(items) == 24
    assert list(items.values) == [
        "weight 0",
        "weight 1",
        "weight 2",
        "weight 3",
        "m, mean",
        "v, mean",
    ]


def test_the_deduplication_data_are_in_the_table() -> None:
    table = dict(gl.labs.tpu_embedding().description.table)
    found = shown().lookups
    assert table["unique, uint32"] == ", ".join(map(str, found.unique))
    assert len(table["inverse, uint32"].split(", ")) == int(table["lookups"]) == 16
    assert table["weights, float32"].startswith("0.5, 0.5, 1, 0.333")


def test_without_accumulation_rows_are_fetched_as_they_come() -> None:
    found = shown(accumulate=False).lookups
    assert found.inverse.tolist() == list(range(16)) and len(found.unique) == 16


def test_a_refusal_is_said_in_words() -> None:
    words = gl.labs.tpu_embedding(last="raise").description
    assert words.summary == "The batch is refused: row 0 is not looked up, and no row moves."
    assert "id 30 of feature id, sample 7" in words.alt and dict(words.table)["refused"].startswith(
        "id 30"
    )


@pytest.mark.parametrize(
    ("target", "reached", "missed"),
    [
        (
            "moved_by_nothing",
            {"rule": "adam", "zipf": 0.0, "last": "zero", "step": 2, "row": 2},
            {"decay": "before"},
        ),
        (
            "moved_by_nothing",
            {"rule": "adam", "zipf": 0.0, "last": "zero", "step": 2, "row": 2},
            {"step": 1},
        ),
        (
            "farther_alone",
            {"rule": "adam", "zipf": 0.0, "accumulate": False, "row": 2, "duplicates": 0.0},
            {"row": 19},
        ),
    ],
)
def test_targets_can_be_reached_and_missed(
    target: str, reached: dict[str, object], missed: dict[str, object]
) -> None:
    lab = gl.labs.tpu_embedding(target=target)
    assert lab.description.goal.endswith("not yet.")
    lab.set(**reached)
    assert lab.description.goal.endswith("reached.")
    lab.set(**missed)
    assert lab.description.goal.endswith("not yet.")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"row": 9}, "Row 9 is named by no id and stays as it is."),
        ({}, "Row 0 is named 4 times, fetched once, and moves by the sum of 3 samples' gradients."),
        ({"row": 11}, "Row 11 is named once, fetched once, and moves by one sample's gradient."),
        (
            {"accumulate": False},
            "Row 0 is named and fetched 4 times, and moves by 4 updates, one for each.",
        ),
        (
            {"accumulate": False, "row": 11},
            "Row 11 is named and fetched once, and moves by one update.",
        ),
        (
            {"last": "zero", "row": 8, "rule": "sgd", "zipf": 0.5},
            "Row 8 is named by no id and stays as it is.",
        ),
    ],
)
def test_the_sentence_tells_of_the_row(params: dict[str, object], said: str) -> None:
    assert gl.labs.tpu_embedding(**params).description.summary == said


def test_the_sentence_says_when_gradients_sum_to_nothing() -> None:
    adam = {"rule": "adam", "zipf": 0.0, "last": "zero", "step": 2, "row": 2}
    moves, stays = (
        gl.labs.tpu_embedding(**(adam | {"rule": rule})).description.summary
        for rule in ("adam", "sgd")
    )
    assert moves.endswith("and moves, though its gradients sum to 0.")
    assert stays.endswith("and stays as it is, because its gradients sum to 0.")


@pytest.mark.parametrize("rule", FORMULAS)
def test_a_formula_beside_the_row_is_what_happened(rule: str) -> None:
    trace = shown(rule=rule, step=3, row=0)
    step, rate = _shown(trace), trace.settings["learning_rate"]
    _, was, memory = step.memory or ("", None, None)
    terms = {
        "− rate × sum": lambda: -rate * step.total, "− rate × memory": lambda: -rate * memory,
        "÷ √memory": lambda: 1 / np.sqrt(memory), "÷ √memory before": lambda: 1 / np.sqrt(was),
    }  # fmt: skip
    expected = np.prod([terms[line]() for line in step.rule], axis=0)
    np.testing.assert_allclose(step.after - step.before, expected, 1e-4)


def test_without_a_formula_the_rule_is_named() -> None:
    assert _shown(shown(rule="adam")).rule == ["Adam, as tables", "have it"]
    assert _shown(shown(clip="sum", decay="after")).rule == [
        "Adagrad",
        "with clipping",
        "and decay",
    ]
