"""How the notebooks reach the reader's folder, and how JupyterLab is opened on them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import _notebooks
from ._extras import missing
from ._notebooks import START, UsageError

DEFAULT_FOLDER = Path("gradlab-notebooks")
SEND_AT_ONCE = "--ServerApp.kernel_websocket_connection_class=gradlab._connection.PromptConnection"


def copy(source: Path, target: Path) -> Iterator[str]:
    """Add the notebooks of `source` to `target`, never touching what is there; yield what is worth saying.

    Raises:
        UsageError: `target` cannot be a folder.
    """
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot put notebooks into {target}: {error.strerror}") from error
    added, kept = 0, []
    for notebook in sorted(source.glob("*.ipynb")):
        content, place = notebook.read_bytes(), target / notebook.name
        if not place.exists():
            place.write_bytes(content)
            added += 1
        elif place.read_bytes() != content:
            kept.append(notebook.name)
    if added:
        yield f"copied {added} notebook{'s' * (added > 1)} to {target}"
    if kept:
        yield f"kept your own {', '.join(kept)} in {target} (rename a file to get the one that came with gradlab)"


def folder_to_open(wanted: Path | None) -> tuple[Path, list[str]]:
    """Give the folder JupyterLab should open, and what to tell the reader about it."""
    source = _notebooks.shipped()
    if wanted is None and _notebooks.in_checkout(source):
        return source, []
    target = wanted or DEFAULT_FOLDER
    return target, list(copy(source, target))


def open_lab(folder: Path, arguments: Sequence[str], notebook: str = START, state: str = "") -> None:
    """Run JupyterLab on a notebook in `folder`, in this process, so that Ctrl-C and its exit status are Jupyter's own.

    Args:
        folder: what JupyterLab shows.
        arguments: for JupyterLab.
        notebook: the file to open, if it is there.
        state: of a lab in it, as a link ends: `#gl=1&lab=...`.

    Raises:
        UsageError: JupyterLab is not installed.
    """
    try:
        importlib.import_module("ipykernel")  # without it JupyterLab starts but has no kernel to run a cell
        application = importlib.import_module("jupyterlab.labapp").LabApp
    except ImportError as error:
        raise UsageError(missing("`gradlab lab`", (error.name or "jupyterlab").partition(".")[0], "lab")) from error
    # The address that Jupyter prints should show the first notebook too, so it is set as the default page.
    settings = [f"--ServerApp.root_dir={folder.resolve()}"]
    if not any("gateway" in argument or "kernel_websocket" in argument for argument in arguments):
        settings.append(SEND_AT_ONCE)
    if (folder / notebook).is_file():
        settings.append(f"--LabApp.default_url=/lab/tree/{notebook}{state}")
    if state:
        application.serverapp_class = importlib.import_module("gradlab._server").Server
    application.launch_instance([*settings, *arguments])
