"""Who may import whom: the table of layers, and the rooms and floors of the graph that all imports
make.
"""

import ast
import functools
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "gradlab"

# The three layers between the ground and what shows them: the rooms of each, in the order in which
# one reads them, and the libraries that a room may use. A room may import the rooms before it, for
# types too, but nothing private in them.
LAYERS = {
    "ground": {
        "errors": "",
        "_base": "numpy jax autograd ml_dtypes",
    },
    "library": {
        "clip": "numpy",
        "rules": "numpy jax",
        "schedules": "numpy",
        "train": "numpy jax ml_dtypes",
        "contrib": "",
        "keras": "numpy jax",
        "optax": "numpy jax optax",
        "tpu": "numpy jax google",  # protobuf: the messages that configure tables
        "raw_ops": "numpy",
    },
    "recorder": {
        # Recorders are attached to the loops of these.
        "record": "numpy jax optax torch keras tensorflow",
    },
    "course": {
        "models": "numpy jax",
        "workers": "numpy jax ray",
        "live": "numpy matplotlib contourpy PIL anywidget ipywidgets traitlets IPython imageio_ffmpeg",
        "labs": "numpy matplotlib ipywidgets traitlets IPython",
        "exercises": "numpy matplotlib ipywidgets traitlets IPython anywidget",
    },
    "what shows it": {
        "report": "numpy matplotlib",
        "_app": "numpy jupyterlab jupyter_server ipykernel voila tornado",
        "__main__": "",
    },
}
LIBRARIES = {room: libraries for rooms in LAYERS.values() for room, libraries in rooms.items()}
ORDER = list(LIBRARIES)
ONLY = {"live": {"live", "errors", "_base"}}  # a library of its own, but for the ground
MOST_ROOMS, MOST_FLOORS, MOST_FLOORS_INSIDE = 22, 12, 10

Graph = dict[str, set[str]]


def imports(tree: ast.AST, package: tuple[str, ...], for_types: bool = True) -> Iterator[str]:
    """Absolute dotted names of everything a file in `package` imports, inside functions too.

    Libraries that only type checkers read of need not be installed: `for_types` says whether they
    count.
    """
    skipped = (
        set()
        if for_types
        else {id(n) for t in ast.walk(tree) if _is_for_types(t) for n in ast.walk(t)}
    )
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            yield from (".".join([*base, *filter(None, [node.module]), a.name]) for a in node.names)


