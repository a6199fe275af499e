"""Where the notebooks are, how they reach the reader's folder, and how JupyterLab is opened on them."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

START = "00_start_here.ipynb"
DEFAULT_FOLDER = Path("gradlab-notebooks")
SEND_AT_ONCE = "--ServerApp.kernel_websocket_connection_class=gradlab._connection.PromptConnection"


class UsageError(Exception):
    """A command that cannot be carried out; its one line says what was given, what is allowed and what to do."""


def shipped() -> Path:
    """Give the folder that holds the notebooks that came with gradlab.

    Raises:
        UsageError: this copy of gradlab came without them.
    """
    try:
        spec = importlib.util.find_spec("gradlab.notebooks")
    except ImportError:
        spec = None
    # Without an installation (`python -m gradlab` at the top of a checkout) the folder is not a package yet.
    beside = Path(__file__).parents[1] / "notebooks"
    places = [*map(Path, spec.submodule_search_locations or ())] if spec else []
    for place in (*places, beside):
        if place.is_dir() and (place != beside or in_checkout(beside)):
            return place
    raise UsageError("this copy of gradlab has no notebooks; install it again with: pip install 'gradlab[lab]'")


def in_checkout(folder: Path) -> bool:
    """Tell whether `folder` is the notebooks/ of a checkout, where edits are meant to be kept, not a wheel's copy."""
    return folder.name == "notebooks" and (folder.parent / "pyproject.toml").is_file()


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
    source = shipped()
    if wanted is None and in_checkout(source):
        return source, []
    target = wanted or DEFAULT_FOLDER
    return target, list(copy(source, target))


def titles() -> Iterator[tuple[str, str]]:
    """Yield (file name, first heading) of each notebook that came with gradlab."""
    for path in sorted(shipped().glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        heading = next((line for line in text.splitlines() if line.startswith("# ")), "# ")
        yield path.name, heading[2:].strip()


def open_lab(folder: Path, arguments: Sequence[str]) -> None:
    """Run JupyterLab on `folder` in this process, so that Ctrl-C and its exit status are Jupyter's own.

    Raises:
        UsageError: JupyterLab is not installed.
    """
    try:
        importlib.import_module("ipykernel")  # without it JupyterLab starts but has no kernel to run a cell
        application = importlib.import_module("jupyterlab.labapp").LabApp
    except ImportError as error:
        missing = (error.name or "jupyterlab").partition(".")[0]
        raise UsageError(f"{missing} is missing; install with: pip install 'gradlab[lab]'") from error
    # The address that Jupyter prints should show the first notebook too, so it is set as the default page.
    settings = [f"--ServerApp.root_dir={folder.resolve()}"]
    if not any("gateway" in argument or "kernel_websocket" in argument for argument in arguments):
        settings.append(SEND_AT_ONCE)
    if (folder / START).is_file():
        settings.append(f"--LabApp.default_url=/lab/tree/{START}")
    application.launch_instance([*settings, *arguments])
