"""The repository and the addresses that open its notebooks there.

`python -m notebooks.repository OWNER/REPO` sets it, here and in every other file that names it.
"""

from __future__ import annotations

from .live import binder

REPOSITORY = "YOUR_GITHUB_NAME/gradlab"
BRANCH = "main"


def on_binder(notebook: str, state: str = "") -> str:
    """The address that opens a notebook on Binder, at a state written as `#gl=1&lab=...`.

    >>> on_binder("02_clipping.ipynb")
    'https://mybinder.org/v2/gh/YOUR_GITHUB_NAME/gradlab/HEAD?urlpath=lab/tree/notebooks/02_clipping.ipynb'
    """
    launch = binder.here() or f"https://mybinder.org/v2/gh/{REPOSITORY}/HEAD"
    return binder.at(launch, f"lab/tree/notebooks/{notebook}{state}")


def on_colab(notebook: str) -> str:
    """The address that opens a notebook on Colab.

    >>> on_colab("02_clipping.ipynb")
    'https://colab.research.google.com/github/YOUR_GITHUB_NAME/gradlab/blob/main/notebooks/02_clipping.ipynb'
    """
    return f"https://colab.research.google.com/github/{REPOSITORY}/blob/{BRANCH}/notebooks/{notebook}"
