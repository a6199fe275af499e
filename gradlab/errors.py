"""Errors and warnings of the library.

Each error is also one of Python's own types, so plain `except ValueError` works.
"""

import sys
import warnings

__all__ = [
    "CancelledError",
    "ClipWarning",
    "DTypeError",
    "DataLossError",
    "DeadlineExceededError",
    "DeadlockError",
    "EmbeddingWarning",
    "FailedAssertionError",
    "FailedPreconditionError",
    "GateWarning",
    "GradlabWarning",
    "InternalError",
    "InvalidArgumentError",
    "KerasWarning",
    "MissingDTypeError",
    "MissingStepError",
    "NoCenterError",
    "NoGetterError",
    "NoRateError",
    "NoSystemError",
    "NotAGradientError",
    "NotAVariableError",
    "NotFoundError",
    "NotPairsError",
    "PrecisionWarning",
    "RecordingWarning",
    "SlicesUnsupportedError",
    "SlicesWarning",
    "StalenessWarning",
    "StateWarning",
    "UnsupportedDTypeError",
]


class InvalidArgumentError(ValueError):
    """A shape, index or axis that the operation does not allow (TensorFlow's class of the same name)."""


class DTypeError(InvalidArgumentError, TypeError):
    """A dtype that the operation does not allow.

    TensorFlow raises InvalidArgumentError for it when eager and TypeError while it builds a graph;
    this is both.
    """


class DataLossError(InvalidArgumentError):
    """A file that is damaged, or another one than was asked for (TensorFlow's class of the same name)."""


class NotFoundError(LookupError):
    """Something that is gone, or that was never there (TensorFlow's class of the same name)."""


class UnsupportedDTypeError(DTypeError, NotFoundError):
    """A dtype without a kernel.

    TensorFlow raises NotFoundError for it when eager, InvalidArgumentError or TypeError in a graph;
    this is all three.
    """


class InternalError(InvalidArgumentError):
    """An error that TensorFlow checks for itself (its class of the same name); here it is an ordinary bad argument."""


class FailedPreconditionError(RuntimeError):
    """Something out of its order: another call has to come first (TensorFlow's class of the same name)."""


class NoSystemError(FailedPreconditionError, NotFoundError):
    """There is no TPU system to run an operation on.

    Without a TPU it is a NotFoundError in TensorFlow, which has no kernel; on one something out of
    its order; this is both.
    """


class DeadlineExceededError(TimeoutError):
    """A wait took too long (TensorFlow's class of the same name)."""


class CancelledError(RuntimeError):
    """A wait that somebody else ended (TensorFlow's class of the same name)."""


class MissingDTypeError(TypeError, AttributeError):
    """A bare Python number where an array that carries its dtype is needed (AttributeError in TensorFlow)."""


class GradlabWarning(UserWarning):
    """Base of all gradlab warnings: `warnings.simplefilter("ignore", gl.errors.GradlabWarning)` silences them."""


class ClipWarning(GradlabWarning):
    """A clip did something its caller may not expect: limit 0 or infinite, overflow, non-finite entries."""


class EmbeddingWarning(GradlabWarning):
    """A table, feature or step of TPU embeddings does something its user may not expect."""


class GateWarning(GradlabWarning):
    """A gate value that has no effect, or one that lets updates overtake gradients."""


class KerasWarning(GradlabWarning):
    """A Keras optimizer or schedule does something its user may not expect, in silence in the version it stands for."""


class SlicesWarning(GradlabWarning):
    """IndexedSlices say that they belong to a tensor of another shape than the one they meet; the latter counts."""


class StalenessWarning(GradlabWarning):
    """The staleness of a gradient is not what it seems: its steps were read from two variables, or moved backwards."""


class StateWarning(GradlabWarning):
    """A run goes on from a saved state with other settings than it was saved with."""


class PrecisionWarning(GradlabWarning):
    """A hyperparameter loses its meaning in the dtype of the weights: a decay that is 1, an epsilon that is 0."""


class RecordingWarning(GradlabWarning):
    """A recording may hold other gradients than its user expects, or what recorded them was replaced."""


class NotPairsError(TypeError, ValueError):
    """Something other than (gradient, variable) pairs.

    In TensorFlow a TypeError where it cannot be unpacked, a ValueError where it has another length;
    this is both.
    """


class NotAGradientError(TypeError, ValueError):
    """Something other than an array, IndexedSlices or None where a gradient must be.

    In TensorFlow 1 a ValueError from SyncReplicasOptimizer, a TypeError from the others; this is
    both.
    """


class NotAVariableError(TypeError, NotImplementedError, AttributeError):
    """Something that is not a Variable where one must be updated.

    TensorFlow 1's optimizers raise NotImplementedError for it, Keras's AttributeError; this is
    both.
    """


class DeadlockError(RuntimeError):
    """No live thread can end this wait; TensorFlow waits forever."""


class MissingStepError(RuntimeError, AttributeError):
    """The staleness of a gradient is unknown: no global step, or none was noted for this worker.

    An AttributeError in TensorFlow; this is both.
    """


class SlicesUnsupportedError(TypeError, NotImplementedError):
    """IndexedSlices where an optimizer takes dense gradients only.

    TensorFlow raises TypeError or NotImplementedError for it, by the kind of the variable; this is
    both.
    """


class FailedAssertionError(InvalidArgumentError, AssertionError):
    """Arguments that the original refuses by an assertion (AssertionError in TensorFlow)."""


class NoGetterError(TypeError, AttributeError):
    """Something other than the custom getter that a worker's optimizer needs (AttributeError in TensorFlow)."""


class NoRateError(ValueError, AttributeError):
    """An optimizer without a learning rate that a default could be worked out from (AttributeError in TensorFlow)."""


class NoCenterError(InvalidArgumentError, KeyError):
    """A variable of a worker without one at the center (KeyError in TensorFlow)."""

    __str__ = ValueError.__str__


def warn(message: str, category: type[GradlabWarning]) -> None:
    """Warn at the line that called into gradlab, however deep in it the trouble shows."""
    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("gradlab.", "numpy.")
    ):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)


def __dir__() -> list[str]:
    return __all__
