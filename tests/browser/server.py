"""A Jupyter server of our own and a Chromium: private folders, only on this machine, nothing of the
user's touched.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gradlab._app.jupyter import SEND_AT_ONCE
from gradlab._base.addresses import PROMPT
from tests import parts

CHECKOUT = Path(__file__).parents[2]
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
START_SECONDS = 60
TOKEN = "s3cret"  # of servers that ask for one

FOLDERS = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
}


def chromium_path() -> str | None:
    """Where a Chromium is installed; Playwright's own download is not needed."""
    return next((path for name in parts.CHROMIUM if (path := shutil.which(name))), None)


def missing(*modules: str) -> str | None:
    """Say what keeps a browser with these modules from running here; None: nothing."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    return None if chromium_path() else "there is no chromium on the PATH"


@contextmanager
def chromium() -> Iterator[Any]:
    """A running Chromium, as a Playwright browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), headless=True, args=FLAGS
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def jupyterlab(
    root: Path,
    scratch: Path,
    start: Sequence[str] = ("jupyterlab", SEND_AT_ONCE),
    base: str = "/",
    token: str = "",
) -> Iterator[str]:
    """Start JupyterLab in `root`, by the module and arguments in `start`, as `gradlab lab` does;
    yield the address.

    `base` and `token` are where its pages begin and what lets its reader in, as on a hub.
    """
    _quiet_start(scratch / FOLDERS["JUPYTERLAB_SETTINGS_DIR"])
    port = free_port()
    address = f"http://127.0.0.1:{port}{base.rstrip('/')}"
    options = [f"--ServerApp.base_url={base}", f"--IdentityProvider.token={token}", *_options(port)]
    with _running([*start, *options], root, scratch, f"{address}/api"):
        yield address


@contextmanager
def dashboard(root: Path, scratch: Path, *arguments: str) -> Iterator[str]:
    """Start `gradlab dashboard` with these arguments; yield the address, which asks for `TOKEN`."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    options = [
        "--",
        "--no-browser",
        f"--port={port}",
        "--Voila.ip=127.0.0.1",
        "--port_retries=0",
        f"--token={TOKEN}",
    ]
    with _running(
        ["gradlab", "dashboard", *arguments, *options], root, scratch, f"{address}/voila/tree"
    ):
        yield address


@contextmanager
def _running(command: Sequence[str], root: Path, scratch: Path, answers: str) -> Iterator[None]:
    """Run a module with its arguments in `root` until it answers at an address, and end it
    afterwards.
    """
    environment = os.environ | {name: str(scratch / folder) for name, folder in FOLDERS.items()}
    # Kernels start in the notebook's folder and must find this checkout, installed or not.
    environment |= {PROMPT: "1"} if SEND_AT_ONCE in command else {}  # as `gradlab lab` does
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")])
    )
    log = scratch / "server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", *command],
            env=environment,
            cwd=root,
            stdout=output,
            stderr=output,
        )
    try:
        _wait(server, answers, log)
        yield
    finally:
        server.terminate()
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _options(port: int) -> list[str]:
    return [
        "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", "--ServerApp.password=",
        "--LanguageServerManager.autodetect=False",  # asks npm
        "--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True",
        # Voila 0.5 is made of an older JupyterLab, into which this extension does not fit.
        '--VoilaConfiguration.extension_denylist=["@jupyter-notebook/lab-extension"]',
    ]  # fmt: skip


def _quiet_start(settings: Path) -> None:
    """No news and no update check: both would ask the network and open a pop-up over the page."""
    folder = settings / "@jupyterlab" / "apputils-extension"
    folder.mkdir(parents=True, exist_ok=True)
    content = {"fetchNews": "false", "checkForUpdates": False}
    (folder / "notification.jupyterlab-settings").write_text(json.dumps(content), encoding="utf-8")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the server did not start:\n{log.read_text('utf-8', 'replace')[-3000:]}")
