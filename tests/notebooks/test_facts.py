"""Sentences of the notebooks that state a number: the number, computed from what ships."""

import itertools
import re
from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
import pytest

import gradlab as gl
from gradlab._base.paired import paired_difference, which_hold
from gradlab.models import asynchrony, claims
from gradlab.models.logistic_regression import logistic_regression
from gradlab.models.word_topics import TOPICS
from gradlab.record.analysis import held_back
from gradlab.workers import policy_study, spare_workers, studies
from gradlab.workers.problems import shipped as lines_of_the_reader
from gradlab.workers.simulated import decide
from tests.notebooks import save
from tests.notebooks.test_course import cells


def says(notebook: str, *sentences: str) -> None:
    """The prose holds these words, whatever its line breaks: a sentence and the test of its number
    change together.
    """
    (path,) = save.FOLDER.glob(f"{notebook}*.ipynb")
    text = " ".join("\n".join(cells(path, "markdown")).split())
    missing = [sentence for sentence in sentences if sentence not in text]
    assert not missing, missing


def lines_with(word: str) -> int:
    train, words = lines_of_the_reader().train, gl.workers.Reader().words
    of_line = np.repeat(np.arange(len(train.topics)), np.diff(train.starts))
    return len(np.unique(of_line[train.words == words.index(word)]))


def test_how_often_words_occur() -> None:
    says("03", 'meets "the" in 40% of its 4,098 training lines, and "lambda" in five of them')
    count = len(lines_of_the_reader().train.topics)
    assert count == 4_098
    assert round(lines_with("the") / count, 2) == 0.40
    assert lines_with("lambda") == 5


def test_the_reader_before_training() -> None:
    says(
        "00",
        "a row of eight numbers for each of 867 words",
        "names the first topic every time. About one line in five",
    )
    reader = gl.workers.Reader()
    start = reader.start()
    assert start["words"].shape == (867, 8) and start["bias"].shape == (8,)
    assert reader.accuracy(start) == pytest.approx(
        np.mean(lines_of_the_reader().held_out.topics == 0)
    )
    assert reader.accuracy(start) == pytest.approx(1 / 5, abs=0.02)


def test_how_the_run_without_a_limit_goes_wrong() -> None:
    says(
        "02",
        "at learning rate 0.4 and with momentum 0.9, the loss falls for ten steps, from 4.6 to 3.4",
        "Then come gradients whose norm is three to eight times as large, and 100 steps later the "
        "loss is above 40",
        "one gradient is more than 10,000 times as large as the median",
        "The explosion near step 250 isn't where the run went wrong",
    )
    assert (gl.models.char_rnn.ONE_RATE, gl.models.char_rnn.MOMENTUM) == (0.4, 0.9)
    run = gl.models.char_rnn.shipped()[None]
    loss, norm = run.every_step("loss"), run.every_step("global_norm")
    assert loss.argmin() == 10 and [round(float(x), 1) for x in loss[[0, 10]]] == [4.6, 3.4]
    before = np.median(norm[:11])
    spikes = norm[11:30][norm[11:30] > 3 * before] / before
    assert len(spikes) >= 3 and spikes.min() > 3 and 8 < spikes.max() < 8.5
    assert np.median(loss[105:130]) > 40  # a curve of medians is drawn
    assert norm.max() > 10_000 * np.median(norm) and 245 < norm.argmax() < 265
    assert loss[norm.argmax()] > 20  # long after the loss left the others


def test_single_runs_mislead_about_limits() -> None:
    says("02", "limit 1 ends at a loss of 2.1 to 2.2 with nine seeds, and at 3.5 with a tenth")
    *nine, tenth = sorted(gl.models.char_rnn.sweep_losses(1.0)[0.4])
    assert round(nine[0], 1) == 2.1 and round(nine[-1], 1) == 2.2 and round(tenth, 1) == 3.5


def test_the_norms_of_the_readers_gradients() -> None:
    says("02", "the norm of its gradient stays between 0.37 and 0.82")
    reader = gl.workers.Reader()
    rng = np.random.default_rng(0)  # the loop of the first notebook
    weights = reader.start()
    norms = []
    for _ in range(300):
        gradient = reader.gradient(weights, rng)
        norms.append(float(gl.global_norm(list(gradient.values()))))
        weights = {name: w - gradient[name] for name, w in weights.items()}
    assert (f"{min(norms):.2f}", f"{max(norms):.2f}") == ("0.37", "0.82")


