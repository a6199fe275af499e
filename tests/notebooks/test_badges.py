"""Every notebook says where to run it without an installation, and installs gradlab where it is missing."""

from pathlib import Path

import nbformat
import pytest

from gradlab._base import addresses, extras

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))

INSTALL = f"""\
import importlib.util
import subprocess
import sys

REPOSITORY = "{addresses.REPOSITORY}"
if importlib.util.find_spec("gradlab") is None:  # on Colab, for example
    assert not REPOSITORY.startswith("YOUR_"), "This copy does not know its repository: set REPOSITORY to OWNER/REPO."
    source = f"{extras.DISTRIBUTION} @ git+https://github.com/{{REPOSITORY}}"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", source], check=True)"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_opens_elsewhere_and_installs_what_it_needs(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    # Words, not the services' badges: a picture would be asked for from them each time that somebody opens the page.
    for service, address in (("Binder", addresses.on_binder), ("Colab", addresses.on_colab)):
        assert f"[Open on {service}]({address(path.name)})" in cells[0].source
    assert next(cell.source for cell in cells if cell.cell_type == "code") == INSTALL