def _is_for_types(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def violations(folder: str, tree: ast.AST, package: tuple[str, ...]) -> list[str]:
    """What is wrong with the imports of a file, named by its file or folder on the first level."""
    if folder not in LIBRARIES:
        return [f"{folder} has no place in the table of this test"]
    found = []
    for name in imports(tree, package):
        first, *rest = name.split(".")
        if first != "gradlab" or rest == ["__version__"]:
            continue
        other, inner = rest[0], rest[1:]
        allowed = ONLY.get(folder, set(ORDER[: ORDER.index(folder) + 1]))
        if other not in allowed:
            found.append(f"{folder} must not import {name}")
        elif other != folder and any(part.startswith("_") and part != "__all__" for part in inner):
            found.append(f"{folder} must not import {name}, which is private there")
    for name in imports(tree, package, for_types=False):
        first = name.partition(".")[0]
        if first not in sys.stdlib_module_names | {"gradlab"} | set(LIBRARIES[folder].split()):
            found.append(f"{folder} must not use {first}")
        elif name.startswith("matplotlib.pyplot"):
            found.append(f"{folder} must not use pyplot, which keeps state for the whole process")
    return found


@functools.cache
def _files() -> dict[str, Path]:
    """Every module of the package by its dotted name, packages without `__init__`."""
    # Which loads everything late.
    paths = [p for p in sorted(PACKAGE.rglob("*.py")) if p != PACKAGE / "__init__.py"]
    return {
        ".".join(p.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): p
        for p in paths
    }


@functools.cache
def _tree(path: Path) -> ast.AST:
    return ast.parse(path.read_text("utf-8"))


def _package(path: Path) -> tuple[str, ...]:
    return path.relative_to(PACKAGE.parent).parent.parts


@functools.cache
def _graph() -> Graph:
    """Which module imports which, for types too."""
    graph: Graph = {}
    for module, path in _files().items():
        names = imports(_tree(path), _package(path))
        graph[module] = {_module_of(name) for name in names if name.startswith("gradlab.")} - {
            module,
            "gradlab",
        }
    return graph


def _module_of(name: str) -> str:
    while name not in _files() and name != "gradlab":
        name = name.rpartition(".")[0]
    return name


def rooms(package: str, graph: Graph) -> Graph:
    """The files and folders in a package, and which of them import which."""
    depth, found = package.count(".") + 1, dict[str, set[str]]()
    inside = lambda name: name.startswith(f"{package}.")  # noqa: E731
    for module, others in graph.items():
        if inside(module):
            room = module.split(".")[depth]
            found.setdefault(room, set()).update(
                o.split(".")[depth] for o in filter(inside, others)
            )
    return {room: others - {room} for room, others in found.items()}


def floors(graph: Graph) -> int:
    """The longest way down. Raises: graphlib.CycleError: a room imports itself through others."""
    height: dict[str, int] = {}
    for room in graphlib.TopologicalSorter(graph).static_order():
        height[room] = 1 + max((height[other] for other in graph[room]), default=0)
    return max(height.values(), default=0)


def test_imports_follow_the_table() -> None:
    found = {
        module: violations(module.split(".")[1], _tree(path), _package(path))
        for module, path in _files().items()
    }
    assert {module: wrong for module, wrong in found.items() if wrong} == {}


def test_the_table_lists_what_there_is() -> None:
    assert set(LIBRARIES) == {module.split(".")[1] for module in _files()}


def test_a_newcomer_can_hold_the_house_in_mind() -> None:
    house = rooms("gradlab", _graph())
    assert len(house) <= MOST_ROOMS
    assert floors(house) <= MOST_FLOORS


def test_no_folder_hides_a_maze() -> None:
    packages = [module for module, path in _files().items() if path.name == "__init__.py"]
    inside = {package: floors(rooms(package, _graph())) for package in packages}
    assert {package: count for package, count in inside.items() if count > MOST_FLOORS_INSIDE} == {}


def test_no_file_imports_itself_through_others() -> None:
    graph = {m: {o for o in others if not m.startswith(f"{o}.")} for m, others in _graph().items()}
    graphlib.TopologicalSorter(graph).prepare()  # a package is not a part of its own files


@pytest.mark.parametrize(
    ("folder", "source", "complaint"),
    [
        ("clip", "from ..train.variable import Variable", "clip must not import gradlab.train"),
        ("train", "from ..record import Recorder", "train must not import gradlab.record"),
        ("record", "from ..labs import Lab", "record must not import gradlab.labs"),
        ("clip", "def f():\n  import jax", "clip must not use jax"),
        ("live", "from ..rules import Rule", "live must not import gradlab.rules"),
        ("labs", "import matplotlib.pyplot as plt", "labs must not use pyplot"),
        ("labs", "from matplotlib import pyplot", "labs must not use pyplot"),
        ("rules", "from gradlab import labs", "rules must not import gradlab.labs"),
        (
            "rules",
            "if TYPE_CHECKING:\n  from ..labs import Lab",
            "rules must not import gradlab.labs",
        ),
        ("exercises", "from ..labs._lab import Lab", "which is private there"),
        ("labs", "from ..live.drawing.rows import _BLUE", "which is private there"),
        ("novelty", "", "novelty has no place"),
        ("rules", "if TYPE_CHECKING:\n  import flax", None),
        ("labs", "from ..live import x\nimport math", None),
        ("labs", "from ._lab import Lab", None),
    ],
)
def test_this_test_can_fail(folder: str, source: str, complaint: str | None) -> None:
    found = violations(folder, ast.parse(source), ("gradlab", folder))
    assert [complaint in f for f in found] == [True] if complaint else found == []


def test_the_graph_can_fail() -> None:
    chain = {f"gradlab.a.m{k}": {f"gradlab.a.m{k + 1}"} for k in range(9)} | {"gradlab.a.m9": set()}
    assert floors(rooms("gradlab.a", chain)) == 10
    with pytest.raises(graphlib.CycleError):
        floors(rooms("gradlab.a", chain | {"gradlab.a.m9": {"gradlab.a.m0"}}))
