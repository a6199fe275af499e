"""A Voila that shows the pages, asks nobody else for anything, and opens the page that was asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_server.utils import url_path_join
from tornado.web import RedirectHandler
from voila.app import Voila

SHARE = Path(__file__).parent / "share"
SETTINGS = (
    "--VoilaConfiguration.template=gradlab",
    # Voila 0.5 is made of an older JupyterLab, into which this extension does not fit.
    '--VoilaConfiguration.extension_denylist=["@jupyter-notebook/lab-extension"]',
    "--Voila.kernel_websocket_connection_class=gradlab._connection.PromptConnection",
    # A page that is closed may leave its kernel behind: Voila refuses a farewell without a cookie that it never set.
    "--MappingKernelManager.cull_idle_timeout=120",
    "--MappingKernelManager.cull_interval=30",
)


def serve(folder: Path, page: str, arguments: Sequence[str]) -> None:
    """Serve the pages in a folder until Ctrl-C; `page` is shown first, at the state of a lab that it ends in."""
    # Where Jupyter's tools look for templates.
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [str(SHARE), os.environ.get("JUPYTER_PATH")]))
    _showing(page).launch_instance([str(folder), *SETTINGS, *arguments])


def _showing(page: str) -> type[Any]:
    """Voila with this page where it has a list of files."""

    class Dashboard(Voila):
        def init_handlers(self) -> list[Any]:
            address = url_path_join(self.base_url, "voila/render", page)
            return [(self.server_url, RedirectHandler, {"url": address, "permanent": False}), *super().init_handlers()]

    return Dashboard
