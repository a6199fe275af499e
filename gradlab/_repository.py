"""Where the project lives, and the addresses that open its notebooks there. A fork changes REPOSITORY."""

from __future__ import annotations

from .live import binder

REPOSITORY = "OWNER/gradlab"
BRANCH = "main"


def on_binder(notebook: str, state: str = "") -> str:
    """The address that opens a notebook on Binder, at a state written as `#gl=1&lab=...`.

    >>> on_binder("02_clipping.ipynb")
    'https://mybinder.org/v2/gh/OWNER/gradlab/HEAD?urlpath=lab/tree/notebooks/02_clipping.ipynb'
    """
    launch = binder.here() or f"https://mybinder.org/v2/gh/{REPOSITORY}/HEAD"
    return binder.at(launch, f"lab/tree/notebooks/{notebook}{state}")


def on_colab(notebook: str) -> str:
    """The address that opens a notebook on Colab.

    >>> on_colab("02_clipping.ipynb")
    'https://colab.research.google.com/github/OWNER/gradlab/blob/main/notebooks/02_clipping.ipynb'
    """
    return f"https://colab.research.google.com/github/{REPOSITORY}/blob/{BRANCH}/notebooks/{notebook}"


def as_package() -> str:
    """What `pip install` takes for the newest state of the project."""
    return f"gradlab @ git+https://github.com/{REPOSITORY}"
