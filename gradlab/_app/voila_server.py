"""A Voila that shows the pages, asks nobody else for anything, and opens the page that was asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_server.utils import url_path_join
from tornado.web import RedirectHandler
from voila.app import Voila
from voila.handler import VoilaHandler

SHARE = Path(__file__).parent / "share"
SETTINGS = (
    "--VoilaConfiguration.template=gradlab",
    # Voila 0.5 is made of an older JupyterLab, into which this extension does not fit.
    '--VoilaConfiguration.extension_denylist=["@jupyter-notebook/lab-extension"]',
    "--Voila.kernel_websocket_connection_class=gradlab._app.server.PromptConnection",
    # A browser that is killed says no farewell, and its page leaves a kernel behind.
    "--MappingKernelManager.cull_idle_timeout=120",
    "--MappingKernelManager.cull_interval=30",
)


def serve(folder: Path, page: str, arguments: Sequence[str]) -> None:
    """Serve the pages in a folder until Ctrl-C; `page` is shown first, at the state of a lab that it ends in."""
    # Where Jupyter's tools look for templates.
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [str(SHARE), os.environ.get("JUPYTER_PATH")]))
    _showing(page).launch_instance([str(folder), *SETTINGS, *arguments])


def _showing(page: str) -> type[Any]:
    """Voila with this page where it has a list of files, whose pages can end their kernels."""

    class Dashboard(Voila):  # type: ignore[misc, unused-ignore]
        def init_handlers(self) -> list[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
            address = url_path_join(self.base_url, "voila/render", page)
            first = (self.server_url, RedirectHandler, {"url": address, "permanent": False})
            others: Any = super().init_handlers()
            return [first, *((place, _greeting(kind), *rest) for place, kind, *rest in others)]

    return Dashboard


def _greeting(kind: type[Any]) -> type[Any]:
    """A handler of pages that sets the cookie without which the farewell of a closed page is refused."""
    if not issubclass(kind, VoilaHandler):
        return kind

    class Greeting(kind):  # type: ignore[misc, unused-ignore]
        async def prepare(self) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            await super().prepare()
            if not self._finished:
                _ = self.xsrf_token  # reading it sets it

    return Greeting
