"""Binder builds the branches that hold binder/ alone, its links pull the course there, and the
first notebook runs.

Docker is not needed: repo2docker says what it would do, and its steps are done in a fresh virtual
environment, but with the Python that runs the tests instead of the one in runtime.txt.
"""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import gradlab as gl
from gradlab._base import addresses, notebooks
from tests.browser.server import TOKEN, free_port

ROOT = Path(__file__).parents[1]
BINDER = ROOT / "binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MOST = 12  # every further one is something that can break on the day of a lesson
PULLS = "nbgitpuller"
WITH_JAX = {"jax", "optax"}  # of one of the two environments
STATE = "#gl=1&lab=clipping&run=rising+loss&limit=0.3"
PATIENCE = 60  # seconds


def lines(file: str) -> list[str]:
    text = (BINDER / file).read_text("utf-8")
    return [line for line in (raw.partition("#")[0].strip() for raw in text.splitlines()) if line]


def needed() -> dict[str, Requirement]:
    """What gradlab and the extras of the image need, by name."""
    extras = PROJECT["optional-dependencies"]
    texts = [*PROJECT["dependencies"], *extras["tpu"], *extras["lab"], *extras["dashboard"]]
    requirements = [Requirement(text) for text in texts if not text.startswith(PROJECT["name"])]
    return {r.name: r for r in requirements if r.marker is None or r.marker.evaluate()}


def test_the_environments_hold_what_is_needed_and_one_of_them_jax() -> None:
    names = [Requirement(line).name for line in lines("requirements.txt")]
    assert sorted(names) == sorted({*needed(), PULLS} - WITH_JAX)
    assert {Requirement(line).name for line in lines("jax.txt")} == WITH_JAX


@pytest.mark.parametrize(
    "pin", [line for file in ("requirements.txt", "jax.txt") for line in lines(file)]
)
def test_a_pin_is_a_series_of_releases_of_what_is_needed(pin: str) -> None:
    requirement = Requirement(pin)
    (only,) = requirement.specifier
    assert (only.operator, only.version[-2:]) == ("==", ".*")
    assert (
        requirement.name == PULLS
        or only.version.removesuffix(".*") in needed()[requirement.name].specifier
    )


def test_there_are_few() -> None:
    assert 0 < len(needed().keys() - WITH_JAX) <= MOST


def test_the_python_is_one_that_the_package_allows() -> None:
    name, version = (BINDER / "runtime.txt").read_text("utf-8").strip().split("-")
    assert name == "python"
    assert version in SpecifierSet(PROJECT["requires-python"])


def test_what_pulls_and_what_is_pulled_agree_on_the_folder() -> None:
    assert f'PYTHONPATH="$HOME/{addresses.COURSE}:' in (BINDER / "start").read_text("utf-8")


class Pushed:
    """A repository as GitHub would hold it, and what its workflow makes of a push."""

    def __init__(self, folder: Path) -> None:
        self.address, self.clone = f"file://{folder}/origin.git", folder / "clone"
        left_out = shutil.ignore_patterns(
            ".git", ".venv", ".*_cache", "*.egg-info", "__pycache__", "build", "dist"
        )
        shutil.copytree(ROOT, self.clone, ignore=left_out)
        self.git("init", "--quiet", "--bare", f"{folder}/origin.git")
        self.git("init", "--quiet", "--initial-branch", addresses.BRANCH)
        self.git("remote", "add", "origin", self.address)
        self.push()

    def git(self, *arguments: str) -> str:
        who = (
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "core.hooksPath=/dev/null",
        )
        return done_well(["git", *who, *arguments], self.clone, dict(os.environ)).strip()

    def push(self) -> None:
        import yaml  # Jupyter brings it

        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        self.git("push", "--quiet", "origin", addresses.BRANCH)
        workflow = yaml.safe_load((self.clone / ".github/workflows/binder.yml").read_text("utf-8"))
        (job,) = workflow["jobs"].values()
        step = job["steps"][-1]
        done_well(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
            self.clone,
            os.environ | step["env"],
        )

    def branch(self, name: str, to: Path) -> Path:
        self.git("clone", "--quiet", "--branch", name, self.address, str(to))
        return to


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Pushed:
    return Pushed(tmp_path_factory.mktemp("pushed"))


