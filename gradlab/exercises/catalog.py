"""All exercises and predictions by name, and the notebooks that they are in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import (
    accumulators,
    adagrad,
    clipping,
    staleness,
    start,
    three_steps,
    tpu_embeddings,
    your_run,
)
from .prediction import Prediction
from .questions import Choice, Coded, Judged

Exercise = Choice | Coded | Judged

# What stands before the dot of a name: the notebook.
NOTEBOOKS = {
    "start": "00_start_here",
    "three_steps": "01_three_steps",
    "clipping": "02_clipping",
    "adagrad": "03_adagrad",
    "staleness": "04_stale_gradients",
    "accumulators": "05_accumulators",
    "tpu_embeddings": "06_tpu_embeddings",
    "your_run": "07_your_run",
}

# In the order of the course.
EXERCISES: dict[str, Exercise] = {
    "start.sign": start.sign,
    "start.units": start.units,
    "start.descent": start.descent,
    "start.norm": start.norm,
    "three_steps.none": three_steps.none,
    "three_steps.shared": three_steps.shared,
    "three_steps.zero": three_steps.zero,
    "three_steps.sessions": three_steps.sessions,
    "three_steps.process": three_steps.process,
    "three_steps.minimize": three_steps.minimize,
    "three_steps.race": three_steps.race,
    "clipping.direction": clipping.direction,
    "clipping.infinite": clipping.infinite,
    "clipping.below": clipping.below,
    "clipping.by_norm": clipping.by_norm,
    "clipping.by_global_norm": clipping.by_global_norm,
    "clipping.keep_95": clipping.keep_95,
    "adagrad.first_step": adagrad.first_step,
    "adagrad.zero_epsilon": adagrad.zero_epsilon,
    "adagrad.stopped": adagrad.stopped,
    "adagrad.step": adagrad.step,
    "adagrad.sparse": adagrad.sparse,
    "staleness.third": staleness.third,
    "staleness.both_pass": staleness.both_pass,
    "staleness.noted_late": staleness.noted_late,
    "staleness.accept": staleness.accept,
    "staleness.compensate": staleness.compensate,
    "accumulators.divisor": accumulators.divisor,
    "accumulators.forgotten": accumulators.forgotten,
    "accumulators.sparse_rows": accumulators.sparse_rows,
    "accumulators.mean": accumulators.mean,
    "accumulators.row_mean": accumulators.row_mean,
    "tpu_embeddings.twice": tpu_embeddings.twice,
    "tpu_embeddings.zero": tpu_embeddings.zero,
    "tpu_embeddings.ftrl": tpu_embeddings.ftrl,
    "tpu_embeddings.pooled": tpu_embeddings.pooled,
    "tpu_embeddings.row_gradient": tpu_embeddings.row_gradient,
    "tpu_embeddings.rate": tpu_embeddings.rate,
    "your_run.before": your_run.before,
    "your_run.counterfactual": your_run.counterfactual,
    "your_run.fired": your_run.fired,
    "your_run.suggest": your_run.suggest,
}

PREDICTIONS: dict[str, type[Prediction]] = {
    guess.name: guess
    for guess in (
        start.Reader,
        three_steps.Coast,
        clipping.Share,
        clipping.Turn,
        clipping.Spikes,
        adagrad.Rate,
        adagrad.Ratio,
        staleness.Accepted,
        staleness.Straggler,
        accumulators.Collect,
        tpu_embeddings.Distinct,
        your_run.Share,
    )
}


def notebook(name: str) -> str:
    """The notebook of an exercise or a prediction.

    >>> notebook("clipping.share")
    '02_clipping'
    """
    return NOTEBOOKS[name.partition(".")[0]]


def with_random_cases(name: str, rng: np.random.Generator, count: int = 6) -> Exercise:
    """Return an exercise with `count` drawn cases after its own; a choice, or one that draws none, as it is.

    >>> len(with_random_cases("start.norm", np.random.default_rng(0)).cases)
    9
    """
    exercise = EXERCISES[name]
    if isinstance(exercise, Choice) or exercise.draw is None:
        return exercise
    cases = [exercise.draw(rng) for _ in range(count)]
    return replace(exercise, cases=[*exercise.cases, *cases])
