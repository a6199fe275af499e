"""Recorded runs of a plain recurrent network that learns to predict the next character of Python's documentation.

Unrolled over 100 characters, its gradients explode now and then. Five contestants are trained with
momentum 0.9: without a limit on the global norm, and with limits 0.1, 0.3, 1 and 3. Three things
ship, in `recordings/`:

- `shipped()`: one run of each at one learning rate, 0.4, from one seed. It shows what a limit does
  to a run, and what a run without one goes through at this rate. It doesn't say which contestant is
  best, because no rate was tuned.
- `tuned()`: one run of each at the rate that a sweep chose for it, `TUNED`.
- `final_losses` and `seed_losses`: ten runs of each, at its tuned rate and at 0.4, from seeds that
  had no part in the sweep. Comparisons of the contestants rest on these, see
  `gradlab.models.claims`.

The sweep, `sweep_losses`: seeds 0 to 9, rates a factor of about 1.41 apart. The rate with the
lowest mean of the final losses is chosen. A run that ends above its first loss counts as that first
loss, because nobody would keep it. No chosen rate, marked with a star, is at an edge of its row.
The rows lie around the best rates of a coarser sweep (five seeds, rates from 0.025 to 6.4). The run
without a limit was given the most rates; 0.14 and 0.2 can't be told apart:

    limit  mean final loss (nats) at each rate
    none   0.1: 2.54, 0.14: 2.43*, 0.2: 2.46, 0.28: 2.63, 0.4: 3.65
    0.1    2.26: 2.12, 3.2: 2.11*, 4.5: 2.43
    0.3    0.57: 2.13, 0.8: 2.10*, 1.13: 2.13
    1      0.2: 2.22, 0.28: 2.15*, 0.4: 2.27, 0.57: 3.02
    3      0.14: 2.32, 0.2: 2.24, 0.28: 2.16*, 0.4: 3.34

An exploding run is chaotic, so a different processor records different digits.
`python -m gradlab.models.char_rnn` writes all recordings again, in about five minutes, and with
`--sweep` the sweep before them, in about fifteen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from ..clip import clip_by_global_norm
from ..record import Recorder
from .cross_entropy import log_softmax
from .datasets import python_docs

if TYPE_CHECKING:
    from .. import train

LIMITS: tuple[float | None, ...] = (None, 0.1, 0.3, 1.0, 3.0)  # None: no clipping
MOMENTUM = 0.9
ONE_RATE = 0.4  # the learning rate at which all of them are also run
# Chosen by the sweep.
TUNED: Mapping[float | None, float] = {None: 0.14, 0.1: 3.2, 0.3: 0.8, 1.0: 0.28, 3.0: 0.28}
SWEPT: Mapping[float | None, tuple[float, ...]] = {
    None: (0.1, 0.14, 0.2, 0.28, 0.4),
    0.1: (2.26, 3.2, 4.5),
    0.3: (0.57, 0.8, 1.13),
    1.0: (0.2, 0.28, 0.4, 0.57),
    3.0: (0.14, 0.2, 0.28, 0.4),
}
TUNING_SEEDS = tuple(range(10))
FRESH_SEEDS = tuple(range(100, 110))
TYPICAL_SEED = 106  # the fresh seed whose five tuned runs lie closest to the medians
AT_END = 30  # steps; the final loss of a run is the mean loss of its last 30
HIDDEN = 64  # units
UNROLLED = 100  # characters that gradients go back through
BATCH = 16  # sequences
_STATE_BYTES = 1 << 13  # of the recorder for each step, enough for a bucket of its own
_NO_LIMIT = 2.0**100  # a power of two: clip * (1 / clip) is exactly 1, so gradients pass unchanged

Weights = dict[str, Any]


def initial_weights(seed: int, letters: int) -> Weights:
    """Draw normal weights, float32: embed (letters, 64), hidden (64, 64), readout (64, letters) and two biases."""
    draw = np.random.default_rng([seed, 0]).normal
    weights = {
        "embed": draw(0, 0.1, (letters, HIDDEN)),
        "hidden": draw(0, HIDDEN**-0.5, (HIDDEN, HIDDEN)),
        "bias": np.zeros(HIDDEN),
        "readout": draw(0, 0.1, (HIDDEN, letters)),
        "readout_bias": np.zeros(letters),
    }
    return {name: w.astype(np.float32) for name, w in weights.items()}


def loss(weights: Weights, batch: Any) -> Any:
    """Mean cross-entropy, in nats, of the next character: h = tanh(embed[x] + h hidden + bias), y = h readout + b."""
    from .._base.jax import jax, jnp

    def read(h: Any, pair: Any) -> Any:
        x, target = pair
        h = jnp.tanh(weights["embed"][x] + h @ weights["hidden"] + weights["bias"])
        scores = log_softmax(h @ weights["readout"] + weights["readout_bias"])
        return h, -jnp.take_along_axis(scores, target[:, None], axis=1).mean()

    start = jnp.zeros((batch.shape[0], HIDDEN))
    return jax.lax.scan(read, start, (batch[:, :-1].T, batch[:, 1:].T))[1].mean()


def record(
    steps: int = 300,
    seed: int = 0,
    limits: Iterable[float | None] = LIMITS,
    progress: Callable[[str], None] = lambda text: None,
    rate: float | Mapping[float | None, float] = ONE_RATE,
) -> dict[float | None, Recorder]:
    """Train once for every limit, from the same weights on the same batches, and record the gradients before clipping.

        g = d loss / d w;  recorder.update(g);  g = clip_by_global_norm(g, limit);  m = 0.9 m + g,  w -= rate m

    Args:
        steps: of each run.
        seed: of the weights and of the batches.
        limits: on the global norm; None for no limit.
        progress: called with a line of text before each run.
        rate: the learning rate of all runs, or one for each limit, such as `TUNED`.

    Returns:
        limit -> Recorder with tensors bias, embed, hidden, readout, readout_bias and scalar loss
        (nats).

    Not in TensorFlow. Source: Pascanu et al., "On the difficulty of training recurrent neural
    networks" (2013).

    >>> runs = shipped()  # what record() returned; it trains for ten to thirty seconds
    >>> runs[1.0].names, len(runs[1.0])
    (('bias', 'embed', 'hidden', 'readout', 'readout_bias'), 300)
    """
    from .. import train  # here, because reading the recordings that ship doesn't need it

    codes, alphabet = python_docs()
    starts = np.random.default_rng([seed, 1]).integers(
        0, len(codes) - UNROLLED - 1, (steps, BATCH, 1)
    )
    batches = codes[starts + np.arange(UNROLLED + 1)]
    weights = initial_weights(seed, len(alphabet))
    recorder, run = _compiled(steps)
    # Its slots don't depend on the rate.
    momentum = train.MomentumOptimizer(ONE_RATE, MOMENTUM).init(weights)
    carry = (weights, momentum, recorder.init(weights, loss=0.0))
    runs = {}
    for limit in limits:
        own_rate = rate[limit] if isinstance(rate, Mapping) else rate
        name = "no limit" if limit is None else f"limit {limit:g}"
        progress(f"training with {name} at rate {own_rate:g}")
        norm_limit = _NO_LIMIT if limit is None else limit
        state = run(carry, batches, np.float32(norm_limit), np.float32(own_rate))
        runs[limit] = recorder.absorb(state)
    return runs


@cache
def _compiled(steps: int) -> tuple[Recorder, Callable[..., Any]]:
    """Return a recorder for that many steps and a training loop, compiled once for all limits,
    rates and seeds.
    """
    from .. import train
    from .._base.jax import jax

    # Single entries would make a file 20 times as large. The sizes of all entries are counted in
    # every step, because the effect of a limit on entries is estimated from these counts.
    recorder = Recorder(steps, entries=0, sample_every=1, state_bytes=_STATE_BYTES * steps)

    def run(carry: Any, batches: Any, limit: Any, rate: Any) -> Any:
        return _train(recorder, train.MomentumOptimizer(rate, MOMENTUM), carry, batches, limit)

    return recorder, jax.jit(run)


def _train(
    recorder: Recorder, optimizer: train.RuleOptimizer, carry: Any, batches: Any, limit: Any
) -> Any:
    """Take all steps in one scan, and return the state of the recorder at the end."""
    from .._base.jax import jax

    def step(carry: Any, batch: Any) -> Any:
        weights, state, seen = carry
        value, grads = jax.value_and_grad(loss)(weights, batch)
        seen = recorder.update(seen, grads, loss=value)
        names = sorted(grads)
        clipped, _ = clip_by_global_norm([grads[n] for n in names], limit)
        weights, state = optimizer.step(weights, state, dict(zip(names, clipped, strict=True)))
        return (weights, state, seen), None

    (_, _, seen), _ = jax.lax.scan(step, carry, batches)
    return seen


def shipped() -> dict[float | None, Recorder]:
    """Return the runs that ship at one learning rate, 0.4, all from seed 0, by limit.

    >>> bool(shipped()[None].global_norm.max() > 1000)
    True
    """
    return {limit: Recorder.load(str(_file(limit))) for limit in LIMITS}


def tuned() -> dict[float | None, Recorder]:
    """Return the runs that ship at the rates in `TUNED`, all from `TYPICAL_SEED`, by limit.

    >>> len(tuned()), bool(tuned()[None].global_norm.max() < 1000)
    (5, True)
    """
    return {limit: Recorder.load(str(_file(limit, "-tuned"))) for limit in LIMITS}


def seed_losses(limit: float | None, rate: float) -> np.ndarray:
    """Return the losses of ten runs with a limit at a rate, (10, 300) in nats, of seeds that had no part in the sweep.

    Raises:
        KeyError: no such runs ship; they do for each limit at its rate in `TUNED` and at 0.4.

    >>> seed_losses(1.0, 0.4).shape
    (10, 300)
    """
    return _losses_by_setting()[limit, rate]


def final_losses(limit: float | None, rate: float) -> np.ndarray:
    """Return the final losses of the ten runs of `seed_losses`, (10,) in nats.

    A run that ends above its first loss counts as that first loss: it has learned nothing, and how
    far above it ends is chance.
    """
    return _final(seed_losses(limit, rate))


def lost_runs(limit: float | None, rate: float) -> int:
    """Return how many of the ten runs of `seed_losses` ended above their first loss.

    >>> lost_runs(0.3, 0.4)
    0
    """
    losses = seed_losses(limit, rate)
    return int((_final(losses) == losses[:, 0]).sum())


def sweep_losses(limit: float | None) -> dict[float, np.ndarray]:
    """Return the final losses of the sweep that chose `TUNED`: rate -> (10,) in nats, one for each of `TUNING_SEEDS`.

    >>> list(sweep_losses(1.0))
    [0.2, 0.28, 0.4, 0.57]
    """
    with np.load(str(_path("sweep"))) as stored:
        of_limit = stored["limit"] == _as_number(limit)
        rates = stored["rate"][of_limit].tolist()
        return dict(zip(rates, stored["final"][of_limit], strict=True))


def best_rate(limit: float | None) -> float:
    """Return the rate of the sweep whose runs have the lowest mean final loss.

    >>> all(best_rate(limit) == TUNED[limit] for limit in LIMITS)
    True
    """
    final = sweep_losses(limit)
    return min(final, key=lambda rate: float(final[rate].mean()))


def _final(losses: np.ndarray) -> np.ndarray:
    """Return the mean of the last losses of each run, (runs, steps) -> (runs,), at most the first
    loss.
    """
    end = losses[:, -AT_END:].astype(np.float64).mean(axis=1)
    # Fmin ignores NaN: such a run counts as its first loss.
    final: np.ndarray = np.fmin(end, losses[:, 0])
    return final


@cache
def _losses_by_setting() -> dict[tuple[float | None, float], np.ndarray]:
    """Return the losses of the fresh seeds by limit and rate, read-only."""
    with np.load(str(_path("seeds"))) as stored:
        limits = [None if np.isinf(limit) else limit for limit in stored["limit"].tolist()]
        settings = zip(limits, stored["rate"].tolist(), strict=True)
        losses = stored["loss"]
    losses.flags.writeable = False
    return dict(zip(settings, losses, strict=True))


def _as_number(limit: float | None) -> float:
    """Return a limit as it is stored, with infinity for none."""
    return np.inf if limit is None else limit


def _path(name: str) -> Any:
    return files("gradlab.models.recordings") / f"char_rnn-{name}.npz"


def _file(limit: float | None, kind: str = "") -> Any:
    name = "none" if limit is None else f"{limit:g}"
    return _path(f"{name}{kind}")


def _train_losses(limit: float | None, rate: float, seeds: Iterable[int]) -> np.ndarray:
    """Return the losses of a run for each seed, (seeds, 300) float32."""
    runs = [record(seed=seed, limits=(limit,), rate=rate)[limit] for seed in seeds]
    return np.stack([run["loss"] for run in runs]).astype(np.float32)


def _write_sweep() -> None:
    """Train at every limit and rate of the sweep, and write the final losses."""
    cells = [(limit, rate) for limit in LIMITS for rate in SWEPT[limit]]
    final = []
    for limit, rate in cells:
        final.append(_final(_train_losses(limit, rate, TUNING_SEEDS)))
        print(f"limit {limit}, rate {rate:g}: {final[-1].mean():.3f}", flush=True)
    limits = np.array([_as_number(limit) for limit, _ in cells])
    rates = np.array([rate for _, rate in cells])
    np.savez_compressed(
        str(_path("sweep")), limit=limits, rate=rates, final=np.array(final, np.float32)
    )


def _write_seeds() -> None:
    """Train ten runs of each contestant at its own rate and at the common one, and write their
    losses.
    """
    settings = [(limit, TUNED[limit]) for limit in LIMITS]
    settings += [(limit, ONE_RATE) for limit in LIMITS if TUNED[limit] != ONE_RATE]
    losses = []
    for limit, rate in settings:
        losses.append(_train_losses(limit, rate, FRESH_SEEDS))
        print(f"limit {limit}, rate {rate:g}: {_final(losses[-1]).mean():.3f}", flush=True)
    limits = np.array([_as_number(limit) for limit, _ in settings])
    rates = np.array([rate for _, rate in settings])
    np.savez_compressed(str(_path("seeds")), limit=limits, rate=rates, loss=np.stack(losses))


def main() -> None:
    """Write the recordings that ship with the package; with --sweep, first the sweep that chose the rates."""
    if "--sweep" in sys.argv[1:]:
        _write_sweep()
    _write_seeds()
    for kind, runs in (
        ("", record(progress=print)),
        ("-tuned", record(seed=TYPICAL_SEED, rate=TUNED, progress=print)),
    ):
        for limit, recorder in runs.items():
            recorder.save(str(_file(limit, kind)))
            print(f"{_file(limit, kind)}: {recorder.summary().reason}")


if __name__ == "__main__":
    main()
