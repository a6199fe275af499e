"""Word frequencies and rates: Adagrad on sparse features."""

from __future__ import annotations

import functools
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ..._base.numbers import counted, number, percent
from ...live import Description, Items, LiveFigure, Menu, Slider
from ...models.word_topics import BATCH, TOPICS, Training, shipped, train
from ...rules import Adagrad, Rule, StochasticGradientDescent
from .._lab import Control, Lab, Target
from .._quantities import TraceQuantity, csv_columns, tooltip_values
from .picture import WordsView

RULES = (("adagrad", "Adagrad"), ("descent", "gradient descent"))
_STRIDE = 4  # steps between two positions of the slider
_PARTS = {"half": 1 / 2, "a third": 1 / 3, "a quarter": 1 / 4}
_END = 256  # steps of the one pass over the lines that ship


class WordRatesTrace(NamedTuple):
    """State of the figure: one pass of training, its step, and the selected word."""

    training: Training
    rule: Rule
    learning_rate: float
    step: int
    word: int
    counts: np.ndarray
    even: np.ndarray

    @property
    def now(self) -> np.ndarray:
        """The effective rate of every word."""
        return np.asarray(self.training.rate[self.step])

    @property
    def seen(self) -> np.ndarray:
        """True for each step that sees the chosen word, or the most frequent one, (2, steps)."""
        return np.stack([_steps_with(self.word), _steps_with(0)])

    @property
    def rare(self) -> float:
        """The median rate of the rarest tenth of the words over that of the most frequent one."""
        return float(np.median(self.now[-len(self.now) // 10 :]) / self.now[0])

    @property
    def right(self) -> float:
        """The share of held-out lines whose topic is found."""
        return float(self.training.right[self.step])


QUANTITIES = (
    TraceQuantity("rank", lambda trace: np.arange(1, len(trace.counts) + 1)),
    TraceQuantity("word", lambda trace: np.array(shipped().words)),
    TraceQuantity("times_in_text", lambda trace: trace.counts, "times in the text"),
    TraceQuantity("effective_rate", lambda trace: trace.now, "effective rate"),
    TraceQuantity("accumulator", lambda trace: trace.training.accumulator[trace.step]),
)


def _rare_words_move(trace: WordRatesTrace) -> tuple[bool, str]:
    return trace.rare >= 26, f"Their rate is {trace.rare:.1f} times that of “the” now"


def _nearly_one_rate(trace: WordRatesTrace) -> tuple[bool, str]:
    good = isinstance(trace.rule, Adagrad) and trace.rare <= 5.5 and trace.right >= 0.66
    return good, f"{trace.rare:.1f} times and {percent(trace.right)} now"


def word_rates(
    *,
    step: int = _END,
    word: str = "lambda",
    learning_rate: float = 0.3,
    initial: float = 0.1,
    rule: Literal["adagrad", "descent"] = "adagrad",
    target: Literal["rare_26", "level"] | None = None,
) -> WordRatesLab:
    """Every word of Python's documentation by how often it is seen and at what rate Adagrad moves its weights.

    At a glance: A frequent word fills its memory and slows down; a rare one keeps more of its rate.

    A softmax regression guesses from its words which of eight topics a line is from. Each word has
    a row of eight weights, which only moves when the word is seen; its effective rate is the
    learning rate over the root of the mean of their accumulators. Point at a dot to see which word
    it is, click it to trace it.

    Args:
        step: how many steps of sixteen lines are done, 0 to 256.
        word: the word that is traced.
        learning_rate: 0.1 to 1.
        initial: the initial accumulator, 0.01 to 10.
        rule: "adagrad", or "descent" for gradient descent.
        target: a goal that is shown above the picture until it is reached.

    >>> lab = word_rates(word="lambda")
    >>> lab.params["word"], lab.description.summary.partition(" has ")[0]
    ('lambda', '“lambda”')
    """
    return WordRatesLab(
        target, step=step, word=word, learning_rate=learning_rate, initial=initial, rule=rule
    )


class WordRatesLab(Lab):
    """Lab of `word_rates`: the words of a text, each with its own rate."""

    function = "word_rates"
    label = "Word frequency and learning rate"
    axis = "step"
    presets: ClassVar = {
        "Rare words slow down less": {
            "rule": "adagrad",
            "initial": 0.1,
            "learning_rate": 0.3,
            "step": _END,
        },
        "One rate for all": {"rule": "descent", "learning_rate": 0.1, "step": _END},
        "Large accumulator": {
            "rule": "adagrad",
            "initial": 6.31,
            "learning_rate": 0.3,
            "step": _END,
        },
        "Small accumulator": {
            "rule": "adagrad",
            "initial": 0.01,
            "learning_rate": 0.3,
            "step": _END,
        },
        "Before the first line": {
            "rule": "adagrad",
            "initial": 0.1,
            "learning_rate": 0.3,
            "step": 0,
        },
    }
    targets: ClassVar = {
        "rare_26": Target(
            "give the rarest tenth of the words a rate at least 26 times that of “the”",
            _rare_words_move,
        ),
        "level": Target(
            "with Adagrad, keep the rarest tenth within 5.5 times the rate of “the”, and reach "
            "66% accuracy",
            _nearly_one_rate,
        ),
    }

    def make_controls(self) -> list[Control]:
        text = shipped()
        words = [
            (word, f"{word} ({count})")
            for word, count in zip(text.words, text.counts.tolist(), strict=True)
        ]
        return [
            Slider("step", "Steps done", 0, _END, _END, scale="integer", step=_STRIDE, play=True),
            Menu("word", "Word", words, "lambda"),
            Slider("learning_rate", "Learning rate", 0.1, 1.0, 0.3, scale="log", step=20),
            Slider("initial", "Memory at the start", 0.01, 10.0, 0.1, scale="log", step=10),
            Menu("rule", "Rule", RULES, "adagrad", folded=True),
        ]

    def compute(self, values: dict[str, Any]) -> WordRatesTrace:
        text, rate, step = shipped(), values["learning_rate"], values["step"]
        rule = (
            Adagrad(values["initial"])
            if values["rule"] == "adagrad"
            else StochasticGradientDescent()
        )
        training = _trained(rule, rate)
        even = np.geomspace(text.counts.min(), text.counts.max(), 40)
        alike = np.full_like(even, rate)
        if isinstance(rule, Adagrad):
            gained = training.accumulator[step] - training.accumulator[0]
            alike = rate / rule.root(values["initial"] + gained.sum() / text.counts.sum() * even)
        word = text.words.index(values["word"])
        return WordRatesTrace(
            training, rule, rate, step, word, text.counts, np.stack([even, alike], axis=1)
        )

    def make_view(self) -> WordsView:
        text = shipped()
        return WordsView(text.words, text.counts, text.steps)

    def draw(self, view: WordsView, trace: WordRatesTrace) -> None:
        training = trace.training
        view.draw(
            trace.step,
            trace.word,
            training.rate,
            training.accumulator,
            trace.even,
            trace.seen,
            _of_all(trace),
        )

    def items(self, view: WordsView, trace: WordRatesTrace) -> Items:
        places = {view.cloud: (trace.counts, trace.now)}
        return Items("word", places, tooltip_values(QUANTITIES, trace), shipped().words)

    def make_live(self, view: WordsView, **params: Any) -> LiveFigure:
        """Return a lab's widget in which a click on a word selects it."""
        live, words = super().make_live(view, **params), shipped().words

        def trace(change: Any) -> None:
            if change.new is not None and change.new < len(words):
                live.set(word=words[change.new])

        def follow(change: Any) -> None:
            if live.selected is not None:
                live.selected = words.index(change.new)

        live.observe(trace, names="selected")
        live.observe(follow, names="word")
        return live

    def describe(self, trace: WordRatesTrace) -> Description:
        text, now = shipped(), trace.now
        word, seen = text.words[trace.word], _seen(trace.step, trace.word)
        rate = number(now[trace.word])
        times = now[trace.word] / now[0]
        accumulator = trace.training.accumulator[trace.step, trace.word]
        rule = (
            f"Adagrad from accumulator {number(trace.rule.initial_accumulator_value)}"
            if isinstance(trace.rule, Adagrad)
            else "gradient descent"
        )
        right = percent(trace.right, 1)
        return Description(
            alt=f"After {trace.step} of {text.steps} steps of {rule} with learning rate "
            f"{number(trace.learning_rate)} the word {word}, seen in {_steps_seen(trace, 0)} "
            f"of them, has the rate {rate}, {times:.1f} times that of the word "
            f"{text.words[0]}; {_fall(trace)}.",
            summary=_message(trace),
            table=(
                ("rule", rule),
                ("learning rate", number(trace.learning_rate)),
                ("steps done", f"{trace.step} of {text.steps}, {BATCH} lines each"),
                (f"“{word}” seen", f"{seen} of {counted(int(trace.counts[trace.word]), 'time')}"),
                (f"rate of “{word}”", rate),
                (
                    f"accumulator of “{word}”",
                    "none" if np.isnan(accumulator) else number(accumulator),
                ),
                (f"rate of “{text.words[0]}”", number(now[0])),
                ("rarest tenth over that", f"{trace.rare:.1f} times"),
                ("slope of all words", f"{_slope(trace):.2f}"),
                ("accuracy on held-out lines", right),
                (f"“{word}” speaks for, in the end", _speaks_for(trace)),
            ),
        )

    def columns(self, trace: WordRatesTrace) -> dict[str, np.ndarray]:
        return csv_columns(QUANTITIES, trace)


@functools.lru_cache(maxsize=64)
def _trained(rule: Rule, learning_rate: float) -> Training:
    return train(rule, learning_rate)


def _message(trace: WordRatesTrace) -> str:
    """Compare the rate of the chosen word with that of the most frequent one, and say how often it
    is used.
    """
    names, now = shipped().words, trace.now
    word, frequent = f"“{names[trace.word]}”", f"“{names[0]}”"
    if np.ptp(now) == 0:
        when = "Before the first line" if trace.step == 0 else "With gradient descent"
        return f"{when} all {len(names)} words have one rate, {number(now[0])}."
    steps = f"{_steps_seen(trace, 0)} of {counted(trace.step, 'step')}"
    if trace.word == 0:
        rarest = f"the rarest tenth has {number(trace.rare, 2)} times that"
        return f"{frequent}, seen in {steps}, has rate {number(now[0])}; {rarest}."
    # A rate acts only in the steps that see the word, so a rare word with a large rate may still
    # move little.
    times = number(float(now[trace.word] / now[0]), 2)
    return f"{word} has {times} times the rate of {frequent}, but is seen in {steps}."


def _fall(trace: WordRatesTrace) -> str:
    """Say how the rates of all words depend on their frequency."""
    if np.ptp(trace.now) == 0:
        return "all words have one rate"
    return (
        "in a log-log plot the rates of all words fall with their frequency at slope "
        f"{_slope(trace):.2f}"
    )


def _steps_seen(trace: WordRatesTrace, row: int) -> int:
    """Return how many of the steps done saw the chosen word (row 0), or the most frequent one (row
    1).
    """
    return int(trace.seen[row, : trace.step].sum())


def _of_all(trace: WordRatesTrace) -> str:
    """Say how the rates of all words fall with their frequency."""
    share = 10 ** _slope(trace)
    if share > 0.995:
        return "10 times as often: the same rate"
    near = [words for words, part in _PARTS.items() if abs(share - part) < 0.05 * part]
    return f"10 times as often: {near[0] if near else number(share, 2)} of the rate"


def _seen(step: int, word: int) -> int:
    """Return how often a word was in the lines of the first steps."""
    lines = shipped().train
    return int((lines.words[: lines.starts[step * BATCH]] == word).sum())


@functools.lru_cache(maxsize=64)
def _steps_with(word: int) -> np.ndarray:
    """True for each step whose lines contain the word, (steps,)."""
    lines = shipped().train
    line = np.searchsorted(lines.starts, np.flatnonzero(lines.words == word), side="right") - 1
    return np.isin(np.arange(_END), line // BATCH)


def _slope(trace: WordRatesTrace) -> float:
    """Of the straight line nearest to all words, log rate over log times."""
    # Never -0.00.
    return round(float(np.polyfit(np.log(trace.counts), np.log(trace.now), 1)[0]), 2) + 0.0


def _speaks_for(trace: WordRatesTrace) -> str:
    return list(TOPICS.values())[int(trace.training.weights[trace.word].argmax())]
