"""One address of the repository: whatever else names it agrees, and one command changes all of them."""

import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from gradlab._base import addresses
from notebooks import repository

ROOT = Path(__file__).parents[2]
NAMED = re.compile(
    r"(?:mybinder\.org/v2/gh|research\.google\.com/github|//github\.com)/(?!jupyter|google|tensorflow)([\w.-]+/[\w-]+)"
    r"|REPOSITORY = \\?\"([^\"\\]+)"
)


def named(path: Path) -> set[str]:
    return {one for pair in NAMED.findall(path.read_text("utf-8")) for one in pair if one}


@pytest.mark.parametrize("path", [*repository.files()], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_file_names_the_repository_of_the_project(path: Path) -> None:
    assert named(path) <= {repository.current()}, "python -m notebooks.repository OWNER/REPO writes all of them"


def test_the_package_and_the_readme_name_it() -> None:
    assert repository.current() == addresses.REPOSITORY
    assert addresses.on_binder("00_start_here.ipynb") in (ROOT / "README.md").read_text("utf-8")


def test_no_other_file_names_it() -> None:
    """What the command does not know, it cannot change."""
    known = {*repository.files(), Path(__file__), ROOT / "tests/labs/test_link.py"}
    owner = repository.current().partition("/")[0]
    texts = (p for folder in ("gradlab", "notebooks", "tests", "binder") for p in (ROOT / folder).rglob("*.*"))
    others = [p for p in texts if p.suffix in (".py", ".md", ".toml", ".txt", ".js", ".html") and p not in known]
    assert len(others) > 500
    assert [p for p in others if f"{owner}/" in p.read_text("utf-8")] == []


def test_one_command_renames_everything(tmp_path: Path) -> None:
    old = repository.current()
    for path in repository.files():
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    changed = repository.rename("new-owner/new.repo", tmp_path)
    assert {"pyproject.toml", "README.md", "gradlab/_base/addresses.py", "notebooks/02_clipping.ipynb"} <= set(changed)
    assert repository.current(tmp_path) == "new-owner/new.repo"
    owner = old.partition("/")[0]
    assert [p for p in repository.files(tmp_path) if re.search(f"{owner}[/@]", p.read_text("utf-8"))] == []
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert "gh/new-owner/new.repo/binder?urlpath=git-pull%3Frepo%3Dhttps://github.com/new-owner/new.repo%26" in readme
    repository.rename(old if "_" not in old else "a/b", tmp_path)  # and once more, from a name with a point in it
    assert repository.current(tmp_path) != "new-owner/new.repo"


@pytest.mark.parametrize("name", ["", "gradlab", "a/b/c", "under_score/gradlab", "https://github.com/a/b", "a/b c"])
def test_a_name_that_cannot_be_is_refused(name: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with pytest.raises(ValueError, match="OWNER/REPO"):
        repository.rename(name, tmp_path)
    assert repository.current(tmp_path) == repository.current()


def test_a_page_comes_back_out_of_a_launch_address() -> None:
    page = "lab/tree/my%20notebooks/a.ipynb#gl=1&lab=b&menu=one+two%2Bthree"
    start, _, _ = addresses.on_binder("b.ipynb").partition("lab/tree")
    address = addresses.at_launch(start, page)
    assert urlsplit(address).fragment == ""
    (pull,) = parse_qs(urlsplit(address).query)["urlpath"]  # as BinderHub reads it, and then nbgitpuller
    assert pull.startswith("git-pull?") and urlsplit(pull).fragment == ""
    assert parse_qs(urlsplit(pull).query) == {
        "repo": [f"https://github.com/{addresses.REPOSITORY}"], "branch": ["main"], "targetPath": ["course"],
        "urlpath": [page],
    }  # fmt: skip
    assert addresses.page_at(address) == addresses.page_at(page) == page


def test_a_link_from_before_the_course_was_pulled_still_leads_somewhere() -> None:
    old = "https://mybinder.org/v2/gh/me/it/HEAD?urlpath=lab/tree/notebooks/a.ipynb%23gl%3D1%26lab%3Db"
    assert addresses.page_at(old) == "lab/tree/notebooks/a.ipynb#gl=1&lab=b"


@pytest.mark.parametrize(
    ("host", "request_", "launch"),
    [
        (
            "https://mybinder.org/",
            "v2/gh/me/it/binder-jax",
            "https://mybinder.org/v2/gh/me/it/binder-jax?urlpath=git-pull%3Frepo%3Dhttps://github.com/me/it"
            "%26branch%3Dmain%26targetPath%3Dcourse%26urlpath%3D",
        ),
        ("https://mybinder.org/", "", ""),
        ("", "v2/gh/me/it/binder", ""),
    ],
)
def test_binder_says_where_it_is(host: str, request_: str, launch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDER_LAUNCH_HOST", host)
    monkeypatch.setenv("BINDER_REQUEST", request_)
    monkeypatch.setenv("BINDER_REPO_URL", "https://github.com/me/it")
    assert addresses.binder_here() == launch
