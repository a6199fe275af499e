"""One training under six policies for stale gradients: same workers, speeds and batches, at many settings.

Two recordings ship. "policies" holds one run for every position of the lab's sliders: one seed, one
rate for all policies. It shows what a setting does, and can't say which policy is better: the best
rates of the policies differ by a factor of about ten. "tuned_policies" is for that. Each policy
runs at the rate of `TUNING_RATES` with the lowest mean loss on `TUNING_SEEDS`, and is judged on
`FRESH_SEEDS`, with momentum 0 and limit 4, for each of `TUNED_STRAGGLERS` and of `CRITERIA`. No
chosen rate is the first or the last of the sweep.

`python -m gradlab.workers.policy_study` trains them all again and writes both; it takes twenty
minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from ..models import curves as recordings
from ..models.asynchrony import (
    CRITERIA,
    FRESH_SEEDS,
    TUNED,
    TUNED_STRAGGLERS,
    TUNING_RATES,
    TUNING_SEEDS,
    own_rate,
)
from ..rules import Momentum
from .experiment import Experiment
from .ledger import POLICIES, UPDATE
from .problems import Digits
from .replays import loss_curve
from .simulated import decide
from .speeds import Speeds
from .trace import Trace

WORKERS = 8
GRADIENTS = 200
EVERY = 4  # updates between two losses; "backup", which has few, is watched after every one
BY_LIMIT = ("drop", "wait")  # the policies that have a limit
LIMITS = tuple(range(13))
STRAGGLERS = (1.0, 2.0, 3.0, 4.0, 5.0)
LEARNING_RATES = tuple(float(f"{0.03 * 100 ** (k / 16):.3g}") for k in range(17))
MOMENTA = (0.0, 0.3, 0.6, 0.9)
TUNED_LIMIT = 4  # of "drop" and "wait" in the tuned runs
_TIME = 100  # ticks that a gradient takes
_NAME = "policies"
_BITS = 14  # of each recorded loss: a rounding below 1 in 30,000

Setting = tuple[str, int, float, float, float]  # policy, limit, straggler, learning rate, momentum


class Trained(NamedTuple):
    """One training. Times are in gradients of a quick worker."""

    step: np.ndarray  # (n,) watched updates
    time: np.ndarray  # (n,) of these
    loss: np.ndarray  # (n,) after these
    accepted: float  # share of the gradients
    end: float  # time at which all gradients were handed in

    def loss_by(self, criterion: str, horizon: float) -> float:
        """Return the last watched loss, by time the last one up to the horizon; infinity if it isn't finite."""
        at = (
            -1
            if criterion == "gradients"
            else int(np.searchsorted(self.time, horizon, side="right")) - 1
        )
        loss = float(self.loss[at])
        return loss if np.isfinite(loss) else np.inf


def trained(
    policy: str, limit: int, straggler: float, learning_rate: float, momentum: float
) -> Trained:
    """Return one training: its loss recorded if the setting is one of `settings`, computed otherwise.

    >>> trained("drop", 4, 3.0, 0.3, 0.0).step[:3].tolist()
    [0, 4, 8]
    """
    return _load_or_train(
        (policy, limit if policy in BY_LIMIT else 0, straggler, learning_rate, momentum)
    )


@lru_cache(maxsize=1024)
def _load_or_train(setting: Setting) -> Trained:
    return _watch(decide(experiment(*setting)), setting)


def _watch(trace: Trace, setting: Setting | None = None) -> Trained:
    """Return the training of a schedule; its loss is the recorded one of the setting, if there is
    one.
    """
    update_times = trace.times[trace.moves[:, 0] == UPDATE]
    times = np.append(0, update_times[trace.rounds["moved"] > 0])
    step = np.arange(len(times))
    is_watched = (step % _every(trace.experiment.policy) == 0) | (step == step[-1])
    loss = None if setting is None else recorded(setting, int(is_watched.sum()))
    return Trained(
        step=step[is_watched],
        time=times[is_watched] / _TIME,
        loss=losses(trace) if loss is None else loss,
        accepted=float(trace.accepted.mean()),
        end=float(update_times[-1]) / _TIME,
    )


def experiment(
    policy: str, limit: int, straggler: float, learning_rate: float, momentum: float
) -> Experiment:
    """Return eight workers, the last one `straggler` times slower. "backup" takes the mean of the first seven.

    >>> experiment("drop", 4, 3.0, 0.3, 0.0).speeds.slow
    {7: 3.0}
    """
    return Experiment(
        problem=Digits(),
        optimizer=Momentum(momentum),
        learning_rate=learning_rate,
        workers=WORKERS,
        speeds=Speeds(median=_TIME, slow={WORKERS - 1: straggler}),
        policy=policy,
        staleness=limit,
        aggregate=WORKERS - 1 if policy == "backup" else 1,
        strength=1.0,
        mean_square_decay=0.95,
        gradients=GRADIENTS,
    )


def losses(trace: Trace) -> np.ndarray:
    """Compute the watched losses of a training."""
    with np.errstate(all="ignore"):  # some of these diverge
        return loss_curve(trace, every=_every(trace.experiment.policy))["loss"]


