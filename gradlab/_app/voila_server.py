"""A Voila that lets in its own reader only, loads nothing external, and opens the page that was
asked for.

Voila by itself answers anybody, by any name of this machine. Here it has what Jupyter Server has: a
token that is made when it starts, and the check of the Host header, without which a page elsewhere
could talk to it by a name of its own.
"""

from __future__ import annotations

import os
import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado.httputil import url_concat
from tornado.web import RedirectHandler
from voila.app import Voila
from voila.handler import VoilaHandler

SHARE = Path(__file__).parent / "share"
SETTINGS = (
    "--VoilaConfiguration.template=gradlab",
    # Voila 0.5 is made of an older JupyterLab, into which this extension does not fit.
    "--VoilaConfiguration.extension_denylist=@jupyter-notebook/lab-extension",
    "--Voila.kernel_websocket_connection_class=gradlab._app.server.PromptConnection",
    "--Voila.auto_token=True",
    # A browser that is killed says no farewell, and its page leaves a kernel behind.
    "--MappingKernelManager.cull_idle_timeout=120",
    "--MappingKernelManager.cull_interval=30",
)


def serve(folder: Path, page: str, arguments: Sequence[str]) -> None:
    """Serve the pages in a folder until Ctrl-C; `page` is shown first, at the state of a lab that
    it ends in.
    """
    # Where Jupyter's tools look for templates.
    os.environ["JUPYTER_PATH"] = os.pathsep.join(
        filter(None, [str(SHARE), os.environ.get("JUPYTER_PATH")])
    )
    showing(page).launch_instance([str(folder), *SETTINGS, *arguments])


def showing(page: str) -> type[Any]:
    """Voila with this page where it has a list of files, whose pages can end their kernels."""

    class Dashboard(Voila):  # type: ignore[misc, unused-ignore]
        def init_settings(self) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
            # Any Host is right only where others are meant to come: on an address that is not this
            # machine's alone.
            like = ServerApp(config=self.config, log=self.log, ip=self.ip)
            return {
                **super().init_settings(),
                "allow_remote_access": like.allow_remote_access,
                "local_hostnames": like.local_hostnames,
            }

        def init_handlers(self) -> list[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
            address = url_path_join(self.base_url, "voila/render", page)
            first = (self.server_url, RedirectHandler, {"url": address, "permanent": False})
            others: Any = super().init_handlers()
            return [first, *((place, _greeting(kind), *rest) for place, kind, *rest in others)]

        def launch_browser(self) -> None:
            """Open the first page with the token, which Voila's own leaves out.

            A file that only its owner reads leads there, for what a browser is started with every
            user sees.
            """
            address = url_concat(self.connection_url, {"token": self.identity_provider.token})
            leads_there = self.app.settings["jinja2_env"].get_template("browser-open.html")
            file = Path(self.connection_dir, "open.html")
            file.write_text(leads_there.render(open_url=address), "utf-8")
            try:
                browser = webbrowser.get(self.browser or None)
            except webbrowser.Error as error:
                self.log.warning("no web browser found (%s): open the address above", error)
                return
            threading.Thread(
                target=browser.open, args=(file.as_uri(), self.webbrowser_open_new), daemon=True
            ).start()

    return Dashboard


def _greeting(kind: type[Any]) -> type[Any]:
    """A handler of pages that sets the cookie without which the farewell of a closed page is
    refused.
    """
    if not issubclass(kind, VoilaHandler):
        return kind

    class Greeting(kind):  # type: ignore[misc, unused-ignore]
        async def prepare(self) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            await super().prepare()
            if not self._finished:
                _ = self.xsrf_token  # reading it sets it

    return Greeting