def test_what_the_sweep_and_ten_fresh_runs_say_of_limits() -> None:
    says(
        "02",
        "The sweep chose rate 0.14 without a limit, 0.28 with limits 3 and 1, 0.8 with limit 0.3, "
        "and 3.2 with limit 0.1.",
        "With the larger rates, limits 1, 0.3 and 0.1 end lower than no limit.",
        "With a limit of 1 or less, a rate as large as this one can be used.",
    )
    char_rnn = gl.models.char_rnn
    tuned = char_rnn.TUNED
    assert {limit: char_rnn.best_rate(limit) for limit in char_rnn.LIMITS} == tuned
    assert tuned == {None: 0.14, 3.0: 0.28, 1.0: 0.28, 0.3: 0.8, 0.1: 3.2}
    for rates in (tuned, dict.fromkeys(char_rnn.LIMITS, char_rnn.ONE_RATE)):
        final = {limit: char_rnn.final_losses(limit, rate) for limit, rate in rates.items()}
        below = [paired_difference(final[limit], final[None]) for limit in (1.0, 0.3, 0.1)]
        assert all(which_hold(below)) and all(difference.mean < 0 for difference in below)
    assert "limit 3 (3.58 ± 0.29) can't be told apart from no limit" in claims.sentence(
        "clip.same_rate"
    )


def test_how_many_runs_are_spoiled() -> None:
    says(
        "02",
        "At rate 0.4, nine of ten fresh runs without a limit end above a loss of 3. "
        "With limit 1, one of 20 does, the ten of the sweep included.",
        "none of the 20 runs with limit 1, nor with 0.3 or 0.1, ends above 2.22",
        "The worst of ten fresh runs ends at 3.00 without a limit, and at 2.65 with limit 3.",
    )
    char_rnn = gl.models.char_rnn
    with_limit = [*char_rnn.final_losses(1.0, 0.4), *char_rnn.sweep_losses(1.0)[0.4]]
    assert (char_rnn.final_losses(None, 0.4) > 3).sum() == 9
    assert len(with_limit) == 20 and (np.array(with_limit) > 3).sum() == 1
    glance = " ".join(str(gl.labs.clipping.__doc__).split())
    assert (
        "nine of ten runs without a limit end above a loss of 3; with limit 1, one of 20 does."
        in glance
    )
    for limit in (1.0, 0.3, 0.1):
        rate = char_rnn.TUNED[limit]
        losses = [*char_rnn.final_losses(limit, rate), *char_rnn.sweep_losses(limit)[rate]]
        assert len(losses) == 20 and max(losses) < 2.22
    assert f"{char_rnn.final_losses(None, char_rnn.TUNED[None]).max():.2f}" == "3.00"
    assert f"{char_rnn.final_losses(3.0, char_rnn.TUNED[3.0]).max():.2f}" == "2.65"


def test_limits_that_fire_on_every_step_set_its_length_together_with_the_rate() -> None:
    says(
        "02",
        "Multiply rate and limit for the limits 0.1 and 0.3, which fire on every step.",
        "Limits 0.1 and 0.3 fire on every step, so each clipped gradient has the norm of the "
        "limit. Rate times limit, 0.32 and 0.24,",
    )
    for limit, length in ((0.1, 0.32), (0.3, 0.24)):
        assert gl.models.char_rnn.tuned()[limit].what_if(clip_global_norm=limit).fraction_fired == 1
        assert round(limit * gl.models.char_rnn.TUNED[limit], 2) == length


def test_how_often_a_limit_fires_does_not_say_how_good_it_is() -> None:
    says(
        "02",
        "limits 0.1 and 0.3 fire on all steps and end at 2.08, and limit 1 fires on 6% and ends "
        "higher, at 2.13.",
        "limits 0.1 and 0.3 fire on at least 98% of the steps and end at 2.51 and 2.19, "
        "and limit 1 fires on 10% and ends at 2.08.",
        "Limit 3 fires on 0.3% at its rate",
    )
    char_rnn = gl.models.char_rnn
    limits = (0.1, 0.3, 1.0, 3.0)
    own = {
        limit: char_rnn.tuned()[limit].what_if(clip_global_norm=limit).fraction_fired
        for limit in limits
    }
    same = {
        limit: char_rnn.shipped()[limit].what_if(clip_global_norm=limit).fraction_fired
        for limit in limits
    }
    assert [f"{own[limit]:.1%}" for limit in limits] == ["100.0%", "100.0%", "6.0%", "0.3%"]
    assert min(same[0.1], same[0.3]) > 0.98 and f"{same[1.0]:.0%}" == "10%"

    tuned = {limit: char_rnn.final_losses(limit, char_rnn.TUNED[limit]) for limit in limits}
    at_one_rate = {limit: char_rnn.final_losses(limit, 0.4) for limit in limits}
    assert [f"{tuned[limit].mean():.2f}" for limit in (0.1, 0.3, 1.0)] == ["2.08", "2.08", "2.13"]
    assert [f"{at_one_rate[limit].mean():.2f}" for limit in (0.1, 0.3, 1.0)] == [
        "2.51",
        "2.19",
        "2.08",
    ]
    differences = [paired_difference(tuned[1.0], tuned[limit]) for limit in (0.1, 0.3)]
    assert all(which_hold(differences)) and all(difference.mean > 0 for difference in differences)
    differences = [paired_difference(at_one_rate[1.0], at_one_rate[limit]) for limit in (0.1, 0.3)]
    assert all(which_hold(differences)) and all(difference.mean < 0 for difference in differences)


