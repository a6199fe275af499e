"""The course in a browser tab: JupyterLab, the notebooks, and Python itself, with no server and nothing installed.

JupyterLite brings JupyterLab, and `at_cell` has it obey links to cells; Pyodide brings CPython for WebAssembly with
NumPy, matplotlib, Pillow, contourpy and protobuf, from its own distribution: when a reader starts a kernel, not when
one reads a page. All other wheels are here and are found here, gradlab's too: no name is ever looked up in an index.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_path
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gradlab._base.extras import DISTRIBUTION

from . import wheels

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# What gradlab and its widgets import that Pyodide does not bring; of widgetsnbextension the kernel has a stand-in.
PURE = ("autograd", "anywidget", "comm", "ipywidgets", "jupyterlab-widgets", "psygnal")
_EXTENSIONS = ("@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager", "anywidget")
_KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
_SETTINGS = {
    "jupyter-lite-schema-version": 0,
    "jupyter-config-data": {"litePluginSettings": {_KERNEL: {"disablePyPIFallback": True}}},
}
# The app alone, without what a static page needs for no reader: it takes three seconds and 25 MB, not 80.
_BUILD = {
    "apps": ["lab"], "contents": ["files"], "no_sourcemaps": True, "no_unused_shared_packages": True,
    "ignore_sys_prefix": ["federated_extensions", "translation"],
    "disable_addons": ["archive", "report", "serve", "workspaces"],
}  # fmt: skip


def build(out: Path, pyodide: Path | None = None) -> None:
    """Write the JupyterLite site; `pyodide` is a folder with a distribution of Pyodide to copy into it.

    Raises:
        ValueError: the distribution lacks what gradlab needs, or has it in a release that is too old.
        RuntimeError: JupyterLite's build failed; the message is what it said.
    """
    if pyodide and (wrong := list(lacks(json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))))):
        raise ValueError(f"the Pyodide in {pyodide} cannot run gradlab: {'; '.join(wrong)}")
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch)
        (source / "files").mkdir()
        for path in sorted(HERE.parent.glob("*.ipynb")):
            text = json.dumps(for_a_tab(json.loads(path.read_text("utf-8"))), ensure_ascii=False)
            (source / "files" / path.name).write_text(text, "utf-8")
        (source / "pypi").mkdir()
        wheels.of_checkout(ROOT, source / "pypi")
        for name in PURE:
            wheels.of_installed(name, source / "pypi")
        if pyodide:
            (source / "static").mkdir()
            (source / "static" / "pyodide").symlink_to(pyodide.resolve(), target_is_directory=True)
        _jupyter_lite(source, out)


def for_a_tab(notebook: dict[str, Any]) -> dict[str, Any]:
    """Give a notebook whose kernel is Pyodide and whose first code installs gradlab from the site's own wheels.

    >>> cells = [{"cell_type": "code", "source": "subprocess.run(...)", "outputs": []}]
    >>> for_a_tab({"cells": cells, "metadata": {}})["cells"][0]["source"]
    '%pip install -q gradlab-notebooks[tpu]'
    """
    kernel = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    cells = [dict(cell) for cell in notebook["cells"]]
    next(cell for cell in cells if cell["cell_type"] == "code")["source"] = f"%pip install -q {DISTRIBUTION}[tpu]"
    return notebook | {"cells": cells, "metadata": notebook["metadata"] | {"kernelspec": kernel}}


def needed() -> dict[str, Requirement]:
    """What gradlab needs in a tab, by its name: only what holds on Emscripten."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    there = {"sys_platform": "emscripten"}
    found = map(Requirement, [*project["dependencies"], *project["optional-dependencies"]["tpu"]])
    return {canonicalize_name(one.name): one for one in found if not one.marker or one.marker.evaluate(there)}


def lacks(lock: dict[str, Any]) -> Iterator[str]:
    """Say what a distribution of Pyodide lacks, from its lock file.

    >>> list(lacks({"packages": {}}))[0]
    'numpy>=2.0 is not in it'
    """
    there = {canonicalize_name(one["name"]): one["version"] for one in lock["packages"].values()}
    for name, requirement in needed().items():
        if name in PURE:
            continue
        if name not in there:
            yield f"{requirement} is not in it"
        elif not requirement.specifier.contains(there[name], prereleases=True):
            yield f"{requirement} is needed, it has {there[name]}"


def _jupyter_lite(source: Path, out: Path) -> None:
    extensions = [*map(_extension, _EXTENSIONS), str(HERE / "at_cell")]
    build = _BUILD | {"output_dir": str(out.resolve()), "federated_extensions": extensions}
    (source / "jupyter_lite_config.json").write_text(json.dumps({"LiteBuildConfig": build}), "utf-8")
    (source / "jupyter-lite.json").write_text(json.dumps(_SETTINGS), "utf-8")
    command = [sys.executable, "-m", "jupyterlite_core", "build"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"JupyterLite could not be built: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def _extension(name: str) -> str:
    """Where JupyterLab's extension of that name is installed."""
    places = [Path(folder, name) for folder in jupyter_path("labextensions")]
    try:
        return str(next(place for place in places if (place / "package.json").is_file()))
    except StopIteration:
        raise RuntimeError(f"JupyterLab's extension {name} is installed in none of {places}") from None
