"""Problems for workers: initial weights, the gradient of a batch, and the loss that is watched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from .._base.arrays import Array, is_float, precision, quiet, sum_segments
from .._base.derivatives import differentiator
from .._base.numbers import percent
from ..errors import InvalidArgumentError
from ..models import datasets
from ..models.cross_entropy import log_softmax
from ..models.word_topics import TOPICS, Lines, chosen, errors, scores, shipped, softmax, words_of
from ..train.autodiff import gather
from .validation import short_repr

Weights = Mapping[str, Array]
# OpenBLAS may use several threads from 125,000 products on, and for a vector from 9,216 entries of
# the matrix on.
_MOST_PRODUCTS = 2**16
_MOST_ENTRIES = 2**13
# A block of rows * terms * columns = 2**16 products.
_ROWS = 64
_TERMS = 64
_COLUMNS = 16


class Problem(Protocol):
    """The methods of a training run that an experiment needs; any object with these three will do.

    Not in TensorFlow.

    >>> class Parabola:
    ...     def start(self):
    ...         return {"w": np.float32([3.0])}
    ...     def gradient(self, weights, rng):
    ...         return {"w": weights["w"]}
    ...     def loss(self, weights):
    ...         return float(weights["w"][0] ** 2 / 2)
    >>> Parabola().loss(Parabola().start())
    4.5
    """

    def start(self) -> dict[str, Array]:
        """The weights before the first update, by name."""
        ...

    def gradient(self, weights: Weights, rng: np.random.Generator) -> dict[str, Array]:
        """The gradient of the batch that this generator draws; the same generator state gives the same bits.

        The weights are the server's and read-only: write to a copy.
        """
        ...

    def loss(self, weights: Weights) -> float:
        """The loss to watch: over all data, or over a part that stays the same."""
        ...


@dataclass(frozen=True)
class Bowl:
    """A quadratic loss of two weights, with noise in its gradients.

        loss = (w1**2 + condition * w2**2) / 2,  gradient = (w1, condition * w2) + noise * z

    z is standard normal; weights "w", float32 (2,), start at (first, second). Not in TensorFlow.

    >>> float(Bowl(condition=4.0).loss({"w": np.float32([1.0, 1.0])}))
    2.5
    """

    condition: float = 10.0
    noise: float = 0.0
    first: float = 1.0
    second: float = 1.0

    def start(self) -> dict[str, Array]:
        return {"w": np.array([self.first, self.second], np.float32)}

    def gradient(self, weights: Weights, rng: np.random.Generator) -> dict[str, Array]:
        steepness = np.array([1.0, self.condition], np.float32)
        noise = (
            np.float32(self.noise) * rng.standard_normal(2, np.float32)
            if self.noise
            else np.float32(0)
        )
        return {"w": steepness * weights["w"] + noise}

    @quiet
    def loss(self, weights: Weights) -> float:
        return float(
            np.array([1.0, self.condition]) @ np.asarray(weights["w"], np.float64) ** 2 / 2
        )


@dataclass(frozen=True)
class Digits:
    """Tell handwritten digits apart: softmax regression, or a network of ReLU layers if `hidden` names their widths.

    `loss` is the cross-entropy over the held-out 297 images, `accuracy` the accuracy on them.
    Weights are float32, "w0", "b0" and so on. Not in TensorFlow.

    Source: `gl.models.datasets.digits` says where they are from.

    >>> digits = Digits()
    >>> round(digits.loss(digits.start()), 3), round(digits.accuracy(digits.start()), 2)
    (2.303, 0.09)
    """

    hidden: tuple[int, ...] = ()
    batch: int = 32
    seed: int = 0

    def start(self) -> dict[str, Array]:
        rng = np.random.default_rng(self.seed)
        weights: dict[str, Array] = {}
        for k, (rows, columns) in enumerate(pairwise((64, *self.hidden, 10))):
            if not self.hidden:
                scale = 0.0
            elif k < len(self.hidden):
                scale = np.sqrt(2 / rows)
            else:
                scale = np.sqrt(1 / rows)
            weights[f"w{k}"] = np.float32(scale) * rng.standard_normal((rows, columns), np.float32)
            weights[f"b{k}"] = np.zeros(columns, np.float32)
        return weights

    def gradient(self, weights: Weights, rng: np.random.Generator) -> dict[str, Array]:
        images, labels = _split()[:2]
        batch = rng.integers(len(images), size=self.batch)
        labels = labels[batch]
        layers = self._layers(weights, images[batch])
        error: Array = softmax(np.asarray(layers[-1]))
        error[np.arange(len(labels)), labels] -= 1
        error /= np.float32(len(labels))
        gradient = {}
        for k in reversed(range(len(self.hidden) + 1)):
            gradient[f"w{k}"] = _multiply(layers[k].T, error)
            gradient[f"b{k}"] = error.sum(axis=0)
            error = _multiply(error, weights[f"w{k}"].T) * (layers[k] > 0)
        return {name: gradient[name] for name in weights}

    @quiet
    def loss(self, weights: Weights) -> float:
        _, _, images, labels = _split()
        logits = self._layers(weights, images)[-1].astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        return float(
            (np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(labels)), labels]).mean()
        )

    @quiet
    def accuracy(self, weights: Weights) -> float:
        """The accuracy on the held-out images."""
        _, _, images, labels = _split()
        return float((self._layers(weights, images)[-1].argmax(axis=1) == labels).mean())

    def _layers(self, weights: Weights, x: Array) -> list[Array]:
        """Return the input, every hidden layer, and the logits."""
        layers = [x]
        for k in range(len(self.hidden) + 1):
            x = _multiply(x, weights[f"w{k}"]) + weights[f"b{k}"]
            layers.append(np.maximum(x, 0) if k < len(self.hidden) else x)
            x = layers[-1]
        return layers


@dataclass(frozen=True)
class Reader:
    """Read a line of Python's documentation, and say which of eight topics it is from: softmax regression.

        p = softmax(sum of the rows of the line's words + bias)
        loss = mean of -log p[topic] over `batch` lines

    Weights, float32, start at 0: "words" (867, 8), one row for each word, and "bias" (8,). `loss`
    and `accuracy` are taken over the 457 lines held out. Not in TensorFlow. Source: the
    documentation of Python, PSF license.

    Raises:
        ValueError: a text without a known word; batch < 1.

    >>> reader = Reader()
    >>> round(reader.loss(reader.start()), 3), reader.topics[1]
    (2.079, 'the debugger')
    """

    batch: int = 16

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"batch must be 1 line or more, got {self.batch!r}")

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics of the eight columns."""
        return tuple(TOPICS.values())

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the rows, most frequent first."""
        return shipped().words

    def start(self) -> dict[str, Array]:
        return {
            "words": np.zeros((len(self.words), len(TOPICS)), np.float32),
            "bias": np.zeros(len(TOPICS), np.float32),
        }

    def draw(self, rng: np.random.Generator) -> Lines:
        """The lines of one batch."""
        lines = shipped().train
        return chosen(lines, rng.integers(len(lines.topics), size=self.batch))

    def gradient(self, weights: Weights, rng: np.random.Generator) -> dict[str, Array]:
        lines = self.draw(rng)
        error = errors(_scores(weights, lines), lines) / np.float32(self.batch)
        words = np.zeros_like(weights["words"])
        np.add.at(words, lines.words, np.repeat(error, np.diff(lines.starts), axis=0))
        return {"words": words, "bias": error.sum(axis=0)}

    def loss_of(self, weights: Any, lines: Lines) -> Array:
        """The loss of these lines, to be differentiated; of Variables, the words' gradient comes as slices.

        Where JAX is not installed, no entry is farther from JAX's than 1e-6 of the gradient's
        largest.

        >>> import gradlab as gl
        >>> reader, opt = Reader(batch=2), gl.train.GradientDescentOptimizer(1.0)
        >>> table, bias = (gl.Variable(w, name=name) for name, w in reader.start().items())
        >>> lines = reader.draw(np.random.default_rng(0))
        >>> loss = lambda: reader.loss_of({"words": table, "bias": bias}, lines)
        >>> type(opt.compute_gradients(loss, [table, bias])[0][0]).__name__
        'IndexedSlices'
        """
        count = len(lines.topics)
        of_line = np.repeat(np.arange(count), np.diff(lines.starts))
        logits = (
            sum_segments(gather(weights["words"], lines.words), of_line, count) + weights["bias"]
        )
        return -log_softmax(logits)[np.arange(count), lines.topics].mean()

    @quiet
    def loss(self, weights: Weights) -> float:
        lines = shipped().held_out
        chance = softmax(_scores(weights, lines).astype(np.float64))
        return float(-np.log(chance[np.arange(len(chance)), lines.topics]).mean())

    @quiet
    def accuracy(self, weights: Weights) -> float:
        """The share of the held-out lines whose topic is found."""
        lines = shipped().held_out
        return float((_scores(weights, lines).argmax(axis=1) == lines.topics).mean())

    def read(self, text: str, weights: Weights) -> dict[str, float]:
        """Return the chance of each topic for a text of your own, most likely first; it prints as a table.

        >>> reader = Reader()
        >>> reader.read("set a breakpoint and step through the stack", reader.start())["the debugger"]
        0.125
        """
        row = {word: k for k, word in enumerate(self.words)}
        known = [row[word] for word in words_of(text) if word in row]
        if not known:
            raise ValueError(
                f"no word of {text!r} is known; the {len(row)} words of the reader are in `words`"
            )
        lines = Lines(np.array(known), np.array([0, len(known)]), np.zeros(1, np.int8))
        chance = softmax(_scores(weights, lines))[0]
        order = np.argsort(-chance, kind="stable")
        return Chances({self.topics[k]: round(float(chance[k]), 3) for k in order})


class Chances(dict[str, float]):
    """Chances by name, which print as a table of percentages.

    >>> Chances({"the debugger": 0.92, "regular expressions": 0.075, "data types": 0.005})
    the debugger         92.0%
    regular expressions   7.5%
    data types            0.5%
    """

    def __repr__(self) -> str:
        longest = max(map(len, self), default=0)
        return "\n".join(
            f"{name:{longest}} {percent(chance, 1):>6}" for name, chance in self.items()
        )


def _scores(weights: Weights, lines: Lines) -> np.ndarray:
    logits: np.ndarray = scores(np.asarray(weights["words"]), lines) + np.asarray(weights["bias"])
    return logits


@dataclass(frozen=True)
class FromLoss:
    """A run of your own: a loss written with jax.numpy, differentiated by JAX; by autograd where JAX is not installed.

    Args:
        loss_of: function (weights, batch) -> scalar.
        weights: the ones to start from, by name.
        draw: function (rng) -> batch.
        watch: the batch whose loss is watched.
        jit: compile the loss and its gradient, for each shape of a batch: many times faster, for
            what `jax.jit` accepts (no `if` on values, no NumPy array indexed by the batch).
            autograd compiles nothing.

    Not in TensorFlow.

    Raises:
        TypeError: weights other than a mapping of names to float arrays.
        InvalidArgumentError: no scalar loss.

    >>> import jax.numpy as jnp
    >>> line = FromLoss(lambda w, x: ((w["a"] * x - 2 * x) ** 2).mean(), {"a": np.float32(0.0)},
    ...                 lambda rng: rng.standard_normal(8, np.float32), np.float32([1.0]))
    >>> line.loss(line.start()), sorted(line.gradient(line.start(), np.random.default_rng(0)))
    (4.0, ['a'])
    """

    loss_of: Callable[[Any, Any], Any]
    weights: Weights
    draw: Callable[[np.random.Generator], Any]
    watch: Any
    jit: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise TypeError(
                f"weights map names to float arrays, as {{'w': np.zeros(3)}}; got "
                f"{short_repr(self.weights)}"
            )
        for name, w in self.weights.items():
            if not isinstance(name, str):
                raise TypeError(f"weights are named by strings, got the name {name!r}")
            if not (isinstance(w, float) or is_float(getattr(w, "dtype", object))):
                raise TypeError(
                    f"weights[{name!r}] must be a float array, got {type(w).__name__}: "
                    f"{short_repr(w)}"
                )

    def __repr__(self) -> str:
        return f"FromLoss({', '.join(f'{f.name}={short_repr(getattr(self, f.name))}' for f in fields(self))})"

    def start(self) -> dict[str, Array]:
        return {name: np.asarray(w) for name, w in self.weights.items()}

    def gradient(self, weights: Weights, rng: np.random.Generator) -> dict[str, Array]:
        with precision(widest_dtype(weights)):
            _, gradient = _loss_and_gradient(self.loss_of, self.jit)[1](
                dict(weights), self.draw(rng)
            )
        return {name: np.asarray(g) for name, g in gradient.items()}

    def loss(self, weights: Weights) -> float:
        with precision(widest_dtype(weights)):
            return float(_loss_and_gradient(self.loss_of, self.jit)[0](dict(weights), self.watch))


@lru_cache(maxsize=32)
def _loss_and_gradient(
    loss_of: Callable[[Any, Any], Any], jit: bool
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def loss(weights: Any, batch: Any) -> Any:
        value = loss_of(weights, batch)
        shape = getattr(value, "shape", ())
        if shape:
            raise InvalidArgumentError(
                f"loss_of must return a scalar, such as a mean; got an array of shape {shape}"
            )
        return value

    library = differentiator()
    return library.compile(loss) if jit else loss, library.value_and_gradient(loss, jit)


PROBLEMS: dict[str, Any] = {"Bowl": Bowl, "Digits": Digits, "Reader": Reader}


def get_config(problem: Any) -> dict[str, Any] | None:
    """Return a problem that ships as plain values; None for others, which have to be given again."""
    name = type(problem).__name__
    return {"problem": name, **asdict(problem)} if type(problem) is PROBLEMS.get(name) else None


def from_config(config: Mapping[str, Any]) -> Problem:
    """Return the problem that `get_config` wrote."""
    fields = {
        k: tuple(x) if isinstance(x, list) else x for k, x in config.items() if k != "problem"
    }
    problem: Problem = PROBLEMS[config["problem"]](**fields)
    return problem


def widest_dtype(weights: Weights) -> Any:
    """Return the dtype with the most bytes; float64 needs `precision`."""
    return max(
        (np.dtype(w.dtype) for w in weights.values()),
        key=lambda dtype: dtype.itemsize,
        default=np.float32,
    )


def _multiply(a: Array, b: Array) -> Array:
    """Return a @ b with the same bits in every process.

    BLAS divides a large product among its threads, and rounds differently where the parts meet. So
    a large product is computed in blocks, each small enough for one thread.
    """
    (rows, terms), columns = a.shape, b.shape[1]
    if rows * terms * columns <= _MOST_PRODUCTS and max(a.size, b.size) <= _MOST_ENTRIES:
        return a @ b
    total = np.zeros((rows, columns), np.result_type(a, b))
    for i in range(0, rows, _ROWS):
        for j in range(0, columns, _COLUMNS):
            block = total[i : i + _ROWS, j : j + _COLUMNS]
            for k in range(0, terms, _TERMS):
                block += a[i : i + _ROWS, k : k + _TERMS] @ b[k : k + _TERMS, j : j + _COLUMNS]
    return total


def _split() -> tuple[Array, Array, Array, Array]:
    """Return images and labels to train on, then those held out."""
    images, labels = datasets.digits()
    return images[:1500], labels[:1500], images[1500:], labels[1500:]