def _steps(rule: gl.rules.Rule, grads: np.ndarray) -> np.ndarray:
    """Return the steps that a rule takes on some gradients, one a row."""
    weights = np.zeros(grads.shape[1])
    shared = rule.start()
    slots = rule.init(weights)
    steps = []
    for g in grads:
        before = weights
        weights, slots = rule.at(shared)(weights, slots, g, 0.01)
        shared = rule.advance(shared)
        steps.append(weights - before)
    return np.array(steps)


def _step_under_a_limit(rule: gl.rules.Rule, size: float = 1.0, steps: int = 300) -> float:
    """Return how much of a rule's median step is left under a limit of 1% of the median norm."""
    rng = np.random.default_rng(0)
    grads = size * rng.standard_normal((steps, 64)) * rng.lognormal(0, 0.5, (steps, 1))
    norms = np.linalg.norm(grads, axis=1, keepdims=True)
    clipped = grads * np.minimum(1, 0.01 * np.median(norms) / norms)
    lengths = [
        np.median(np.linalg.norm(_steps(rule, some), axis=1)[100:]) for some in (clipped, grads)
    ]
    return float(lengths[0] / lengths[1])


def test_what_a_limit_that_always_fires_leaves_of_the_steps_of_each_rule() -> None:
    says(
        "02",
        "at 1% of the median norm, 1% of their step is left",
        "RMSProp and Adam divide by the size of their own past gradients, and Lion takes signs: "
        "all of their step is left.",
        "Adagrad keeps anything from 1% of its step, where gradients are small beside its initial "
        "accumulator, to all of it, where they are large or the run is long.",
    )
    rules = gl.rules
    for rule in (rules.StochasticGradientDescent(), rules.Momentum()):
        assert f"{_step_under_a_limit(rule):.0%}" == "1%"
    for rule in (rules.RMSProp(), rules.Adam(), rules.Lion()):
        assert _step_under_a_limit(rule) == pytest.approx(1.0, abs=0.2)
    adagrad = rules.Adagrad()
    assert f"{_step_under_a_limit(adagrad, size=0.01):.0%}" == "1%"
    assert _step_under_a_limit(adagrad, size=10.0) > 0.9
    assert _step_under_a_limit(adagrad, steps=3000) > 0.9


def test_one_large_gradient_stays_in_the_memory_of_an_optimizer() -> None:
    says(
        "02",
        "A gradient 1,000 times the usual makes Adam's mean of squares 1,001 times as large, "
        "which shortens the steps long after it. In Lion it holds the direction of later steps.",
    )
    beta2 = gl.rules.Adam().beta2
    assert round(beta2 * 1.0 + (1 - beta2) * 1000.0**2) == 1001

    usual = np.random.default_rng(1).standard_normal((200, 64))
    spiked = usual.copy()
    spiked[100] *= 1000
    lengths = [np.linalg.norm(_steps(gl.rules.Adam(), grads)[190]) for grads in (spiked, usual)]
    assert lengths[0] < 0.1 * lengths[1]
    for grads, is_held in ((spiked, True), (usual, False)):
        directions = np.sign(_steps(gl.rules.Lion(), grads))
        same = (directions[101:191] == directions[100]).mean()
        assert (same > 0.95) if is_held else (same < 0.7)


def test_the_bias_is_part_of_the_readers_sums() -> None:
    says(
        "00",
        "it adds up the rows of its words and the bias; the topic with the "
        "largest sum is the one it names",
    )
    reader = gl.workers.Reader()
    weights = reader.start()
    weights["bias"][3] = 1.0
    chances = reader.read("break", weights)
    assert max(chances, key=chances.__getitem__) == list(TOPICS.values())[3]


