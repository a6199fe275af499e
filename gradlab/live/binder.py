"""Addresses that start a server on Binder and open one of its pages."""

from __future__ import annotations

import os
from urllib.parse import quote


def here() -> str:
    """The address that launches the Binder this process runs on, at the very commit; empty anywhere else."""
    # BinderHub tells its servers: "https://mybinder.org/" and "v2/gh/owner/repository/commit".
    host, request = (os.environ.get(f"BINDER_{name}", "") for name in ("LAUNCH_HOST", "PERSISTENT_REQUEST"))
    return f"{host.rstrip('/')}/{request}" if host and request else ""


def at(launch: str, page: str) -> str:
    """The launch address that opens a page, given from the top of the server: path, query and hash.

    BinderHub decodes `urlpath` once and takes the rest as an address below the new server's, so a hash survives in it
    if it is encoded once more; the token goes before it.

    >>> at("https://mybinder.org/v2/gh/me/it/HEAD", "lab/tree/a.ipynb#gl=1&lab=b")
    'https://mybinder.org/v2/gh/me/it/HEAD?urlpath=lab/tree/a.ipynb%23gl%3D1%26lab%3Db'
    """
    return f"{launch}?urlpath={quote(page)}"
