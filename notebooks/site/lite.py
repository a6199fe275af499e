"""The course in a browser tab: JupyterLab, the notebooks, and Python itself, with no server and nothing installed.

JupyterLite brings JupyterLab, and `at_cell` has it obey links to cells; Pyodide brings CPython for WebAssembly with
NumPy, matplotlib, Pillow, contourpy and protobuf, from its own distribution: when a reader starts a kernel, not when
one reads a page. All other wheels are here and are found here, gradlab's too: no name is ever looked up in an index.

`tab/` is what JupyterLite reads: the app alone, without what a static page needs for no reader (it takes three seconds
and 25 MB, not 80), and a kernel that doesn't ask PyPI. jupyterlite-sphinx, which would run the same command, builds
every app and has each page of the site load a font from another host.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_path

from gradlab._base.extras import DISTRIBUTION

from . import wheels

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# What gradlab and its widgets import that Pyodide does not bring; of widgetsnbextension the kernel has a stand-in.
PURE = ("autograd", "anywidget", "comm", "ipywidgets", "jupyterlab-widgets", "psygnal")
EXTENSIONS = ("@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager", "anywidget")


def build(out: Path, pyodide: Path | None = None) -> None:
    """Write the JupyterLite site; `pyodide` is a folder with a distribution of Pyodide to copy into it.

    Raises:
        RuntimeError: JupyterLite's build failed; the message is what it said.
    """
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch, "tab")
        shutil.copytree(HERE / "tab", source)
        (source / "files").mkdir()
        for path in sorted(HERE.parent.glob("*.ipynb")):
            notebook = for_a_tab(json.loads(path.read_text("utf-8")))
            (source / "files" / path.name).write_text(json.dumps(notebook, ensure_ascii=False), "utf-8")
        (source / "pypi").mkdir()
        wheels.of_checkout(ROOT, source / "pypi")
        for name in PURE:
            wheels.of_installed(name, source / "pypi")
        if pyodide:
            (source / "static").mkdir()
            (source / "static" / "pyodide").symlink_to(pyodide.resolve(), target_is_directory=True)
        run_jupyterlite(source, out)


def for_a_tab(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook whose kernel is Pyodide and whose first code installs gradlab from the site's own wheels.

    >>> cells = [{"cell_type": "code", "source": "subprocess.run(...)", "outputs": []}]
    >>> for_a_tab({"cells": cells, "metadata": {}})["cells"][0]["source"]
    '%pip install -q gradlab-notebooks[tpu]'
    """
    kernel = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    cells = [dict(cell) for cell in notebook["cells"]]
    next(cell for cell in cells if cell["cell_type"] == "code")["source"] = f"%pip install -q {DISTRIBUTION}[tpu]"
    return notebook | {"cells": cells, "metadata": notebook["metadata"] | {"kernelspec": kernel}}


def run_jupyterlite(source: Path, out: Path) -> None:
    """Build a JupyterLite site from a folder."""
    extensions = [*map(find_extension, EXTENSIONS), HERE / "at_cell"]
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--output-dir", str(out.resolve())]
    command += [f"--LiteBuildConfig.federated_extensions={extension}" for extension in extensions]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"JupyterLite could not be built: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def find_extension(name: str) -> Path:
    """Return the folder in which an extension of JupyterLab is installed."""
    for folder in jupyter_path("labextensions"):
        path = Path(folder, name)
        if (path / "package.json").is_file():
            return path
    raise RuntimeError(f"JupyterLab's extension {name} is not installed")