def test_what_the_reader_has_met_when_its_accuracy_is_predicted() -> None:
    reader = gl.workers.Reader()
    rng = np.random.default_rng(0)  # as in the notebook's loop
    weights = reader.start()
    for _ in range(16):
        gradient = reader.gradient(weights, rng)
        weights = {name: w - gradient[name] for name, w in weights.items()}
    unseen = ~(weights["words"] != 0).any(axis=1)
    assert (unseen.sum(), unseen.size) == (360, 867)


@pytest.mark.tensorflow
def test_where_tensorflow_has_minimize() -> None:
    says(
        "00",
        "TensorFlow 1, today `tf.compat.v1`, writes one pass through this loop as "
        "`optimizer.minimize(loss)`",
    )
    says("01", "In TensorFlow 1, today `tf.compat.v1.train`, you call `minimize`")
    import tensorflow as tf

    assert hasattr(tf.compat.v1.train.GradientDescentOptimizer, "minimize")
    assert not hasattr(tf.keras.optimizers.SGD, "minimize")


def test_what_16_bits_can_hold() -> None:
    says(
        "07",
        "bfloat16, which has the range of float32 and needs no loss scale, "
        "or in float16, whose largest number is 65,504",
    )
    assert float(jnp.finfo(jnp.float16).max) == 65_504
    assert jnp.finfo(jnp.bfloat16).minexp == jnp.finfo(jnp.float32).minexp
    assert jnp.finfo(jnp.bfloat16).maxexp == jnp.finfo(jnp.float32).maxexp


def test_how_closely_sparsecores_formulas_are_reproduced() -> None:
    says("06", "gradlab reproduces them within 1 unit in the last place.")
    page = (save.FOLDER / "site/guide/proof.md").read_text("utf-8")
    (worst,) = re.findall(
        r"^\| SparseCore \| \d+ \| \d+ \| [\d.]+% \| ([\d.]+) \|", page, flags=re.MULTILINE
    )
    assert float(worst) <= 1


def test_which_parts_of_optax_accept_none() -> None:
    says(
        "01",
        "`sgd` and `clip_by_global_norm` pass `None` on, "
        "while `adam`, `adagrad`, and `apply_updates` fail if the weight is an array.",
    )
    params = {"a": jnp.ones(2), "b": jnp.ones(2)}
    gradients = {"a": jnp.ones(2), "b": None}
    for transformation in (optax.sgd(0.1), optax.clip_by_global_norm(1.0)):
        updates, _ = transformation.update(gradients, transformation.init(params), params)
        assert updates["b"] is None
        with pytest.raises(TypeError):
            optax.apply_updates(params, updates)
    for transformation in (optax.adam(0.1), optax.adagrad(0.1)):
        with pytest.raises(ValueError, match="different types at key path"):
            transformation.update(gradients, transformation.init(params), params)


def test_the_unit_of_the_texture() -> None:
    says(
        "03",
        "a unit 4.5 times as small as in standard units, which makes the loss 20 times as curved "
        "along its weight",
    )
    finer, standard = logistic_regression(20.0), logistic_regression(1.0)
    step = np.array([0.0, 1e-5])
    curvatures = [
        (loss.gradient(step)[1] - loss.gradient(-step)[1]) / 2e-5 for loss in (finer, standard)
    ]
    assert round(curvatures[0] / curvatures[1], 3) == 20
    assert round(standard.minima[0][1] / finer.minima[0][1], 1) == 4.5
    says("03", "One of them falls to a quarter of its first value.")
    lab = gl.labs.adagrad(
        surface="tumors", condition=20.0, learning_rate=0.6, descent_rate=0.1, step=60
    )
    rates = lab.compute(lab.params).rates.effective
    assert sorted((rates[60] / rates[1]).round(2)) == [0.24, 0.68]


def test_at_a_tuned_rate_adagrad_ends_below_descent_at_any_rate_on_the_tumors() -> None:
    says(
        "03",
        "At rate 0.6 Adagrad's rates fall before it arrives.",
        "Raise its rate to 3, then try any rate of gradient descent",
    )
    lab = gl.labs.adagrad(
        surface="tumors", condition=20.0, learning_rate=0.6, descent_rate=0.1, step=60
    )
    untuned = lab.compute(lab.params).adagrad.above[-1]
    lab.set(learning_rate=3.0)
    tuned = lab.compute(lab.params).adagrad.above[-1]
    (descent_rate,) = (control for control in lab.controls if control.name == "descent_rate")
    rates = [*descent_rate.values()[::10], 1.0]
    descent = [
        lab.compute({**lab.params, "descent_rate": rate}).descent.above[-1] for rate in rates
    ]
    assert tuned < np.nanmin(descent) / 100
    assert np.nanmin(descent) < untuned / 5


