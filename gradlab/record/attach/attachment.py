"""Attachments of a recorder to a training loop, which hand over its steps when the recorder is read."""

from __future__ import annotations

from typing import Generic, Self, TypeVar

from ..buckets import Buckets

R = TypeVar("R", bound=Buckets)


class Attached(Generic[R]):
    """Steps wait here, on a device say, until somebody reads the recorder, or this is closed; a context manager.

    Not in TensorFlow.
    """

    recorder: R

    def flush(self) -> R:
        """Hand the steps so far to the recorder, and return it."""
        raise NotImplementedError(f"{type(self).__name__} must define flush(self)")

    def close(self) -> R:
        """Hand over the last steps, leave the loop as it was, and return the recorder."""
        raise NotImplementedError(f"{type(self).__name__} must define close(self)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _join(self) -> None:
        """From here on the recorder asks this for steps when it is read."""
        self.recorder.attachment = self

    def _leave(self) -> None:
        """It does not any more, unless it asks another one by now."""
        if self.recorder.attachment is self:
            self.recorder.attachment = None
