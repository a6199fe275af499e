"""The repository, and the addresses that open its notebooks on GitHub, Binder, Colab and the site.

`python -m notebooks.repository OWNER/REPO` sets `REPOSITORY` here and in every other file that
names it. While it is empty, so are the addresses on other hosts, and callers leave them out.
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
WITH_JAX = frozenset({"06_tpu_embeddings.ipynb"})  # notebooks with a cell that needs JAX


def on_binder(notebook: str, state: str = "", repository: str | None = None) -> str:
    """Return the address that opens a notebook on Binder.

    It is empty without a repository, unless this process runs on Binder.

    Args:
        notebook: its file name.
        state: of a lab, written as `#gl=1&lab=...`.
        repository: OWNER/REPO; None is the Binder on which this process runs, or else `REPOSITORY`.

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
    """Return the address of the repository on GitHub; empty without one.

    >>> on_github("me/it")
    'https://github.com/me/it'
    """
    repository = REPOSITORY if repository is None else repository
    return f"https://github.com/{repository}" if repository else ""


def on_colab(notebook: str, repository: str | None = None) -> str:
    """Return the address that opens a notebook on Colab; empty without a repository.

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
    """Return the address of a page of the published site; without a repository the page itself.

    >>> on_site("02_clipping.html", repository="me/it"), on_site("02_clipping.html", repository="")
    ('https://me.github.io/it/02_clipping.html', '02_clipping.html')
    """
    repository = REPOSITORY if repository is None else repository
    if not repository:
        return page
    owner, _, name = repository.partition("/")
    return f"https://{owner}.github.io/{name}/{page}"


def in_browser(notebook: str, cell: str = "") -> str:
    """Return the path, on the site, that runs a notebook in the reader's browser.

    With `cell`, the id of one of its cells, it opens there.

    >>> in_browser("02_clipping.ipynb")
    'lite/lab/index.html?path=02_clipping.ipynb'
    """
    anchor = f"#cell-id={cell}" if cell else ""
    return f"{LITE}/lab/index.html?path={quote(notebook)}{anchor}"


def binder_here() -> str:
    """Return the launch address of the Binder on which this process runs, for `at_launch`, or ""."""
    # BinderHub sets them, such as "https://mybinder.org/" and "v2/gh/owner/repository/branch".
    host = os.environ.get("BINDER_LAUNCH_HOST", "")
    request = os.environ.get("BINDER_REQUEST", "")
    repository = os.environ.get("BINDER_REPO_URL") or on_github()
    return _launch(f"{host.rstrip('/')}/{request}", repository) if host and request else ""


def at_launch(launch: str, page: str) -> str:
    """Return the address that launches a Binder and opens a page on its server.

    Args:
        launch: the start of the address, up to its inner `urlpath`.
        page: path, query and hash on the server.

    The page is encoded twice: BinderHub decodes its `urlpath` and appends the server's token, and
    nbgitpuller decodes the `urlpath` inside. `live/web/address.js` does the same.

    >>> at_launch("https://hub.example/v2/gh/me/it/binder?urlpath=git-pull%3Furlpath%3D", "lab/tree/a.ipynb#gl=1&lab=b")
    'https://hub.example/v2/gh/me/it/binder?urlpath=git-pull%3Furlpath%3Dlab/tree/a.ipynb%2523gl%253D1%2526lab%253Db'
    """
    return f"{launch}{quote(quote(page))}"


def page_at(address: str) -> str:
    """Return the page that an address opens; of one that launches a Binder the page on its server.

    >>> page_at(on_binder("02_clipping.ipynb", "#gl=1&lab=clipping", repository="me/it"))
    'lab/tree/course/notebooks/02_clipping.ipynb#gl=1&lab=clipping'
    """
    while True:
        query = address.partition("#")[0].partition("?")[2]
        inner = parse_qs(query).get("urlpath")
        if not inner:
            return address
        address = inner[-1]


def _launch(binder: str, repository: str) -> str:
    """Return an address, up to its inner `urlpath`, that launches a Binder with nbgitpuller."""
    pull = f"git-pull?repo={repository}&branch={BRANCH}&targetPath={COURSE}&urlpath="
    return f"{binder}?urlpath={quote(pull, safe='/:')}"