@pytest.mark.exhaustive
def test_what_one_update_late_costs_depends_on_the_rate() -> None:
    says(
        "06",
        "What does that cost at this rate? Halve the rate of the words, "
        "under *More*, and look again.",
    )
    lab = gl.labs.tpu_embedding_run()
    lab.set(**lab.presets["One update late"])
    assert (
        "the loss of words is 264,106 after 30 steps; on time, 0.0433." in lab.description.summary
    )
    lab.set(rate_words=lab.params["rate_words"] / 2)
    assert "the loss of words is 0.405 after 30 steps; on time, 0.37." in lab.description.summary


@pytest.mark.tensorflow
def test_in_how_many_sessions_a_product_races() -> None:
    says(
        "01",
        "In TensorFlow 2.21, with resource variables, `a` was wrong in 60 of 60 sessions of an "
        "idle machine, with one thread and with four, and in 36 to 59 of a busy one; with the "
        "older reference variables, in 0 of 60. With either gate: 0 of 60.",
    )
    # Without a gate nothing orders reads and updates, so a busy machine runs some sessions the
    # other way around.
    assert sessions_gone_wrong("GATE_NONE", use_resource=True, threads=1) > 0
    assert sessions_gone_wrong("GATE_NONE", use_resource=True, threads=4) > 0
    assert sessions_gone_wrong("GATE_NONE", use_resource=False, threads=4) <= 10
    for gate in ("GATE_OP", "GATE_GRAPH"):
        assert sessions_gone_wrong(gate, use_resource=True, threads=4) == 0


def sessions_gone_wrong(gate: str, *, use_resource: bool, threads: int) -> int:
    """Return after how many of 60 sessions of TensorFlow, each with one step, `a` is wrong."""
    import tensorflow as tf

    v1 = tf.compat.v1
    start_a, start_b = np.float32([[1, 2], [3, 4]]), np.float32([[5, 6], [7, 8]])
    right = start_a - 0.1 * start_b.sum(axis=1)
    config = v1.ConfigProto(
        intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
    )
    wrong = 0
    with tf.Graph().as_default():
        a = v1.Variable(start_a, use_resource=use_resource)
        b = v1.Variable(start_b, use_resource=use_resource)
        optimizer = v1.train.GradientDescentOptimizer(0.1)
        loss = tf.reduce_sum(a @ b)
        step = optimizer.minimize(loss, var_list=[a, b], gate_gradients=getattr(optimizer, gate))
        initializer = v1.global_variables_initializer()
        for _ in range(60):
            with v1.Session(config=config) as session:
                session.run(initializer)
                session.run(step)
                wrong += not np.allclose(session.run(a), right)
    return wrong


def test_what_a_large_initial_accumulator_does_to_rare_and_frequent_words() -> None:
    says(
        "03",
        "With the large initial accumulator, 6.31, the squares of a rare word hardly count at this batch size "
        '(the loss is a mean over 16 lines): "lambda" ends at 6.76, and '
        "its rate has fallen by 3%.",
        "after 16 steps its accumulator has grown by more than 20.",
        '"lambda" has 6.3 times the rate of "the" instead of 20 times.',
    )
    lab = gl.labs.word_rates()
    assert gl.workers.Reader().draw(np.random.default_rng(0)).topics.shape == (16,)
    lamb, the = (gl.workers.Reader().words.index(word) for word in ("lambda", "the"))
    usual = lab.compute(lab.params).training
    lab.set(**lab.presets["Large accumulator"])
    large = lab.compute(lab.params).training
    assert round(float(large.accumulator[0, lamb]), 2) == 6.31
    assert round(float(large.accumulator[-1, lamb]), 2) == 6.76
    assert round(float(large.rate[-1, lamb] / large.rate[0, lamb]), 2) == 0.97
    assert large.accumulator[16, the] - large.accumulator[0, the] > 20
    assert round(float(large.rate[-1, lamb] / large.rate[-1, the]), 1) == 6.3
    assert round(float(usual.rate[-1, lamb] / usual.rate[-1, the])) == 20


def test_which_library_differs_from_the_first_step_on() -> None:
    says("03", "PyTorch differs in the first digit from the start.")
    for step in range(1, 21):
        said = gl.labs.adagrad_libraries(step=step).description.summary
        assert said.startswith("PyTorch parts from TensorFlow 1 at digit 1, "), said


