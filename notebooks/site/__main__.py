"""Build the site: every notebook with labs that move without a kernel, the README, and the reference.

python -m notebooks.site OUT                writes it to a folder; it asks no other host for anything
python -m notebooks.site OUT --states 12    in a hurry: a lab's page holds few of its states
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from gradlab.live.grid import MOST_STATES

from . import api, front
from .pages import Notebook
from .shown import Shown, labs_in

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is Sphinx's, for which a warning is an error."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.site", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder to write to")
    parser.add_argument("--states", type=int, default=MOST_STATES, help=f"of a lab's page at most ({MOST_STATES})")
    options = parser.parse_args(arguments)
    return build(options.out, options.states)


def build(out: Path, states: int = MOST_STATES) -> int:
    """Write the site to a folder."""
    notebooks = [Notebook(path) for path in sorted(HERE.parent.glob("*.ipynb"))]
    with tempfile.TemporaryDirectory() as scratch:
        pages, extra = Path(scratch, "pages"), Path(scratch, "extra")
        with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
            labs = {notebook.name: list(labs_in(notebook.cells)) for notebook in notebooks}
            named = [(extra / _address(name, lab), lab) for name, labs in labs.items() for lab in labs]
            (extra / "labs").mkdir(parents=True)
            saved = [pool.submit(lab.save, path, states) for path, lab in named]
            _write_pages(pages, notebooks, labs)
            _write_extra(extra, notebooks)
            for one in saved:
                one.result()
        return _sphinx(pages, extra, out)


def _address(notebook: str, lab: Shown) -> str:
    return f"labs/{notebook}-{lab.cell}.html"


def _write_pages(folder: Path, notebooks: Sequence[Notebook], labs: dict[str, list[Shown]]) -> None:
    """Everything that Sphinx reads."""
    (folder / "api").mkdir(parents=True)
    for notebook in notebooks:
        addresses = {lab.cell: _address(notebook.name, lab) for lab in labs[notebook.name]}
        (folder / f"{notebook.name}.md").write_text(notebook.page(addresses), "utf-8")
    for name, text in api.pages():
        (folder / "api" / f"{name}.rst").write_text(text, "utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    (folder / "index.md").write_text(front.front_page(readme, notebooks), "utf-8")
    (folder / "readme.md").write_text(front.readme_page(readme), "utf-8")
    shutil.copytree(HERE.parent / "pictures", folder / "pictures")


def _write_extra(folder: Path, notebooks: Sequence[Notebook]) -> None:
    """Everything that is copied as it is."""
    (folder / "notebooks").mkdir(parents=True)
    for notebook in notebooks:
        shutil.copy(notebook.path, folder / "notebooks")
    front.pictures(notebooks, folder / "cards")


def _sphinx(pages: Path, extra: Path, out: Path) -> int:
    options = ["--fail-on-warning", "--keep-going", "--quiet", "--fresh-env", "--jobs", "auto"]
    paths = ["--conf-dir", str(HERE), "-D", f"html_extra_path={extra}", "-d", str(pages.parent / "doctrees")]
    return subprocess.run([sys.executable, "-m", "sphinx", *options, *paths, str(pages), str(out)], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
