"""What to say of a name that does not exist."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The end of a sentence: the nearest of the names there are, or all of them where none is near.

    >>> did_you_mean("Adam", ["AdagradOptimizer", "AdamOptimizer"])
    'did you mean AdamOptimizer?'
    >>> did_you_mean("clip_norm", ["clipnorm", "clipvalue"]), did_you_mean("x", ["clipnorm", "clipvalue"])
    ('did you mean clipnorm?', 'there are clipnorm, clipvalue')
    """
    import difflib

    names = list(names)
    longer = [n for n in names if n.lower().startswith(name.lower())]
    near = longer[:1] if name and longer else difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"


def suggesting(module: str) -> Callable[[str], Any]:
    """A `__getattr__` for a module, which says what its public names are.

    >>> from gradlab import train
    >>> train.Adam
    Traceback (most recent call last):
    AttributeError: module 'gradlab.train' has no attribute 'Adam'; did you mean AdamOptimizer?
    """

    def __getattr__(name: str) -> Any:
        public = sorted(n for n, x in vars(sys.modules[module]).items() if not n.startswith("_") and _is_own(x))
        raise AttributeError(f"module {module!r} has no attribute {name!r}; {did_you_mean(name, public)}")

    return __getattr__


def _is_own(x: Any) -> bool:
    """Submodules are there by chance, as they have been imported."""
    return not isinstance(x, type(sys))
