"""Who may import whom: a module imports from its row and the rows above, and only the libraries its row names."""

import ast
import functools
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "gradlab"

# row: (modules, third-party libraries)
LAYERS = {
    "arrays": (
        "errors _extras _suggest _words _eigen _arrays slices leaves",
        "numpy",
    ),  # JAX only from sys.modules, if the caller brought it
    "maths": ("clip rules schedules staleness", "numpy"),
    "state": (
        "_jax collection variable tape autodiff graph gate pairs hyperparameters apply pure slots in_place optimizer "
        "train keras optax record char_rnn datasets recordings surfaces logistic_regression word_topics reader_run "
        "tpu accumulator stale sync torch raw_ops",
        "numpy jax",
    ),
    "time": ("workers", "numpy jax ray filelock"),
    "pictures": ("figures", "numpy matplotlib contourpy"),
    "hands": (
        "live labs exercises report _notebooks _repository",
        "numpy matplotlib PIL anywidget ipywidgets traitlets IPython imageio_ffmpeg",
    ),
    "command": (
        "_connection _jupyter _server dashboard commands __main__",
        "jupyterlab jupyter_server ipykernel voila tornado",
    ),
}
ROW = {module: k for k, (modules, _) in enumerate(LAYERS.values()) for module in modules.split()}
LIBRARIES = {module: set(allowed.split()) for modules, allowed in LAYERS.values() for module in modules.split()}
LIBRARIES["optax"].add("optax")  # the one module that speaks its language
LIBRARIES["torch"].add("torch")
LIBRARIES["keras"] |= {"keras", "tensorflow", "torch"}  # the recorder speaks to Keras 3 on each of its backends
LIBRARIES["tpu"].add("google")  # protobuf: the messages that configure tables
LIBRARIES["accumulator"].add("ml_dtypes")  # which teaches NumPy the name bfloat16
TOP = "__init__"  # the public names and the version; it loads everything else late


def imports(source: str, package: tuple[str, ...]) -> Iterator[str]:
    """Absolute dotted names of everything a file in `package` imports at run time, inside functions too."""
    tree = ast.parse(source)
    skipped = {id(n) for t in ast.walk(tree) if _is_for_type_checkers(t) for n in ast.walk(t)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            yield from (".".join([*base, *filter(None, [node.module]), a.name]) for a in node.names)


def _is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def violations(module: str, names: list[str]) -> list[str]:
    """What is wrong with the imports of a module of the package, named by its file or folder on the first level."""
    if module not in ROW:
        return [f"{module} has no place in the table of this test"]
    found = []
    for name in names:
        first, _, rest = name.partition(".")
        other = rest.partition(".")[0]
        if first == "gradlab" and other == "__version__":
            continue
        if first == "gradlab" and (
            ROW.get(other, 99) > ROW[module] or (module == "live" and other not in ("live", "_extras"))
        ):
            found.append(f"{module} must not import {name}")
        elif first != "gradlab" and first not in sys.stdlib_module_names | LIBRARIES[module]:
            found.append(f"{module} must not use {first}")
        elif name.startswith("matplotlib.pyplot"):
            found.append(f"{module} must not use pyplot, which keeps state for the whole process")
    return found


@functools.cache
def _files() -> dict[Path, list[str]]:
    files = [p for p in sorted(PACKAGE.rglob("*.py")) if p != PACKAGE / "__init__.py"]
    return {p: list(imports(p.read_text("utf-8"), p.relative_to(PACKAGE.parent).parent.parts)) for p in files}


def _module(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("path", _files(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_follow_the_table(path: Path) -> None:
    assert violations(_module(path), _files()[path]) == []


def test_no_file_imports_itself_through_others() -> None:
    files = {".".join(p.relative_to(PACKAGE.parent).with_suffix("").parts): names for p, names in _files().items()}
    files = {name.removesuffix(".__init__"): names for name, names in files.items()}
    graph = {
        f: {t for n in names for t in (n, n.rpartition(".")[0]) if t in files and t != f} for f, names in files.items()
    }
    for name in files:  # a package is not a part of its own files
        graph[name] -= {name.rpartition(".")[0]}
    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        ("clip", "from ..variable import Variable", "clip must not import gradlab.variable"),
        ("clip", "def f():\n  import jax", "clip must not use jax"),
        ("live", "from ..slices import IndexedSlices", "live must not import gradlab.slices"),
        ("figures", "import matplotlib.pyplot as plt", "figures must not use pyplot"),
        ("figures", "from matplotlib import pyplot", "figures must not use pyplot"),
        ("rules", "from gradlab import labs", "rules must not import gradlab.labs"),
        ("novelty", "", "novelty has no place"),
        ("rules", "if TYPE_CHECKING:\n  from ..variable import Variable", None),
        ("labs", "from ..figures import x\nimport math", None),
    ],
)
def test_this_test_can_fail(module: str, source: str, complaint: str | None) -> None:
    found = violations(module, list(imports(source, ("gradlab", module))))
    assert [complaint in f for f in found] == [True] if complaint else found == []
