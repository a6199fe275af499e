"""What type checkers and editors see of the labs: the names and types of their controls.

python -m tests.labs.signatures       writes gradlab/labs/__init__.pyi
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gradlab as gl
from gradlab.live import Button, Menu, Range, Toggle

STUB = Path(gl.__file__).parent / "labs" / "__init__.pyi"
HEAD = '''\
"""The labs as type checkers and editors see them. Written by `python -m tests.labs.signatures`."""

# ruff: noqa: I001
# fmt: off

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from matplotlib.figure import Figure

from ..record import Recorder
{imports}
from ._lab import Lab as Lab
from ._lab import Target as Target
from .placement_picture import PlacementPicture as PlacementPicture

def catalog() -> dict[str, type[Lab]]: ...

def from_link(link: str) -> Lab: ...
'''
_RUN = "str | PathLike[str] | Recorder"
MOST = 40  # options of a menu that are spelled out
RECORDINGS = {"clipping": f"{_RUN} | dict[float | None, Recorder]"}  # all others on a recorded run take one, or
SEVERAL = f"*recordings: {_RUN}, names: Sequence[str] | None = None, "


def stub() -> str:
    """The whole file."""
    labs = gl.labs.catalog().values()
    imports = "\n".join(sorted({_import(make) for make in labs}))
    text = "\n".join([HEAD.format(imports=imports), *(line for make in labs for line in _lab(make))])
    return "\n".join(line for long in text.splitlines() for line in _wrapped(long)) + "\n"


def _wrapped(line: str) -> list[str]:
    """In lines of 120 characters, which may end anywhere inside brackets and quotes."""
    indent = " " * (len(line) - len(line.lstrip()) + 4 * ('"""' not in line))
    whole = line.replace(" -> ", "\0->\0").replace(": ...", ":\0...")
    parts = textwrap.wrap(whole, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [part.replace("\0", " ") for part in parts] or [""]


def _import(make: type[gl.labs.Lab]) -> str:
    """The import of a lab's module: `lab` in a folder, or a file where it has no picture of its own."""
    package, _, module = make.__module__.removeprefix("gradlab.labs").rpartition(".")
    return f"from {package or '.'} import {module}" + (f" as {_home(make)}" if module == "lab" else "")


def _home(make: type[gl.labs.Lab]) -> str:
    return make.__module__.split(".")[2]


def _lab(make: type[gl.labs.Lab]) -> Iterator[str]:
    name = make.__name__
    given = inspect.signature(make.__init__).parameters
    controls, own, several = f"_{name}_controls", "recording" in given, "recordings" in given
    other = {c.name: c for c in make(*[_recorded()] * (1 if own else 2 if several else 0)).controls}  # type: ignore[arg-type]
    types = [_typed(c, other[c.name]) for c in make().controls if not isinstance(c, Button)]
    recording = f"recording: {RECORDINGS.get(name, _RUN)} | None = None, *, " if own else SEVERAL if several else ""
    target = f"{_literal(make.targets)} | None = None" if make.targets else "None = None"
    yield f"class {controls}(TypedDict, total=False):"
    yield from (f"    {line}" for line in types)
    yield f'''
class {name}({_home(make)}.{name}):
    """{make.about()}"""

    def __init__(self, {recording}target: {target}, **initial: Unpack[{controls}]) -> None: ...
    def set(self, **params: Unpack[{controls}]) -> None: ...  # type: ignore[override]
    def figure(self, **params: Unpack[{controls}]) -> Figure: ...  # type: ignore[override]
    def save(  # type: ignore[override]
        self, path: str | Path, theme: Literal["light", "dark"] = "light", **params: Unpack[{controls}]
    ) -> str: ...
'''


def _typed(control: Any, other: Any) -> str:
    """The name of a control and its type: what it takes whatever the recording."""
    if isinstance(control, Menu):
        fixed = control.values() == other.values() and len(control.values()) <= MOST
        return f"{control.name}: {_options(control.values(), fixed)}"
    if isinstance(control, Toggle):
        return f"{control.name}: bool"
    number = "int" if control.scale == "integer" else "float"
    return f"{control.name}: {f'tuple[{number}, {number}]' if isinstance(control, Range) else number}"


def _options(values: list[Any], fixed: bool) -> str:
    if fixed and not any(isinstance(value, float) for value in values):
        return _literal(values)
    kinds = dict.fromkeys("None" if value is None else type(value).__name__ for value in values)
    return " | ".join(sorted(kinds, key=lambda kind: kind == "None"))


def _literal(values: Any) -> str:
    return f"Literal[{', '.join(repr(value) for value in values)}]".replace("'", '"')


def _recorded() -> gl.Recorder:
    """A run that shares no name with those that ship."""
    rec = gl.Recorder(entries=4)
    for step in range(3):
        rec.record({"a": np.full(3, step + 1.0), "b": np.ones(2)}, loss=1.0)
    return rec


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