def test_what_the_turn_of_a_ravine_costs() -> None:
    says(
        "03",
        "Why does the turn cost Adagrad so much?",
        "Gradient descent loses nothing: if the start is turned with the valley,",
        "Which rules' bars are shorter in *The same, turned* than in *Ravine*?",
    )
    lab, ends, bars = gl.labs.optimizers(), {}, {}
    for name in ("Ravine", "The same, turned"):
        lab.set(**lab.presets[name])
        racers = [racer for racer in lab.compute(lab.params).racers if racer]
        ends[name] = {racer.title: racer.loss[-1] for racer in racers}
        bars[name] = {racer.title: int((racer.by_rate < 0.001).sum()) for racer in racers}
    straight, turned = ends.values()
    assert turned["Adagrad"] > 1e6 * straight["Adagrad"]
    assert turned["Gradient descent"] == pytest.approx(straight["Gradient descent"], rel=0.1)
    race = lab.compute(lab.params)
    assert race.straight is not None
    (descent, *_), (unturned, *_) = race.racers, race.straight
    assert descent.title == unturned.title == "Gradient descent"
    np.testing.assert_allclose(descent.loss, unturned.loss, rtol=1e-4)
    straight, turned = bars.values()
    assert {title for title in turned if turned[title] < straight[title]} == {"Adagrad", "Adam"}


def test_how_the_policies_compare() -> None:
    says(
        "04",
        "Blue shows 20 runs of each policy at its own rate: of 13 rates from 0.1 to 11, the one "
        "with the lowest mean loss in ten other runs.",
        "Why are their own rates 9 to 13 times as large as 0.3?",
        "Which policy has the lowest loss after 200 gradients, and what does it pay for that?",
        "Press *No straggler*. Which policies still differ?",
        "What happens to *apply*, whose gradients are seven updates stale?",
        "Find one rate at which all six single runs end below a loss of 1.",
    )
    assert len(asynchrony.TUNING_RATES) == 13
    assert (asynchrony.TUNING_RATES[0], asynchrony.TUNING_RATES[-1]) == (0.1, 11.0)
    assert len(asynchrony.TUNING_SEEDS) == 10
    settings = [asynchrony.policy_runs(3.0, criterion) for criterion in asynchrony.CRITERIA]
    own = [runs[name].rate / 0.3 for runs in settings for name in ("damp", "backup")]
    assert [round(min(own)), round(max(own))] == [9, 13]
    assert asynchrony.compare_policies(3.0, "gradients").best == "wait"
    assert settings[0]["wait"].end.mean() > 2 * settings[0]["apply"].end.mean()
    assert asynchrony.compare_policies(3.0, "time").worst == "wait"
    assert asynchrony.compare_policies(1.0, "time").pairs_told_apart() == set()
    stale = decide(policy_study.experiment("apply", 0, 3.0, 0.1, 0.9)).true_staleness
    assert round(float(stale.mean())) == 7
    heavy = gl.labs.staleness_policies(**gl.labs.staleness_policies().presets["Heavy momentum"])
    assert heavy.compute(heavy.params).loss("apply") > 2.3
    assert gl.labs.staleness_policies(learning_rate=0.711, target="all_learn").description.met


def test_what_papers_and_threads_say() -> None:
    """Read in the sources: who applied stale gradients unchanged, which methods suffer, and what
    the threads do.
    """
    says(
        "04",
        '| `"apply"` | it is applied unchanged | Dean et al. 2012 |',
        "They found that deeper networks are slowed down more, and so are "
        "momentum, Adam, and RMSProp.",
        "The global step, the check, and the drop are TensorFlow's, bit for bit.",
    )
    says(
        "05",
        "in issue 12386 an extended optimizer uses the result of `take_grad` after the token, in "
        "41430 the mean is assigned to a variable. Both were closed without a diagnosis.",
    )
    assert "asynchronous SGD, Dean et al. 2012" in " ".join(
        (gl.workers.Experiment.__doc__ or "").split()
    )


def test_how_delays_slow_networks() -> None:
    says(
        "04",
        "These are ten recorded runs of each network, at a learning rate chosen for that network "
        "and that delay on five other runs.",
        "How much of the slowdown is the smaller rate?",
    )
    assert len(studies.FRESH_SEEDS) == 10
    assert len(studies.TUNING_SEEDS) == 5
    rates = studies.chosen_rates()
    assert (rates[:, 2] < rates[:, 0]).all()  # delays up to 16 need smaller rates
    assert (np.diff(rates[:4, 0]) < 0).all()  # and deeper networks do without delay


