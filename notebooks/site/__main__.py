"""Build the site: every notebook with labs that move without a kernel, the README, the guides, and the reference.

python -m notebooks.site OUT              writes it to a folder; it asks no other host for anything
python -m notebooks.site OUT --moving 02  in a hurry: labs move in notebooks whose names begin so, pictures elsewhere

In OUT/lite is the course as a JupyterLite site, where Python runs in the reader's browser.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from gradlab._base.addresses import LITE, in_browser
from gradlab._base.atomic_files import replace_folder
from gradlab.live.grid import MOST_STATES
from gradlab.live.page import Part

from . import lite, pages
from .pages import Notebook
from .shown import labs_in

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is Sphinx's, for which a warning is an error."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.site", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder to write to")
    parser.add_argument("--moving", default="", metavar="NAME", help="how notebooks begin whose labs move (all)")
    parser.add_argument("--states", type=int, default=MOST_STATES, help=f"that a lab's page holds ({MOST_STATES})")
    parser.add_argument(
        "--pyodide", type=Path, metavar="DIR", help="a distribution of Pyodide to serve with the site (its public one)"
    )
    options = parser.parse_args(arguments)
    try:
        return build(options.out, options.moving, options.states, options.pyodide)
    except subprocess.CalledProcessError as error:
        return error.returncode


def build(out: Path, moving: str = "", states: int = MOST_STATES, pyodide: Path | None = None) -> int:
    """Write the site to a folder, which is what it was until all of the new one is there."""
    notebooks = [Notebook(path) for path in sorted(HERE.parent.glob("*.ipynb"))]
    shown = {notebook: list(labs_in(notebook.cells)) for notebook in notebooks}
    addresses: dict[Notebook, dict[int, str]] = {notebook: {} for notebook in notebooks}
    parts: dict[tuple[Notebook, int], Future[Part | None]] = {}
    with (
        replace_folder(out, "index.html") as new,
        ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool,
    ):
        (new / "labs").mkdir()
        in_a_tab = pool.submit(lite.build, new / LITE, pyodide)
        for notebook, labs in shown.items():
            for lab in labs:
                if notebook.name.startswith(moving):
                    address = f"labs/{notebook.name}-{lab.cell}.html"
                    addresses[notebook][lab.cell] = address
                    job = pool.submit(lab.save, new / address, states, in_browser(notebook.path.name))
                else:
                    job = pool.submit(lab.check)
                job.add_done_callback(partial(report, f"{notebook.name}: {lab.said.partition(':')[0]}"))
                parts[notebook, lab.cell] = job
        reached: dict[Notebook, set[int]] = {notebook: set() for notebook in notebooks}
        for (notebook, cell), job in parts.items():
            part = job.result()
            if part and part.reached:
                reached[notebook].add(cell)
        with tempfile.TemporaryDirectory() as scratch:
            sources = Path(scratch, "sources")
            pages.write(sources, shown, addresses, reached)
            run_sphinx(sources, Path(scratch, "html"))  # beside which myst-nb writes copies of the notebooks
            shutil.copytree(Path(scratch, "html"), new, dirs_exist_ok=True)
        copy_files(new, notebooks)
        in_a_tab.result()
    return 0


def report(lab: str, job: Future[Part | None]) -> None:
    """Print that a lab is done."""
    if not job.cancelled() and not job.exception():
        part = job.result()
        print(f"{lab} ({part.told})" if part else lab, flush=True)


def copy_files(out: Path, notebooks: Sequence[Notebook]) -> None:
    """Write what is there as it is: notebooks to download, licenses, pictures of the first page."""
    (out / "notebooks").mkdir()
    for notebook in notebooks:
        shutil.copy(notebook.path, out / "notebooks")
    pages.write_cards(notebooks, out / "cards")
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, out / f"{name}.txt")


def run_sphinx(sources: Path, out: Path) -> None:
    """Make the pages; every warning of Sphinx is an error."""
    options = ["--fail-on-warning", "--keep-going", "--quiet", "--fresh-env", "--jobs", "auto"]
    paths = ["--conf-dir", str(HERE), "--doctree-dir", str(sources / ".doctrees"), str(sources), str(out)]
    subprocess.run([sys.executable, "-m", "sphinx", *options, *paths], cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
