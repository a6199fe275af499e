"""Which labs a saved notebook shows, and the program that makes each of them anew.

A cell shows a lab if its saved output begins with a lab's label. The program is the part of the notebook that the last
expression of that cell depends on, so a page is made without running the rest; what it makes has to say of itself what
was saved, word for word.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gradlab as gl
from gradlab._base.atomic_files import atomic_replace
from gradlab.labs import Lab
from gradlab.live.page import Part, page_html

_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """A lab in a notebook: the cell that shows it, what it said when that was saved, and how to make it."""

    cell: int
    said: str
    program: str

    def make(self) -> Lab:
        """Make the lab as it was when the cell had run.

        Raises:
            ValueError: what comes out is not what the notebook shows.
        """
        names: dict[str, Any] = {}
        *statements, last = ast.parse(self.program).body
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(ast.Module(statements, []), "<notebook>", "exec"), names)
            lab = eval(compile(ast.Expression(last.value), "<notebook>", "eval"), names)
        if not isinstance(lab, Lab) or repr(lab) != self.said:
            raise ValueError(f"the notebook shows {self.said!r}, but\n{self.program}\nmakes {lab!r}; save it anew")
        return lab

    def check(self) -> None:
        """See that the lab can be made."""
        self.make()

    def save(self, path: Path, states: int, live: str) -> Part:
        """Write the page on which the lab moves without a kernel; `live` is the address at which it has one."""
        lab = self.make()
        note = f'<p><a href="../{live}" target="_top">Run it in this browser</a>, where every control moves.</p>'
        page, held = page_html(lab.live, lab.code(), states, note=note)
        with atomic_replace(path) as part:
            part.write_text(page, "utf-8")
        return replace(held, html="")


def labs_in(cells: Sequence[dict[str, Any]]) -> Iterator[Shown]:
    """Find the labs that the saved cells of a notebook show."""
    labels = tuple(f"{make().label}: " for make in gl.labs.catalog().values())
    for number, cell in enumerate(cells):
        said = next((output["data"] for output in cell.get("outputs", ()) if "data" in output), {})
        text = "".join(said.get("text/plain", ""))
        if "text/html" in said and text.startswith(labels):
            sources = ("".join(c["source"]) for c in cells[: number + 1] if c["cell_type"] == "code")
            yield Shown(number, text, program(list(sources)))


def program(sources: Sequence[str]) -> str:
    """Give the statements that the last expression of some cells depends on.

    >>> print(program(["import sys, numpy as np", "a = np.ones(2)", "b = 2", "a[0] = 3", "print(sys.path)", "a"]))
    import sys, numpy as np
    a = np.ones(2)
    a[0] = 3
    a
    """
    *earlier, last = [s for source in sources for s in ast.parse(_MAGIC.sub(r"\1pass", source)).body]
    imported = {name for statement in earlier if _imports(statement) for name in _names(statement)}
    needed = _names(last)
    taken = [last]
    for statement in reversed(earlier):
        names = _names(statement)
        if names & (needed if _imports(statement) else needed - imported):
            needed |= names
            taken.append(statement)
    return "\n".join(map(ast.unparse, reversed(taken)))


def _imports(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _names(statement: ast.stmt) -> set[str]:
    """All names in a statement, for what is handed to a function may be changed by it."""
    named = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    named |= {node.name for node in ast.walk(statement) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    aliases = statement.names if isinstance(statement, ast.Import | ast.ImportFrom) else ()
    return named | {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
