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
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from gradlab._base.addresses import LITE, in_browser
from gradlab._base.atomic_files import replaced_folder
from gradlab.live.grid import MOST_STATES
from gradlab.live.page import Part

from . import api, front, labs, lite
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
    moves = {notebook: notebook.name.startswith(moving) for notebook in notebooks}
    with replaced_folder(out, "index.html") as new, ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        (new / "labs").mkdir()
        live = pool.submit(lite.build, new / LITE, pyodide)
        jobs: dict[tuple[Notebook, int], Future[Part | None]] = {}
        for n, lab in [(notebook, lab) for notebook in notebooks for lab in shown[notebook]]:
            save = partial(lab.save, new / _address(n, lab), states, in_browser(n.path.name))
            job = pool.submit(save if moves[n] else lab.check)
            job.add_done_callback(partial(_tell, f"{n.name}: {lab.said.partition(':')[0]}"))
            jobs[n, lab.cell] = job
        parts = {(n, cell): job.result() for (n, cell), job in jobs.items() if moves[n]}
        reached = {n: [cell for (of, cell), part in parts.items() if of == n and part and part.reached] for n in shown}
        with tempfile.TemporaryDirectory() as scratch:
            addresses = {n: {lab.cell: _address(n, lab) for lab in shown[n]} if moves[n] else {} for n in notebooks}
            _write_pages(Path(scratch), shown, addresses, reached)
            _sphinx(Path(scratch), new)
        _write_files(new, notebooks)
        for job in (live, *jobs.values()):
            job.result()
    return 0


def _tell(lab: str, job: Future[Part | None]) -> None:
    if not job.cancelled() and not job.exception():
        part = job.result()
        print(f"{lab} ({part.told})" if part else lab, flush=True)


def _address(notebook: Notebook, lab: Shown) -> str:
    return f"labs/{notebook.name}-{lab.cell}.html"


def _write_pages(
    folder: Path, shown: Mapping[Notebook, list[Shown]], addresses: Mapping[Notebook, Mapping[int, str]],
    reached: Mapping[Notebook, Sequence[int]],
) -> None:  # fmt: skip
    """Everything that Sphinx reads."""
    for notebook in shown:
        page = notebook.page(addresses[notebook], reached[notebook])
        (folder / f"{notebook.name}.md").write_text(page, "utf-8")
    (folder / "lab").mkdir()
    for name, text in labs.pages(shown, addresses):
        (folder / "lab" / f"{name}.md").write_text(text, "utf-8")
    (folder / "api").mkdir()
    for name, text in api.pages():
        (folder / "api" / f"{name}.rst").write_text(text, "utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    guides = sorted((HERE / "guide").glob("*.md"))
    (folder / "index.md").write_text(front.front_page(readme, list(shown), guides), "utf-8")
    (folder / "readme.md").write_text(front.readme_page(readme), "utf-8")
    (folder / "install.md").write_text(front.install_page(readme), "utf-8")
    (folder / "cite.md").write_text(front.cite_page((ROOT / "CITATION.cff").read_text("utf-8")), "utf-8")
    (folder / "404.md").write_text(front.NOT_FOUND, "utf-8")
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


def _sphinx(pages: Path, out: Path) -> None:
    options = ["--fail-on-warning", "--keep-going", "--quiet", "--fresh-env", "--jobs", "auto"]
    paths = ["--conf-dir", str(HERE), "--doctree-dir", str(pages / ".doctrees"), str(pages), str(out)]
    subprocess.run([sys.executable, "-m", "sphinx", *options, *paths], cwd=ROOT, check=True)


def _write_files(out: Path, notebooks: Sequence[Notebook]) -> None:
    """Everything that is there as it is: notebooks to download, pictures of the front page."""
    (out / "notebooks").mkdir(exist_ok=True)
    for notebook in notebooks:
        shutil.copy(notebook.path, out / "notebooks")
    front.pictures(notebooks, out / "cards")
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, out / f"{name}.txt")


if __name__ == "__main__":
    sys.exit(main())