@pytest.fixture(scope="module")
def home(pushed: Pushed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of an image's user, as it is before the image is built."""
    return pushed.branch("binder", tmp_path_factory.mktemp("binder") / "home")


@pytest.mark.binder
def test_a_push_makes_branches_that_change_with_their_files_alone(
    pushed: Pushed, home: Path, tmp_path: Path
) -> None:
    with_jax = pushed.branch("binder-jax", tmp_path / "jax")
    for folder, more in ((home, []), (with_jax, ["jax.txt"])):
        assert {path.name for path in folder.iterdir()} == {".git", ".binder"}
        files = {path.name: path for path in (folder / ".binder").iterdir()}
        text = "".join((BINDER / name).read_text("utf-8") for name in ("requirements.txt", *more))
        assert files.pop("requirements.txt").read_text("utf-8") == text
        assert files.keys() == {path.name for path in BINDER.iterdir()} - {
            "requirements.txt",
            "jax.txt",
        }
        assert all(
            path.read_bytes() == (BINDER / name).read_bytes() for name, path in files.items()
        )
    built = pushed.git("ls-remote", "origin", "binder*")
    (pushed.clone / "gradlab" / "new.py").write_text("")
    pushed.push()
    assert pushed.git("ls-remote", "origin", "binder*") == built
    with (pushed.clone / "binder" / "jax.txt").open("a") as file:
        file.write("optax\n")
    pushed.push()
    pairs = zip(
        built.splitlines(), pushed.git("ls-remote", "origin", "binder*").splitlines(), strict=True
    )
    assert [was == now for was, now in pairs] == [True, False]


@pytest.mark.binder
def test_repo2docker_takes_the_files(home: Path) -> None:
    said = done_well(
        [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(home)],
        home,
        dict(os.environ),
    )
    # What is installed does not depend on other files, and the last step runs when all of them are
    # there.
    steps = [
        '-r ".binder/requirements.txt"',
        "src/ ${REPO_DIR}/\n",
        "RUN ./.binder/post",
        "ENTRYPOINT=",
    ]
    assert [said.index(step) for step in steps] == sorted(said.index(step) for step in steps)
    assert "py-3.12" in said.replace("-2d", "-").replace("-2e", ".")


class Image:
    """The environment of an image, and what runs in its containers."""

    def __init__(self, home: Path) -> None:
        self.home, self.scripts = home, home / ".binder"
        venv = home.parent / "venv"
        # Where uv keeps what it has got depends on the real home.
        uv = [sys.executable, "-m", "uv", "--quiet"]
        done_well([*uv, "venv", "--python", sys.executable, str(venv)], home, dict(os.environ))
        install = [
            "pip",
            "install",
            "--python",
            str(venv),
            "-r",
            str(self.scripts / "requirements.txt"),
        ]
        done_well([*uv, *install], home, dict(os.environ))
        # As .ci/run does: with it every process of Jupyter builds a grammar for a second, and uses
        # it for nothing here.
        done_well(
            [*uv, "pip", "uninstall", "--python", str(venv), "rfc3987-syntax"],
            home,
            dict(os.environ),
        )
        self.environment = {
            "HOME": str(home),
            "REPO_DIR": str(home),
            "LANG": "C.UTF-8",
            "PATH": os.pathsep.join(
                [str(home / ".local/bin"), str(venv / "bin"), os.environ["PATH"]]
            ),
        }
        done_well([str(self.scripts / "postBuild")], home, self.environment)

    def command(self, *command: str) -> list[str]:
        return [str(self.scripts / "start"), *command]

    def run(self, *command: str) -> str:
        return done_well(self.command(*command), self.home, self.environment)


class Visitor:
    """What a reader's browser does, as far as pages and their scripts ask for something."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        )

    def get(self, path: str) -> str:
        with self.opener.open(f"{self.server}{path}", timeout=PATIENCE) as answer:
            return str(answer.read().decode())

    def launch(self, link: str) -> str:
        """Follow a link as the pages of BinderHub and nbgitpuller do, one after the other; return
        where it ends.
        """
        (asked,) = parse_qs(urlsplit(link).query)["urlpath"]
        path, _, query = asked.partition("?")
        page = self.get(
            f"/{path}?{urlencode([*((k, v) for k, (v,) in parse_qs(query).items()), ('token', TOKEN)])}"
        )
        found = {
            name: unquote(unescape(text))
            for name, text in re.findall(r'data-([\w-]+)="([^"]*)"', page)
        }
        names = {"repo": "repo", "targetpath": "targetpath", "branch": "branch", "_xsrf": "xsrf"}
        events = self.get(
            f"/git-pull/api?{urlencode({name: found[data] for name, data in names.items()})}"
        )
        phases = [json.loads(line.removeprefix("data: ")) for line in events.splitlines() if line]
        assert phases[-1] == {"phase": "finished"}, events
        return found["base-url"] + found["path"]


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[tuple[Image, Visitor]]:
    image, port = Image(home), free_port()
    options = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        f"--IdentityProvider.token={TOKEN}",
    ]
    with (home.parent / "server.log").open("wb") as log:
        server = subprocess.Popen(
            image.command("jupyter", "lab", *options),
            cwd=home,
            env=image.environment,
            stdout=log,
            stderr=log,
        )
    try:
        visitor = Visitor(f"http://127.0.0.1:{port}")
        until(lambda: answers(visitor, server), (home.parent / "server.log"))
        yield image, visitor
    finally:
        server.terminate()
        server.wait()


@pytest.mark.binder
def test_a_link_pulls_the_course_and_its_library(
    pushed: Pushed, served: tuple[Image, Visitor]
) -> None:
    image, visitor = served
    link = addresses.on_binder(notebooks.START, STATE, repository="me/it")
    assert link.count("https://github.com/me/it") == 1
    link = link.replace("https://github.com/me/it", pushed.address)
    place = visitor.launch(link)
    notebook = f"{addresses.COURSE}/notebooks/{notebooks.START}"
    assert place == f"/lab/tree/{notebook}{STATE}"
    assert "jupyter-config-data" in visitor.get(place.partition("#")[0])

    pulled = image.home / addresses.COURSE
    said = image.run(
        "python",
        "-c",
        "import gradlab, importlib.util as u; print(gradlab.__file__, u.find_spec('jax'))",
    )
    assert said.split() == [str(pulled / "gradlab" / "__init__.py"), "None"]
    image.run(
        "jupyter",
        "nbconvert",
        "--to",
        "notebook",
        "--execute",
        notebook,
        "--output-dir",
        str(image.home.parent),
    )
    assert (image.home.parent / notebooks.START).stat().st_size > 10_000  # pictures

    assert image.run("gradlab", "--version") == f"gradlab {gl.__version__}\n"
    needs = "import gradlab as gl\ntry: gl.tpu.Training\nexcept ImportError as error: print(error)"
    assert image.run("python", "-c", needs).endswith(
        "needs jax, which is not installed; run pip install jax\n"
    )

    # Every lab on a page of its own, which leads to the notebooks where they are; git has it
    # written behind our back.
    index = image.home / "dashboard" / "index.ipynb"
    until(index.is_file, image.home.parent / "server.log")
    assert f"(../../../lab/tree/{addresses.COURSE}/notebooks/02_clipping.ipynb)" in index.read_text(
        "utf-8"
    )
    assert "voila" in visitor.get("/voila/tree").lower()


def answers(visitor: Visitor, server: subprocess.Popen[bytes]) -> bool:
    assert server.poll() is None, "the server ended"
    try:
        return bool(visitor.get("/api"))
    except OSError:
        return False


def until(condition: Any, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, log.read_text("utf-8", "replace")[-3000:]
        time.sleep(0.1)


def done_well(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run a command; what it said is the message if it fails."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (
        f"{' '.join(command)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    )
    return done.stdout + done.stderr
