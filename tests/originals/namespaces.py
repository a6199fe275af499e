"""How a suite is loaded: its own text, whose imports of the originals' modules find a stand-in.

No module of the originals is replaced for anybody else: only the `import` statements of the suite
see the stand-in.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.originals.suites import Source


class Namespace:
    """All names of a library in one place: tests name few, and none twice with two meanings.

    A sub-namespace (`tf.math`) is the namespace itself. A name that nobody supplies says so when it
    is used.
    """

    def __init__(
        self, title: str, names: Mapping[str, Any], within: frozenset[str] = frozenset()
    ) -> None:
        self._title, self._names, self._within = title, names, within

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            return self._names[name]
        if name in self._within:
            return self
        raise AttributeError(f"the stand-in for {self._title} has no {name!r}")


@dataclass(frozen=True)
class StandIn:
    """What the imports of a suite find.

    `prefixes`: the packages it stands for. `modules`: names that are modules where they are
    imported, though they are functions or classes too. `exactly`: modules that have a namespace of
    their own; with `real` all others are the library's. `beside`: modules whose names end so are
    files beside the suite, read like it. `around` is entered for each case: TensorFlow 1's default
    graph, for one.
    """

    prefixes: tuple[str, ...]
    namespace: Any
    modules: frozenset[str] = frozenset()
    exactly: Mapping[str, Any] | None = None
    around: Callable[[], Any] | None = None
    real: bool = False
    beside: str | None = None

    def covers(self, module: str) -> bool:
        return any(module == p or module.startswith(p + ".") for p in self.prefixes)

    def module(self, name: str) -> Any:
        if name in (self.exactly or {}):
            return (self.exactly or {})[name]
        return importlib.import_module(name) if self.real else self.namespace


class _From:
    """What `from module import names` reads names of: those supplied, and modules below it."""

    def __init__(self, stand_in: StandIn, module: str, source: Source) -> None:
        self._stand_in, self._module, self._source = stand_in, module, source

    def __getattr__(self, name: str) -> Any:
        stand_in, whole = self._stand_in, f"{self._module}.{name}"
        if whole in (stand_in.exactly or {}):
            return stand_in.module(whole)
        if stand_in.beside and name.endswith(stand_in.beside) and self._source.root is not None:
            return _beside(self._source, stand_in, whole)
        here = stand_in.module(self._module)
        if stand_in.real and not hasattr(here, name):
            return stand_in.module(whole)
        if name not in stand_in.modules and hasattr(here, name):
            return getattr(here, name)
        return stand_in.namespace


# Files that suites share, each read once: they define flags.
_HELPERS: dict[str, types.ModuleType] = {}


def _beside(source: Source, stand_in: StandIn, module: str) -> types.ModuleType:
    assert source.root is not None
    if module not in _HELPERS:
        file = source.root / f"{module.replace('.', '/')}.py"
        _HELPERS[module] = load(
            replace(source, text=file.read_text("utf-8"), file=file), stand_in, module
        )
    return _HELPERS[module]


def load(source: Source, stand_in: StandIn, name: str) -> types.ModuleType:
    """The suite as a module.

    It is in `sys.modules` while it lives, since pickles and absl look for it there.
    """

    def imported(
        module: str, globals_: Any = None, locals_: Any = None, names: Any = (), level: int = 0
    ) -> Any:
        if level or not stand_in.covers(module):
            return __import__(module, globals_, locals_, names, level)
        if names:
            return _From(stand_in, module, source)
        stand_in.module(module)
        return stand_in.module(module.partition(".")[0])

    suite = types.ModuleType(name)
    suite.__file__ = str(source.file)
    suite.__dict__["__builtins__"] = vars(builtins) | {"__import__": imported}
    sys.modules[name] = suite
    exec(compile(source.text, str(source.file), "exec"), suite.__dict__)
    return suite
