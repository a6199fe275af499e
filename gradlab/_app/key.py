"""`gradlab key`: what teachers need to know of the exercises, and copies of the notebooks that are
solved.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._base import notebooks
from .._base.atomic_files import atomic_replace
from .._base.notebooks import UsageError

if TYPE_CHECKING:
    from ..exercises.key import Key

_ASKED = ("**Predict.**", "**Exercise.**")


def add(commands: Any) -> None:
    """Add the command to the parser's `commands`."""
    key = commands.add_parser(
        "key", help="for teachers: answers, reasons, and misconceptions that are recognized"
    )
    key.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="an exercise or a prediction, clipping.below for one",
    )
    key.add_argument("--course", action="store_true", help="all of them, by notebook")
    key.add_argument(
        "--notebooks",
        type=Path,
        metavar="DIR",
        help="write copies of the notebooks, solved, to DIR",
    )
    key.set_defaults(act=_key)


def _key(options: argparse.Namespace) -> None:
    if (options.name is None) == (not options.course) or (options.name and options.notebooks):
        raise UsageError(
            "give the name of one exercise, or --course for all of them, "
            "with --notebooks DIR if you like"
        )
    if options.notebooks:
        for path in _write_solved(options.notebooks):
            print(f"wrote {path}")
        return
    asked = _asked()
    if options.name:
        print(_told(_found(options.name), asked))
        return
    for stem, names in _by_notebook():
        print(f"{stem}\n{'=' * len(stem)}\n")
        for name in names:
            print(f"{_told(_found(name), asked)}\n")


def _found(name: str) -> Key:
    from ..exercises.key import key

    try:
        return key(name)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _by_notebook() -> Iterator[tuple[str, list[str]]]:
    from ..exercises.catalog import EXERCISES, NOTEBOOKS, PREDICTIONS, notebook

    for stem in NOTEBOOKS.values():
        yield stem, [name for name in (*PREDICTIONS, *EXERCISES) if notebook(name) == stem]


def _told(key: Key, asked: dict[str, str]) -> str:
    """A key in words; the question as the notebook asks it, where there is one."""
    code = "\n" in key.answer or "=" in key.answer
    parts = [key.name, _block("asked", asked.get(key.name, key.question))]
    parts.append(
        f"  answer\n{textwrap.indent(key.answer, ' ' * 6)}"
        if code
        else _block("answer", key.answer)
    )
    parts.append(_block("why", key.why))
    parts += [_block("recognized", said) for said in key.recognized]
    return "\n".join([*parts, _block("discuss", key.discuss)] if key.discuss else parts)


def _block(head: str, text: str) -> str:
    """A head and lines beside it; lists of the text keep their lines."""
    lines = [wrapped for line in text.splitlines() for wrapped in textwrap.wrap(line, 100)]
    return textwrap.indent("\n".join(lines), " " * 14).replace(" " * 14, f"  {head:12}", 1)


def _asked() -> dict[str, str]:
    """The text of each notebook's cell before a check or a prediction, from the last question on."""
    found: dict[str, str] = {}
    for path in sorted(notebooks.find_folder().glob("*.ipynb")):
        said = ""
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                start = max(source.rfind(mark) for mark in _ASKED)
                said = (
                    source[start:].partition("\n\nRun the cell and press")[0] if start >= 0 else ""
                )
            elif said:
                found |= dict.fromkeys(_called(source), said)
    return found


def _called(source: str) -> list[str]:
    from ..exercises.catalog import EXERCISES, PREDICTIONS

    return [name for name in (*EXERCISES, *PREDICTIONS) if f'("{name}"' in source]


def _write_solved(folder: Path) -> Iterator[Path]:
    """Copies of the notebooks with answers in place of starters, and a word after each prediction;
    none is replaced.
    """
    sources = sorted(notebooks.find_folder().glob("*.ipynb"))
    if there := [path.name for path in sources if (folder / path.name).exists()]:
        raise UsageError(f"{folder} holds {', '.join(there)} already: give another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in sources:
            notebook = json.loads(path.read_text("utf-8"))
            notebook["cells"] = [new for cell in notebook["cells"] for new in _solved(cell)]
            with atomic_replace(folder / path.name) as part:
                part.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
            yield folder / path.name
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from error


def _solved(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A cell with its answers, its outputs taken out if it had any to fill in; behind a prediction
    its key.
    """
    from ..exercises.catalog import PREDICTIONS
    from ..exercises.key import checked, chosen, filled

    source = "".join(cell["source"])
    if cell["cell_type"] != "code":
        yield cell
        return
    changed: dict[str, Any] = {}
    if checked(source) or chosen(source):
        changed = {"source": filled(source), "outputs": [], "execution_count": None}
    yield cell | changed
    for name in _called(source):
        if name in PREDICTIONS:
            found = _found(name)
            said = f"**Key.** {found.answer}. {found.why}\n\n**Discuss.** {found.discuss}"
            yield {
                "cell_type": "markdown",
                "id": f"key-{name.replace('.', '-')}",
                "metadata": {},
                "source": said,
            }
