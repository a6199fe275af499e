"""Optional libraries: import one, or raise an error that says how to install it."""

from __future__ import annotations

import importlib.util
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

DISTRIBUTION = "gradlab-notebooks"  # on PyPI `gradlab` is another project, so no hint may name it
_CHECKOUT = Path(__file__).parents[2] / "pyproject.toml"  # not there in an installed wheel


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, from the clone or for the installed distribution.

    >>> '[optax]"' in how_to_install("optax")
    True
    """
    if _CHECKOUT.is_file():
        return f'pip install -e ".[{extra}]" in the folder of your clone of gradlab'
    return f'pip install "{DISTRIBUTION}[{extra}]"'


def missing(what: str, library: str, extra: str | None) -> str:
    """Return the message for a library that isn't installed.

    Args:
        what: what needs the library.
        extra: the extra that installs it; None if it is installed by its own name.
    """
    how = how_to_install(extra) if extra else f"pip install {library}"
    return f"{what} needs {library}, which is not installed; run {how}"


def is_there(library: str) -> bool:
    """Tell whether a library can be imported, without importing it.

    One that is None in `sys.modules`, which is how tests block it, cannot.

    >>> is_there("math"), is_there("no_such_library")
    (True, False)
    """
    if library in sys.modules:
        return sys.modules[library] is not None
    return importlib.util.find_spec(library) is not None


def need(module: str, what: str, extra: str | None = None, library: str | None = None) -> Any:
    """Import and return a module.

    Args:
        module: its name.
        what: what needs it, as the first words of the error.
        extra: the extra that installs it, if there is one.
        library: the name to install it by, if other than its own.

    Raises:
        ModuleNotFoundError: it is not installed; the message says how to install it.

    >>> need("math", "this example").pi > 3
    True
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        root = module.partition(".")[0]
        # The module is installed, but lacks a library that it needs.
        if (error.name or "").partition(".")[0] != root:
            raise
        raise ModuleNotFoundError(missing(what, library or root, extra), name=root) from error
