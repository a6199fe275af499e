"""Who is at work: workers that said they would push, and those that said they are done."""

from __future__ import annotations

from collections.abc import Iterable

from .tokens import Worker


class Crew:
    """The workers that declare when they begin and when they end; `size` is how many there will be.

    >>> crew = Crew(2)
    >>> crew.join("a"), crew.is_known_to_all_wait(["a"], ["a"])
    (None, False)
    >>> crew.join("b"), crew.leave("b"), crew.is_known_to_all_wait(["a"], ["a", "b"])
    (None, None, True)
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.present: set[Worker] = set()
        self.gone: set[Worker] = set()

    def join(self, worker: Worker) -> None:
        if worker in self.gone or len(self.present | self.gone) >= self.size:
            self.gone.clear()  # a second crew: who is done may come back
        self.present.add(worker)

    def leave(self, worker: Worker) -> None:
        self.present.discard(worker)
        self.gone.add(worker)

    def is_known_to_all_wait(self, waiting: Iterable[Worker], seen: Iterable[Worker]) -> bool:
        """Whether nobody can push any more; False when in doubt, as long as not all that were `seen` have declared."""
        known = self.present | self.gone
        return len(known) >= self.size and known.issuperset(seen) and self.present.issubset(waiting)
