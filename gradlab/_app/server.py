"""JupyterLab's server where its first page is a lab at a state: the address it prints has the hash at its end."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from jupyter_server.serverapp import ServerApp


class Server(ServerApp):
    """A server whose default address may end in a hash; by itself it would print the token behind that."""

    @property
    def display_url(self) -> str:
        return "\n    ".join(hash_last(url.strip()) for url in super().display_url.splitlines())


def hash_last(address: str) -> str:
    """Put the query of an address before its hash.

    >>> hash_last("http://localhost:8888/lab/tree/a.ipynb#gl=1&lab=b?token=3")
    'http://localhost:8888/lab/tree/a.ipynb?token=3#gl=1&lab=b'
    """
    scheme, host, path, _, end = urlsplit(address)
    state, _, query = end.partition("?")
    return urlunsplit((scheme, host, path, query, state))
