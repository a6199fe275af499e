"""The notebooks as published: executing them again changes nothing, they are small, and cells only
call.
"""

import copy
import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.notebooks import save

NOTEBOOKS = sorted(save.FOLDER.glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
WRITTEN = ("00_start_here", "07_your_run")
# Executed a second time where another matplotlib draws other pictures than those saved.
REPEATED = "07_your_run"


def without_pictures(text: str) -> str:
    """Picture bytes depend on the matplotlib build; what they show is compared through text and
    tables.
    """
    return re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "PNG", text)


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if p.stem in WRITTEN], ids=lambda p: p.stem)
def test_executing_and_saving_again_changes_no_byte(path: Path) -> None:
    """The default run executes every notebook, in nbval, and compares what it prints; only here it
    is also written.
    """
    first, saved = save.executed(path), path.read_text("utf-8")
    assert without_pictures(first) == without_pictures(saved), "run python -m tests.notebooks.save"
    if path.stem == REPEATED:
        assert first == saved or save.executed(path) == first


@every_notebook
def test_a_notebook_is_small_and_carries_no_widget_state(path: Path) -> None:
    text = path.read_text("utf-8")
    assert path.stat().st_size <= 310_000
    assert "widget-view+json" not in text
    assert "widgets" not in json.loads(text)["metadata"]


@every_notebook
def test_cells_are_short_calls_without_formulas_or_plotting(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert len(cell.source.splitlines()) <= 12
            assert not re.search(
                r"plt\.|\.plot\(|np\.(sqrt|exp|linalg)|matplotlib|interact\(|Output\(", cell.source
            )
            assert not cell.source.rstrip().endswith(";"), "nbval shows such a cell all the same"
            assert cell.outputs or "import" in cell.source or "=" in cell.source


@every_notebook
def test_every_picture_has_a_text_alternative(path: Path) -> None:
    html = [h for h in _html(path) if "<img" in h]
    for page in html:
        assert len(re.findall(r"<img[^>]* alt=\"[^\"]{20,}\"", page)) == page.count("<img")
        assert "<table" in page


def _html(path: Path) -> list[str]:
    outputs = [o for c in nbformat.read(path, as_version=4).cells for o in c.get("outputs", [])]
    return ["".join(o["data"]["text/html"]) for o in outputs if "text/html" in o.get("data", {})]


@every_notebook
def test_a_notebook_is_a_deck_of_slides(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    kinds = [cell.metadata.get("slideshow", {"slide_type": "-"})["slide_type"] for cell in cells]
    assert kinds == [save.slide_type(number, cell) for number, cell in enumerate(cells)]
    assert kinds[:3] == ["slide", "skip", "skip"] and kinds.count("slide") >= 5


def test_links_between_notebooks_lead_somewhere() -> None:
    for path in NOTEBOOKS:
        for target in re.findall(r"\]\(([\w./-]+\.ipynb)\)", path.read_text("utf-8")):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_publishing_takes_out_what_differs_from_run_to_run() -> None:
    cell: dict[str, Any] = {
        "output_type": "display_data",
        "metadata": {"a": 1},
        "data": {save._VIEW: {}, "text/plain": "x"},
    }
    notebook = nbformat.v4.new_notebook(
        metadata={"widgets": {}}, cells=[nbformat.v4.new_code_cell("1", id="a")]
    )
    notebook.cells[0].outputs = [nbformat.from_dict(copy.deepcopy(cell))]
    published = json.loads(save.published(notebook))
    assert published["metadata"] == save._METADATA
    assert published["cells"][0]["outputs"][0]["data"] == {"text/plain": ["x"]}
    assert published["cells"][0]["outputs"][0]["metadata"] == {}


@pytest.mark.exhaustive
def test_what_is_printed_in_pieces_is_one_output(tmp_path: Path) -> None:
    source = "import time\nfor k in (1, 2):\n    print(k, flush=True)\n    time.sleep(0.3)"
    (path := tmp_path / "slow.ipynb").write_text(
        nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])),
        encoding="utf-8",
    )
    (cell,) = nbformat.reads(save.executed(path), as_version=4).cells
    assert [output.text for output in cell.outputs] == ["1\n2\n"]
