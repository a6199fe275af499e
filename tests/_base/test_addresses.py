"""The address of the repository: one command adds it everywhere; without one, nothing leads to
another host.
"""

import json
import re
import shutil
import tomllib
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


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of all files that name the repository, in a checkout that knows none."""
    for path in repository.files():
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    repository.rename("", tmp_path)
    return tmp_path


def texts(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in repository.files(root)
    }


@pytest.mark.parametrize(
    "path", [*repository.files()], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_every_file_names_the_repository_of_the_project(path: Path) -> None:
    examples = {"me/it"}  # of doctests
    assert named(path) <= {repository.current()} | examples, (
        "python -m notebooks.repository OWNER/REPO writes all of them"
    )


def test_no_file_holds_a_placeholder() -> None:
    """What the command does not know, it cannot change; and a newcomer reads no address that leads
    nowhere.
    """
    folders = [ROOT / folder for folder in ("gradlab", "notebooks", "tests", "binder", ".github")]
    files = [path for folder in folders for path in folder.rglob("*.*")]
    files += [ROOT / name for name in ("README.md", "CITATION.cff", "pyproject.toml", "NOTICE")]
    kinds = (".py", ".md", ".toml", ".txt", ".js", ".html", ".ipynb", ".yml", ".cff")
    read = [path for path in files if path.suffix in kinds and path != Path(__file__)]
    assert len(read) > 500
    assert [path for path in read if "YOUR_" in path.read_text("utf-8")] == []


def test_without_a_repository_nothing_leads_to_another_host(checkout: Path) -> None:
    assert repository.current(checkout) == ""
    for name, text in texts(checkout).items():
        opening = (
            "".join(json.loads(text)["cells"][0]["source"]) if name.endswith(".ipynb") else text
        )
        assert not re.search(
            r"mybinder\.org/v2|colab\.research|github\.io", opening
        ) or name.endswith("addresses.py"), name
    readme = (checkout / "README.md").read_text("utf-8")
    assert "In a clone of this repository:\n\n```bash\npython3 -m venv .venv" in readme
    assert 'pip install -e ".[lab]" && gradlab lab' in readme
    assert "git clone" not in readme
    assert "[binder]" not in readme
    assert "In a clone of this repository:" in (checkout / ".github/CONTRIBUTING.md").read_text(
        "utf-8"
    )
    assert "[project.urls]\n" not in (checkout / "pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize("repository_name", ["new-owner/new.repo", "me/gradlab"])
def test_one_command_adds_every_address(repository_name: str, checkout: Path) -> None:
    before = texts(checkout)
    changed = repository.rename(repository_name, checkout)
    after = texts(checkout)
    assert set(changed) == set(before), "each of them says where the repository is"
    assert repository.current(checkout) == repository_name
    owner, _, name = repository_name.partition("/")

    readme = after["README.md"]
    start = addresses.on_binder("00_start_here.ipynb", repository=repository_name)
    assert readme.startswith(
        "# gradlab\n\n[![Open the labs on Binder](https://mybinder.org/badge_logo.svg)][binder]\n"
    )
    assert f"[a tab](https://{owner}.github.io/{name}/)" in readme
    assert f"git clone https://github.com/{repository_name} && cd {name}\npython3 -m venv" in readme
    assert readme.endswith(f"\n[binder]: {start}\n")
    assert (
        f"git clone https://github.com/{repository_name} && cd {name}"
        in after[".github/CONTRIBUTING.md"]
    )
    assert (
        f"https://github.com/{repository_name}/security"
        in after[".github/ISSUE_TEMPLATE/config.yml"]
    )
    assert f'repository-code: "https://github.com/{repository_name}"' in after["CITATION.cff"]
    project = tomllib.loads(after["pyproject.toml"])["project"]
    assert project["authors"][0]["email"] == f"{owner}@users.noreply.github.com"
    urls = project["urls"]
    assert urls["Source"] == f"https://github.com/{repository_name}"
    assert urls["Documentation"] == f"https://{owner}.github.io/{name}/"
    for notebook in (path for path in after if path.endswith(".ipynb")):
        first, second, *_ = json.loads(after[notebook])["cells"]
        binder = addresses.on_binder(Path(notebook).name, repository=repository_name)
        colab = addresses.on_colab(Path(notebook).name, repository=repository_name)
        assert "".join(first["source"]).endswith(
            f"\n\n[Open on Binder]({binder}) · [Open on Colab]({colab})"
        )
        assert f'REPOSITORY = "{repository_name}"\n' in second["source"]

    assert repository.rename(repository_name, checkout) == [], "once more changes nothing"


def test_another_repository_and_none_leave_no_trace_of_the_first(checkout: Path) -> None:
    none = texts(checkout)
    repository.rename("a/b", checkout)
    only = texts(checkout)
    repository.rename("new-owner/new.repo", checkout)
    repository.rename("a/b", checkout)
    assert texts(checkout) == only
    repository.rename("", checkout)
    assert texts(checkout) == none


def test_a_file_without_the_text_is_named_and_nothing_is_changed(checkout: Path) -> None:
    citation = checkout / "CITATION.cff"
    citation.write_text("cff-version: 1.2.0\n", "utf-8")
    before = texts(checkout)
    with pytest.raises(ValueError, match=r"CITATION\.cff must hold this text once"):
        repository.rename("a/b", checkout)
    assert texts(checkout) == before


def test_the_command_line_says_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert repository.main([]) == 0
    assert capsys.readouterr().out.strip() == (repository.current() or "no repository is set")
    assert repository.main([""]) == 2
    assert "must be OWNER/REPO" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["gradlab", "a/b/c", "under_score/gradlab", "https://github.com/a/b", "a/b c"]
)
def test_a_name_that_cannot_be_is_refused(name: str, checkout: Path) -> None:
    before = texts(checkout)
    with pytest.raises(ValueError, match="OWNER/REPO"):
        repository.rename(name, checkout)
    assert texts(checkout) == before


def test_a_page_comes_back_out_of_a_launch_address() -> None:
    page = "lab/tree/my%20notebooks/a.ipynb#gl=1&lab=b&menu=one+two%2Bthree"
    start, _, _ = addresses.on_binder("b.ipynb", repository="me/it").partition("lab/tree")
    address = addresses.at_launch(start, page)
    assert urlsplit(address).fragment == ""
    # As BinderHub reads it, and then nbgitpuller.
    (pull,) = parse_qs(urlsplit(address).query)["urlpath"]
    assert pull.startswith("git-pull?") and urlsplit(pull).fragment == ""
    assert parse_qs(urlsplit(pull).query) == {
        "repo": ["https://github.com/me/it"], "branch": ["main"], "targetPath": ["course"],
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
def test_binder_says_where_it_is(
    host: str, request_: str, launch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BINDER_LAUNCH_HOST", host)
    monkeypatch.setenv("BINDER_REQUEST", request_)
    monkeypatch.setenv("BINDER_REPO_URL", "https://github.com/me/it")
    assert addresses.binder_here() == launch


def test_without_a_repository_there_are_no_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "REPOSITORY", "")
    assert (
        addresses.on_binder("a.ipynb")
        == addresses.on_colab("a.ipynb")
        == addresses.on_github()
        == ""
    )
    assert addresses.on_site("a.html") == "a.html"
