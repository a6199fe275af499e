"""The address of the repository: in pyproject.toml, and written from there wherever else it is.

python -m notebooks.repository               prints it
python -m notebooks.repository OWNER/REPO    sets it, in every file that names it
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = (
    "pyproject.toml", "README.md", "CITATION.cff", "gradlab/_base/addresses.py", ".github/**/*.*", "notebooks/*.ipynb",
    "notebooks/site/guide/*.md",
)  # fmt: skip
_HOST = "https://github.com/"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")


def current(root: Path = ROOT) -> str:
    """Return OWNER/REPO as pyproject.toml has it."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    source: str = project["urls"]["Source"]
    return source.removeprefix(_HOST)


def files(root: Path = ROOT) -> Iterator[Path]:
    """Yield every file that may name the repository."""
    yield from (path for place in PLACES for path in sorted(root.glob(place)) if path.is_file())


def rename(new: str, root: Path = ROOT) -> list[str]:
    """Write another OWNER/REPO; return the names of the files that changed.

    Raises:
        ValueError: not an owner and a repository as GitHub names them; nothing is changed.
    """
    if not _NAME.fullmatch(new):
        raise ValueError(f"the repository must be OWNER/REPO as in its address on GitHub, got {new!r}")
    old, changed = current(root), []
    addresses = re.compile(rf"(?<![\w.-]){re.escape(old)}(?![\w-])")
    mail = "{}@users.noreply.github.com".format
    site = "{0[0]}.github.io/{0[2]}/".format
    for path in files(root):
        text = path.read_text("utf-8")
        renamed = addresses.sub(new, text).replace(mail(old.partition("/")[0]), mail(new.partition("/")[0]))
        renamed = renamed.replace(site(old.partition("/")), site(new.partition("/")))
        if renamed != text:
            path.write_text(renamed, "utf-8")
            changed.append(path.relative_to(root).as_posix())
    return changed


def main(arguments: Sequence[str]) -> int:
    """Run the command line; the exit status is 2 for a name that GitHub would not take."""
    if not arguments:
        print(current())
        return 0
    try:
        print("\n".join(rename(arguments[0])) or "nothing to change")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
