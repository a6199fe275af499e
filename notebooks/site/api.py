"""Every public name and the pages of the reference, as autodoc reads them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import gradlab as gl

_INDEX = """\
Reference
=========

Everything public, from its docstrings. ``import gradlab as gl`` brings all of it.

.. list-table::

{rows}
.. toctree::
   :hidden:

{tree}"""


def modules() -> dict[str, ModuleType]:
    """The public modules by their names, gradlab itself first."""
    rooms = {f"gradlab.{name}": getattr(gl, name) for name in gl._MODULES}
    return {"gradlab": gl, **rooms, "gradlab.tpu.experimental.embedding": gl.tpu.experimental.embedding}


@cache
def public_names() -> dict[str, Any]:
    """Everything public by its full name: modules, what is in them, and the methods of classes.

    >>> public_names()["gradlab.clip_by_norm"].__name__
    'clip_by_norm'
    """
    names: dict[str, Any] = {}
    for place, module in modules().items():
        names[place] = module
        for name, thing in contents(module):
            names[f"{place}.{name}"] = thing
            members = vars(thing) if inspect.isclass(thing) else {}
            names |= {f"{place}.{name}.{m}": x for m, x in members.items() if not m.startswith("_") and _said(x)}
    return names


def contents(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The public functions, classes and constants of a module, each under its public name and once."""
    names = gl._NAMES if module is gl else set(module.__all__) - gl._NAMES.keys()
    for name in sorted(names, key=str.lower):
        thing = getattr(module, name)
        is_alias = getattr(thing, "__name__", name) != name and thing.__name__ in names
        if (_is_documented(thing) or name.isupper()) and not is_alias:
            yield name, thing


def _is_documented(thing: Any) -> bool:
    home = str(getattr(thing, "__module__", ""))
    return (inspect.isclass(thing) or inspect.isroutine(thing)) and home.startswith("gradlab")


def _said(thing: Any) -> bool:
    return bool(inspect.getdoc(getattr(thing, "__func__", thing)))


def pages() -> Iterator[tuple[str, str]]:
    """Yield the reference as (name of the page, reStructuredText), its index first."""
    listed = modules().items()
    rows = "".join(f"   * - :doc:`{place}`\n     - {_first(module)}\n" for place, module in listed)
    tree = "".join(f"   {place}\n" for place, _ in listed)
    yield "index", _INDEX.format(rows=rows, tree=tree)
    for place, module in modules().items():
        yield place, f"{_heading(place)}.. automodule:: {place}\n\n{''.join(_entries(place, module))}"


def _entries(place: str, module: ModuleType) -> Iterator[str]:
    for name, thing in contents(module):
        if name.isupper() and not _is_documented(thing):
            yield _constant(place, name, repr(thing))
        elif inspect.isclass(thing):
            yield f".. autoclass:: {name}\n   :members:\n\n"
        else:
            yield f".. autofunction:: {name}\n\n"


def _constant(place: str, name: str, value: str) -> str:
    """A constant by its full name in no module, or `viewcode` would look for it where the class of its value is."""
    shown = f"   :value: {value}\n" if len(value) < 80 else ""
    here = f".. py:currentmodule:: {place}\n\n"
    return f".. py:currentmodule:: None\n\n.. py:data:: {place}.{name}\n{shown}\n{here}"


def _first(module: ModuleType) -> str:
    """The first line of a module's docstring."""
    return (inspect.getdoc(module) or "").partition("\n")[0].replace("`", "``")


def _heading(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n\n"
