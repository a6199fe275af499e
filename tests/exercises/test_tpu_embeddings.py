"""Right answers are right, wrong ones get the hint that names the mistake; what the answers claim
is so.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gradlab.tpu as tpu
from gradlab.exercises import check
from gradlab.exercises.tpu_embeddings import Distinct
from gradlab.rules import Adam, Ftrl, Momentum, Rule


def plan(rows: int, samples: int, rule: Rule | None = None, **table: Any) -> tpu.Plan:
    made = tpu.Table("t", rows, table.pop("width", 1), rule or Momentum(0.5), **table)
    return tpu.Plan((made,), (tpu.Feature("f", 0, (samples,)),))


def pooled(table: np.ndarray, samples: np.ndarray, ids: np.ndarray, count: int) -> Any:
    of = plan(len(table), count, width=table.shape[1])
    return tpu.lookup(tpu.create(of, [table]), tpu.make_batch(of, {"f": tpu.Ids(samples, ids)}))[0][
        0
    ]


def row_gradient(samples: np.ndarray, ids: np.ndarray, gradients: np.ndarray, rows: int) -> Any:
    of = plan(rows, len(gradients))
    batch = tpu.make_batch(of, {"f": tpu.Ids(samples, ids)})

    def loss(w: Any) -> Any:
        return (tpu.lookup(tpu.create(of, [w]), batch)[0][0][:, 0] * gradients).sum()

    return jax.grad(loss)(jnp.zeros((rows, 1)))[:, 0]


def rate(lr: float, beta1: float, beta2: float, step: int) -> float:
    """What turns the step of Adam without a correction into that of Adam with one, from the rules
    themselves.
    """
    with_correction = Adam(beta1, beta2, 0.0)
    shared = with_correction.start()
    for _ in range(step - 1):
        shared = with_correction.advance(shared)
    slots, g = (np.zeros(1), np.zeros(1)), np.ones(1)
    corrected = with_correction.at(shared)(np.zeros(1), slots, g, lr)[0]
    plain = Adam(beta1, beta2, 0.0, bias_correction=False)(np.zeros(1), slots, g, 1.0)[0]
    return float((corrected / plain)[0])


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("tpu_embeddings.twice", "b"),
        ("tpu_embeddings.zero", "B"),
        ("tpu_embeddings.ftrl", "b"),
        ("tpu_embeddings.pooled", pooled),
        ("tpu_embeddings.row_gradient", row_gradient),
        ("tpu_embeddings.rate", rate),
    ],
)
def test_right_answers_and_what_the_tables_themselves_say(name: str, answer: Any) -> None:
    assert check(name, answer).right, check(name, answer)


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("tpu_embeddings.twice", "a", "also counted once"),
        ("tpu_embeddings.zero", "a", "Which rows does the rule run for"),
        ("tpu_embeddings.ftrl", None, "Write your guess first"),
        (
            "tpu_embeddings.pooled",
            lambda table, samples, ids, count: np.ones((count, 2)),
            "For every sample",
        ),
        (
            "tpu_embeddings.row_gradient",
            lambda samples, ids, g, rows: np.ones(rows),
            "For every lookup",
        ),
        ("tpu_embeddings.rate", lambda lr, beta1, beta2, step: 2 * lr, "put both into the rate"),
        ("tpu_embeddings.rate", None, "Pass the function itself"),
    ],
)
def test_wrong_answers_get_their_hint(name: str, answer: Any, hint: str) -> None:
    feedback = check(name, answer)
    assert not feedback
    assert hint in feedback.text, feedback


def test_a_row_that_is_named_twice_is_fetched_once_and_counted_twice() -> None:
    batch = tpu.make_batch(plan(8, 1), {"f": tpu.Ids([0, 0, 0], [7, 3, 7])}).tables[0]
    assert batch.unique[:2].tolist() == [3, 7]
    np.testing.assert_allclose(batch.weights[batch.inverse == 1].sum(), 2 / 3)


def test_a_named_row_moves_by_a_sum_of_0_and_another_stands_still() -> None:
    of = plan(2, 2, combiner="sum", learning_rate=1.0)
    state = tpu.create(of, [jnp.zeros((2, 1))], [(jnp.ones((2, 1)),)])
    _, dedup = tpu.lookup(state, tpu.make_batch(of, {"f": tpu.Ids([0, 1], [0, 0])}))
    after = tpu.update(state, [jnp.array([[3.0], [-3.0]])], [], dedup)
    assert after.tables[0].ravel().tolist() == [-0.5, 0.0]
    assert after.slots[0][0].ravel().tolist() == [0.5, 1.0]


def test_ftrl_keeps_none_of_a_weight_after_a_gradient_of_0_and_70_percent_of_it_after_1() -> None:
    feedback = check("tpu_embeddings.ftrl", "b").text
    assert "A gradient of 1 would keep 70%" in feedback
    rule = Ftrl()
    w = np.float32([0.5])
    after_zero, _ = rule(w, rule.init(w), np.float32([0]), 0.1)
    assert after_zero.tolist() == [0.0]
    start = np.float32([0])
    after_one, _ = rule(w, rule.init(w), np.float32([1]), 0.1)
    from_0, _ = rule(start, rule.init(start), np.float32([1]), 0.1)
    assert ((after_one - from_0) / w).round(2).tolist() == pytest.approx([0.7])


AT = np.array(Distinct.at)
TRUTH = Distinct().truth(AT)


def test_the_share_of_different_words_falls() -> None:
    assert (np.diff(TRUTH) < 0).all()
    assert TRUTH[0] >= 80
    assert 25 < TRUTH[2] < 40
    assert TRUTH[-1] < 10


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ([10, 20, 30, 40, 50], "the share falls"),
        ([100, 95, 90, 80, 60], "falls much further"),
        ([100, 50, 5, 2, 1], "new ones keep coming"),
        ([90, 60, 30, 18, 6], "the more that saves"),
    ],
)
def test_what_is_said_depends_on_the_guess(guess: list[float], said: str) -> None:
    assert said in Distinct().said(np.array(guess, float), TRUTH)
