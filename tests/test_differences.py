"""The page of differences is that of the tests, and names everything whose docstring says that it
differs.
"""

import ast
import re
from collections.abc import Iterator

from tests.differences import PAGE, ROOT, differences, page

SAYS_SO = re.compile(r"Differs from (TensorFlow|Keras)")


def test_the_page_is_that_of_the_tests() -> None:
    assert PAGE.read_text("utf-8") == page(), "run python -m tests.differences"


def test_what_differs_by_its_docstring_is_on_the_page() -> None:
    told = " ".join(d.what for d in differences())
    assert [name for name in _that_say_so() if not re.search(rf"\b{name}\b", told)] == []


def _that_say_so() -> Iterator[str]:
    """The last part of each public name."""
    for path in sorted((ROOT / "gradlab").rglob("*.py")):
        if SAYS_SO.search(text := path.read_text("utf-8")):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and SAYS_SO.search(
                    ast.get_docstring(node) or ""
                ):
                    yield path.parent.name if isinstance(node, ast.Module) else node.name
