"""What the course in a browser tab is made of: notebooks that install from the site, and every
wheel they need.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from notebooks.site import lite
from tests.notebooks.test_badges import INSTALL, NOTEBOOKS
from tests.site.emscripten import project_requirements, requirements

# Of what we need, in Pyodide's own distribution; the last has a stand-in in JupyterLite's kernel.
IN_PYODIDE = {
    "contourpy",
    "ipython",
    "matplotlib",
    "numpy",
    "pillow",
    "protobuf",
    "traitlets",
    "typing-extensions",
    "widgetsnbextension",
}


def test_nothing_that_a_tab_needs_is_asked_for_elsewhere() -> None:
    left, known = project_requirements(), set()
    while left:
        name = left.pop()
        known.add(name)
        if name in lite.PURE:
            left |= requirements(name) - known
    assert known == IN_PYODIDE | set(lite.PURE)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_differs_in_its_kernel_and_its_installation_alone(path: Path) -> None:
    published = nbformat.read(path, as_version=4)
    there = lite.for_a_tab(published)
    assert there["metadata"]["kernelspec"]["name"] == "python"
    changed = [
        (old["source"], new["source"])
        for old, new in zip(published["cells"], there["cells"], strict=True)
        if old != new
    ]
    assert changed == [(INSTALL, "%pip install -q gradlab-notebooks[tpu]")]
