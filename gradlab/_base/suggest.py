"""Suggestions for names that don't exist."""

from __future__ import annotations

import importlib
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
    # Inspect, doctest and editors ask every module for such: nothing can be near.
    pythons = name.startswith("__")
    near = (
        longer[:1]
        if name and longer
        else []
        if pythons
        else difflib.get_close_matches(name, names, n=1)
    )
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"


def only_public(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A module's `__getattr__`, which says what is near an unknown name, and its `__dir__`, which
    lists `__all__`.

    Submodules are there by chance, as they have been imported: they are found, but not shown. Type
    checkers find unknown names themselves, so that a module has both under `if not TYPE_CHECKING`.

    >>> from gradlab import train
    >>> train.Adam  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AttributeError: module 'gradlab.train' has no attribute 'Adam'; did you mean AdamOptimizer?...
    >>> dir(train)[:2]
    ['AdadeltaOptimizer', 'AdagradDAOptimizer']
    """

    def __getattr__(name: str) -> Any:
        raise AttributeError(
            f"module {module!r} has no attribute {name!r}; {did_you_mean(name, __dir__())}"
        )

    def __dir__() -> list[str]:
        has = vars(sys.modules[module])
        found = (
            n for n, x in has.items() if not n.startswith("_") and not isinstance(x, type(sys))
        )
        return sorted(has.get("__all__", found))

    return __getattr__, __dir__


def only_modules(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Like `only_public`, for a package whose `__all__` lists modules that load at first use.

    >>> from gradlab import models
    >>> dir(models)[:2], models.datasets.__name__
    (['char_rnn', 'datasets'], 'gradlab.models.datasets')
    """
    unknown, listed = only_public(package)

    def __getattr__(name: str) -> Any:
        return importlib.import_module(f"{package}.{name}") if name in listed() else unknown(name)

    return __getattr__, listed
