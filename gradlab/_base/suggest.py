"""Suggestions for names that don't exist."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

# The modules in which a name that is missing in another one is looked for.
_ROOMS = (
    "gradlab",
    "gradlab.train",
    "gradlab.contrib.opt",
    "gradlab.keras",
    "gradlab.schedules",
    "gradlab.rules",
    "gradlab.raw_ops",
    "gradlab.tpu",
    "gradlab.tpu.experimental.embedding",
    "gradlab.workers",
)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The end of a sentence: the nearest of the names there are, or all of them where none is near.

    >>> did_you_mean("Adam", ["AdagradOptimizer", "AdamOptimizer"])
    'did you mean AdamOptimizer?'
    >>> did_you_mean("clip_norm", ["clipnorm", "clipvalue"]), did_you_mean("x", ["clipnorm", "clipvalue"])
    ('did you mean clipnorm?', 'there are clipnorm, clipvalue')
    """
    names = list(names)
    near = _find_nearest(name, names)
    return f"did you mean {near}?" if near else f"there are {', '.join(names)}"


def explain_missing_name(module: str, name: str, names: Iterable[str]) -> str:
    """The end of a sentence about a name that a module lacks: where it is, or what to use instead.

    >>> explain_missing_name("gradlab.train", "SessionRunHook", ["Optimizer"])[:35]
    "sessions that run hooks aren't here"
    >>> explain_missing_name("gradlab.keras", "ExponentialDecay", ["Adagrad", "SGD"])
    'did you mean gl.schedules.ExponentialDecay?'
    """
    names = list(names)
    if name.startswith("_"):  # inspect, doctest and editors ask every module for such
        return did_you_mean(name, names)
    from .left_out import ELSE, explain

    sentence = explain(module, name)
    if sentence:
        return sentence
    # The beginning of a name of this module is nearer than the same name in another one, and that
    # is nearer than a name that is spelled almost alike.
    homes = [] if _find_longer(name, names) else _find_homes(name)
    if not homes and name.endswith("Optimizer"):
        homes = _find_formulas(name.removesuffix("Optimizer"))
    if homes:
        *others, last = homes
        return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
    near = _find_nearest(name, names)
    if near:
        return f"did you mean {near}?"
    return ELSE.get(module, f"it has {', '.join(names)}")


def _find_nearest(name: str, names: list[str]) -> str | None:
    if not name or name.startswith("__"):
        return None
    longer = _find_longer(name, names)
    if longer:
        return longer[0]
    typos = {candidate: _count_typos(name, candidate) for candidate in names}
    nearest = min(typos, key=typos.__getitem__, default=None)
    # More would suggest another algorithm: ApplyFoo is 3 typos away from ApplyFtrl. Names of a letter
    # or two have nothing in common after a typo.
    return nearest if nearest and typos[nearest] <= min(2, len(name) // 3) else None


def _count_typos(a: str, b: str) -> int:
    """Return how many letters to insert, delete, replace or swap with the next one turn a into b.

    >>> _count_typos("SDG", "SGD"), _count_typos("Strategy", "State")
    (1, 3)
    """
    before_last: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row = [i + 1]
        for j, y in enumerate(b):
            row.append(min(last[j + 1] + 1, row[j] + 1, last[j] + (x != y)))
            if i and j and x == b[j - 1] and y == a[i - 1]:
                row[-1] = min(row[-1], before_last[j - 1] + 1)
        before_last = last
        last = row
    return last[-1]


def _find_longer(name: str, names: list[str]) -> list[str]:
    return [n for n in names if n.lower().startswith(name.lower())]


def _find_homes(name: str) -> list[str]:
    """Return the public paths that end in a name."""
    rooms = [room for room in _ROOMS if name in _read_public_names(room)]
    return [f"gl{room.removeprefix('gradlab')}.{name}" for room in rooms]


def _find_formulas(name: str) -> list[str]:
    """Return how to write an optimizer of TensorFlow 1 that only gl.rules or gl.keras has.

    >>> _find_formulas("Lion")
    ['gl.train.RuleOptimizer(gl.rules.Lion(), ...)', 'gl.keras.Lion']
    """
    formulas = []
    if name in _read_public_names("gradlab.rules"):
        formulas.append(f"gl.train.RuleOptimizer(gl.rules.{name}(), ...)")
    if name in _read_public_names("gradlab.keras"):
        formulas.append(f"gl.keras.{name}")
    return formulas


def _read_public_names(module: str) -> list[str]:
    """Return `__all__` of a module, from its file unless it is imported.

    To import it could load JAX, or need an extra that isn't installed.
    """
    import ast

    if module in sys.modules:
        return list(getattr(sys.modules[module], "__all__", ()))
    path = Path(__file__).parents[1].joinpath(*module.split(".")[1:])
    for file in (path / "__init__.py", path.with_suffix(".py")):
        for statement in ast.parse(file.read_text("utf-8")).body if file.is_file() else ():
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
                return list(ast.literal_eval(statement.value))
    return []


def only_public(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A module's `__getattr__`, which says where an unknown name is or why it isn't, and its
    `__dir__`, which lists `__all__`.

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
        explanation = explain_missing_name(module, name, __dir__())
        raise AttributeError(f"module {module!r} has no attribute {name!r}; {explanation}")

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
