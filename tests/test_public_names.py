"""The public names, the tree, the rules and the tests say the same; every public docstring shows an
example.
"""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import gradlab as gl

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "gradlab"


# Names whose home is Python or gradlab alone, so that no original can be named.
OWN = "Not in TensorFlow"
MODULES = [
    gl.train,
    gl.contrib.opt,
    gl.contrib.layers,
    gl.keras,
    gl.rules,
    gl.schedules,
    gl.optax,
    gl.raw_ops,
    gl.tpu,
    gl.tpu.experimental.embedding,
    gl.workers,
]


def _type_checking_names() -> dict[str, str]:
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    (block,) = [n for n in tree.body if isinstance(n, ast.If)]
    return {
        a.asname or a.name: n.module or ""
        for n in block.body
        if isinstance(n, ast.ImportFrom)
        for a in n.names
    }


def test_type_checkers_and_python_see_the_same_names() -> None:
    homes = {name: home for home, names in gl._HOMES.items() for name in names.split()}
    assert _type_checking_names() == homes | dict.fromkeys(gl._MODULES, "")
    assert sorted(gl.__all__) == sorted([*homes, *gl._MODULES, "__version__"])
    assert sum(len(names.split()) for names in gl._HOMES.values()) == len(homes), (
        "a name has two homes"
    )


def test_every_name_resolves() -> None:
    for name in gl.__all__:
        assert getattr(gl, name) is not None, name
        assert name in dir(gl)


def test_what_has_no_underscore_is_public() -> None:
    rooms = {
        p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()
    }
    assert {room for room in rooms if not room.startswith("_")} == set(gl._MODULES)


@pytest.mark.parametrize("name", gl._MODULES)
def test_a_module_shows_its_api_only(name: str) -> None:
    module = getattr(gl, name)
    assert dir(module) == sorted(module.__all__)
    assert [one for one in module.__all__ if not hasattr(module, one)] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'gradlab' has no attribute 'clip_by_nrom'"):
        gl.clip_by_nrom  # noqa: B018


def test_every_rule_file_is_listed_and_tested() -> None:
    # What a rule is, and runs it.
    not_rules = {"rule", "table_field", "dense_and_sparse", "blocks", "donated", "in_place", "pure"}
    files = {p.stem for p in (PACKAGE / "rules").glob("[!_]*.py")} - not_rules
    rules = gl.rules.catalog() | gl.rules.tensor_rules()
    listed = {rule.__module__.rpartition(".")[2]: name for name, rule in rules.items()}
    assert set(listed) == files, "add the rule to _CATALOG in gradlab/rules/__init__.py"
    for name in listed.values():
        assert getattr(gl.rules, name) is rules[name]


def _documented() -> dict[str, Any]:
    tops = {name: getattr(gl, name) for name in gl._NAMES}
    tops |= {f"gl.record.{name}": getattr(gl.record, name) for name in gl.record._ATTACH}
    for module in MODULES:
        tops |= {f"{module.__name__}.{n}": x for n, x in vars(module).items() if _is_own(n, x)}
    return tops


def _is_own(name: str, x: Any) -> bool:
    return (
        not name.startswith("_")
        and callable(x)
        and getattr(x, "__module__", "").startswith("gradlab.")
    )


def _needs_example(x: Any) -> bool:
    return not inspect.isabstract(x) and x not in (
        gl.train.Optimizer,
        gl.keras.Optimizer,
        gl.rules.Rule,
        gl.Operation,
        gl.ClipReport,
    )


def test_every_docstring_shows_an_example_and_names_its_source() -> None:
    for name, x in _documented().items():
        doc = inspect.getdoc(x) or ""
        assert len(doc.splitlines()[0]) > 10, name
        if _needs_example(x):
            assert ">>> " in doc, f"{name} needs an example"
            assert "Source: " in doc or OWN in doc or "tf." in doc, (
                f"{name} must name its source, or say {OWN!r}"
            )
