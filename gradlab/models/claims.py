"""The comparative sentences of labs, notebooks, exercises and reports, each with the runs that it rests on.

"Best", "lowest" and "faster" are said of shipped runs only by a claim of this table. A claim computes its sentence from
the measured values of at least five seeds, each contestant at a rate chosen for it on other seeds, and says "can't be
told apart" where the test of `gradlab._base.paired` does not tell them apart. So a sentence can't outlive its data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .._base.paired import Comparison


@dataclass(frozen=True)
class Claim:
    """A sentence about a comparison of runs.

    Attributes:
        id: dotted, such as "clip.final_loss".
        samples: returns the measured values by contestant and seed.
        write: turns them into the sentence; it asks the comparison, and so can't say more than holds.
    """

    id: str
    samples: Callable[[], Comparison]
    write: Callable[[Comparison], str]

    @property
    def sentence(self) -> str:
        """The sentence that holds for the shipped runs."""
        return self.write(self.samples())


def listed(names: tuple[str, ...], conjunction: str = "and") -> str:
    """Write names as a reader lists them.

    >>> listed(("a",)), listed(("a", "b")), listed(("a", "b", "c"), "or")
    ('a', 'a and b', 'a, b, or c')
    """
    if len(names) < 3:
        return f" {conjunction} ".join(names)
    return f"{', '.join(names[:-1])}, {conjunction} {names[-1]}"


CLAIMS: dict[str, Claim] = {}


def sentence(claim: str) -> str:
    """Return the sentence of a claim by its id.

    Raises:
        KeyError: there is no such claim.
    """
    return CLAIMS[claim].sentence
