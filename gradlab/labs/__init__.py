"""The labs: each shows itself in a notebook, and draws, saves and describes itself without one."""

import ast
from collections.abc import Callable
from importlib import import_module as _import_module
from pathlib import Path
from typing import Any

from .._base.suggest import only_public as _only_public


def _read_homes() -> dict[str, str]:
    """Return the module of each name that `__init__.pyi` imports, in its order."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8"))
    homes = {}
    for statement in stub.body:
        if isinstance(statement, ast.ImportFrom) and statement.level == 1:
            for name in statement.names:
                homes[name.name] = statement.module
    return homes


# A lab is loaded when it is first used: all of them take as long as the first picture of one. The
# stub lists them for type checkers anyway; to read it here is what Scientific Python's SPEC 1 does.
_HOMES = _read_homes()
_LABS = [name for name, home in _HOMES.items() if home not in ("_lab", "placement_picture")]

__all__ = [*_HOMES, "catalog", "from_link"]

_unknown, __dir__ = _only_public(__name__)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        return _unknown(name)
    value = getattr(_import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def catalog() -> "dict[str, Callable[..., Lab]]":  # noqa: F821  (loaded when it is used)
    """Return the function of every lab by name, in the order of the course.

    >>> "clipping" in catalog()
    True
    """
    return {name: __getattr__(name) for name in _LABS}


def from_link(link: str) -> "Lab":  # noqa: F821
    """Return the lab that a copied link shows, at its settings.

    Raises:
        ValueError: not a link to a lab, a lab or a setting that does not exist, or a value that is
            not allowed.

    >>> from_link("#gl=1&lab=clip_arrows&method=norm&limit=2").params["method"]
    'norm'
    """
    from ._lab import opened, read

    name, settings = read(link)
    if name not in _LABS:
        raise ValueError(f"the link names a lab {name!r}; there are {', '.join(_LABS)}")
    return opened(__getattr__(name), settings)
