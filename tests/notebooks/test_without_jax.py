"""Every notebook runs where JAX is not installed: all its cells, one notebook after another in one
kernel.

One cell trains a recommender, whose towers are JAX's: it says so.
"""

import re
import tomllib

import nbformat
import pytest
from nbclient import NotebookClient
from packaging.requirements import Requirement

from gradlab._base import addresses
from tests.notebooks import save

# What a kernel does between two notebooks, as if it had been started anew; the first time it loses
# JAX.
BETWEEN = """
import sys
sys.modules["jax"] = None
get_ipython().reset(new_session=False)
import gradlab as gl
gl.get_or_create_global_step().assign(0)
"""
NEEDS_JAX = (
    "06_tpu_embeddings: ModuleNotFoundError: this part of gradlab needs jax, which is not "
    "installed; run pip"
)


@pytest.mark.exhaustive
def test_all_cells_run_without_jax() -> None:
    cells = []
    for path in sorted(save.FOLDER.glob("*.ipynb")):
        cells.append(nbformat.v4.new_code_cell(BETWEEN, metadata={"of": path.stem}))
        cells += [
            nbformat.v4.new_code_cell(cell.source, metadata={"of": path.stem})
            for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "code"
        ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(
        notebook, timeout=300, allow_errors=True, resources={"metadata": {"path": save.FOLDER}}
    ).execute()
    failed = [
        f"{cell.metadata.of}: {output.ename}: {output.evalue}\n{cell.source}"
        for cell in notebook.cells
        for output in cell.outputs
        if output.output_type == "error"
    ]
    assert len(failed) == 1 and failed[0].startswith(NEEDS_JAX), "\n\n".join(failed)


def test_what_notebooks_show_needs_no_more_than_the_extra_lab_brings() -> None:
    root = save.FOLDER.parent
    extras = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    brought = {Requirement(one).name for one in extras["lab"]}
    asked = set()
    for folder in ("models", "labs", "exercises"):
        for path in (root / "gradlab" / folder).rglob("*.py"):
            asked |= set(
                re.findall(r'\bneed\("[\w.]+", "[^"]*", "(\w+)"\)', path.read_text("utf-8"))
            )
    assert asked, "the recommender asks for optax"
    for extra in asked:
        assert {Requirement(one).name for one in extras[extra]} <= brought


def test_binder_opens_where_jax_is_what_needs_it() -> None:
    assert {f"{NEEDS_JAX.partition(':')[0]}.ipynb"} == addresses.WITH_JAX
    for path in sorted(save.FOLDER.glob("*.ipynb")):
        assert ("/binder-jax?" in addresses.on_binder(path.name, repository="me/it")) == (
            path.name in addresses.WITH_JAX
        )
