"""The repository and the addresses that open its notebooks there.

`python -m notebooks.repository OWNER/REPO` sets it, here and in every other file that names it.
Until then there is none, and the addresses on other hosts are empty: whatever shows one leaves it
out.
"""

from __future__ import annotations

import os
from urllib.parse import parse_qs, quote

REPOSITORY = ""
BRANCH = "main"
LITE = "lite"  # the folder of the site in which notebooks run in the reader's browser
# The folder on Binder that the repository is pulled into; binder/start knows it, too.
COURSE = "course"
PROMPT = "GRADLAB_PROMPT"  # in the environment of kernels whose server sends every packet at once
WITH_JAX = frozenset({"06_tpu_embeddings.ipynb"})  # those with a cell that needs it


def on_binder(notebook: str, state: str = "", repository: str | None = None) -> str:
    """The address that opens a notebook on Binder; empty without a repository, unless this process
    runs on Binder.

    Args:
        notebook: its file name.
        state: of a lab, written as `#gl=1&lab=...`.
        repository: OWNER/REPO; None is the Binder that this process runs on, or else the repository
            that is set.

    >>> on_binder("02_clipping.ipynb", repository="me/it").partition("%26branch")[0]
    'https://mybinder.org/v2/gh/me/it/binder?urlpath=git-pull%3Frepo%3Dhttps://github.com/me/it'
    """
    launch = binder_here() if repository is None else ""
    repository = REPOSITORY if repository is None else repository
    if not launch and not repository:
        return ""
    if not launch:
        # .github/workflows/binder.yml writes both.
        branch = "binder-jax" if notebook in WITH_JAX else "binder"
        launch = _launch(f"https://mybinder.org/v2/gh/{repository}/{branch}", on_github(repository))
    return at_launch(launch, f"lab/tree/{COURSE}/notebooks/{notebook}{state}")


def on_github(repository: str | None = None) -> str:
    """The address of the repository on GitHub; empty without one.

    >>> on_github("me/it")
    'https://github.com/me/it'
    """
    repository = REPOSITORY if repository is None else repository
    return f"https://github.com/{repository}" if repository else ""


def on_colab(notebook: str, repository: str | None = None) -> str:
    """The address that opens a notebook on Colab; empty without a repository.

    >>> on_colab("02_clipping.ipynb", repository="me/it")
    'https://colab.research.google.com/github/me/it/blob/main/notebooks/02_clipping.ipynb'
    """
    repository = REPOSITORY if repository is None else repository
    if not repository:
        return ""
    return (
        f"https://colab.research.google.com/github/{repository}/blob/{BRANCH}/notebooks/{notebook}"
    )


def on_site(page: str = "", repository: str | None = None) -> str:
    """The address of a page of the published site; without a repository the page itself.

    >>> on_site("02_clipping.html", repository="me/it"), on_site("02_clipping.html", repository="")
    ('https://me.github.io/it/02_clipping.html', '02_clipping.html')
    """
    repository = REPOSITORY if repository is None else repository
    if not repository:
        return page
    owner, _, name = repository.partition("/")
    return f"https://{owner}.github.io/{name}/{page}"


def in_browser(notebook: str, cell: str = "") -> str:
    """The page of the site, from its top, that runs a notebook in the reader's browser, at one of
    its cells by its id.

    >>> in_browser("02_clipping.ipynb")
    'lite/lab/index.html?path=02_clipping.ipynb'
    """
    return f"{LITE}/lab/index.html?path={quote(notebook)}{f'#cell-id={cell}' if cell else ''}"


def binder_here() -> str:
    """The start, for `at_launch`, of what launches the Binder this process runs on again; empty
    anywhere else.
    """
    # BinderHub tells its servers: "https://mybinder.org/" and "v2/gh/owner/repository/branch".
    host, request = (os.environ.get(f"BINDER_{name}", "") for name in ("LAUNCH_HOST", "REQUEST"))
    repository = os.environ.get("BINDER_REPO_URL") or on_github()
    return _launch(f"{host.rstrip('/')}/{request}", repository) if host and request else ""


def at_launch(launch: str, page: str) -> str:
    """The address that launches a Binder and opens a page there, given from the top of its server:
    path, query, hash.

    BinderHub decodes its `urlpath` and puts the server's token behind it; nbgitpuller decodes the
    `urlpath` in that, so the page is encoded twice. `live/web/address.js` does the same.

    >>> at_launch("https://hub.example/v2/gh/me/it/binder?urlpath=git-pull%3Furlpath%3D", "lab/tree/a.ipynb#gl=1&lab=b")
    'https://hub.example/v2/gh/me/it/binder?urlpath=git-pull%3Furlpath%3Dlab/tree/a.ipynb%2523gl%253D1%2526lab%253Db'
    """
    return f"{launch}{quote(quote(page))}"


def page_at(address: str) -> str:
    """The page that an address leads to: of one that launches a Binder what is opened there, else
    itself.

    >>> page_at(on_binder("02_clipping.ipynb", "#gl=1&lab=clipping", repository="me/it"))
    'lab/tree/course/notebooks/02_clipping.ipynb#gl=1&lab=clipping'
    """
    while found := parse_qs(address.partition("#")[0].partition("?")[2]).get("urlpath"):
        address = found[-1]
    return address


def _launch(binder: str, repository: str) -> str:
    """The start of an address that launches a Binder, and there has nbgitpuller pull a repository
    and open a page.
    """
    pull = f"git-pull?repo={repository}&branch={BRANCH}&targetPath={COURSE}&urlpath="
    return f"{binder}?urlpath={quote(pull, safe='/:')}"
