"""`gradlab lab`: how the notebooks reach the reader's folder, and how JupyterLab is opened on them."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .._base import notebooks
from .._base.addresses import PROMPT
from .._base.atomic_files import atomic_replace
from .._base.extras import missing
from .._base.notebooks import START, UsageError
from .commands import follow, is_link

DEFAULT_FOLDER = Path("gradlab-notebooks")
SEND_AT_ONCE = "--ServerApp.kernel_websocket_connection_class=gradlab._app.server.PromptConnection"


def copy(source: Path, target: Path) -> Iterator[str]:
    """Add the notebooks and pages of `source` to `target`, never touching what is there; yield what
    to say.

    Raises:
        UsageError: `target` cannot be a folder.
    """
    added, kept = 0, []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for notebook in sorted(source.glob("*.ipynb")):
            content, place = notebook.read_bytes(), target / notebook.name
            if not place.exists():
                with atomic_replace(place) as part:
                    part.write_bytes(content)
                added += 1
            elif place.read_bytes() != content:
                kept.append(notebook.name)
        for page in source.glob("*.md"):  # which the notebooks link to
            if not (place := target / page.name).exists():
                with atomic_replace(place) as part:
                    part.write_bytes(page.read_bytes())
    except OSError as error:
        raise UsageError(
            f"cannot put notebooks into {target}: {error.strerror or error}"
        ) from error
    if added:
        yield f"copied {added} notebook{'s' * (added > 1)} to {target}"
    if kept:
        yield (
            f"kept your own {', '.join(kept)} in {target} (rename a file to get the one that came "
            "with gradlab)"
        )


def folder_to_open(wanted: Path | None) -> tuple[Path, list[str]]:
    """Return the folder JupyterLab should open, and what to tell the reader about it.

    Raises:
        UsageError: it cannot be a folder.
    """
    source, target = notebooks.find_folder(), wanted or DEFAULT_FOLDER
    if target.resolve() == source.resolve():
        return target, [
            f"{target} holds the tracked notebooks of your clone: what you save changes them"
        ]
    return target, list(copy(source, target))


def application() -> Any:
    """Return JupyterLab's application. Raises: UsageError: JupyterLab is not installed."""
    try:
        # Without it JupyterLab starts but has no kernel to run a cell.
        importlib.import_module("ipykernel")
        return importlib.import_module("jupyterlab.labapp").LabApp
    except ImportError as error:
        raise UsageError(
            missing("`gradlab lab`", (error.name or "jupyterlab").partition(".")[0], "lab")
        ) from error


def lacks_allow_root(arguments: Sequence[str]) -> bool:
    """Tell whether this is root without `--allow-root`, which Jupyter refuses."""
    is_root = getattr(os, "geteuid", lambda: -1)() == 0
    return is_root and not any("allow-root" in one or "allow_root" in one for one in arguments)


def open_lab(
    lab: Any, folder: Path, arguments: Sequence[str], notebook: str = START, state: str = ""
) -> None:
    """Run JupyterLab on a notebook in `folder`, in this process, so that Ctrl-C and its exit status
    are Jupyter's own.

    Args:
        lab: `application()`.
        folder: what JupyterLab shows.
        arguments: for JupyterLab.
        notebook: the file to open, if it is there.
        state: of a lab in it, as a link ends: `#gl=1&lab=...`.
    """
    # The address that Jupyter prints should show the first notebook too, so it is set as the
    # default page.
    settings = [f"--ServerApp.root_dir={folder.resolve()}"]
    if not any("gateway" in argument or "kernel_websocket" in argument for argument in arguments):
        settings.append(SEND_AT_ONCE)
        os.environ[PROMPT] = "1"  # for its kernels
    if (folder / notebook).is_file():
        settings.append(f"--LabApp.default_url=/lab/tree/{notebook}{state}")
    if state:
        lab.serverapp_class = importlib.import_module("gradlab._app.server").Server
    try:
        lab.launch_instance([*settings, *arguments])
    except SystemExit as end:
        if end.code and lacks_allow_root(arguments):
            # Printed after Jupyter has ended, because its own message is lost among pages of its
            # log.
            print(
                "Jupyter doesn't start as root unless you allow it: gradlab lab -- --allow-root",
                flush=True,
            )
        raise


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    lab = commands.add_parser(
        "lab", help="open the notebooks in JupyterLab", epilog="What follows -- goes to Jupyter."
    )
    folder = (
        f"copy the notebooks there first (default: {DEFAULT_FOLDER}); a "
        "clone's own are opened in place"
    )
    link = "a copied link, or what follows the # in it: open its notebook, with the lab as it was"
    lab.add_argument("folder", nargs="?", metavar="DIR", help=folder)
    lab.add_argument("link", nargs="?", metavar="LINK", help=link)
    lab.set_defaults(act=_lab)


def _lab(options: argparse.Namespace) -> None:
    folder, link = _told_apart(options.folder, options.link)
    notebook, state = _place(link) if link else (START, "")
    app = application()  # before anything is copied
    opened, said = folder_to_open(folder)
    for line in said:
        print(line, flush=True)
    open_lab(app, opened, options.extra, notebook, state)


def _told_apart(folder: str | None, link: str | None) -> tuple[Path | None, str | None]:
    """The folder and the link, where either may be left out."""
    if folder and link is None and is_link(folder):
        return None, folder
    if folder and "://" in folder:
        raise UsageError(
            f"{folder!r} is neither a folder nor a link to a lab, which ends in #gl=1&lab=NAME&..."
        )
    return Path(folder) if folder else None, link


def _place(link: str) -> tuple[str, str]:
    """The notebook that a link leads to and the state of its lab: the notebook it names, if that
    has the lab.
    """
    to = follow(link)
    if not (found := notebooks.find_with_lab(to.lab)):
        raise UsageError(
            f"no notebook shows the lab {to.lab}; `gradlab run {to.lab} "
            "--link LINK --save FILE` does"
        )
    return to.file if to.file in found else found[0], to.state