def settings() -> Iterator[Setting]:
    """Yield all recorded settings, with limit 0 where it has no effect."""
    for policy in POLICIES:
        yield from product(
            (policy,), LIMITS if policy in BY_LIMIT else (0,), STRAGGLERS, LEARNING_RATES, MOMENTA
        )


def recorded(setting: Setting, count: int) -> np.ndarray | None:
    """Return the first `count` recorded losses of a setting; None if it was not recorded."""
    place = _places().get(setting)
    if place is None:
        return None
    stored = recordings.arrays(_NAME)
    return stored["losses"][stored["which"][place], :count].astype(np.float64)


def record(curves: list[np.ndarray]) -> None:
    """Write the losses of all `settings`, in their order, each curve once."""
    rows = np.zeros((len(curves), max(map(len, curves))), np.float32)
    for row, curve in zip(rows, curves, strict=True):
        row[: len(curve)] = curve
    fraction, exponent = np.frexp(rows)  # which leave infinity and NaN as they are
    rounded = np.ldexp(np.rint(fraction * 2**_BITS) / np.float32(2**_BITS), exponent)
    once, which = np.unique(rounded, axis=0, return_inverse=True)
    recordings.write(_NAME, losses=once, which=which.ravel().astype(np.uint16))


def _every(policy: str) -> int:
    return 1 if policy == "backup" else EVERY


@cache
def _places() -> dict[Setting, int]:
    return {setting: place for place, setting in enumerate(settings())}


def train_with_seed(policy: str, straggler: float, learning_rate: float, seed: int) -> Trained:
    """Train once with a seed for speeds and batches.

    >>> run = train_with_seed("backup", 3.0, 4.0, seed=100)
    >>> len(run.step) == len(run.time) == len(run.loss)
    True
    """
    limit = TUNED_LIMIT if policy in BY_LIMIT else 0
    return _watch(decide(experiment(policy, limit, straggler, learning_rate, 0.0).with_(seed=seed)))


def record_tuned() -> None:
    """Sweep the rates, train each policy at its own on fresh seeds, and write "tuned_policies"."""
    shape = len(TUNED_STRAGGLERS), len(CRITERIA), len(POLICIES)
    sweep = np.zeros((*shape, len(TUNING_RATES), len(TUNING_SEEDS)))
    horizon = np.zeros(len(TUNED_STRAGGLERS))
    points = GRADIENTS // EVERY + 1
    loss = np.full((*shape, len(FRESH_SEEDS), points), np.nan)
    judged = np.zeros((*shape, len(FRESH_SEEDS)))
    time = np.zeros((len(TUNED_STRAGGLERS), len(POLICIES), len(FRESH_SEEDS), points), np.uint16)
    accepted = np.zeros((len(TUNED_STRAGGLERS), len(POLICIES)), np.float32)
    end = np.zeros((len(TUNED_STRAGGLERS), len(POLICIES), len(FRESH_SEEDS)), np.uint16)
    for s, straggler in enumerate(TUNED_STRAGGLERS):
        tuning = {
            (p, r, k): train_with_seed(policy, straggler, rate, seed)
            for p, policy in enumerate(POLICIES)
            for r, rate in enumerate(TUNING_RATES)
            for k, seed in enumerate(TUNING_SEEDS)
        }
        horizon[s] = min(run.end for run in tuning.values())
        for c, criterion in enumerate(CRITERIA):
            for (p, r, k), run in tuning.items():
                sweep[s, c, p, r, k] = run.loss_by(criterion, horizon[s])
            for p, policy in enumerate(POLICIES):
                rate = TUNING_RATES[own_rate(_half(sweep[s, c, p]))]
                runs = [train_with_seed(policy, straggler, rate, seed) for seed in FRESH_SEEDS]
                # Times and shares don't depend on the rate, so the second criterion writes them
                # again as they are.
                for k, run in enumerate(runs):
                    loss[s, c, p, k, : len(run.loss)] = run.loss
                    time[s, p, k, : len(run.time)] = np.rint(run.time * _TIME)
                    end[s, p, k] = np.rint(run.end * _TIME)
                    judged[s, c, p, k] = run.loss_by(criterion, horizon[s])
                accepted[s, p] = np.mean([run.accepted for run in runs])
                print(
                    straggler,
                    criterion,
                    policy,
                    rate,
                    judged[s, c, p].mean(dtype=float),
                    flush=True,
                )
    recordings.write(
        TUNED,
        sweep=_half(sweep),
        horizon=horizon,
        loss=_half(loss),
        judged=_half(judged),
        ticks=time,
        end=end,
        accepted=accepted,
    )


def _half(losses: np.ndarray) -> np.ndarray:
    """Return losses in 16 bits, as they are stored; one above 65,504 is that of a lost run, and
    infinite.
    """
    with np.errstate(over="ignore"):
        return losses.astype(np.float16)


def main() -> None:
    """Train everything and write both recordings."""
    record([losses(decide(experiment(*setting))) for setting in settings()])
    record_tuned()


if __name__ == "__main__":
    main()
