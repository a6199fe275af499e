"""Every file and folder of this repository that a text names is there: in pages, notebooks,
docstrings and comments.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = (
    ROOT,
    ROOT / "gradlab",
    ROOT / "tests",
)  # `rules/adam.py` is in the package, `rules/test_rule.py` in the tests
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob(".github/*.md"),
    *ROOT.glob("notebooks/**/*.md"),
    *ROOT.glob("gradlab/*.md"),
]
NOTEBOOKS = [*ROOT.glob("notebooks/*.ipynb")]
SOURCES = [
    path
    for folder in ("gradlab", "notebooks", "tests", ".github")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".js", ".py", ".yml")
]
SETTINGS = [ROOT / "pyproject.toml", *ROOT.glob(".ci/*")]

FOLDERS = {
    path.name
    for place in PLACES
    for path in place.iterdir()
    if path.is_dir() and not path.name.startswith((".", "__"))
}
START = rf"(?:{'|'.join(map(re.escape, sorted(FOLDERS)))}|\.github)/"
FILE = r"[\w./-]+\.(?:css|ipynb|json|js|md|py|toml|txt)\b"
NAMED = re.compile(rf"`({START}(?:{FILE}|(?:[\w.-]+/)*)|\.ci/\w+)`|(?<![\w/.`\"'-])({START}{FILE})")
EXAMPLE = re.compile(r"(^|/|_)x[./]")  # `rules/x.py` is any rule


def read(path: Path) -> str:
    """Return what a reader sees of a file: of a notebook its cells."""
    text = path.read_text("utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


def missing_paths(text: str, folder: Path) -> list[str]:
    """Return the paths that a text in a folder names and that aren't there."""
    named = [quoted or plain for quoted, plain in NAMED.findall(text)]
    places = (*PLACES, folder)
    return [
        path
        for path in named
        if not EXAMPLE.search(path) and not any((place / path).exists() for place in places)
    ]


def test_every_path_that_is_named_exists() -> None:
    missing = {}
    for text in (*PAGES, *NOTEBOOKS, *SOURCES, *SETTINGS):
        of_others = "originals" in text.as_posix()  # which is about files of other projects
        if (
            text != Path(__file__)
            and not of_others
            and (paths := missing_paths(read(text), text.parent))
        ):
            missing[text.relative_to(ROOT).as_posix()] = paths
    assert missing == {}


def test_a_path_that_is_missing_is_found() -> None:
    text = "See `rules/adam.py`, `rules/gone.py` and tests/gone.py; a rule is in `rules/x.py`."
    assert missing_paths(text, ROOT) == ["rules/gone.py", "tests/gone.py"]


def test_links_of_pages_lead_to_files() -> None:
    for page in PAGES:
        if page.parent.name == "sources":  # templates, whose pages are elsewhere
            continue
        for path in re.findall(r"\]\(([\w/.-]+)\)", page.read_text("utf-8")):
            assert (page.parent / path).exists(), f"{page}: {path}"