def test_workers_in_lock_step() -> None:
    says(
        "04",
        "Lower the limit to 2. Which worker starves, and why is it always the same one?",
        "**Eight workers in lock-step need a limit of seven,**",
        "After the first round, every gradient of the four workers has staleness 3.",
    )
    for workers in (4, 8):
        steady = gl.workers.Speeds(spread=0.0)
        e = gl.workers.Experiment(
            gl.workers.Bowl(), workers=workers, policy="apply", gradients=80, speeds=steady
        )
        assert set(gl.workers.run(e).staleness[workers:].tolist()) == {workers - 1}
    lab = gl.labs.staleness()
    lab.set(**lab.presets["Everybody at one speed"])
    lab.set(threshold=2)
    assert lab.description.summary == "Worker 4 starves: all 12 of its gradients are dropped."


def test_what_an_accumulator_drops_after_a_take() -> None:
    says("05", "After each of the first four takes, three gradients of three workers are dropped.")
    lab = gl.labs.accumulators(event=32)
    past = lab.compute(lab.params).so_far
    takes = np.flatnonzero(past.served)[:5]
    for take, following in itertools.pairwise(takes):
        dropped = [past.worker[k] for k in range(take, following) if not past.accepted[k]]
        assert sorted(dropped) == sorted({*range(4)} - {past.worker[take]})


def test_how_many_gradients_to_wait_for() -> None:
    says(
        "05",
        "so the rate was tuned for each $k$, as in the paper: on 15 runs, and the curves are "
        "those of 15 others",
        "How many backup workers pay for themselves, and from where on is the line flat? What "
        "gets worse below 11",
        "With at least 12 gradients, make a round take at most 55% as long as with all 16. "
        "Is training that much faster, too?",
    )
    assert len(spare_workers.TUNING_SEEDS) == len(spare_workers.FRESH_SEEDS) == 15
    runs = asynchrony.compare_backup()
    assert all(runs.mean(f"{k}") > runs.mean(f"{k + 1}") for k in range(2, 11))
    assert runs.level_with_best == ("11", "12", "13", "14")  # flat; worse below
    rounds = asynchrony.measured_rounds()
    assert (np.diff(rounds) > 0).all()  # fewer gradients, shorter rounds
    assert gl.labs.backup_workers(aggregate=14, target="half_round").description.met
    # A round saves more than training does.
    assert runs.mean("16") / runs.mean("14") < rounds[15] / rounds[13]


def test_the_weight_of_a_row_that_is_looked_up_twice() -> None:
    says(
        "06",
        "Samples 4 and 7 both look up row 14 twice. Why is its weight 2/3 in "
        "one of them and 1 in the other?",
    )
    lab = gl.labs.tpu_embedding()
    lab.set(**lab.presets["Mean counts duplicates"])
    weights = [name for name, _ in lab.description.table if name.startswith("sample ")]
    assert lab.params["row"] == 14
    assert weights == ["sample 4 × 0.33", "sample 4 × 0.33", "sample 7 × 0.50", "sample 7 × 0.50"]


def test_the_first_steps_of_ftrl_and_of_the_engines_adam() -> None:
    says(
        "06",
        "keeps only the share $1 - \\sqrt{a_0 / a_1}$ of a row's initial value",
        "nothing if the gradient is 0, and 70% if it is 1 and $a_0$ is TensorFlow's 0.1",
        "with the usual betas, 0.9 and 0.999, its first step is 3.2 times "
        "as long as the learning rate",
    )
    ftrl = gl.rules.Ftrl()
    assert ftrl.initial_accumulator_value == 0.1
    for gradient, share in ((0.0, 0.0), (1.0, 0.70)):
        g = np.float64([gradient, gradient])
        start = np.float64([5.0, 0.0])
        after, _ = ftrl(start, ftrl.init(start), g, 0.1)
        assert round((after[0] - after[1]) / 5, 2) == share
    adam = gl.rules.Adam(bias_correction=False)
    assert (adam.beta1, adam.beta2) == (0.9, 0.999)
    w = np.zeros(1)
    after, _ = adam(w, adam.init(w), np.ones(1), 1.0)
    assert round(-after.item(), 1) == 3.2


