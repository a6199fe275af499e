"""Forms of English that make a reader stop, in everything that is read: notebooks, README, guides, docstrings."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# The form, and what to write instead.
FORMS = {
    r"\b[Ww]hom?ever\b": "name who it is",
    r"\b(anew|afresh)\b": "again",
    r"\d %(?![\w(])": "10%",
    r"\d[\u00a0\u2009\u202f]\d{3}\b": "12,346",
    r"\bbelongs? into\b": "belongs in",
    r"\btold right\b": "classified correctly",
    r"\bworked out\b": "computed",
    r"\b(something|anything|nothing) else than\b": "other than",
    r"\bof one's own\b": "your own",
    r"\bmade ahead\b": "precomputed",
    r"\b(that|which|it) is no (?!longer\b|more\b|less\b|worse\b|better\b|larger\b|smaller\b)\w+": "isn't a ...",
    r"\b(that|which) are no (?!longer\b|more\b)\w+": "aren't ...",
    r"\b(speaks next|asks nobody|how it fares)\b": "say what the code does",
    r"\b(colour|neighbour|behaviour|grey|licence|catalogue|towards|maths|favour|for ever)\b": "American spelling",
}
# Of prose alone: in a docstring nobody is often a thread, a process, or another library.
PROSE = {r"\b([Nn]o|[Ss]ome)body (speaks|tells|asks|knows)\b": "say what the code does"}
# A docstring begins with an imperative, or a noun phrase that can be searched for.
FIRST = re.compile(r"(What|Who|Whose|Whether|As|The same|Where|How|Everything|Nothing|Nobody|Those|That)\b")


def notebooks() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        yield path.name, "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def pages() -> Iterator[tuple[str, str]]:
    paths = [ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md", *(ROOT / "notebooks").glob("*.md")]
    for path in [*paths, *(ROOT / "notebooks" / "site" / "guide").glob("*.md")]:
        yield path.name, path.read_text("utf-8")


def docstrings() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "gradlab").rglob("*.py")):
        if not path.name.endswith("_pb2.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                text = ast.get_docstring(node) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) else ""
                if text:
                    yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", text


def plain(text: str) -> str:
    """Text without code, whose words are those of others."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return re.sub(r"`[^`\n]*`|^ *(>>>|\.\.\.) .*(\n(?! *>>>).+)*", "", text, flags=re.MULTILINE)


def found(text: str, forms: dict[str, str]) -> list[str]:
    words = plain(text)
    return [f"{m[0]!r}: {better}" for form, better in forms.items() for m in re.finditer(form, words)]


@pytest.mark.parametrize("name", ["notebooks", "pages"])
def test_prose_has_none_of_these_forms(name: str) -> None:
    texts = {"notebooks": notebooks, "pages": pages}[name]()
    assert not [(where, said) for where, text in texts for said in found(text, FORMS | PROSE)]


def test_docstrings_have_none_and_begin_with_what_they_are() -> None:
    texts = list(docstrings())
    assert not [(where, said) for where, text in texts for said in found(text, FORMS)]
    assert not [(where, text.partition("\n")[0]) for where, text in texts if FIRST.match(text)]


def test_the_forms_are_found() -> None:
    for text in (
        "Whoever asks",
        "it is no file",
        "trained anew",
        "10 % of",
        "of one's own",
        "a colour",
        "those are 12\u202f346",
    ):
        assert found(text, FORMS), text
    for text in ("it is no longer there", "there is no file", "10%", "`3 % 2` is 1", ">>> 7 % 4\n3\n", "10 %s"):
        assert not found(text, FORMS), text
