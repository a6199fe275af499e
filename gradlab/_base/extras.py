"""Libraries that are not always installed: import one, or say in one sentence how to get it."""

from __future__ import annotations

import importlib.util
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

DISTRIBUTION = "gradlab-notebooks"  # on PyPI `gradlab` is another project, so no hint may name it
_CHECKOUT = Path(__file__).parents[2] / "pyproject.toml"  # not there in an installed wheel


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra of this copy of gradlab: a clone's own, or the
    distribution's.

    >>> '[optax]"' in how_to_install("optax")
    True
    """
    if _CHECKOUT.is_file():
        return f'pip install -e ".[{extra}]" in the folder of your clone of gradlab'
    return f'pip install "{DISTRIBUTION}[{extra}]"'


def missing(what: str, library: str, extra: str | None) -> str:
    """Return the sentence for a library that is not installed; with no extra it is installed by its
    own name.
    """
    how = how_to_install(extra) if extra else f"pip install {library}"
    return f"{what} needs {library}, which is not installed; run {how}"


def is_there(library: str) -> bool:
    """Tell whether a library can be imported, without doing so; one that is blocked in
    `sys.modules` cannot.

    >>> is_there("math"), is_there("no_such_library")
    (True, False)
    """
    if library in sys.modules:
        return sys.modules[library] is not None
    return importlib.util.find_spec(library) is not None


def need(module: str, what: str, extra: str | None = None, library: str | None = None) -> Any:
    """Import and return a module; `library` is what it is installed as, if not by its own name.

    Raises:
        ModuleNotFoundError: it is not installed; the message says how to install it.

    >>> need("math", "this example").pi > 3
    True
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        # It is installed, and lacks something of its own.
        if (error.name or "").partition(".")[0] != root:
            raise
        raise ModuleNotFoundError(missing(what, library or root, extra), name=root) from error
