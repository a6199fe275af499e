"""A real run to look at: a plain recurrent network that learns to predict the next character of Python's documentation.

Unrolled over 100 characters its gradients explode now and then; without clipping the run does not recover. An exploding
run is chaotic, so another processor records other digits: `recordings/` holds what ships with the package, and
`python -m gradlab.models.char_rnn` writes it again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
HIDDEN, UNROLLED, BATCH = 64, 100, 16
_BYTES = 1 << 13  # of the recorder's state for each step, so that each has a bucket of its own
_NO_LIMIT = 2.0**100  # a power of two: clip * (1 / clip) is exactly 1, so gradients pass unchanged

Weights = dict[str, Any]


def initial_weights(seed: int, letters: int) -> Weights:
    """Normal weights, float32: embed (letters, 64), hidden (64, 64), readout (64, letters) and two biases."""
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
    from .._steps.jax import jax, jnp

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
    limits: tuple[float | None, ...] = LIMITS,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[float | None, Recorder]:
    """Train once for every limit, from the same weights on the same batches, and record the gradients before clipping.

        g = d loss / d w;  recorder.update(g);  g = clip_by_global_norm(g, limit);  momentum: m = 0.9 m + g, w -= 0.4 m

    Returns: limit -> Recorder with tensors bias, embed, hidden, readout, readout_bias and scalar loss (nats).

    Not in TensorFlow. Source: Pascanu et al., "On the difficulty of training recurrent neural networks" (2013).

    >>> runs = shipped()  # what record() gave; it trains for a minute
    >>> runs[1.0].names, len(runs[1.0])
    (('bias', 'embed', 'hidden', 'readout', 'readout_bias'), 300)
    """
    from .. import train  # to look at recordings that ship takes none of it
    from .._steps.jax import jax

    codes, alphabet = python_docs()
    starts = np.random.default_rng([seed, 1]).integers(0, len(codes) - UNROLLED - 1, (steps, BATCH, 1))
    batches = codes[starts + np.arange(UNROLLED + 1)]
    weights = initial_weights(seed, len(alphabet))
    recorder, optimizer = Recorder(steps, state_bytes=_BYTES * steps), train.MomentumOptimizer(0.4, 0.9)
    carry = (weights, optimizer.init(weights), recorder.init(weights, loss=0.0))
    run = jax.jit(partial(_run, recorder, optimizer))
    runs = {}
    for limit in limits:
        progress(f"training with {'no limit' if limit is None else f'limit {limit:g}'}")
        state = run(carry, batches, np.float32(_NO_LIMIT if limit is None else limit))
        runs[limit] = recorder.absorb(state)
    return runs


def _run(recorder: Recorder, optimizer: train.RuleOptimizer, carry: Any, batches: Any, limit: Any) -> Any:
    """All steps as one scan: the state of the recorder at the end."""
    from .._steps.jax import jax

    def step(carry: Any, batch: Any) -> Any:
        weights, state, seen = carry
        value, grads = jax.value_and_grad(loss)(weights, batch)
        seen = recorder.update(seen, grads, loss=value)
        names = sorted(grads)
        clipped, _ = clip_by_global_norm([grads[n] for n in names], limit)
        weights, state = optimizer.update(state, weights, dict(zip(names, clipped, strict=True)))
        return (weights, state, seen), None

    return jax.lax.scan(step, carry, batches)[0][2]


def _file(limit: float | None) -> Any:
    return files("gradlab.models.recordings") / f"char_rnn-{'none' if limit is None else f'{limit:g}'}.npz"


def shipped() -> dict[float | None, Recorder]:
    """The recording that comes with the package.

    >>> bool(shipped()[None].global_norm.max() > 1000)
    True
    """
    return {limit: Recorder.load(str(_file(limit))) for limit in LIMITS}


def main() -> None:
    """Write the recording that ships with the package."""
    for limit, recorder in record(progress=print).items():
        recorder.save(str(_file(limit)))
        print(f"{_file(limit)}: {recorder.summary().reason}")


if __name__ == "__main__":
    main()
