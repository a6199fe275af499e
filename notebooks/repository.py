"""The address of the repository: written into every file that names it, or taken out again.

python -m notebooks.repository               prints it
python -m notebooks.repository OWNER/REPO    sets it: the badge, links to Binder and Colab, `git clone`, project URLs
python -m notebooks.repository --none        takes all of them out, as in a checkout that knows no repository

A file names the repository in texts that are known here, one with and one without it. So the
command can be run again, for another repository, and nothing is half written: a file in which the
text isn't found is an error that changes none.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradlab._base import addresses

ROOT = Path(__file__).parents[1]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")
_REPOSITORY = re.compile(r'^REPOSITORY = "(.*)"$', re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """A text of a file, without a repository and with one.

    Attributes:
        path: from the top of the checkout.
        without: the text where there is no repository.
        named: the text where there is one; {repository}, {owner}, {name} and {binder} are filled
            in.
    """

    path: str
    without: str
    named: str

    def text(self, repository: str) -> str:
        """Return the text that a file holds for this repository."""
        if not repository:
            return self.without
        owner, _, name = repository.partition("/")
        binder = addresses.on_binder("00_start_here.ipynb", repository=repository)
        return self.named.format(repository=repository, owner=owner, name=name, binder=binder)


_WAYS = """\
## Three ways in

| how long | where | what works |
|---|---|---|
| seconds | [a tab](https://{owner}.github.io/{name}/) | every notebook as a page: labs move, presets and questions \
answer; a target that a page cannot reach has a link that runs the notebook in your browser |
| minutes | [Binder][binder] | everything, on somebody else's machine; without JAX, which \
[notebook 06's Binder](notebooks/site/guide/elsewhere.md) has |
| a minute of installing | your machine, below | everything, on your own runs |

## Two commands
"""
_AUTHORS = 'authors = [{ name = "The gradlab authors"'
_MAIL = ', email = "{owner}@users.noreply.github.com" }}]\n'
_COMMENT = "wherever else it belongs.\n"
_URLS = """\
[project.urls]
Homepage = "https://github.com/{repository}"
Documentation = "https://{owner}.github.io/{name}/"
Source = "https://github.com/{repository}"
Issues = "https://github.com/{repository}/issues"
Changelog = "https://github.com/{repository}/blob/main/gradlab/CHANGELOG.md"

[project.optional-dependencies]
"""
_CONTACT = """\
blank_issues_enabled: true
contact_links:
  - name: Report a vulnerability
    url: https://github.com/{repository}/security/advisories/new
    about: In private, please.
"""
_LAST_LINE = "this one installs as `gradlab-notebooks` and is imported as `gradlab`.\n"
_CLONE = "git clone https://github.com/{repository} && cd {name}\n"
_BADGE = "[![Open the labs on Binder](https://mybinder.org/badge_logo.svg)][binder]\n\n"
PLACES = (
    Place("gradlab/_base/addresses.py", 'REPOSITORY = ""\n', 'REPOSITORY = "{repository}"\n'),
    Place("pyproject.toml", _COMMENT + "\n[project.optional-dependencies]\n", _COMMENT + _URLS),
    Place("pyproject.toml", _AUTHORS + " }]\n", _AUTHORS.replace("{", "{{") + _MAIL),
    Place("README.md", "# gradlab\n\n", "# gradlab\n\n" + _BADGE),
    Place("README.md", "## Two commands\n", _WAYS),
    Place(
        "README.md",
        "In a clone of this repository:\n\n```bash\npython3 -m venv",
        "```bash\n" + _CLONE + "python3 -m venv",
    ),
    Place("README.md", _LAST_LINE, _LAST_LINE + "\n[binder]: {binder}\n"),
    Place(
        ".github/CONTRIBUTING.md",
        "In a clone of this repository:\n\n```bash\npython3 -m venv",
        "```bash\n" + _CLONE + "python3 -m venv",
    ),
    Place(".github/ISSUE_TEMPLATE/config.yml", "blank_issues_enabled: true\n", _CONTACT),
    Place(
        "CITATION.cff",
        "license: Apache-2.0\n",
        'license: Apache-2.0\nrepository-code: "https://github.com/{repository}"\n',
    ),
)
NOTEBOOKS = "notebooks/*.ipynb"


def current(root: Path = ROOT) -> str:
    """Return OWNER/REPO as `gradlab/_base/addresses.py` has it; empty where there is none.

    Raises:
        ValueError: that file names no repository, not even an empty one.
    """
    path = root / "gradlab/_base/addresses.py"
    found = _REPOSITORY.search(path.read_text("utf-8"))
    if not found:
        raise ValueError(
            f'{path} must hold a line REPOSITORY = "OWNER/REPO", or REPOSITORY = "" for none'
        )
    return found[1]


def files(root: Path = ROOT) -> Iterator[Path]:
    """Yield every file that names the repository where there is one."""
    yield from (root / path for path in dict.fromkeys(place.path for place in PLACES))
    yield from sorted(root.glob(NOTEBOOKS))


def rename(new: str, root: Path = ROOT) -> list[str]:
    """Write another OWNER/REPO, or none; return the names of the files that changed.

    Args:
        new: "OWNER/REPO", or "" to take the repository out.

    Raises:
        ValueError: not an owner and a repository as GitHub names them, or a file without the text
            that names the repository. Nothing is changed.
    """
    if new and not _NAME.fullmatch(new):
        raise ValueError(
            f"the repository must be OWNER/REPO as in its address on GitHub, got {new!r}"
        )
    old = current(root)
    renamed = {
        path: _renamed(path, path.relative_to(root).as_posix(), old, new) for path in files(root)
    }
    changed = []
    for path, text in renamed.items():
        if text != path.read_text("utf-8"):
            path.write_text(text, "utf-8")
            changed.append(path.relative_to(root).as_posix())
    return changed


def _renamed(path: Path, name: str, old: str, new: str) -> str:
    """Return the text of a file for the new repository."""
    text = path.read_text("utf-8")
    if path.suffix == ".ipynb":
        return _renamed_notebook(text, path.name, new)
    for place in PLACES:
        if place.path != name:
            continue
        if text.count(place.text(old)) != 1:
            raise ValueError(
                f"{name} must hold this text once, so that it can be replaced:\n{place.text(old)}"
            )
        text = text.replace(place.text(old), place.text(new))
    return text


def _renamed_notebook(text: str, name: str, new: str) -> str:
    """Return a notebook with links at the end of its first cell, and the repository in its second."""
    notebook = json.loads(text)
    first, second = notebook["cells"][:2]
    opening = "".join(first["source"]).partition("\n\n[Open on Binder]")[0]
    if new:
        binder = addresses.on_binder(name, repository=new)
        colab = addresses.on_colab(name, repository=new)
        opening += f"\n\n[Open on Binder]({binder}) · [Open on Colab]({colab})"
    first["source"] = opening.splitlines(keepends=True)
    code = _REPOSITORY.sub(f'REPOSITORY = "{new}"', "".join(second["source"]))
    second["source"] = code.splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Run the command line; the exit status is 2 for a name that GitHub would not take."""
    if not arguments:
        print(current() or "no repository is set")
        return 0
    new = "" if arguments[0] == "--none" else arguments[0]
    try:
        if not new and arguments[0] != "--none":
            raise ValueError(
                "the repository must be OWNER/REPO as in its address on GitHub, got ''"
            )
        print("\n".join(rename(new)) or "nothing to change")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
