"""Build the site: every notebook with labs that move without a kernel, the README, the guides, and the reference.

python -m notebooks.site OUT              writes it to a folder; it asks no other host for anything
python -m notebooks.site OUT --moving 02  in a hurry: labs move in notebooks whose names begin so, pictures elsewhere
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from gradlab.live.grid import MOST_STATES

from . import api, front
from .pages import Notebook, plain
from .shown import Shown, labs_in

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status is Sphinx's, for which a warning is an error."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.site", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder to write to")
    parser.add_argument("--moving", default="", metavar="NAME", help="how notebooks begin whose labs move (all)")
    parser.add_argument("--states", type=int, default=MOST_STATES, help=f"that a lab's page holds ({MOST_STATES})")
    options = parser.parse_args(arguments)
    return build(options.out, options.moving, options.states)


def build(out: Path, moving: str = "", states: int = MOST_STATES) -> int:
    """Write the site to a folder."""
    notebooks = [Notebook(path) for path in sorted(HERE.parent.glob("*.ipynb"))]
    labs = {notebook: list(labs_in(notebook.cells)) for notebook in notebooks}
    (out / "labs").mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        moves = {notebook: notebook.name.startswith(moving) for notebook in notebooks}
        jobs = [
            pool.submit(lab.save, out / _address(notebook, lab), states) if moves[notebook] else pool.submit(lab.check)
            for notebook in notebooks
            for lab in labs[notebook]
        ]
        with tempfile.TemporaryDirectory() as scratch:
            addresses = {n: {lab.cell: _address(n, lab) for lab in labs[n]} if moves[n] else {} for n in notebooks}
            _write_pages(Path(scratch), addresses)
            status = _sphinx(Path(scratch), out)
        _write_files(out, notebooks)
        for job in jobs:
            job.result()
    return status


def _address(notebook: Notebook, lab: Shown) -> str:
    return f"labs/{notebook.name}-{lab.cell}.html"


def _write_pages(folder: Path, labs: Mapping[Notebook, Mapping[int, str]]) -> None:
    """Everything that Sphinx reads."""
    for notebook, addresses in labs.items():
        (folder / f"{notebook.name}.md").write_text(notebook.page(addresses), "utf-8")
    (folder / "api").mkdir()
    for name, text in api.pages():
        (folder / "api" / f"{name}.rst").write_text(text, "utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    guides = sorted((HERE / "guide").glob("*.md"))
    (folder / "index.md").write_text(front.front_page(readme, list(labs), guides), "utf-8")
    (folder / "readme.md").write_text(front.readme_page(readme), "utf-8")
    (folder / "guide").mkdir()
    for guide in guides:
        (folder / "guide" / guide.name).write_text(front.guide_page(guide), "utf-8")
    for page in sorted(HERE.parent.glob("*.md")):
        (folder / page.name).write_text(plain(page.read_text("utf-8")), "utf-8")
    contributing = (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")
    (folder / "contributing.md").write_text(contributing.replace("](../notebooks/site/", "]("), "utf-8")
    shutil.copy(ROOT / "gradlab" / "CHANGELOG.md", folder / "changelog.md")
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, folder / f"{name}.txt")
    shutil.copytree(HERE.parent / "pictures", folder / "pictures")


def _sphinx(pages: Path, out: Path) -> int:
    options = ["--fail-on-warning", "--keep-going", "--quiet", "--fresh-env", "--jobs", "auto"]
    paths = ["--conf-dir", str(HERE), "--doctree-dir", str(pages / ".doctrees"), str(pages), str(out)]
    return subprocess.run([sys.executable, "-m", "sphinx", *options, *paths], cwd=ROOT, check=False).returncode


def _write_files(out: Path, notebooks: Sequence[Notebook]) -> None:
    """Everything that is there as it is: notebooks to download, pictures of the front page."""
    (out / "notebooks").mkdir(exist_ok=True)
    for notebook in notebooks:
        shutil.copy(notebook.path, out / "notebooks")
    front.pictures(notebooks, out / "cards")


if __name__ == "__main__":
    sys.exit(main())
