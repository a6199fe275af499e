"""JupyterLab's server for labs: it opens one at a state, and its kernels answer sliders at once."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from jupyter_server.serverapp import ServerApp
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class Server(ServerApp):
    """A server whose default address may end in a hash; by itself it would print the token behind
    that.
    """

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


class PromptConnection(ZMQChannelsWebsocketConnection):
    """Sends every packet at once (TCP_NODELAY).

    A kernel answers a slider with three small messages: busy, picture, idle. By default the second
    waits until the page has acknowledged the first, which a page with nothing to say does after 40
    ms.
    """

    def connect(self) -> Any:
        self.websocket_handler.set_nodelay(True)
        return super().connect()
