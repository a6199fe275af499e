"""Sentences of the notebooks that state a number: the number, computed from what ships."""

import itertools

import numpy as np
import pytest

import gradlab as gl
from gradlab.models import asynchrony
from gradlab.workers import policy_study, spare_workers, studies
from gradlab.workers.problems import shipped as lines_of_the_reader
from gradlab.workers.simulated import decide
from tests.notebooks import save
from tests.notebooks.test_course import cells


def says(notebook: str, *sentences: str) -> None:
    """The prose holds these words, whatever its line breaks: a sentence and the test of its number change together."""
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
        "00", "a row of eight numbers for each of 867 words", "names the first topic every time. About one line in five"
    )
    reader = gl.workers.Reader()
    start = reader.start()
    assert start["words"].shape == (867, 8) and start["bias"].shape == (8,)
    assert reader.accuracy(start) == pytest.approx(np.mean(lines_of_the_reader().held_out.topics == 0))
    assert reader.accuracy(start) == pytest.approx(1 / 5, abs=0.02)


def test_how_the_run_without_a_limit_goes_wrong() -> None:
    says(
        "02",
        "its loss falls for ten steps, from 4.6 to 3.4",
        "Then come gradients whose norm is three to eight times as large, and 100 steps later the loss is above 40",
        "one gradient is more than 10,000 times as large as the median",
        "The explosion near step 250 isn't where the run went wrong",
    )
    run = gl.char_rnn.shipped()[None]
    loss, norm = run.every_step("loss"), run.every_step("global_norm")
    assert loss.argmin() == 10 and [round(float(x), 1) for x in loss[[0, 10]]] == [4.6, 3.4]
    before = np.median(norm[:11])
    spikes = norm[11:30][norm[11:30] > 3 * before] / before
    assert len(spikes) >= 3 and spikes.min() > 3 and 8 < spikes.max() < 8.5
    assert np.median(loss[105:130]) > 40  # a curve of medians is drawn
    assert norm.max() > 10_000 * np.median(norm) and 245 < norm.argmax() < 265
    assert loss[norm.argmax()] > 20  # long after the loss left the others


def test_which_limit_fired_how_often_and_which_run_ended_lowest() -> None:
    says("02", "That limit fired on 98% of its steps")
    says("02", "The run trained with limit 1, which fired on 10% of its steps, ended with the lowest loss of the five")
    runs = gl.char_rnn.shipped()
    assert len(runs) == 5
    for limit, share in ((0.3, 0.98), (1.0, 0.10)):
        assert round(float((runs[limit].every_step("global_norm") > limit).mean()), 2) == share
    ends = {limit: run.every_step("loss")[-30:].mean() for limit, run in runs.items()}
    assert min(ends, key=lambda limit: ends[limit]) == 1.0


def test_which_library_differs_from_the_first_step_on() -> None:
    says("03", "PyTorch differs in the first digit from the start.")
    for step in range(1, 21):
        said = gl.labs.adagrad_libraries(step=step).description.summary
        assert said.startswith("PyTorch parts from TensorFlow 1 at digit 1, "), said


def test_what_the_turn_of_a_ravine_costs() -> None:
    says(
        "03",
        "Why does the turn cost Adagrad so much, and gradient descent almost nothing?",
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
    straight, turned = bars.values()
    assert {title for title in turned if turned[title] < straight[title]} == {"Adagrad", "Adam"}


def test_how_the_policies_compare() -> None:
    says(
        "04",
        "Blue shows 20 runs of each policy at its own rate: of 13 rates from 0.1 to 11, the one with the lowest mean "
        "loss in ten other runs.",
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
    heavy = gl.labs.staleness_policies(**gl.labs.staleness_policies.presets["Heavy momentum"])
    assert heavy.compute(heavy.params).loss("apply") > 2.3
    assert gl.labs.staleness_policies(learning_rate=0.711, target="all_learn").description.met


def test_what_papers_and_threads_say() -> None:
    """Read in the sources: who applied stale gradients unchanged, which methods suffer, and what the threads do."""
    says(
        "04",
        '| `"apply"` | it is applied unchanged | Dean et al. 2012 |',
        "They found that deeper networks are slowed down more, and so are momentum, Adam, and RMSProp.",
        "The global step, the check, and the drop are TensorFlow's, bit for bit.",
    )
    says(
        "05",
        "in issue 12386 an extended optimizer uses the result of `take_grad` after the token, in 41430 the mean is "
        "assigned to a variable. Both were closed without a diagnosis.",
    )
    assert "asynchronous SGD, Dean et al. 2012" in " ".join((gl.workers.Experiment.__doc__ or "").split())


def test_how_delays_slow_networks() -> None:
    says(
        "04",
        "These are ten recorded runs of each network, at a learning rate chosen for that network and that delay on "
        "five other runs.",
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
        e = gl.workers.Experiment(gl.workers.Bowl(), workers=workers, policy="apply", gradients=80, speeds=steady)
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
        "so the rate was tuned for each $k$, as in the paper: on 15 runs, and the curves are those of 15 others",
        "How many backup workers pay for themselves, and from where on is the line flat? What gets worse below 6",
        "Make a round take at most 55% as long as with all 16. Is training that much faster, too?",
    )
    assert len(spare_workers.TUNING_SEEDS) == len(spare_workers.FRESH_SEEDS) == 15
    runs = asynchrony.compare_backup()
    assert all(runs.mean(f"{k}") > runs.mean(f"{k + 1}") for k in range(2, 6))
    assert all(runs.better("12", f"{k}") for k in range(2, 7))
    rounds = asynchrony.measured_rounds()
    assert (np.diff(rounds) > 0).all()  # fewer gradients, shorter rounds
    assert gl.labs.backup_workers(aggregate=14, target="half_round").description.met
    assert runs.mean("16") / runs.mean("14") < rounds[15] / rounds[13]  # a round saves more than training does


def test_the_weight_of_a_row_that_is_looked_up_twice() -> None:
    says("06", "Samples 4 and 7 both look up row 14 twice. Why is its weight 2/3 in one of them and 1 in the other?")
    lab = gl.labs.tpu_embedding()
    lab.set(**lab.presets["Mean counts duplicates"])
    weights = [name for name, _ in lab.description.table if name.startswith("sample ")]
    assert lab.params["row"] == 14
    assert weights == ["sample 4 × 0.33", "sample 4 × 0.33", "sample 7 × 0.50", "sample 7 × 0.50"]


def test_where_two_runs_part() -> None:
    says("07", "The runs first differ at step 5.")
    runs = gl.char_rnn.shipped()
    lab = gl.labs.compare(runs[None], runs[1.0])
    assert "first differ at step 5:" in dict(lab.description.table)["what differs first"]
