"""The browser's half of the widget as one module: what a widget or a page without a kernel is
given.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

WEB = Path(__file__).parent / "web"
ENTRY = "figure.js"
STYLES = ("widget.css", "present.css")
TESTED = "paint, fromPosition, toPosition, keyOf"  # what tests call by itself

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_NAME = re.compile(r"^(?:export )?(?:async function|function|const|let|class) (\w+)", re.MULTILINE)


@cache
def widget_source() -> str:
    """Give the modules in `web` as one."""
    return f"{joined(WEB, ENTRY)}\nexport {{ {TESTED} }};\nexport default {{ render }};\n"


def widget_style() -> str:
    """Give the style of a widget, of a page without a kernel and of a report."""
    return "".join((WEB.parent / name).read_text("utf-8") for name in STYLES)


def joined(folder: Path, entry: str) -> str:
    """Join a module and those it imports, each after what it needs, with no imports or exports
    left.

    Raises:
        ValueError: two modules define the same name at their top level, or a name that is imported
            is not there.
    """
    owner: dict[str, str] = {}
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        if name in parts:
            return
        parts[name] = ""  # where a circle ends
        source = (folder / name).read_text("utf-8")
        for wanted, other in _IMPORT.findall(source):
            add(other)
            for each in filter(None, map(str.strip, wanted.split(","))):
                if owner.get(each) != other:
                    raise ValueError(
                        f"{name} imports {each}, which {other} does not define before it"
                    )
        for defined in _NAME.findall(source):
            if defined in owner:
                raise ValueError(f"{owner[defined]} and {name} both define {defined}: rename one")
            owner[defined] = name
        del parts[name]
        parts[name] = re.sub(r"^export ", "", _IMPORT.sub("", source), flags=re.MULTILINE)

    add(entry)
    return "\n".join(parts.values())
