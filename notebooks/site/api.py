"""The public modules, and what the page of each lists."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import gradlab as gl


def modules() -> dict[str, ModuleType]:
    """Return the public modules by their names, gradlab itself first."""
    rooms = {f"gradlab.{name}": getattr(gl, name) for name in gl._MODULES}
    return {
        "gradlab": gl,
        **rooms,
        "gradlab.contrib.opt": gl.contrib.opt,
        "gradlab.contrib.layers": gl.contrib.layers,
        "gradlab.tpu.experimental.embedding": gl.tpu.experimental.embedding,
    }


def contents(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions, classes and constants of a module, each under its public name and once."""
    names = gl._NAMES if module is gl else set(module.__all__) - gl._NAMES.keys()
    for name in sorted(names, key=lambda name: (name.lower(), name)):
        thing = getattr(module, name)
        is_alias = getattr(thing, "__name__", name) != name and thing.__name__ in names
        if (is_documented(thing) or name.isupper()) and not is_alias:
            yield name, thing


def is_documented(thing: Any) -> bool:
    """Whether a thing is a class or a function of gradlab, whose docstring says what it is."""
    home = str(getattr(thing, "__module__", ""))
    return (inspect.isclass(thing) or inspect.isroutine(thing)) and home.startswith("gradlab")


def summary(module: ModuleType) -> str:
    """Return the first line of a module's docstring."""
    return (inspect.getdoc(module) or "").partition("\n")[0]