def test_a_larger_budget_for_tables_grows_the_memory_and_the_bytes_of_a_step() -> None:
    says("06", "Then raise it to 300 MiB. What grows, the memory or the bytes that a step sends?")
    (source,) = [
        cell
        for cell in cells(save.FOLDER / "06_tpu_embeddings.ipynb", "code")
        if "plan_placement(" in cell
    ]
    names: dict[str, Any] = {"gl": gl}
    exec(source, names)
    plan, placement = names["several"], names["placement"]
    larger = gl.tpu.plan_placement(
        plan, devices=4, budget=300 << 20, layouts={"weekdays": "copies"}
    )
    assert larger.memory > placement.memory
    assert larger.traffic > placement.traffic


def test_where_two_runs_part() -> None:
    says("07", "The runs first differ at step 5.")
    runs = gl.models.char_rnn.shipped()
    lab = gl.labs.compare(runs[None], runs[1.0])
    assert "first differ at step 5:" in dict(lab.description.table)["what differs first"]


def test_what_is_said_of_the_run_of_the_reader() -> None:
    says(
        "07",
        "This run has 12 of 99 at the end. Our rule, set on a few runs,",
        "a quarter or more of at least 20 countable entries are held back",
        "neither of the two tensors that can be judged is in trouble. `hidden2/b` (6 of 13) and "
        "`readout/w` (5 of 13) reach a quarter, but have too few entries to judge.",
        "Most of the others belong to dead units of `hidden2`.",
        "in every second step `recorder.probe` took the gradient of another batch",
    )
    run = gl.models.reader_run.shipped()
    found = run.held_back()
    assert (int(found.held.sum()), found.countable) == (12, 99)
    assert not found.in_trouble.any()
    assert (held_back.TROUBLE, held_back.JUDGED) == (0.25, 20)
    assert found.is_judged.sum() == 2
    counts = zip(found.names, found.held_by_tensor, found.countable_by_tensor, strict=True)
    reached = {name: (held, countable) for name, held, countable in counts if held >= countable / 4}
    assert reached == {"hidden2/b": (6, 13), "readout/w": (5, 13)}
    assert found.is_dense[[found.names.index(name) for name in reached]].all()
    assert found.named(found.never) == ("embed[0, 0]",)
    # A dead unit has no gradient in its bias, in the column before it, and in the row after it.
    of_dead_units = [
        name
        for name in found.named(found.no_gradient)
        if name.startswith(("hidden2/", "readout/w"))
    ]
    assert len(of_dead_units) > found.no_gradient.sum() / 2
    assert run.probe_products()[0].tolist() == list(range(0, 512, 2))


def test_how_much_of_the_runs_gradients_is_noise_of_the_batch() -> None:
    says("07", "in this run about four fifths of their squared norm is noise of the batch")
    run = gl.models.reader_run.shipped()
    steps, products = run.probe_products()
    squares = run.every_step("global_norm")[steps].astype(float) ** 2
    signal = products[:, 0].sum() / squares.sum()  # a probe times a gradient of the same weights
    assert 1 - signal == pytest.approx(0.8, abs=0.03)


def test_which_lags_agree_and_which_oppose() -> None:
    says(
        "07",
        "For which lags, in updates, is the whole interval above 0? For which is it below 0? "
        "Which intervals contain 0",
    )
    found = gl.models.reader_run.shipped().agreement()
    lags = found.lags[1:]
    assert lags[found.low[1:] > 0].tolist() == [1, 2, 3]
    below = lags[found.high[1:] < 0].tolist()
    assert {6, 11} <= set(below)
    assert len(below) + 3 < len(lags)


def test_a_norm_after_the_clip_is_the_limit_only_where_it_fired() -> None:
    says(
        "07",
        "A norm logged after the clip is never above the limit, and equal to it, up to rounding, "
        "wherever it fired.",
    )
    norms = gl.models.char_rnn.shipped()[1.0].global_norm
    after = gl.models.char_rnn.shipped()[1.0].what_if(clip_global_norm=1.0).norm_after
    fired = norms > 1
    assert 0 < fired.sum() < len(norms)
    np.testing.assert_allclose(after[fired], 1.0, rtol=1e-6)
    assert (after[~fired] <= 1.0).all() and after[~fired].min() < 0.5


def test_when_a_limit_fires_by_the_glossary() -> None:
    glossary = (save.FOLDER / "GLOSSARY.md").read_text("utf-8")
    assert "The limit *fires* on a step whose norm is above it, or isn't finite." in glossary
    rec = gl.Recorder()
    for norm in (1.0, 2.0, 3.0, float("nan"), float("inf")):
        rec.record({"w": np.float32([norm])})
    assert rec.what_if(clip_global_norm=2.0).fired.tolist() == [False, False, True, True, True]
