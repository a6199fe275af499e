"""What the course in a browser tab is made of: notebooks that install from the site, and every wheel they need."""

from __future__ import annotations

from importlib.metadata import requires
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from notebooks.site import lite
from tests.notebooks.test_badges import INSTALL, NOTEBOOKS

# Of what we need, in Pyodide's own distribution; the last has a stand-in in JupyterLite's kernel.
IN_PYODIDE = {
    "contourpy", "ipython", "matplotlib", "numpy", "pillow", "protobuf", "traitlets", "typing-extensions",
    "widgetsnbextension",
}  # fmt: skip


def needs(name: str) -> set[str]:
    """What a distribution installed here requires in a tab."""
    found = map(Requirement, requires(name) or ())
    there = {"sys_platform": "emscripten", "extra": ""}
    return {canonicalize_name(one.name) for one in found if not one.marker or one.marker.evaluate(there)}


def test_nothing_that_a_tab_needs_is_asked_for_elsewhere() -> None:
    left, known = set(lite.needed()), set()
    while left:
        name = left.pop()
        known.add(name)
        if name in lite.PURE:
            left |= needs(name) - known
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
    assert changed == [(INSTALL, "%pip install -q gradlab-notebooks")]


def test_a_distribution_that_is_too_old_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyodide-lock.json").write_text('{"packages": {"n": {"name": "numpy", "version": "1.26"}}}', "utf-8")
    with pytest.raises(ValueError, match=r"numpy>=2.0 is needed, it has 1\.26; matplotlib>=3\.9 is not in it"):
        lite.build(tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()
