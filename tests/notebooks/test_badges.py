"""Every notebook says where to run it without an installation, and installs gradlab where it is
missing.
"""

import re
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
    assert REPOSITORY, "This copy does not know its repository: set REPOSITORY to OWNER/REPO."
    source = f"{extras.DISTRIBUTION}[tpu] @ git+https://github.com/{{REPOSITORY}}"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", source], check=True)"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_opens_elsewhere_if_there_is_a_repository_and_installs_what_it_needs(
    path: Path,
) -> None:
    cells = nbformat.read(path, as_version=4).cells
    # Words, not the services' badges: a picture would be asked for from them each time that
    # somebody opens the page.
    links = dict(re.findall(r"\[Open on (\w+)\]\(([^)]*)\)", cells[0].source))
    expected = {"Binder": addresses.on_binder(path.name), "Colab": addresses.on_colab(path.name)}
    assert links == {service: address for service, address in expected.items() if address}
    assert next(cell.source for cell in cells if cell.cell_type == "code") == INSTALL
