"""The repository and the addresses that open its notebooks there.

`python -m notebooks.repository OWNER/REPO` sets it, here and in every other file that names it.
"""

from __future__ import annotations

import os
from urllib.parse import quote

REPOSITORY = "YOUR_GITHUB_NAME/gradlab"
BRANCH = "main"
LITE = "lite"  # the folder of the site in which notebooks run in the reader's browser


def on_binder(notebook: str, state: str = "") -> str:
    """The address that opens a notebook on Binder, at a state written as `#gl=1&lab=...`.

    >>> on_binder("02_clipping.ipynb")
    'https://mybinder.org/v2/gh/YOUR_GITHUB_NAME/gradlab/HEAD?urlpath=lab/tree/notebooks/02_clipping.ipynb'
    """
    launch = binder_here() or f"https://mybinder.org/v2/gh/{REPOSITORY}/HEAD"
    return at_launch(launch, f"lab/tree/notebooks/{notebook}{state}")


def on_colab(notebook: str) -> str:
    """The address that opens a notebook on Colab.

    >>> on_colab("02_clipping.ipynb")
    'https://colab.research.google.com/github/YOUR_GITHUB_NAME/gradlab/blob/main/notebooks/02_clipping.ipynb'
    """
    return f"https://colab.research.google.com/github/{REPOSITORY}/blob/{BRANCH}/notebooks/{notebook}"


def on_site(page: str = "") -> str:
    """The address of a page of the published site.

    >>> on_site("02_clipping.html")
    'https://YOUR_GITHUB_NAME.github.io/gradlab/02_clipping.html'
    """
    owner, _, name = REPOSITORY.partition("/")
    return f"https://{owner}.github.io/{name}/{page}"


def in_browser(notebook: str) -> str:
    """The page of the site, from its top, that runs a notebook in the reader's browser.

    It opens at the notebook's top: JupyterLite drops what stands after a `#` before it opens a file.

    >>> on_site(in_browser("02_clipping.ipynb"))
    'https://YOUR_GITHUB_NAME.github.io/gradlab/lite/lab/index.html?path=02_clipping.ipynb'
    """
    return f"{LITE}/lab/index.html?path={quote(notebook)}"


def binder_here() -> str:
    """The address that launches the Binder this process runs on, at the very commit; empty anywhere else."""
    # BinderHub tells its servers: "https://mybinder.org/" and "v2/gh/owner/repository/commit".
    host, request = (os.environ.get(f"BINDER_{name}", "") for name in ("LAUNCH_HOST", "PERSISTENT_REQUEST"))
    return f"{host.rstrip('/')}/{request}" if host and request else ""


def at_launch(launch: str, page: str) -> str:
    """The launch address that opens a page, given from the top of the server: path, query and hash.

    BinderHub decodes `urlpath` once and takes the rest as an address below the new server's, so a hash survives in it
    if it is encoded once more; the token goes before it.

    >>> at_launch("https://hub.example/v2/gh/me/it/HEAD", "lab/tree/a.ipynb#gl=1&lab=b")
    'https://hub.example/v2/gh/me/it/HEAD?urlpath=lab/tree/a.ipynb%23gl%3D1%26lab%3Db'
    """
    return f"{launch}?urlpath={quote(page)}"
