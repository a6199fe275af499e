"""JupyterLab's connection from a kernel to a page, without the wait for acknowledgements."""

from __future__ import annotations

from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """Sends every packet at once (TCP_NODELAY).

    A kernel answers a slider with three small messages: busy, picture, idle. By default the second waits until the page
    has acknowledged the first, which a page with nothing to say does after 40 ms.
    """

    def connect(self) -> Any:
        self.websocket_handler.set_nodelay(True)
        return super().connect()
